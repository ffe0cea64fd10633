"""The energy-Lyapunov account: it closes with the integrator's order, and only with all of its terms."""

from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID, Controller, TimeGains, TwoDegreePID
from plants import Channel
from plants.excitation import Sine, Step, WhiteNoise
from sscq.certificates.energy_lyapunov import account, energy_lyapunov, not_available
from sscq.loop.closed_loop import ClosedLoop
from tests.reference.closed_loop_twin import recorder_of, uncompiled

VDP = plants.get("van_der_pol")
GAINS = [3.6, 0.6, 3.2]
STEP_UP = sscq.Situation("step up", 1.0, excitation=Sine(0.5, 0.3), initial=(0.1, 0.0), t_end=1.6)


def recorded(situation=STEP_UP, law=None, gains=GAINS, step=0.02, plant=VDP):
    """Loop and record, run as plain Python."""
    loop = ClosedLoop(plant, law or PID(sample_time=0.04), (situation,), step, observe=True, lanes=1)
    with uncompiled():
        return loop.spec, recorder_of(loop)(gains)


def accounted(situation=STEP_UP, plant=VDP, change=None, **settings):
    """Account of a loop; `change` may falsify the record first."""
    spec, run = recorded(situation, plant=plant, **settings)
    return account(plant, spec, run if change is None else change(run), situation)


@pytest.mark.parametrize(
    "excitation",
    [Sine(0.5, 0.3), Step(0.4, at=0.8), WhiteNoise(0.3, hold=0.08) + Sine(0.5, 0.3)],
    ids=["smooth", "jump", "noise"],
)
def test_it_closes_with_the_order_of_the_integrator(excitation):
    """Simpson's rule on Hermite middles and RK4 are of order 4: halving the step divides the residual by about 16."""
    situation = replace(STEP_UP, excitation=excitation)
    found = [accounted(situation, step=h) for h in (0.04, 0.02, 0.01)]
    assert all(one.command_mismatch < 1e-14 for one in found)
    assert found[1].closes
    assert found[0].closure / found[1].closure == pytest.approx(16.0, rel=0.25)  # next order: a few percent per step
    assert found[1].closure / found[2].closure == pytest.approx(16.0, rel=0.25)


@pytest.mark.parametrize(
    "term", ["plant dissipation", "derivative action", "integral action", "disturbance", "sampling"]
)
def test_without_any_one_of_its_terms_it_does_not_close(term):
    found = accounted()
    missing = np.concatenate([[0.0], np.cumsum(found.terms[term])])
    assert np.abs(found.residual + missing).max() > 1e3 * np.abs(found.residual).max()
    assert np.abs(missing).max() > 1e-3 * found.turnover


def test_the_term_of_the_hold_is_of_first_order():
    """A sampled spring feeds kp (dq)^2 / 2 into every sample: half as much with half the sample time."""
    slow, fast = (accounted(law=PID(sample_time=h), step=h).terms["sampling"].sum() for h in (0.02, 0.01))
    assert slow > 0.0
    assert slow / fast == pytest.approx(2.0, rel=0.05)  # the rest is of second order in 0.02 s


def test_moving_gains_change_V():
    """kp rises from 3 to 6 in 1 s: kp' e^2 / 2 is put in, and the account says at which rate."""
    schedule = TimeGains((0.0, 1.0), "linear")
    law = Controller((PID(sample_time=0.02),), schedule)
    found = accounted(law=law, gains=[3.0, 0.6, 3.2, 6.0, 0.6, 3.2])
    assert found.closes
    e2 = (1.0 - recorded(law=law, gains=[3.0, 0.6, 3.2, 6.0, 0.6, 3.2])[1]["position"]) ** 2
    moving = found.time[:-1] < 1.0 - 1e-9
    expected = 0.5 * 3.0 * 0.02 * e2[1:][moving].sum()
    assert found.terms["change of kp"].sum() == pytest.approx(expected, rel=1e-9)
    assert found.slew_used == pytest.approx(3.0 * e2[1:][moving].sum() / e2[:-1].sum(), rel=1e-9)


def test_the_slew_limit_balances_the_dissipation():
    """With kp rising at the limit, <kp' e^2> / 2 is what plant and derivative action take out on average."""
    found = accounted()
    taken = -(found.terms["plant dissipation"].sum() + found.terms["derivative action"].sum())
    weight = 0.02 * ((1.0 - recorded()[1]["position"]) ** 2)[:-1].sum()
    assert 0.5 * found.slew_limit * weight == pytest.approx(taken, rel=1e-12)
    # Without derivative action the oscillator feeds energy in inside |q| < 1: no rise of kp can be paid for.
    fed = accounted(replace(STEP_UP, reference=0.3), gains=[3.6, 0.6, 0.0])
    assert fed.slew_limit < 0.0
    assert "none" in str(fed).partition("Slew limit")[2]


def test_limits_of_the_command_are_a_term():
    found = accounted(law=PID(limits=(-2.0, 2.0), sample_time=0.04))
    assert found.closes
    assert 0.0 < found.limited < 1.0
    assert abs(found.terms["limits"].sum()) > 0.01
    filtered = accounted(law=PID(sample_time=0.04, derivative_filter_time=0.1, rate_source="difference"))
    assert filtered.closes  # what filter and differences cost is in the sampling


def test_a_falsified_record_does_not_close():
    def other_gain(run):
        signals = run.signals.copy()
        signals[:, run.names.index("ki")] *= 1.01
        return replace(run, signals=signals)

    def other_state(run):
        signals = run.signals.copy()
        signals[40:, run.names.index("velocity")] *= 1.001
        return replace(run, signals=signals)

    assert accounted(change=other_gain).command_mismatch > 1e-5
    assert not accounted(change=other_gain).closes
    assert accounted(change=other_state).closure > 1e-5


def test_it_closes_for_nonlinear_inertia_too():
    found = accounted(plant=plants.get("nonlinear_inertia"))
    assert found.closes
    assert found.terms["plant dissipation"].max() <= 0.0  # this plant never feeds energy in
    numbers = found.numbers()
    assert sum(numbers["terms"].values()) == pytest.approx(numbers["end"] - numbers["start"], abs=1e-6)


def test_where_there_is_no_identity_it_says_why():
    with pytest.raises(ValueError, match="no force on a coordinate"):
        energy_lyapunov(plants.get("dc_motor"), PID(), GAINS, STEP_UP)
    with pytest.raises(ValueError, match="noise, delay|delay, noise"):
        energy_lyapunov(VDP, PID(), GAINS, replace(STEP_UP, noise=0.1, delay=0.1))
    with pytest.raises(ValueError, match="constant references"):
        accounted(replace(STEP_UP, reference=Sine(1.0, 0.3)))
    with pytest.raises(ValueError, match="diverges"):
        accounted(gains=[-90.0, 0.0, -20.0], situation=replace(STEP_UP, t_end=4.0), law=PID(limits=(-1e9, 1e9)))
    assert "set_point_weight" in not_available(VDP, PID(set_point_weight=0.5))
    assert "TwoDegreePID" in not_available(VDP, TwoDegreePID())
    jumping = replace(VDP, after_step=lambda t, x, u, w, p, h: x)
    assert "after_step" in not_available(jumping, PID())


def test_a_plant_that_is_not_collocated_is_found_out():
    """Declared on the position, but the command's power is twice what a force's would be."""
    plant = replace(VDP, name="lie", supplied_power=lambda t, x, u, w, p: (2.0 * u[0] + w[0] - w[0] * x[0]) * x[1],
                    channels=(Channel("position", "velocity", low=-20.0, high=20.0),))  # fmt: skip
    with pytest.raises(ValueError, match="declare collocated=False"):
        accounted(plant=plant)
