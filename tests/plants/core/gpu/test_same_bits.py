"""The text for a GPU, run on the CPU, gives the bits of the lanes; noise differs by rounding of three functions."""

import numpy as np
import pytest

import plants
from benchmarks.engine.compilation import rules
from controllers import PID
from flcs import FuzzyController
from plants.core.gpu import driver
from plants.excitation import PRBS, Recorded, WhiteNoise
from sscq import Situation, evaluate
from sscq.loop import closed_loop
from sscq.loop.closed_loop import ClosedLoop
from tests.plants.core.gpu.emulated import on_cpu

NOISE_ROUNDING = 1e-12  # relative: one rounding of each sample, summed over some hundred steps of stable loops
STILL = Situation("still", reference=0.4)
LATE = Situation("late", reference=0.4, delay=0.035, output_delay=0.02)
SERIES = Recorded((0.0, 0.3, 0.7, 1.0), (0.0, 0.3, -0.2, 0.1))
NOISY = Situation("noisy", reference=0.4, noise=0.01, excitation=WhiteNoise(0.3, hold=0.05))


@pytest.fixture
def emulated(monkeypatch):
    monkeypatch.setattr(closed_loop, "on_gpu", on_cpu)


def both(plant, controller, gains, situations, step=0.01, **settings):
    """Measures of the lanes and of the text for a GPU, by name."""
    found = [evaluate(plant, controller, gains, situations, step, device=d, **settings) for d in ("cpu", "cuda")]
    return {name: [one.until_lost[name] for one in found] for name in found[0].until_lost}


def gains(n=5, channels=1):
    return np.random.default_rng(1).uniform(0.2, 3.0, (n, 3 * channels))


def short(*situations, t_end=1.5):
    return [s.__class__(**{**vars(s), "t_end": t_end}) for s in situations]


@pytest.mark.parametrize("name", ["van_der_pol", "cstr", "cart_pole", "planar_quadrotor"])
def test_plants_have_the_same_bits(name, emulated):
    plant = plants.get(name)
    laws = tuple(PID() for _ in plant.channels)
    step = 0.01 if plant.step is None else plant.step
    found = both(plant, laws, gains(3, len(laws)), [Situation("start", t_end=120 * step)], step)
    assert [name for name, (lanes, one) in found.items() if not np.array_equal(lanes, one, equal_nan=True)] == []


@pytest.mark.parametrize("n", [3, 7])
@pytest.mark.parametrize("situation", [STILL, LATE])
def test_rules_have_the_same_bits(n, situation, emulated):
    controller = FuzzyController(rules(n))
    theta = np.asarray(controller.theta) * np.random.default_rng(2).uniform(0.9, 1.1, (3, len(controller.theta)))
    found = both(plants.get("van_der_pol"), controller, theta, short(situation))
    assert all(np.array_equal(*pair, equal_nan=True) for pair in found.values())


def test_sampled_laws_and_recorded_loads_have_the_same_bits(emulated):
    law = PID(sample_time=0.02, derivative_filter_time=0.05)
    recorded = Situation("recorded", reference=0.4, excitation=SERIES, delay=0.05, dropout=0.0)
    found = both(plants.get("van_der_pol"), law, gains(), short(LATE, recorded))
    assert all(np.array_equal(*pair, equal_nan=True) for pair in found.values())


def test_lost_rollouts_end_alike(emulated):
    plant, theta = plants.get("magnetic_levitation"), [[0.0, 0.0, 0.0], [-500.0, 0.0, 0.0]]
    found = [evaluate(plant, PID(), theta, Situation("fall"), 0.001, device=d).diverged_at for d in ("cpu", "cuda")]
    assert np.isfinite(found[0]).any()
    assert np.array_equal(*found, equal_nan=True)


def test_noise_differs_by_rounding_alone(emulated):
    jumps = Situation("jumps", reference=0.4, noise=0.02, excitation=PRBS(0.2, hold=0.1))
    found = both(plants.get("van_der_pol"), PID(), gains(), short(NOISY, jumps, t_end=6.0))
    for lanes, one in found.values():
        assert np.allclose(lanes, one, rtol=NOISE_ROUNDING, atol=1e-13, equal_nan=True)
    assert np.ptp(found["iae"][1][0]) > 0.0


def test_other_streams_are_other_noise(emulated):
    """The check above could not fail if there were no noise."""
    quiet, loud = (
        evaluate(plants.get("van_der_pol"), PID(), gains(), s, device="cuda").until_lost["iae"] for s in (STILL, NOISY)
    )
    assert not np.allclose(quiet, loud, rtol=1e-3)


def test_without_a_driver_a_sentence_says_so(monkeypatch):
    monkeypatch.setattr(driver, "LIBRARIES", ("there-is-no-such-library.so",))
    driver.forget()
    with pytest.raises(driver.NoGpuError, match=r"no NVIDIA driver here.*leave device=cuda out"):
        evaluate(plants.get("van_der_pol"), PID(), gains(), STILL, device="cuda")
    driver.forget()


def test_other_devices_are_refused_by_name():
    with pytest.raises(ValueError, match=r"no device 'cdua'; did you mean 'cuda'\?"):
        evaluate(plants.get("van_der_pol"), PID(), gains(), STILL, device="cdua")


def test_recorded_runs_stay_on_the_cpu():
    loop = ClosedLoop(plants.get("van_der_pol"), PID(), (STILL,), 0.01, device="cuda", observe=True)
    with pytest.raises(ValueError, match="for results alone"):
        loop.evaluate(gains())
