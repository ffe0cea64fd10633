"""Measures of quality: what each counts, what is read off at the end, and the energy balance that ties them together."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import plants
import sscq
from controllers import PID, Controller, TimeGains
from plants import Channel, Plant, Quantity
from plants.excitation import Sine, Step
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.quality import ALL_MEASURES, STEP_MEASURES, Quality, StepMoment
from tests.reference.closed_loop_twin import plain_record, uncompiled

VDP = plants.get("van_der_pol")
POSITION, VELOCITY = VDP.states


def evaluated(plant, law, situations, gains, step=0.01, **options):
    several = situations if isinstance(situations, tuple) else (situations,)
    with uncompiled():
        loop = ClosedLoop(plant, law, several, step, lanes=1, **options)
        return loop.evaluate(np.atleast_2d(np.array(gains, float)), 1)


# ----------------------------------------------------------------------------------------------- one step by hand

MOMENT = StepMoment(
    t=2.0, h=0.5, since=1.5, scaled_error=(-2.0, 1.0), command=(3.0, -4.0), entropy_plant=0.5, entropy_controller=2.0,
    progress=(0.1, -0.25), saturated=1.0,
)  # fmt: skip
BY_HAND = {
    "ise": 2.5, "iae": 1.5, "itae": 2.25, "effort": 12.5, "overshoot": 0.25, "settling_time": 2.5, "entropy_plant": 0.25,
    "entropy_controller": 1.0, "entropy_difference": -0.75, "entropy_difference_abs": 0.75,
    "entropy_difference_square": 1.125, "saturated_time": 0.5, "peak_command": 4.0,
}  # fmt: skip


@pytest.mark.parametrize("name", STEP_MEASURES)
def test_one_step_by_hand(name):
    update = STEP_MEASURES[name]
    assert update(0.0, MOMENT) == pytest.approx(BY_HAND[name], abs=1e-15)
    later = {"overshoot": 7.0, "peak_command": 7.0, "settling_time": 2.5}  # maxima, and a time that is overwritten
    assert update(7.0, MOMENT) == pytest.approx(later.get(name, 7.0 + BY_HAND[name]), abs=1e-15)


@given(progress=st.tuples(*[st.floats(-0.0199, 0.0199)] * 2))
def test_inside_the_band_nothing_is_left_to_settle(progress):
    assert STEP_MEASURES["settling_time"](1.0, replace(MOMENT, progress=progress)) == 1.0


# ------------------------------------------------------------------------------------------- measures of known motions


def rate(t, x, u, w, p):
    return (u[0] + w[0],)


# An integrator under a law whose gains are 0: the output follows the load, the command is its initial one.
INTEGRATOR = Plant(
    "integrator", (Quantity("y", "", 0.0),), inputs=(Quantity("u", ""),), disturbances=(Quantity("load", ""),),
    channels=(Channel("y", scale=2.0),), derivative=rate,
)  # fmt: skip
OPEN = (0.0, 0.0, 0.0)


def test_without_a_way_to_go_the_scale_is_the_measure():
    """Regulation at rest: a push of 0.1 on a channel of scale 2 counts as 5 %."""
    push = sscq.Situation(reference=0.0, excitation=Step(0.1) + Step(-0.1, at=1.0), t_end=2.0)
    quality = evaluated(INTEGRATOR, PID(), push, OPEN)
    assert float(quality.overshoot[0, 0]) == pytest.approx(0.05, abs=1e-12)


@pytest.mark.parametrize(
    ("reference", "load", "jumps"),
    [
        (1.0, None, []), (Step(1.0, at=0.5), None, [0.5]), (1.0, Step(0.2, at=1.2), [1.2]),
        (Step(1.0, at=0.5) + Step(1.0, at=1.1), Step(0.2, at=0.8), [0.5, 0.8, 1.1]),
        (Step(1.0, at=0.5), Step(0.2, at=7.0), [0.5]), (Step(1.0, at=-1.0), None, []),
        (Step(1.0, at=9.0) + Step(1.0, at=0.7), None, [0.7]),
    ],
)  # fmt: skip
def test_time_weighted_error_counts_from_the_latest_jump(reference, load, jumps):
    """Every change starts the clock anew: an error left over from the first is not forgiven because of the second."""
    situation = sscq.Situation(reference=reference, excitation=load, t_end=2.0)
    run = plain_record(INTEGRATOR, PID(), situation, OPEN, 0.01)
    error = np.abs(run["reference y"] - run["y"])[:-1] / 2.0
    steps = np.arange(len(error))
    latest = np.max([[0.0] * len(steps), *(np.where(steps >= round(100 * jump), jump, 0.0) for jump in jumps)], axis=0)
    expected = 0.01 * ((run.time[:-1] - latest) * error).sum()
    several = (replace(situation, name="others have more", excitation=Step(0.1, at=0.3) + Step(0.1, at=0.6)), situation)
    quality = evaluated(INTEGRATOR, PID(), several, OPEN, measures=("itae",))
    assert float(quality.itae[1, 0]) == pytest.approx(expected, rel=1e-11)
    assert expected > 0.0


@pytest.mark.parametrize("limits", [(-2.0, 2.0), (0.0, 2.0), (-2.0, 0.0), (-np.inf, 0.0), (0.5, 0.7)])
def test_time_at_a_limit(limits):
    """Also of a valve whose limit is 0."""
    law = PID(limits=limits, initial_command=min(max(0.0, limits[0]), limits[1]))
    situation = sscq.Situation(reference=Sine(3.0, 0.5), t_end=4.0)
    run = plain_record(INTEGRATOR, law, situation, (2.0, 0.0, 0.0), 0.01)
    command = run["command y"][:-1]
    at_limit = (command == limits[0]) | (command == limits[1])
    quality = evaluated(INTEGRATOR, law, situation, (2.0, 0.0, 0.0), measures=("saturated_time", "iae"))
    assert float(quality.saturated_time[0, 0]) == pytest.approx(0.01 * at_limit.sum(), abs=1e-9)
    assert 0 < at_limit.sum() <= 400


@pytest.mark.parametrize("delay", [0.0, 0.05])
def test_time_at_the_smaller_limits_of_a_situation(delay):
    """An actuator that has less to give than the law's limits: where it stands still, the loop is open."""
    law = PID(limits=(-2.0, 2.0))
    free = sscq.Situation(reference=Sine(3.0, 0.5), t_end=4.0, delay=delay, name="whole")
    weak = replace(free, limits=(-0.7, 0.9), name="weak")
    run = plain_record(INTEGRATOR, law, weak, (2.0, 0.0, 0.0), 0.01)
    command = run["command y"][:-1]
    quality = evaluated(INTEGRATOR, law, (free, weak), (2.0, 0.0, 0.0), measures=("saturated_time",))
    beyond = (command <= -0.7) | (command >= 0.9)
    assert (np.abs(command) < 2.0)[beyond].any()
    assert float(quality.saturated_time[1, 0]) == pytest.approx(0.01 * beyond.sum(), abs=1e-9)
    alone = evaluated(INTEGRATOR, law, free, (2.0, 0.0, 0.0), measures=("saturated_time",))
    assert quality.saturated_time[0, 0] == alone.saturated_time[0, 0]


def test_fewer_measures_are_the_same_numbers():
    situation = sscq.Situation(reference=Step(1.0, at=0.3), initial=(0.5, 0.0), t_end=2.0)
    whole = evaluated(VDP, PID(), situation, (4.0, 1.0, 2.0))
    assert tuple(whole.values) == ALL_MEASURES
    for name in ALL_MEASURES:
        alone = evaluated(VDP, PID(), situation, (4.0, 1.0, 2.0), measures=(name,))
        assert tuple(alone.values) == (name,)
        assert alone.values[name][0, 0] == whole.values[name][0, 0], name
    twice = evaluated(VDP, PID(), situation, (4.0, 1.0, 2.0), measures=("iae", "itae", "iae"))
    assert tuple(twice.values) == ("iae", "itae")


# ---------------------------------------------------------------------------------------------------------- entropy


def test_plants_without_an_entropy_rate_produce_none():
    quality = evaluated(INTEGRATOR, PID(), sscq.Situation(reference=Sine(1.0, 0.3), t_end=2.0), (2.0, 0.0, 0.5))
    assert float(quality.entropy_plant[0, 0]) == 0.0
    assert float(quality.entropy_controller[0, 0]) > 0.0
    assert float(quality.entropy_difference[0, 0]) == -float(quality.entropy_controller[0, 0])


def test_the_scale_of_the_controllers_entropy():
    situation = sscq.Situation(reference=1.0, t_end=2.0)
    one = evaluated(VDP, PID(), situation, (3.0, 1.0, 2.0))
    half = evaluated(VDP, PID(), situation, (3.0, 1.0, 2.0), entropy_scale=0.5)
    assert float(half.entropy_controller[0, 0]) == pytest.approx(0.5 * float(one.entropy_controller[0, 0]), rel=1e-14)
    assert half.entropy_plant[0, 0] == one.entropy_plant[0, 0]
    difference = float(one.entropy_plant[0, 0]) - 0.5 * float(one.entropy_controller[0, 0])
    assert float(half.entropy_difference[0, 0]) == pytest.approx(difference, rel=1e-12)


@pytest.mark.parametrize("gains", [(3.0, 0.0, 2.0), (3.0, 1.5, 2.0)], ids=["PD", "PID"])
def test_energy_and_lyapunov_function_balance_in_continuous_time(gains):
    """V = E + kp e^2 / 2 loses what plant and derivative action dissipate, and gains the work of the integral."""
    kp, _, kd = gains
    law = PID(limits=(-1e9, 1e9))
    closed = plants.close(VDP, law, gains, 1.2, integrals=("entropy_plant", "entropy_controller"))
    places = {q.name: k for k, q in enumerate(closed.states)}
    force = VDP.index("inputs", "force")

    def with_work(t, x, u, w, p):
        """Beside the loop: the power of the integral action w_I q' and of the excitation."""
        q, v = x[0], x[1]
        rates = closed.derivative(t, x[:-1], u, w, p)
        return (*rates, x[places["integral"]] * v + w[0] * (1.0 - q) * v)

    work = replace(
        closed, states=(*closed.states, Quantity("work", "J")), measurements=(), outputs=lambda t, x, u, w, p: tuple(x),
        derivative=with_work, energy=None, entropy_rate=None, supplied_power=None,
    )  # fmt: skip
    assert force == 0
    run = plants.simulate(work, 10.0, 1e-3, initial={"position": -0.4, "velocity": 0.3}, disturbances=(Sine(0.3, 0.4),))
    q, v = run["position"], run["velocity"]
    V = 0.5 * (v * v + q * q) + 0.5 * kp * (1.2 - q) ** 2
    balance = run["work"] - run["entropy_plant"] - run["entropy_controller"]
    # RK4 at 1 ms: errors of 1e-11 against energies of some J; the wrong sign of any term misses by 0.1 or more.
    np.testing.assert_allclose(V - V[0], balance, atol=1e-9)
    assert min(np.ptp(run[name]) for name in ("work", "entropy_plant", "entropy_controller")) > 0.1
    assert kd > 0.0


def residual(step, gains, schedule=None):
    """What is missing in the sampled loop's balance: its sums are left sums, so of first order in the step."""
    controller = PID() if schedule is None else Controller((PID(),), schedule)
    situation = sscq.Situation(reference=1.2, initial=(-0.4, 0.3), t_end=3.2)
    run = plain_record(VDP, controller, situation, gains, step)
    quality = evaluated(VDP, controller, situation, gains, step, measures=("entropy_plant", "entropy_controller"))
    q, v, (kp, _, kd) = run["position"], run["velocity"], run.group("gains").T
    e = 1.2 - q
    V = 0.5 * (v * v + q * q) + 0.5 * kp * e * e
    integral = run["command position"] - kp * e + kd * v
    work = step * (integral * v)[:-1].sum() + 0.5 * (np.diff(kp) * e[1:] ** 2).sum()
    dissipated = float(quality.entropy_plant[0, 0] + quality.entropy_controller[0, 0])
    return V[-1] - V[0] - (work - dissipated), dissipated


RISING = TimeGains((0.0, 3.2), "linear")


@pytest.mark.parametrize(
    ("gains", "schedule"),
    [((3.0, 0.0, 2.0), None), ((3.0, 1.5, 2.0), None), ((2.0, 1.0, 2.0, 5.0, 2.0, 1.0), RISING)],
    ids=["PD", "PID", "rising kp"],
)
def test_energy_and_lyapunov_function_balance_in_the_sampled_loop(gains, schedule):
    """The measures close the balance as the step goes to 0; with rising kp that pays, too."""
    (coarse, dissipated), (middle, _), (fine, _) = (residual(step, gains, schedule) for step in (8e-3, 4e-3, 2e-3))
    assert coarse / middle == pytest.approx(2.0, abs=0.1)  # first order
    # Extrapolated twice, errors of third order are left: 2 ms at rates of some 1/s, (0.01)^3 = 1e-6 of what is at stake.
    extrapolated = (8.0 * fine - 6.0 * middle + coarse) / 3.0
    assert abs(extrapolated) < 1e-5 * dissipated
    assert dissipated > 1.0


# ------------------------------------------------------------------------------------------------------- the object


def quality():
    return Quality(
        ("a", "b"),
        np.array([1.0, 2.0]),
        np.array([[np.nan, 0.5], [1.5, np.nan]]),
        {"iae": np.array([[1.0, 2.0], [3.0, 4.0]])},
    )


def test_failures_are_those_with_a_time():
    assert quality().failed.tolist() == [[False, True], [True, False]]


def test_measures_of_lost_rollouts_do_not_look_good():
    wild = sscq.evaluate(
        plants.get("van_der_pol"),
        PID(limits=(-1e9, 1e9)),
        [[1e300, 0.0, 0.0], [9.0, 5.0, 2.0]],
        sscq.Situation(reference=1.0),
    )
    assert wild.failed.tolist() == [[True, False]]
    assert all(np.argmin(values[0]) == 1 for values in wild.values.values())
    assert np.isinf(wild.iae[0, 0])
    assert wild.until_lost["iae"][0, 0] < wild.iae[0, 1]  # what it was fooled by
    assert wild.iae[0, 1] == wild.until_lost["iae"][0, 1]


def test_own_measures_of_lost_rollouts_are_the_worst_they_can_be():
    several = {name: np.array([[1.0, 2.0]]) for name in ("less", "more", "neither")}
    worst = {"more": -np.inf, "neither": np.nan}
    found = Quality(("a",), np.array([1.0]), np.array([[0.5, np.nan]]), several, worst=worst)
    np.testing.assert_array_equal([found[name][0, 0] for name in several], [np.inf, -np.inf, np.nan])
    assert all(found[name][0, 1] == 2.0 for name in several)


def test_measures_are_attributes():
    assert quality().iae[1, 1] == 4.0
    with pytest.raises(AttributeError, match="the measure 'itae' was not asked for in this evaluation; got iae"):
        _ = quality().itae
    with pytest.raises(AttributeError, match="^isae$"):
        _ = quality().isae


def test_it_can_be_copied_and_sent_to_other_processes():
    for other in (copy.deepcopy(quality()), pickle.loads(pickle.dumps(quality()))):  # noqa: S301  (our own bytes)
        np.testing.assert_array_equal(other.iae, quality().iae)
        assert other.situations == ("a", "b")
