"""Every registered plant keeps its contract, and moves as equations written anew for this test say."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import plants
from plants.core.check_blocks import Sample
from plants.core.check_motion import _powers
from plants.core.replay import replay
from plants.excitation import GaussianFilter, Recorded, Sine, Step

FORCE, EXCITATION = Sine(0.6, 0.21, 0.4), Sine(0.15, 0.13, 1.0)
T_END = 8.0
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module", params=plants.names())
def report(request):
    return plants.check(plants.get(request.param))


def test_it_keeps_its_contract(report):
    assert report.ok, str(report)
    # A plant whose modes are all at 0 (an integrator) has no fastest mode that a step could follow from.
    assert report.step is not None or any("no mode of its own" in line for line in report.advice)
    assert report.step is None or report.step > 0.0
    assert any("converges with order" in line for line in report.passed)


def test_its_energy_balance_closes(report):
    plant = plants.get(report.plant)
    if plant.energy is None:
        pytest.skip("no energy declared")
    (line,) = (line for line in report.passed if "energy balance closes" in line)
    assert float(line.split("closes to ")[1].split()[0]) <= 1e-6


@pytest.mark.parametrize("name", plants.names())
def test_energy_is_balanced_at_every_state_also_of_other_plants(name):
    """Rate of energy along the motion = supplied - dissipated, with all parameters moved: up to rounding."""
    plant, rng = plants.get(name), np.random.default_rng(3)
    if plant.energy is None:
        pytest.skip("no energy declared")
    sample = Sample.draw(plant, 64, rng)
    moved = (np.where(q.nominal == 0.0, 0.2, q.nominal) * rng.uniform(0.7, 1.3, 64) for q in plant.parameters)
    p = [np.clip(values, q.low, q.high) for values, q in zip(moved, plant.parameters, strict=True)]
    powers = replay(_powers(plant), sample.t, *sample.x, *sample.u, *sample.w, *p)
    gained, supplied, entropy = (np.broadcast_to(value, 64) for value in powers)
    # Sums of some ten terms; those that cancel within the rates may be larger than the powers: 1e4 roundings.
    np.testing.assert_allclose(gained, supplied - entropy, atol=1e-12 * np.abs([gained, supplied, entropy]).max())


def powers(name, *, driven=True):
    """Supplied power and entropy rate [W] at states inside the bounds; without inputs and disturbances unless driven."""
    plant = plants.get(name)
    sample = Sample.draw(plant, 400, np.random.default_rng(1))
    signals = [values if driven else 0.0 * values for values in (*sample.u, *sample.w)]
    _, supplied, entropy = replay(_powers(plant), sample.t, *sample.x, *signals, *sample.p)
    return sample, np.broadcast_to(supplied, 400), np.broadcast_to(entropy, 400)


@pytest.mark.parametrize("name", plants.names())
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
}


@pytest.mark.parametrize("name", [name for name in plants.names() if name not in FED])
def test_nothing_is_supplied_where_nothing_acts(name):
    """So that with the balance the entropy rate is the energy lost: the balance alone knows the difference of the two."""
    _, supplied, _ = powers(name, driven=False)
    np.testing.assert_array_equal(supplied, 0.0)


@pytest.mark.parametrize(
    "name", [name for name in plants.names() if plants.get(name).allocate and plants.get(name).operating_points]
)
def test_no_command_holds_the_nominal_point(name):
    """As the plants' page says: the bias is in `allocate`; up to rounding in the solved input."""
    plant = plants.get(name)
    point = plant.operating_points[0]
    np.testing.assert_allclose(point.state, plant.initial(), rtol=1e-12)
    model = plants.linearise(plant, point, commands=True)
    np.testing.assert_allclose(model.input, 0.0, atol=1e-9 * max(1.0, *(q.nominal for q in plant.inputs)))


STEPS = dict(
    re.findall(r"^\| `(\w+)` \|.*?\| ([\d.]+) \|", (ROOT / "docs" / "plants.md").read_text("utf-8"), re.MULTILINE)
)


def test_the_table_of_plants_lists_all():
    assert sorted(STEPS) == sorted(plants.names())


def test_the_tables_step_is_accurate(report):
    assert report.step is None or float(STEPS[report.plant]) <= report.step


def sine(part, t):
    return part.amplitude * np.sin(2.0 * np.pi * part.frequency * t + part.phase)


def van_der_pol(t, s, mu):
    q, v = s
    f, xi = sine(FORCE, t), sine(EXCITATION, t)
    return [v, f + xi - mu * (q**2 - 1.0) * v - (1.0 + xi) * q]


def nonlinear_inertia(t, s, a1, a2, a3, a4):
    """d/dt (dL/dv) - dL/dq = Q with L = (1 + a3 q^2) v^2 / 2 - q^2 / 2 - a2 q^4 / 4: no algebraic loop to solve."""
    q, momentum = s
    f, xi = sine(FORCE, t), sine(EXCITATION, t)
    v = momentum / (1.0 + a3 * q**2)
    return [v, a3 * q * v**2 - q - a2 * q**3 - (a1 * q**2 + a4) * v - xi * q + f + xi]


def to_momentum(state, a3):
    return state[0], state[1] * (1.0 + a3 * state[0] ** 2)


SIGNALS = {"inputs": (FORCE,), "disturbances": (EXCITATION,)}


def simulated(name, initial, parameters, step=0.005):
    return plants.simulate(plants.get(name), T_END, step, initial, parameters, **SIGNALS).states[-1]


def integrated(equations, initial, parameters):
    options = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-12}
    return solve_ivp(equations, (0.0, T_END), initial, args=parameters, **options).y[:, -1]


# rk4 at 5 ms on motions with rates of a few 1/s is accurate to (0.02)^4, some 1e-8; measured 1e-10 to 4e-9.
def test_van_der_pol_moves_as_independently_derived():
    expected = integrated(van_der_pol, (1.5, -0.8), (2.0,))
    np.testing.assert_allclose(simulated("van_der_pol", (1.5, -0.8), {"mu": 2.0}), expected, rtol=0.0, atol=3e-8)


def test_nonlinear_inertia_moves_as_its_lagrangian_says():
    a = (0.3, 0.2, 0.7, 0.1)
    initial = (1.8, 0.5)
    expected = integrated(nonlinear_inertia, to_momentum(initial, a[2]), a)
    state = simulated("nonlinear_inertia", initial, a)
    np.testing.assert_allclose(to_momentum(state, a[2]), expected, rtol=0.0, atol=3e-8)


def test_first_order_process_moves_as_the_text_book_says():
    """Each sine arrives weaker by sqrt(1 + (w T)^2) and later by atan(w T); the rest decays with T."""
    gain, T, start = 1.5, 0.8, 0.4

    def settled(t):
        turns = [(part, 2.0 * np.pi * part.frequency) for part in (FORCE, EXCITATION)]
        return sum(
            gain * s.amplitude / np.hypot(1.0, w * T) * np.sin(w * t + s.phase - np.arctan(w * T)) for s, w in turns
        )

    expected = settled(T_END) + (start - settled(0.0)) * np.exp(-T_END / T)
    state = simulated("fopdt", (start,), {"K": gain, "T": T, "L": 0.0})
    np.testing.assert_allclose(state, [expected], rtol=0.0, atol=3e-8)


DELAYED = {
    "smooth": Sine(1.3, 0.4, 0.7),
    "constant": 0.8,
    "step": Step(1.0, at=0.5),
    "recorded": Recorded((0.0, 0.5, 1.0), (0.2, 1.0, -1.0)),
    "random": GaussianFilter(0.3, 5.0),
    "array": np.linspace(1.0, -1.0, 41),
}


@pytest.mark.parametrize("kind", DELAYED)
def test_dead_time_shifts_what_reaches_the_plant(kind):
    """After seven steps of dead time, at rest until then, the output is what it would have been seven steps before."""
    given = DELAYED[kind]
    inputs = given if isinstance(given, np.ndarray) else (given,)
    late, soon = (
        plants.simulate(plants.get("fopdt"), 2.0, 0.05, parameters={"L": dead}, inputs=inputs, seed=4)["output"]
        for dead in (0.35, 0.0)
    )
    assert (late[:8] == 0.0).all()
    assert np.abs(soon).max() > 0.1
    np.testing.assert_allclose(late[7:], soon[:-7], atol=1e-13)


def test_a_dead_time_between_steps_keeps_the_integral_of_a_held_input():
    """K / T times the integral of the input is what the output of a slow plant has gathered."""
    slow = {"T": 1e3, "K": 1e3}
    held = Recorded((0.0, 0.5, 1.0), (1.0, 3.0, 0.0))
    for dead in (0.3, 0.32, 0.349):
        run = plants.simulate(plants.get("fopdt"), 3.0, 0.05, parameters={"L": dead, **slow}, inputs=(held,))
        assert run["output"][-1] == pytest.approx(2.0, rel=4e-3)  # decays by a part of 3 s / T
        area = np.trapezoid(run["output"], run.time)  # of the ramps that begin at L, L + 0.5, L + 1
        begin = 1.0 * (3.0 - dead) ** 2 / 2 + 2.0 * (2.5 - dead) ** 2 / 2 - 3.0 * (2.0 - dead) ** 2 / 2
        assert area == pytest.approx(begin, rel=4e-3)
