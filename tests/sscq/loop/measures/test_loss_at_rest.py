"""The loss at rest is taken off: known minimisers, the plain twin, held and varying references."""

from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID, ConstantGains, Controller
from plants import Channel, Plant, Quantity
from plants.excitation import Ramp, Recorded, Sine, Step, WhiteNoise
from sscq.baselines import survey
from sscq.baselines.objective import Task
from sscq.fitness import Fitness
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.loss_at_rest import loss_at_rest
from tests.reference.closed_loop_twin import Twin, uncompiled
from tests.sscq.loop.own_law import OwnLaw

H = 0.01


class Level(OwnLaw):
    """A constant command, which is its only gain."""

    def law(self, t, r, y, r_rate, y_rate, c, g):
        return g[0], ()


def kettle(t, x, u, w, p):
    """Cools by p[0] x, is heated by -2 u: a larger command cools."""
    return (-p[0] * x[0] - 2.0 * u[0] + w[0],)


def kettle_loss(t, x, u, w, p):
    return 0.5 * x[0] * x[0] + 3.0 * u[0] * u[0]


KETTLE = Plant(
    "kettle", (Quantity("x", "1", 0.3, -50.0, 50.0),), (Quantity("cooling", "1/s", 0.8),), (Quantity("u", "1"),),
    (Quantity("load", "1"),), derivative=kettle, entropy_rate=kettle_loss, loses_at_rest=True,
    channels=(Channel("x", gains_low=(-5.0, -5.0, -1.0), gains_high=(0.0, 0.0, 0.0)),),
)  # fmt: skip
VARYING = sscq.Situation(
    "varying", 0.5 + Sine(0.3, 0.7) + Step(0.6, at=1.1), 0.2 + Step(0.7, at=0.53) + WhiteNoise(0.3, hold=0.05),
    {"cooling": 1.3}, t_end=2.4, seed=3,
)  # fmt: skip
HELD = replace(VARYING, name="held", reference=0.5 + Step(0.6, at=1.1))
GAINS = (-2.0, -1.0, -0.2)


def at_rest(references, t):
    """By hand: x = r, u = (w - cooling r) / 2, under the load that is held; noise counts as its mean 0."""
    (r,), w = references, 0.2 + (0.7 if t > 0.53 - 1e-9 else 0.0)
    u = (w - 1.3 * r) / 2.0
    return 0.5 * r * r + 3.0 * u * u


@pytest.mark.parametrize("situation", [VARYING, HELD], ids=lambda s: s.name)
def test_the_kernel_agrees_with_the_slow_twin(situation):
    """240 steps are fewer than the grid of a varying reference has, so its loss is exact at every step."""
    law = PID(sample_time=H)
    twin = Twin(KETTLE, (law,), lambda t, *s: GAINS, situation, H, at_rest=at_rest)
    measures, trace = twin.run()
    with uncompiled():
        loop = ClosedLoop(KETTLE, law, (situation,), H, lanes=1)
        quality = loop.evaluate(np.array([GAINS]), threads=1)
        run = sscq.record(KETTLE, law, GAINS, situation, H)
    for name in ("entropy_plant", "entropy_controller", "entropy_difference", "entropy_difference_abs",
                 "entropy_difference_square"):  # fmt: skip
        # 240 steps of rounding in another order.
        assert float(quality.values[name][0, 0]) == pytest.approx(measures[name], rel=1e-9), name
    assert quality.entropy_controller[0, 0] > 0.0  # |kd| e'^2 where kd is negative
    np.testing.assert_allclose(run.group("entropy_rates")[:-1], [row["entropy"] for row in trace], rtol=1e-9)
    rest = [at_rest(row["r"], k * H) for k, row in enumerate(trace)]
    np.testing.assert_allclose(run["entropy rate at rest"][:-1], rest, rtol=1e-9)


@pytest.mark.parametrize(("plant", "low", "high", "demanded"), [
    # The lower level: its pump voltage for 10 cm lies below that for 15 cm, command 0. By hand: q = hole sqrt(2 g h).
    (plants.get("two_tanks"), -3.0, 3.0, 0.1781e-4 * (2 * 9.81) ** 0.5 * (0.1**0.5 - 0.15**0.5) / 3.3e-6),
    (KETTLE, -2.0, 2.0, -0.4 * 0.1),
])  # fmt: skip
def test_the_minimiser_over_constant_commands_is_the_demanded_one(plant, low, high, demanded):
    """From the set point on: without the excess it is the command that costs least, far from the demanded."""
    controller = Controller((Level(),), ConstantGains(("size",)))
    levels = np.sort(np.append(np.linspace(low, high, 120), demanded))
    situation = sscq.Situation("stay", 0.1, initial=(0.1,) * len(plant.states), t_end=400 * plant.step)
    found = {}
    for one in (plant, replace(plant, loses_at_rest=False)):
        measure = "entropy_difference_abs"
        quality = sscq.evaluate(one, controller, levels[:, None], situation, plant.step, measures=(measure, "iae"))
        found[one.loses_at_rest] = levels[np.argmin(quality.values[measure][0])]
        assert levels[np.argmin(quality.iae[0])] == demanded  # it is the command that holds the set point
    assert found[True] == demanded
    assert abs(found[False] - demanded) > 0.01 * (high - low)


def test_the_loss_over_time_is_steps_where_references_are_held_and_a_series_where_not():
    held, varying = loss_at_rest(KETTLE, HELD, H), loss_at_rest(KETTLE, VARYING, H)
    assert [type(part).__name__ for part in held.parts] == ["Constant", "Step", "Step"]
    assert [type(part).__name__ for part in varying.parts] == ["Constant", "Recorded"]
    for t in (0.0, 0.4, 0.53, 1.0, 1.1, 2.0):
        reference = 0.5 + (0.6 if t > 1.1 - 1e-9 else 0.0)
        assert held.at(t) == pytest.approx(at_rest([reference], t), rel=1e-12)


def test_a_ramp_and_a_record_of_it_lose_the_same():
    """The ramp as reference, and as a series of it at every step."""
    times = tuple(np.arange(241) * H)
    ramp = replace(VARYING, reference=Ramp(0.5, 0.2, 1.7))
    record = replace(VARYING, reference=Recorded(times, tuple(0.5 * (min(max(t, 0.2), 1.7) - 0.2) for t in times)))
    losses = [loss_at_rest(KETTLE, s, H).parts[1].values for s in (ramp, record)]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-12)


def test_plants_that_rest_without_loss_have_no_rows_for_it():
    quiet = replace(KETTLE, loses_at_rest=False)
    loops = [ClosedLoop(plant, PID(), (HELD,), H) for plant in (KETTLE, quiet)]
    assert ["rest" in loop.kernel.text for loop in loops] == [True, False]
    few = ClosedLoop(KETTLE, PID(), (HELD,), H, measures=("iae",))
    assert "rest" not in few.kernel.text  # nor where no measure asks


def test_the_scale_compares_the_excess_with_the_derivative_action():
    """Of the record: integral of |excess| over that of |kd| e'^2."""
    task = Task(replace(KETTLE, channels=(replace(KETTLE.channels[0], collocated=False),)), (HELD,), Fitness(), H)
    with uncompiled():
        run = sscq.record(task.plant, PID(), GAINS, HELD, H)
        measured = survey.measure_entropy_scale(task, PID(), np.array(GAINS))
        quality = sscq.evaluate(task.plant, PID(), [GAINS, (-1.0, -1.0, 0.0)], HELD, H, measures=("iae",))
    excess = run["entropy rate plant"] - run["entropy rate at rest"]
    expected = np.abs(excess[:-1]).sum() / run["entropy rate controller"][:-1].sum()
    assert measured == pytest.approx(expected, rel=1e-12)
    chosen = survey.best_tracking_gains(quality, "iae", np.array([GAINS, (-1.0, -1.0, 0.0)]))
    np.testing.assert_array_equal(chosen, GAINS)  # negative kd is derivative action too


def test_a_plant_without_rest_is_refused_with_the_remedy():
    drift = replace(KETTLE, derivative=lambda t, x, u, w, p: (1.0 + 0.0 * u[0],))
    with pytest.raises(ValueError, match="situation 'held': plant 'kettle' has no equilibrium.*must not declare"):
        loss_at_rest(drift, HELD, H)
    with pytest.raises(ValueError, match="says loses_at_rest but has no entropy_rate"):
        replace(KETTLE, entropy_rate=None)


def test_repetitions_share_what_was_found_and_other_plants_do_not():
    """Noise does not move the loss, so another seed finds the same object; each part of the task makes another."""
    found = loss_at_rest(KETTLE, VARYING, H)
    assert loss_at_rest(KETTLE, replace(VARYING, name="again", seed=VARYING.seed + 1), H) is found
    twin = replace(KETTLE, text="the same kettle, another object")
    assert loss_at_rest(twin, VARYING, H) == found
    assert loss_at_rest(twin, VARYING, H) is not found
    for other in (replace(VARYING, t_end=VARYING.t_end + 1.0), replace(VARYING, reference=21.0)):
        assert loss_at_rest(KETTLE, other, H) != found
    assert loss_at_rest(KETTLE, VARYING, 0.5 * H) is not found
