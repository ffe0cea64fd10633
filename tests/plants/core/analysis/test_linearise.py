"""Linear models about an equilibrium: by hand, by differences, and the refusals where there is none."""

from dataclasses import replace

import numpy as np
import pytest

import plants
from plants import Channel, OperatingPoint, Plant, Quantity
from plants.core.analysis.slopes import Slopes
from plants.core.elementary import maximum, sqrt

VDP, INERTIA = plants.get("van_der_pol"), plants.get("nonlinear_inertia")


@pytest.mark.parametrize("q", [-1.5, 0.0, 0.5, 2.0])
def test_van_der_pol_by_hand(q):
    model = plants.linearise(VDP, (q, 0.0), {"mu": 2.0}, disturbances={"excitation": 0.3})
    # q'' = mu (1 - q^2) q' - (1 + xi) q + u + xi is held at rest by u = (1 + xi) q - xi.
    np.testing.assert_allclose(model.input, [1.3 * q - 0.3], atol=1e-14)
    np.testing.assert_allclose(model.A, [[0.0, 1.0], [-1.3, 2.0 * (1.0 - q**2)]], atol=1e-14)
    np.testing.assert_array_equal(model.B, [[0.0], [1.0]])
    np.testing.assert_allclose(model.E, [[0.0], [1.0 - q]], atol=1e-14)
    np.testing.assert_array_equal(model.C, np.eye(2))
    np.testing.assert_array_equal(model.D, np.zeros((2, 1)))
    assert model.states == model.outputs == ("position", "velocity")
    assert (model.inputs, model.disturbances, model.delay) == (("force",), ("excitation",), 0.0)


DECLARED = {
    "both": INERTIA,
    "mass_matrix": replace(INERTIA, acceleration=None),
    "acceleration": replace(INERTIA, mass_matrix=None, force=None),
}


@pytest.mark.parametrize("declared", list(DECLARED))
def test_nonlinear_inertia_by_hand(declared):
    a1, a2, a3, a4, q = 0.5, 0.1, 0.4, 0.2, 1.5
    model = plants.linearise(DECLARED[declared], {"position": q})
    inertia = 1.0 + a3 * q**2
    # M q'' = u - q - a2 q^3 - (a1 q^2 + a4) q' at rest: the slope of M does not count where the force is 0.
    np.testing.assert_allclose(model.input, [q + a2 * q**3], rtol=1e-14)
    stiffness, damping = -(1.0 + 3.0 * a2 * q**2) / inertia, -(a1 * q**2 + a4) / inertia
    np.testing.assert_allclose(model.A, [[0.0, 1.0], [stiffness, damping]], rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(model.B, [[0.0], [1.0 / inertia]], rtol=1e-14)
    np.testing.assert_allclose(model.E, [[0.0], [(1.0 - q) / inertia]], rtol=1e-14)
    poles = np.roots([1.0, -damping, -stiffness])
    np.testing.assert_allclose(np.sort_complex(model.poles), np.sort_complex(poles), rtol=1e-12)


def moved_about(quantities, rng):
    """Values near the nominal ones and inside the bounds, and what counts as a small way there."""
    rooms = [min(q.high - q.nominal, q.nominal - q.low) for q in quantities]
    sizes = np.array([0.1 * min(room, 10.0) if room > 0.0 else 0.1 * (q.high - q.low)
                      for q, room in zip(quantities, rooms, strict=True)])  # fmt: skip
    inwards = np.array([1.0 if q.nominal <= q.low else -1.0 for q in quantities])
    away = np.clip(rng.standard_normal(len(quantities)), -2.0, 2.0)
    at_bound = np.array([room <= 0.0 for room in rooms], bool)
    away = np.where(at_bound, inwards * (1.0 + np.abs(away)), away)
    return np.array([q.nominal for q in quantities]) + sizes * away, sizes


@pytest.mark.parametrize("name", plants.names(tasks=True))
def test_slopes_of_every_registered_plant_agree_with_differences(name):
    plant = plants.get(name)
    slopes, rng = Slopes(plant), np.random.default_rng(1)
    x, x_size = moved_about(plant.states, rng)
    u, u_size = moved_about(plant.inputs, rng)
    w, w_size = moved_about(plant.disturbances, rng)
    p = np.array(plant.nominal())
    local = slopes.at(0.0, x, u, w, p)
    for matrix, moved, sizes in ((local.A, x, x_size), (local.B, u, u_size), (local.E, w, w_size)):
        for j in range(len(moved)):
            size = 1e-4 * sizes[j]
            sides = []
            for sign in (1.0, -1.0):
                other = moved.copy()
                other[j] += sign * size
                block = [other if part is moved else part for part in (x, u, w)]
                sides.append(np.array(plant.derivative(0.0, *map(tuple, block), tuple(p))))
            # Central differences: the third derivative times 1e-8 of a tenth of the region squared, and rounding of
            # 1e-16 / 1e-4 of the rates.
            change = (sides[0] - sides[1]) / 2.0
            scale = np.abs(local.rates) + np.abs(matrix[:, j]) * sizes[j]
            np.testing.assert_allclose(matrix[:, j] * size, change, rtol=0.0, atol=1e-10 * scale.max())


def test_many_points_at_once_are_the_points_one_by_one():
    slopes, rng = Slopes(INERTIA), np.random.default_rng(2)
    x, u, w = rng.standard_normal((2, 5)), rng.standard_normal((1, 5)), rng.standard_normal((1, 5))
    p = np.array(INERTIA.nominal())
    together = slopes.at(0.0, x, u, w, np.repeat(p[:, None], 5, axis=1))
    for k in range(5):
        alone = slopes.at(0.0, x[:, k], u[:, k], w[:, k], p)
        for kind in ("rates", "output", "A", "B", "E", "C", "D", "F"):
            np.testing.assert_allclose(getattr(together, kind)[k], getattr(alone, kind), rtol=1e-15)


def tanks_derivative(t, x, u, w, p):
    """Two tanks in a row, outflow by Torricelli's law."""
    first, second = (sqrt(maximum(level, 0.0)) for level in x)
    return u[0] - p[0] * first, p[0] * first - p[1] * second


TANKS = Plant(
    name="two_tanks",
    states=(Quantity("upper", "m", 1.0, 0.0, 10.0), Quantity("lower", "m", 1.0, 0.0, 10.0)),
    parameters=(Quantity("a", "m^2.5/s", 0.5), Quantity("b", "m^2.5/s", 0.4)),
    inputs=(Quantity("inflow", "m^3/s", 0.2, 0.0, 1.5),),
    derivative=tanks_derivative,
    operating_points=(OperatingPoint("half", (4.0, 6.25)), OperatingPoint("slow", (4.0, 4.0), {"b": 0.5})),
)


def test_states_that_may_be_adjusted_follow():
    model = plants.linearise(TANKS, {"upper": 4.0, "lower": 1.0}, adjust=("lower",))
    np.testing.assert_allclose(model.input, [1.0], rtol=1e-9)
    np.testing.assert_allclose(model.state, [4.0, 6.25], rtol=1e-9)
    np.testing.assert_allclose(model.A, [[-0.125, 0.0], [0.125, -0.08]], rtol=1e-9)


def test_operating_points_bring_their_parameters_and_given_ones_go_before():
    np.testing.assert_allclose(plants.linearise(TANKS, "half").input, [1.0])
    np.testing.assert_allclose(plants.linearise(TANKS, "slow").A[1, 1], -0.125)
    model = plants.linearise(TANKS, TANKS.operating_points[1], {"a": 0.6, "b": 0.6})
    np.testing.assert_allclose(model.A, [[-0.15, 0.0], [0.15, -0.15]])
    assert plants.linearise(plants.get("fopdt"), (0.5,), {"L": 0.7}).delay == 0.7


def test_a_given_input_makes_a_model_of_any_point():
    model = plants.linearise(VDP, (1.0, 2.0), input=(0.5,))
    np.testing.assert_allclose(model.rates, [2.0, -0.5])
    np.testing.assert_allclose(model.A, [[0.0, 1.0], [-5.0, 0.0]], atol=1e-15)


def test_states_that_move_on_do_not_count():
    model = plants.linearise(VDP, (1.0, 2.0), moving=("position",))
    np.testing.assert_allclose(model.rates, [2.0, 0.0], atol=1e-14)
    np.testing.assert_allclose(model.input, [1.0], atol=1e-14)


def push_pull(t, x, commands, p):
    """One command for two opposed inputs, the more effective the further out."""
    return 2.0 * commands[0] * (1.0 + x[0]), -commands[0]


PAIR = Plant(
    name="opposed_pair",
    states=(Quantity("level", "m"),),
    inputs=(Quantity("in", "m/s"), Quantity("out", "m/s")),
    channels=(Channel("level"),),
    derivative=lambda t, x, u, w, p: (u[0] - 3.0 * u[1] - x[0],),
    allocate=push_pull,
)


def test_commands_in_place_of_inputs_go_through_allocate():
    model = plants.linearise(PAIR, (1.0,), commands=True)
    # Rate (2 (1 + x) + 3) c - x: held by c = 1 / 7; the allocation's own slope 2 c adds to A.
    np.testing.assert_allclose(model.input, [1.0 / 7.0])
    np.testing.assert_allclose(model.A, [[2.0 / 7.0 - 1.0]])
    np.testing.assert_allclose(model.B, [[7.0]])
    assert model.inputs == ("command level",)
    # Without: the smallest inputs that hold the state.
    np.testing.assert_allclose(plants.linearise(PAIR, (1.0,)).input, [0.1, -0.3])


OUTSIDE = "outside its bounds"
REFUSED = [
    (VDP, {"state": (1.0, 0.3)}, r"no input holds .* position = 1 m.*remain: position: 0\.3 m/s\. Use"),
    (TANKS, {"state": (4.0, 4.0)}, r"rates that remain: .*lower: 0\.\d+ m/s"),
    (TANKS, {"state": {"upper": 9.5, "lower": 5.0}, "adjust": ("lower",)}, rf"inflow = 1\.54.*{OUTSIDE} \[0, 1\.5\]"),
    (VDP, {"state": (50.0, 0.0), "commands": True}, rf"force = 50 .*{OUTSIDE} \[-20, 20\]"),
    (VDP, {"state": "position 1,5"}, "no operating point 'position 1,5'; did you mean 'position 1.5'"),
    (VDP, {"state": {"positon": 1.0}}, "'positon'; did you mean 'position'"),
    (VDP, {"adjust": ("z",)}, "no name among the states of plant 'van_der_pol': 'z'"),
    (VDP, {"input": (1.0, 2.0)}, r"inputs of plant 'van_der_pol' must have 1 values \(force\), got 2"),
    (VDP, {"disturbances": {"xi": 1.0}}, "disturbances of plant 'van_der_pol': 'xi'"),
]


@pytest.mark.parametrize(("plant", "options", "told"), REFUSED)
def test_what_cannot_be_linearised_is_refused_with_the_reason(plant, options, told):
    with pytest.raises(ValueError, match=told):
        plants.linearise(plant, **options)


def test_an_input_at_its_bound_still_counts():
    full = replace(TANKS, inputs=(replace(TANKS.inputs[0], high=1.0),))
    np.testing.assert_allclose(plants.linearise(full, "half").input, [1.0])


def test_rows_of_outputs_are_found_by_name():
    np.testing.assert_array_equal(plants.linearise(VDP).row("velocity"), [0.0, 1.0])
    with pytest.raises(ValueError, match="no name among the outputs of the linear model: 'speed'"):
        plants.linearise(VDP).row("speed")
