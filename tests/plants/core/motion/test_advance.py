"""A plant's own step map in place of an integrator, and disturbances that rest at other values than 0."""

import dataclasses
import math

import numpy as np
import pytest

import controllers
import plants
import sscq
from plants import Channel, OperatingPoint, Plant, Quantity
from plants.core.elementary import exp
from plants.core.motion.modes import scheme

RATE = 3.0


def derivative(t, x, u, w, p):
    return (w[0] * (u[0] - RATE * x[0]),)


def advance(t, x, u, w, p, h):
    """Exact for a held input."""
    rest = u[0] / RATE
    return (rest + (x[0] - rest) * exp(-w[0] * RATE * h),)


def plant(**fields):
    given = {
        "name": "relaxing",
        "states": (Quantity("y", "1", 1.0, -10.0, 10.0),),
        "inputs": (Quantity("u", "1"),),
        "disturbances": (Quantity("pace", "1", 0.1, 0.0, 10.0, "how fast it relaxes", rest=1.0),),
        "channels": (Channel(output="y"),),
        "derivative": derivative,
        "advance": advance,
        "energy": lambda t, x, u, w, p: 0.5 * x[0] * x[0],
        "supplied_power": lambda t, x, u, w, p: w[0] * u[0] * x[0],
        "entropy_rate": lambda t, x, u, w, p: w[0] * RATE * x[0] * x[0],
        "operating_points": (OperatingPoint("rest", (0.0,)),),
        "text": "A relaxing state.",
    }
    return Plant(**(given | fields))


def test_it_takes_the_integrators_place():
    """Exact at any step, where rk4 is not; sums are left sums; a disturbance that is not given rests at 1."""
    run = plants.simulate(plant(), 1.0, 0.25)
    np.testing.assert_allclose(run["y"], np.exp(-RATE * run.time), rtol=1e-14)
    assert plants.simulate(dataclasses.replace(plant(), advance=None), 1.0, 0.25)["y"][-1] != run["y"][-1]
    np.testing.assert_allclose(run.entropy[1:], np.cumsum(0.25 * RATE * run["y"][:-1] ** 2), rtol=1e-14)
    assert (run["pace"] == 1.0).all()
    assert plants.simulate(plant(), 1.0, 0.25, disturbances={"pace": 2.0})["y"][-1] == pytest.approx(math.exp(-6.0))
    assert run.evaluations == 4
    assert scheme(plant(), "rk4") == "own step map"


def test_it_moves_closed_loops():
    situation = sscq.Situation(name="s", reference=0.5, t_end=1.0)
    record = sscq.record(plant(), controllers.PID(), (2.0, 0.0, 0.0), situation, step=0.25)
    y = 1.0
    for k in range(5):
        assert record["y"][k] == pytest.approx(y, rel=1e-14)
        rest = 2.0 * (0.5 - y) / RATE
        y = rest + (y - rest) * math.exp(-RATE * 0.25)


@pytest.mark.parametrize(
    ("options", "told"), [({"integrator": "heun"}, "integrator='heun'"), ({"algebraic_loop": "iterated"}, "'iterated'")]
)
def test_integrators_and_loop_modes_are_refused(options, told):
    with pytest.raises(ValueError, match=f"step map of its own.*{told}.*advance=None"):
        plants.simulate(plant(), 1.0, 0.25, **options)


def test_linear_models_and_continuous_loops_use_the_equations():
    assert plants.linearise(plant(), "rest").A[0, 0] == pytest.approx(-RATE)
    loop = plants.close(plant(), controllers.PID(), (2.0, 0.0, 0.0), 0.5)
    assert loop.advance is None
    run = plants.simulate(loop, 1.0, 0.01)
    assert run["y"][-1] == pytest.approx(0.2 + 0.8 * math.exp(-5.0), rel=1e-6)


def test_a_check_compares_the_two():
    report = plants.check(plant())
    assert report.ok, str(report)
    assert "advance goes to derivative as the step goes to 0" in report.passed

    def other(t, x, u, w, p, h):
        return (x[0] + h * 1.1 * derivative(t, x, u, w, p)[0],)

    report = plants.check(plant(advance=other))
    assert any("advance does not approximate derivative" in problem for problem in report.problems)
    report = plants.check(plant(advance=lambda t, x, u, w, p, h: (x[0], 0.0)))
    assert any("advance must return 1" in problem for problem in report.problems)


def test_a_situations_disturbances_rest():
    signals = sscq.Situation(name="s", reference=0.0).excitations(plant())
    assert signals[0].parts
    assert plant().calm() == (1.0,)
    assert dataclasses.replace(plant(), disturbances=()).calm() == ()
