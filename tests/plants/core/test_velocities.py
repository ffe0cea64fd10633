"""Plants whose states are not positions followed by velocities: every loop mode, gains, and the words of errors."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import eigh

import plants
from plants import Plant, Quantity
from plants.core.elementary import cos, sin, where
from plants.core.motion.modes import MODES
from plants.excitation import Sine
from tests.reference import algebraic_loop_twin
from tests.reference.accelerated_twin import Twin

CART = plants.get("cart_pole")
LAG = 0.1  # s


def sleigh(mixed):
    """Chaplygin's sleigh: three coordinates, two quasi-velocities w with (speed, turning) = (w1 + mixed w2, w2).

    Knife edge at (x, y), mass centre 0.3 m ahead, 1 kg, 0.5 kg m^2. Source: Neimark, Fufaev, Dynamics of Nonholonomic
    Systems, chapter III; equations u' = a om^2, (J + m a^2) om' = -m a u om.
    """

    def kinematics(t, x, u, w, p):
        along = x[3] + mixed * x[4]
        return along * cos(x[2]), along * sin(x[2]), x[4]

    def mass_matrix(t, x, u, w, p):
        return (1.0, mixed), (mixed, mixed * mixed + 0.59)

    def force(t, x, u, w, p):
        along, turning = x[3] + mixed * x[4], x[4]
        push = 0.3 * turning * turning
        return push, mixed * push - 0.3 * along * turning

    values = (("x", "m", 0.0), ("y", "m", 0.0), ("heading", "rad", 0.2), ("w1", "m/s", 1.0 - 1.5 * mixed))
    return Plant(
        name="sleigh", states=(*(Quantity(*v) for v in values), Quantity("w2", "rad/s", 1.5)), velocities=("w1", "w2"),
        kinematics=kinematics, mass_matrix=mass_matrix, force=force,
        energy=lambda t, x, u, w, p: 0.5 * (x[3] + mixed * x[4]) ** 2 + 0.295 * x[4] ** 2,
        entropy_rate=lambda t, x, u, w, p: 0.0 * x[0],
    )  # fmt: skip


def reordered(order, velocities=("speed", "turning")):
    """The cart with its pole, its states and a sensor's lag of the angle in another order; pairs of rows swapped too."""
    names = [q.name for q in CART.states]
    places = [order.index(name) for name in names]
    rows = [("speed", "turning").index(name) for name in velocities]

    def own(x):
        return tuple(x[k] for k in places)

    def kinematics(t, x, u, w, p):
        _, angle, speed, turning = own(x)
        rates = {"position": speed, "angle": turning}
        if "lagging" in order:
            rates["lagging"] = (angle - x[order.index("lagging")]) / LAG
        return tuple(rates[name] for name in order if name in rates)

    def mass_matrix(t, x, u, w, p):
        matrix = CART.mass_matrix(t, own(x), u, w, p)
        return tuple(tuple(matrix[i][j] for j in rows) for i in rows)

    def force(t, x, u, w, p):
        values = CART.force(t, own(x), u, w, p)
        return tuple(values[i] for i in rows)

    known = {q.name: replace(q, nominal=0.3 if q.name == "turning" else q.nominal) for q in CART.states}
    known["lagging"] = Quantity("lagging", "rad", 0.1, -10.0, 10.0, "the angle as its sensor shows it")
    return Plant(
        name="reordered", states=tuple(known[name] for name in order), parameters=CART.parameters, inputs=CART.inputs,
        disturbances=CART.disturbances, kinematics=kinematics, velocities=velocities, mass_matrix=mass_matrix,
        force=force,
    )  # fmt: skip


LAGGED = reordered(("position", "angle", "speed", "turning", "lagging"))
MIXED = reordered(("speed", "lagging", "position", "turning", "angle"), ("turning", "speed"))


def push(t):
    return (2.0 * np.sin(2.0 * np.pi * 0.7 * t),)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("plant", [LAGGED, MIXED, sleigh(0.2)], ids=["lagged", "mixed", "sleigh"])
def test_every_loop_mode_moves_as_its_plain_twin(plant, mode):
    drive = {"inputs": {"force": Sine(2.0, 0.7)}} if plant.inputs else {}
    twin = Twin(
        plant, [plant.index("states", name) for name in plant.velocities], push if plant.inputs else lambda _t: ()
    )
    run = plants.simulate(plant, 0.5, 0.005, algebraic_loop=mode, integrator="heun", **drive)
    expected = twin.run(100, 0.005, mode, "heun")
    # Fused products and another order of sums: some last digits a step, which 100 steps of this motion hardly raise.
    # Iterations stop at residuals of 1e-10, mostly far below.
    error = 1e-9 if "loop_free" not in mode and mode != "solved" else 1e-12
    np.testing.assert_allclose(run.states, expected, rtol=0.0, atol=error)
    assert np.abs(expected[-1] - expected[0]).min() > 1e-3  # all states move


@pytest.mark.parametrize("mode", ["solved", "iterated_exact", "loop_free"])
def test_states_in_any_order_are_one_motion(plain, mode):
    same = [q.name for q in CART.states]
    half = reordered(("position", "speed", "angle", "turning"))
    pairs = replace(half, kinematics=None, derivative=None)  # coordinates' rates are the velocities, in their order
    first, *others = (
        plain(plant, 0.3, 0.01, {"turning": 0.3}, inputs={"force": 1.0}, algebraic_loop=mode)
        for plant in (CART, half, pairs, LAGGED, MIXED)
    )
    for run in others:
        for name in same:
            np.testing.assert_allclose(run[name], first[name], rtol=0.0, atol=1e-13)  # sums in another order


def test_the_gain_is_jacobis_at_any_state():
    for plant in (LAGGED, MIXED):
        twin = Twin(plant, [plant.index("states", name) for name in plant.velocities], push)
        for x in np.random.default_rng(0).uniform(-1.0, 1.0, (5, 5)):
            assert plants.loop_gain(plant, tuple(x)) == pytest.approx(twin.gain(x), rel=1e-12)


def test_delay_moves_the_modes_of_quasi_velocities_by_the_modal_formula():
    """sigma = -Ne tau Omega^2 / (2 He) in quasi-velocities v = T w, with a filter among the states."""
    rng = np.random.default_rng(2)
    root, spring, mix = rng.standard_normal((3, 2, 4))
    inertia, stiffness, turn = root @ root.T, spring @ spring.T, mix[:, :2]
    reduced = turn.T @ inertia @ turn
    rows = {name: value.tolist() for name, value in (("T", turn), ("H", reduced), ("K", turn.T @ stiffness))}

    def times(name, values):
        return tuple(sum(a * b for a, b in zip(row, values, strict=True)) for row in rows[name])

    def kinematics(t, x, u, w, p):
        first, second = times("T", (x[0], x[2]))
        return first, second, 5.0 * (x[1] - x[4])  # a filter of the first coordinate

    pair = Plant(
        name="pair", states=tuple(Quantity(name, "1") for name in ("w1", "q1", "w2", "q2", "filter")),
        kinematics=kinematics, velocities=("w1", "w2"), mass_matrix=lambda t, x, u, w, p: tuple(map(tuple, rows["H"])),
        force=lambda t, x, u, w, p: tuple(-value for value in times("K", (x[1], x[3]))),
    )  # fmt: skip
    squares, modes = eigh(turn.T @ stiffness @ turn, reduced)
    off = reduced - np.diag(np.diag(reduced))
    modal = [np.einsum("ik,ij,jk->k", modes, matrix, modes) for matrix in (off, reduced)]
    found = plants.spurious_damping(pair, 0.002)
    swinging = found.eigenvalues.imag > 0.0
    np.testing.assert_allclose(found.eigenvalues[swinging].imag, np.sqrt(squares), rtol=1e-9)
    np.testing.assert_allclose(found.growth[swinging], -modal[0] * 0.002 * squares / (2.0 * modal[1]), rtol=1e-7)
    assert found.eigenvalues[~swinging] == pytest.approx([-5.0])
    assert found.growth[~swinging] == pytest.approx([0.0], abs=1e-15)  # the filter carries no inertia


def test_the_check_of_such_plants():
    for plant in (sleigh(0.2), LAGGED):
        report = plants.check(plant)
        assert report.ok, str(report)
        assert report.loop_gain == plants.loop_gain(plant)
    assert "energy balance closes" in str(plants.check(sleigh(0.2)))
    wrong = replace(sleigh(0.2), energy=lambda t, x, u, w, p: 0.5 * x[3] ** 2 + 0.295 * x[4] ** 2)
    assert "energy balance does not close" in str(plants.check(wrong))  # nothing is exchanged: against what it has
    short = replace(LAGGED, kinematics=lambda t, x, u, w, p: (x[2], x[3]), derivative=None)
    (problem,) = plants.check(short).problems
    assert (
        "kinematics must return 3 (one rate per state that is not accelerated (position, angle, lagging)), got 2"
        in problem
    )
    with pytest.raises(ValueError, match="kinematics of plant 'reordered' must give the rates of position, angle, lag"):
        plants.simulate(short, 1.0, 0.1)
    wide = replace(
        LAGGED, force=lambda t, x, u, w, p: (0.0,), mass_matrix=lambda t, x, u, w, p: ((1.0,),), derivative=None
    )
    with pytest.raises(
        ValueError, match="equations of motion of plant 'reordered' must give the rates of speed, turning"
    ):
        plants.simulate(wide, 1.0, 0.1)


def test_a_failing_equation_is_named_by_its_velocity(plain):
    """Beyond 0.5 m the second equation asks for a^2 = -1."""

    def acceleration(t, x, a, u, w, p):
        return -0.1 * a[1], where(x[1] - 0.5, a[1] + a[1] * a[1] + 1.0, 1.0 - 0.2 * a[0])

    states = tuple(Quantity(name, "1", start) for name, start in (("v1", 0.0), ("q", 0.49), ("v2", 1.0)))
    plant = Plant(
        name="stuck", states=states, acceleration=acceleration, velocities=("v1", "v2"),
        kinematics=lambda t, x, u, w, p: (x[2],),
    )  # fmt: skip
    with pytest.raises(plants.AlgebraicLoopError, match="the equation of the rate of 'v2' keeps a residual"):
        plain(plant, 1.0, 0.01, algebraic_loop="iterated_exact")


def test_two_masses_with_their_own_order_named_is_the_same_plant():
    plain_order = algebraic_loop_twin.two_masses(0.3)
    named = replace(plain_order, velocities=("rate 1", "rate 2"), derivative=None)
    point = (0.0, (0.3, -0.2, 0.5, 0.1), (), (), ())
    assert named.derivative(*point) == plain_order.derivative(*point)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"velocities": ()}, "gives kinematics, so say which states its accelerations belong to: velocities="),
        ({"velocities": ("speed", "turnin")}, "did you mean 'turning'"),
        ({"velocities": ("speed", "speed")}, "names of velocities must differ"),
        ({"kinematics": None}, "names 2 velocities among 5 states; without kinematics"),
        ({"kinematics": None, "velocities": ()}, "an even number, got 5; for other states give kinematics"),
        ({"mass_matrix": None, "force": None}, "needs derivative, or acceleration, or mass_matrix and force"),
        ({"mass_matrix": None, "force": None, "derivative": lambda *_: (0.0,) * 5}, "but no accelerations: declare mass"),
    ],
)  # fmt: skip
def test_declarations_that_do_not_fit_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(LAGGED, **{"derivative": None} | change)
