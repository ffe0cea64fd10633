"""Algebraic loops inside closed loops: counted and reported on a record, and a failed iteration stops one rollout."""

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from plants import Channel, Plant, Quantity
from plants.core.elementary import where
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.record import Recorder
from tests.reference.closed_loop_twin import uncompiled

INERTIA = plants.get("nonlinear_inertia")
STEP = sscq.Situation(name="step", reference=1.2, t_end=0.5)


@pytest.mark.parametrize(
    ("mode", "evaluations"), [("solved", 100), ("loop_free", 100), ("iterated_exact", 200), ("iterated", 400)]
)
def test_a_record_counts_evaluations_and_reports_the_gain(mode, evaluations):
    with uncompiled():
        run = sscq.record(INERTIA, PID(), (3.0, 0.5, 2.0), STEP, 0.01, "heun", mode)
    # Two passes a stage where one changes something: all stages but the first ones, which start from rest.
    assert run.evaluations == run.loop.evaluations == pytest.approx(evaluations, rel=0.03)
    assert run.loop.mode == mode
    assert run.loop.gain == pytest.approx(0.4 * np.abs(run["position"]).max() ** 2)
    assert (run.loop.iterations is None) == (not mode.startswith("iterated"))
    assert (run.loop.growth is None) == (mode != "loop_free")


def test_a_closed_loop_beyond_the_gain_of_its_form_warns():
    far = sscq.Situation(name="far", reference=1.0, initial=(1.8, 0.0), t_end=0.05)
    with uncompiled(), pytest.warns(plants.LoopGainWarning, match="'nonlinear_inertia' is 1.296 at t = 0 s, position"):
        sscq.record(INERTIA, PID(), (1.0, 0.0, 1.0), far, 0.01, algebraic_loop="loop_free_relaxed")


def acceleration(t, x, a, u, w, p):
    """A mass; beyond 0.5 m its equation asks for a^2 = -1."""
    return (where(x[0] - 0.5, a[0] + a[0] * a[0] + 1.0, u[0] - 0.2 * a[0]),)


HINGED = Plant(
    name="hinged", states=(Quantity("place", "m"), Quantity("speed", "m/s")), inputs=(Quantity("push", "N"),),
    channels=(Channel(output="place", rate="speed", low=-20.0, high=20.0),), acceleration=acceleration,
)  # fmt: skip


def test_an_iteration_that_fails_stops_its_rollout_alone():
    modes = ("iterated_exact", "gauss_seidel")
    near, beyond = (3.0, 0.0, 4.0), (60.0, 0.0, 0.0)
    situation = sscq.Situation(name="up", reference=0.4, t_end=1.0)
    with uncompiled():
        for mode in modes:
            options = {"algebraic_loop": mode, "integrator": "euler", "measures": ("iae",)}
            both = ClosedLoop(HINGED, PID(), (situation,), 0.01, lanes=2, **options).evaluate(np.array([near, beyond]))
            alone = ClosedLoop(HINGED, PID(), (situation,), 0.01, lanes=1, **options).evaluate(np.array([near]))
            assert np.isnan(both.diverged_at[0, 0])
            assert 0.05 < both.diverged_at[0, 1] < 0.6
            assert both.iae[0, 0] == alone.iae[0, 0]
        recorder = Recorder(HINGED, PID(), (situation,), 0.01, "euler", modes[0])
        failed, good = recorder(beyond), recorder(near)
    assert "the equation of the acceleration of 'place' (rate of 'speed') keeps" in failed.loop.iterations.failure
    end = both.diverged_at[0, 1]
    assert f"in the step from t = {end:.6g} s at place = 0.5" in failed.loop.iterations.failure
    assert good.loop.iterations.failure == ""
