"""Every registered plant keeps its contract, loses what it says, and has a step that is accurate."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import plants
from plants.core.blocks import BlockSample
from plants.core.checks.motion import _moved, _powers
from plants.core.motion.integrators import rk4
from plants.core.replay import replay

ROOT = Path(__file__).resolve().parents[4]


# Half the time is the balancing vehicles': they are in a file of their own, for another process.
# Tasks of one plant have its physics: they are slow.
def once(names):
    """Return plants and tasks as parameters; a task of a plant is slow."""
    return [pytest.param(name, marks=[pytest.mark.slow] if ":" in name else []) for name in names]


OTHERS = once(name for name in plants.names(tasks=True) if not name.startswith("balancing_vehicle"))


@pytest.fixture(scope="module", params=OTHERS)
def report(request):
    return plants.check(plants.get(request.param))


def test_it_keeps_its_contract(report):
    assert report.ok, str(report)
    # A plant whose modes are all at 0 (an integrator) has no fastest mode that a step could follow from.
    assert report.step is not None or any("no mode of its own" in line for line in report.advice)
    assert report.step is None or report.step > 0.0
    # Tyres that only push give a right side with corners, which the check's runs cross: no order to be seen.
    assert any("converges with order" in line for line in report.passed) or "unilateral" in report.plant


@pytest.mark.parametrize("name", plants.names(tasks=True))
def test_energy_is_balanced_at_every_state_also_of_other_plants(name):
    """Rate of energy along the motion = supplied - dissipated, with all parameters moved: up to rounding."""
    plant, rng = plants.get(name), np.random.default_rng(3)
    if plant.energy is None:
        pytest.skip("no energy declared")
    sample = BlockSample.draw(plant, 64, rng)
    moved = (np.where(q.nominal == 0.0, 0.2, q.nominal) * rng.uniform(0.7, 1.3, 64) for q in plant.parameters)
    p = [np.clip(values, q.low, q.high) for values, q in zip(moved, plant.parameters, strict=True)]
    powers = replay(_powers(plant), sample.t, *sample.x, *sample.u, *sample.w, *p)
    gained, supplied, entropy = (np.broadcast_to(value, 64) for value in powers)
    # Sums of some ten terms; those that cancel within the rates may be larger than the powers: 1e4 roundings.
    np.testing.assert_allclose(gained, supplied - entropy, atol=1e-12 * np.abs([gained, supplied, entropy]).max())


def powers(name, *, driven=True):
    """Supplied power and entropy rate [W] at states inside the bounds; without inputs and disturbances unless driven."""
    plant = plants.get(name)
    sample = BlockSample.draw(plant, 400, np.random.default_rng(1))
    signals = [values if driven else 0.0 * values for values in (*sample.u, *sample.w)]
    _, supplied, entropy = replay(_powers(plant), sample.t, *sample.x, *signals, *sample.p)
    return sample, np.broadcast_to(supplied, 400), np.broadcast_to(entropy, 400)


@pytest.mark.parametrize("name", plants.names(tasks=True))
def test_entropy_is_produced_and_never_destroyed(name):
    """But by Van der Pol's damping, which feeds in energy within |q| < 1: it has a source that is not modelled."""
    sample, _, entropy = powers(name)
    if name == "van_der_pol":
        position, velocity = sample.x
        np.testing.assert_array_equal(entropy < 0.0, (np.abs(position) < 1.0) & (velocity != 0.0))
    else:
        assert (entropy >= 0.0).all()


FED = {
    "ball_and_beam": "the servo pulls the beam to the commanded angle",
    "quarter_car": "the road returns to level",
    "two_tanks": "the water of the upper tank falls into the lower one",
    "heater": "heat leaves with its exergy",
    "cstr": "flow, jacket and reaction",
    "cstr_bequette": "as in cstr",
    "cstr_dimensionless": "as in cstr",
    "equal_percentage_valve": "water and steam bring exergy",
    "ph_neutralisation": "acid and buffer bring free energy",
    "balancing_vehicle": "the ground throws a pressed wheel back and straightens bristles",
    "balancing_vehicle:slippery": "as in balancing_vehicle",
    "balancing_vehicle_rigid": "as in balancing_vehicle",
}


@pytest.mark.parametrize("name", [name for name in plants.names(tasks=True) if name not in FED])
def test_nothing_is_supplied_where_nothing_acts(name):
    """So that with the balance the entropy rate is the energy lost: the balance alone knows the difference of the two."""
    _, supplied, _ = powers(name, driven=False)
    np.testing.assert_array_equal(supplied, 0.0)


LEANS = {"cart_pole"}  # its nominal state is a start beside the upright rest


@pytest.mark.parametrize(
    "name",
    [name for name in plants.names(tasks=True) if plants.get(name).allocate and plants.get(name).operating_points],
)
def test_no_command_holds_the_nominal_point(name):
    """As the plants' page says: the bias is in `allocate`; up to rounding in the solved input."""
    plant = plants.get(name)
    point = plant.operating_points[0]
    if name not in LEANS:
        np.testing.assert_allclose(point.state, plant.initial(), rtol=1e-12)
    model = plants.linearise(plant, point, commands=True)
    np.testing.assert_allclose(model.input, 0.0, atol=1e-9 * max(1.0, *(q.nominal for q in plant.inputs)))


STEPS = dict(
    re.findall(
        r"^\| `([\w:]+)` \|.*?\| ([\d.]+) \|",
        (ROOT / "docs" / "reference" / "plants.md").read_text("utf-8"),
        re.MULTILINE,
    )
)


def test_the_recommended_step_is_accurate(report):
    """A tenth of the fastest mode's time: ten steps of rk4 are right to 1e-5 of each state (measured: at most 6e-6)."""
    plant, step = plants.find(report.plant), report.step or 0.1
    u, w, p = tuple(q.nominal for q in plant.inputs), plant.calm(), plant.nominal()

    def rates(t, x):
        return tuple(plant.derivative(t, tuple(x), u, w, p))

    start = tuple(_moved(q, 1.0 if k % 2 == 0 else -1.0) for k, q in enumerate(plant.states))
    path = solve_ivp(rates, (0.0, 10.0 * step), start, "DOP853", rtol=1e-12, atol=1e-14).y
    x = start
    for k in range(10):
        x = rk4(rates, k * step, x, step)
    np.testing.assert_allclose((x - path[:, -1]) / np.abs(path).max(axis=1), 0.0, atol=1e-5)


def test_the_table_of_plants_lists_all_with_their_steps():
    assert {name: float(step) for name, step in STEPS.items()} == {
        n: plants.get(n).step for n in plants.names(tasks=True)
    }


def test_a_plants_own_step_is_accurate(report):
    plant = plants.find(report.plant)
    if plant.advance is not None:
        pytest.skip("its step map's accuracy is told by its own tests")
    assert report.step is None or plant.step <= report.step
