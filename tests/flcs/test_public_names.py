"""The names that others build on: the sequence of the manual on the Van der Pol oscillator, with tiny budgets."""

import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import controllers
import flcs
import plants
import sscq
from controllers import tuning

ROOT = Path(__file__).parents[2]
STEP = 0.02
SITUATIONS = (
    sscq.Situation(name="step up", reference=1.5, initial=(0.1, 0.0), t_end=3.0, seed=1),
    sscq.Situation(name="return to rest", reference=0.0, initial=(2.0, 0.0), t_end=3.0, seed=2),
)


@pytest.fixture(scope="module")
def plant():
    return plants.get("van_der_pol")


@pytest.fixture(scope="module")
def result(plant):
    """One search with its teaching signal."""
    return sscq.optimize(
        plant, controllers.PID(limits=(-20.0, 20.0)), SITUATIONS, ga=sscq.GeneticAlgorithm(population=16, generations=3),
        seed=0, step=STEP, threads=1,
        teacher=sscq.Teacher(
            window=0.5, horizon=1.0, continuations=1,
            search=sscq.GeneticAlgorithm(population=6, generations=2, stall_generations=None),
        ),
    )  # fmt: skip


def test_a_search_becomes_a_knowledge_base_and_a_controller(plant, result, tmp_path):
    pid = controllers.PID(limits=(-20.0, 20.0))
    kb = flcs.design(
        result.teaching_signal, result.low, result.high, result.gains, plant=plant, laws=pid, tick=4 * STEP
    )
    inputs = np.array([[0.0, 0.0], [1.5, -0.5], [90.0, 0.0]])
    gains = kb.gains(inputs)
    assert gains.shape == (3, 3)
    np.testing.assert_allclose(gains[2], result.gains, rtol=1e-12)  # far outside: the reference gains
    kb.save(tmp_path / "kb.json")
    again = flcs.KnowledgeBase.load(tmp_path / "kb.json")
    np.testing.assert_array_equal(again.gains(inputs), gains)
    quality = sscq.evaluate(plant, flcs.FuzzyController(again), None, SITUATIONS, step=STEP)
    assert quality.iae.shape == (2, 1)
    assert not quality.failed.any()
    run = sscq.record(plant, flcs.FuzzyController(again), None, SITUATIONS[0], step=STEP)
    first = run.group("gains")[0]  # at rest, with the error of the step
    np.testing.assert_allclose(first, kb.gains([[1.4, 0.0]])[0], rtol=1e-9)


def test_the_result_is_what_it_says(plant, result):
    assert result.gains.shape == (3,)
    assert (result.low <= result.gains).all()
    assert (result.gains <= result.high).all()
    np.testing.assert_array_equal(result.high, plant.channels[0].gains_high)  # the box that the plant declares
    assert result.history.best[-1] == result.fitness
    assert (np.diff(result.history.best) <= 0.0).all()
    assert result.teaching_signal.gain_names == ("kp", "ki", "kd")
    assert len(result.teaching_signal) == 2 * 6  # two situations of six windows
    pid = controllers.PID(limits=(-20.0, 20.0))
    quality = sscq.evaluate(plant, pid, result.gains, SITUATIONS, step=STEP)
    # the best gains keep the margins, so nothing but the fitness itself is left of the value
    assert result.criterion(quality)[0] == pytest.approx(result.fitness, rel=1e-12)
    assert set(result.criterion.reference) == {"iae", "entropy_difference_abs"}


def test_the_quality_has_the_promised_measures(plant):
    quality = sscq.evaluate(plant, controllers.PID(), np.ones((3, 3)), SITUATIONS, STEP, "rk4", "solved")
    for name in (
        "ise", "iae", "itae", "effort", "total_variation", "overshoot", "settling_time", "entropy_plant",
        "entropy_controller", "entropy_difference", "entropy_difference_abs", "diverged_at",
    ):  # fmt: skip
        assert getattr(quality, name).shape == (2, 3), name


def test_a_plant_simulates_as_promised(plant):
    run = plants.simulate(
        plant, t_end=0.2, step=STEP, initial=None, parameters=None, inputs=None, disturbances=None, integrator="rk4",
        algebraic_loop="solved", seed=0,
    )  # fmt: skip
    shapes = [np.shape(part) for part in (run.time, run.states, run.outputs, run.entropy)]
    assert shapes == [(11,), (11, 2), (11, 2), (11,)]
    assert plant.derivative(0.0, (0.5, 1.0), (0.0,), (0.0,), (1.0,)) == (1.0, 0.25)
    assert [(q.name, q.unit, q.nominal) for q in plant.parameters] == [("mu", "N s/m", 1.0)]


PROMISED = {
    plants: "names get register check simulate close linearise Plant Quantity Channel OperatingPoint DivergedError",
    controllers: "PID TwoDegreePID Controller ConstantGains GainTable tuning",
    tuning: "simc amigo ziegler_nichols",
    sscq: "Situation evaluate record optimize GeneticAlgorithm Fitness TeachingSignal Teacher Quality MarginLimits",
    flcs: "design KnowledgeBase FuzzyController NetworkConfig",
}


@pytest.mark.parametrize("package", PROMISED, ids=lambda package: package.__name__)
def test_the_promised_names_are_there(package):
    for name in PROMISED[package].split():
        assert callable(getattr(package, name)) or inspect.ismodule(getattr(package, name)), name
        assert name in package.__all__, name


@pytest.mark.parametrize(
    ("what", "promised"),
    [
        (plants.simulate, "plant t_end step initial parameters inputs disturbances integrator algebraic_loop seed"),
        (sscq.evaluate, "plant controller gains situations step integrator algebraic_loop"),
        (sscq.record, "plant controller gains situation step"),
        (sscq.optimize, "plant controller situations ga seed"),
    ],
)
def test_the_promised_arguments_come_first(what, promised):
    assert list(inspect.signature(what).parameters)[: len(promised.split())] == promised.split()


@pytest.mark.parametrize(
    ("what", "promised"),
    [
        (sscq.Situation, "name reference excitation parameters delay noise initial t_end seed"),
        (controllers.PID, "limits rate_limit derivative_filter_time sample_time action"),
    ],
)
def test_the_promised_settings_are_known(what, promised):
    assert set(promised.split()) <= set(inspect.signature(what).parameters)


def test_an_unknown_name_is_no_attribute():
    with pytest.raises(AttributeError, match="module 'sscq' has no attribute 'optimise'"):
        _ = sscq.optimise


def test_functions_stay_functions_after_their_modules_are_imported():
    code = "import sscq.optimize, sscq.loop.evaluate, sscq; assert callable(sscq.optimize) and callable(sscq.evaluate)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_importing_is_light():
    code = (
        "import sys, sscq; heavy = {'numba', 'llvmlite', 'scipy', 'torch', 'deap', 'hydra', 'skfuzzy', 'matplotlib'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "[]\n"
