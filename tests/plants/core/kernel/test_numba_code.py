"""SSCQ_COMPILER=numba: another compiler gives the same bits for kernels of all families."""

import numpy as np
import pytest

import plants
from benchmarks.engine.compilation import rules
from controllers import PID, TwoDegreePID
from flcs import FuzzyController
from plants.excitation import WhiteNoise
from sscq import Situation, evaluate
from sscq.loop.closed_loop import ClosedLoop

STILL = Situation("still", reference=0.4, t_end=1.0)
NOISY = Situation("noisy", reference=0.4, t_end=1.0, noise=0.01, delay=0.035, excitation=WhiteNoise(0.3, hold=0.05))
CASES = {
    "PID": ("van_der_pol", PID(), STILL),
    "2-DOF, noise and delay": ("van_der_pol", TwoDegreePID(), NOISY),
    "9 rules": ("van_der_pol", FuzzyController(rules(3)), STILL),
    "accelerations from a mass matrix": ("cart_pole", PID(), Situation("start", t_end=0.5)),
}
VEHICLES = {
    "full car": ("suspension", None, Situation("start", t_end=0.05)),
    "unicycle": ("unicycle", None, Situation("start", t_end=0.05)),
}


def measured(name):
    plant_name, controller, situation = (CASES | VEHICLES)[name]
    plant = plants.get(plant_name)
    laws = tuple(PID() for _ in plant.channels) if controller is None else controller
    loop = ClosedLoop(plant, laws, (situation,), 0.01 if plant.step is None else plant.step)
    base = np.asarray(getattr(laws, "theta", np.ones(len(loop.spec.controller.theta_names))))
    theta = base * np.random.default_rng(0).uniform(0.9, 1.1, (18, 1))
    return np.stack(list(loop.evaluate(theta, 1).until_lost.values()))


def assert_same_bits(name, monkeypatch):
    ours = measured(name)
    monkeypatch.setenv("SSCQ_COMPILER", "numba")
    theirs = measured(name)
    assert np.isfinite(ours).all()
    assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("name", CASES)
def test_numba_gives_the_same_bits(name, monkeypatch):
    assert_same_bits(name, monkeypatch)


@pytest.mark.slow  # Numba takes minutes for a vehicle
@pytest.mark.parametrize("name", VEHICLES)
def test_numba_gives_the_same_bits_for_vehicles(name, monkeypatch):
    assert_same_bits(name, monkeypatch)


def test_other_names_are_refused(monkeypatch):
    monkeypatch.setenv("SSCQ_COMPILER", "gcc")
    with pytest.raises(
        ValueError, match=r"SSCQ_COMPILER names no compiler: 'gcc' \(known: numba; empty: the project's own\)"
    ):
        evaluate(plants.get("van_der_pol"), PID(), [[1.0, 0.1, 1.0]], STILL)
