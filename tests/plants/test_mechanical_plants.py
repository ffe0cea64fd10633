"""Carts, beams, rotors, a wheel and magnets: accelerations against equations written anew, heat, what commands do."""

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from plants import ball_and_beam, planar_quadrotor
from plants.pendulum import GRAVITY
from plants.quarter_car import QUARTER_CAR

CART_POLE, QUADROTOR, BALL, MOTOR = (
    plants.get(name) for name in ("cart_pole", "planar_quadrotor", "magnetic_levitation", "dc_motor")
)
ON_BEAM, FLYING, CAR = (0.06, 0.012, 0.03, 4.0, 0.4, 0.02), (1.2, 0.02, 0.25, 0.4, 0.01), QUARTER_CAR.nominal()


def of_cart_and_pole():
    """The rod's kinetic energy by König: its middle moves, it turns with m (2 l)^2 / 12; viscous friction; wind."""
    sympy = pytest.importorskip("sympy")
    from tests.reference.motion import lagrange

    z, a, v, s = sympy.symbols("z a v s")
    cart, pole, half, a1, b, u, w = sympy.symbols("cart pole half a1 b u w")
    middle = (v + half * s * sympy.cos(a), -half * s * sympy.sin(a))
    kinetic = cart * v**2 / 2 + pole * (middle[0] ** 2 + middle[1] ** 2) / 2 + pole * (2 * half) ** 2 / 12 * s**2 / 2
    forces = [u + w - a1 * v, w * half * sympy.cos(a) - b * s]
    potential = pole * GRAVITY * half * sympy.cos(a)
    return lagrange([(z, v), (a, s)], kinetic, potential, forces, (cart, pole, half, a1, b), (u, w))


def of_ball_and_beam():
    """Hauser's kinetic energy: the ball's middle in the plane, its spin along the beam, and its turning with it."""
    sympy = pytest.importorskip("sympy")
    from tests.reference.motion import lagrange

    r, a, v, s = sympy.symbols("r a v s")
    ball, radius, beam, k, d, b, u, w = sympy.symbols("ball radius beam k d b u w")
    solid = 2 * ball * radius**2 / 5
    kinetic = ball * (v**2 + r**2 * s**2) / 2 + solid * ((v / radius) ** 2 + s**2) / 2 + beam * s**2 / 2
    forces = [w - b * v, k * (u - a) - d * s]
    potential = -ball * GRAVITY * r * sympy.sin(a)
    return lagrange([(r, v), (a, s)], kinetic, potential, forces, (ball, radius, beam, k, d, b), (u, w))


def of_quadrotor(t, s, values):
    """Newton's law, place x + i z: the body's axis is i exp(-i a); rotors pull along it at -+ l from the middle."""
    mass, inertia, arm, drag, turning_drag, left, right, wind, updraught = values
    axis, velocity = 1j * np.exp(-1j * s[2]), s[3] + 1j * s[4]
    force = (left + right) * axis + drag * (wind + 1j * updraught - velocity) - 1j * mass * GRAVITY
    across = axis * -1j  # from the middle to the right rotor
    torque = sum(np.imag(np.conj(place * across) * (pull * axis)) for place, pull in ((-arm, left), (arm, right)))
    rate = force / mass
    return [s[3], s[4], s[5], rate.real, rate.imag, (-torque - turning_drag * s[5]) / inertia]


def of_quarter_car(t, s, values):
    """Newton's law for body and wheel, and the road, in matrices."""
    body, wheel, k, c, kt, ct, corner, force, road = values
    A = np.zeros((5, 5))
    A[0, 3] = A[1, 4] = 1.0
    A[2, 2] = -corner
    A[3] = np.array([-k, k, 0.0, -c, c]) / body
    A[4] = np.array([k, -k - kt, kt - ct * corner, c, -c - ct]) / wheel
    return A @ s + force * np.array([0, 0, 0, 1 / body, -1 / wheel]) + road * np.array([0, 0, 1, 0, ct / wheel])


def of_levitation(t, s, values):
    """H = p^2 / (2 m) - m g x + flux^2 / (2 L(x)): no force law and no induced voltage is written down."""
    mass, c, l_inf, resistance, damping, voltage, push = values
    x, speed, current = s
    inductance, slope = l_inf + 2.0 * c / x, -2.0 * c / x**2
    momentum_rate = mass * GRAVITY + 0.5 * current**2 * slope - damping * speed + push
    flux_rate = voltage - resistance * current
    return [speed, momentum_rate / mass, (flux_rate - slope * speed * current) / inductance]


def of_motor(t, s, values):
    """The text book's shaft and winding, whose transfer function is k / (s (L J s^2 + (R J + L b) s + R b + k^2))."""
    resistance, inductance, k, inertia, damping, voltage, torque = values
    _, speed, current = s
    shaft = (k * current - damping * speed + torque) / inertia
    return [speed, shaft, (voltage - resistance * current - k * speed) / inductance]


CASES = {  # equations, parameters, inputs, disturbances, and between what bounds states are drawn
    "cart_pole": (of_cart_and_pole, (0.9, 0.2, 0.4, 0.3, 0.01), (3.0,), (0.7,), (2.0, 3.0, 3.0, 6.0)),
    "ball_and_beam": (of_ball_and_beam, ON_BEAM, (0.2,), (0.03,), (0.5, 1.0, 2.0, 6.0)),
    "planar_quadrotor": (lambda: of_quadrotor, FLYING, (4.0, 5.5), (1.2, -0.4), (1.5,) * 6),
    "quarter_car": (
        lambda: of_quarter_car, tuple(np.multiply(CAR, (1.1, 0.9, 1.2, 0.8, 1.05, 1.3, 0.7))), (200.0,), (0.05,), (1.0,) * 5,
    ),
    "magnetic_levitation": (lambda: of_levitation, tuple(1.1 * q for q in BALL.nominal()), (80.0,), (0.01,), (0.05, 1.0, 3.0)),
    "dc_motor": (lambda: of_motor, tuple(np.multiply(MOTOR.nominal(), (1.1, 0.9, 1.2, 0.8, 1.3))), (3.0,), (1e-3,), (1.0, 5.0, 2.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_accelerations_are_those_of_equations_written_anew(name):
    make, p, u, w, sizes = CASES[name]
    plant, equations = plants.get(name), make()
    for x in np.random.default_rng(5).uniform(-1.0, 1.0, (20, len(sizes))) * sizes:
        x[0] += 0.1 * (name == "magnetic_levitation")  # a gap is positive
        expected = equations(0.0, x, (*p, *u, *w))
        np.testing.assert_allclose(plant.derivative(0.0, tuple(x), u, w, p), expected, rtol=1e-11, atol=1e-11)


def test_either_command_tips_the_pole_to_the_positive_side():
    p = CART_POLE.nominal()
    for commands in ((1.0, 0.0), (0.0, 1.0)):
        u = CART_POLE.allocate(0.0, (0.0,) * 4, commands, p)
        _, _, along, turn = CART_POLE.derivative(0.0, (0.0,) * 4, u, (0.0,), p)
        assert along < 0.0 < turn


def test_losses_on_the_beam_are_those_of_the_servos_damping_and_of_rolling():
    friction, damping = ON_BEAM[5], ON_BEAM[4]
    assert ball_and_beam.entropy_rate(0.0, (0.1, 0.2, 0.5, 0.0), (0.3,), (0.1,), ON_BEAM) == pytest.approx(
        friction * 0.5**2
    )
    assert ball_and_beam.entropy_rate(0.0, (0.1, 0.2, 0.0, 3.0), (0.3,), (0.1,), ON_BEAM) == pytest.approx(
        damping * 3.0**2
    )


def test_wind_heats_what_stands_in_it_and_nothing_that_drifts_along():
    drag, at_rest, drifting = FLYING[3], (0.0,) * 6, (0.0, 0.0, 0.0, 3.0, -1.0, 0.0)
    blocks = (QUADROTOR.supplied_power, QUADROTOR.entropy_rate)
    for block in blocks:  # at rest, whatever the rotors pull, the wind brings what becomes heat
        assert block(0.0, at_rest, (4.0, 4.0), (3.0, -1.0), FLYING) == pytest.approx(drag * (3.0**2 + 1.0**2))
        assert block(0.0, drifting, (0.0, 0.0), (3.0, -1.0), FLYING) == pytest.approx(0.0, abs=1e-15)


def test_allocation_gives_thrust_and_moment_while_rotors_can():
    left, right = QUADROTOR.allocate(0.0, (0.0,) * 6, (2.0, 0.3, -0.1), QUADROTOR.nominal())
    assert left + right == pytest.approx(planar_quadrotor.MASS * GRAVITY + 2.0)
    assert planar_quadrotor.ARM * (left - right) == pytest.approx(0.3 - 0.1)
    assert QUADROTOR.allocate(0.0, (0.0,) * 6, (0.0, 1.0, 1.5), FLYING) == (
        planar_quadrotor.ROTOR,
        0.0,
    )  # rotors only push, and so far
    assert QUADROTOR.allocate(0.0, (0.0,) * 6, (0.0, 0.0, 0.0), FLYING) == (0.5 * planar_quadrotor.MASS * GRAVITY,) * 2


@pytest.mark.parametrize("changed", [{}, {"stiffness": 4e4}, {"damping": 3e3}, {"stiffness": 0.0, "damping": 50.0}])
def test_at_the_wheels_frequency_no_strut_changes_what_the_body_feels(changed):
    """With an undamped tyre, body acceleration over road height is kt / M at w^2 = kt / m, whatever is in the strut.

    J. K. Hedrick and T. Butsuen, Invariant properties of automotive suspensions (1990).
    """
    parameters = {"tyre_damping": 0.0, **changed}
    model = plants.linearise(QUARTER_CAR, (0.0,) * 5, parameters)
    body, wheel, *_, kt, _, _ = QUARTER_CAR.values("parameters", parameters)
    s = 1j * np.sqrt(kt / wheel)
    state = np.linalg.solve(s * np.eye(5) - model.A, model.E[:, 0])
    assert s * state[3] / state[2] == pytest.approx(kt / body, rel=1e-9)


def test_only_what_is_sheared_gets_warm():
    """A car that rises with its road loses nothing; a body held above a rising wheel heats the damper alone, a wheel held
    on a rising road the tyre alone."""
    c, ct, speed = CAR[3], CAR[5], 0.2
    cases = {(speed, speed): 0.0, (0.0, speed): c * speed**2, (0.0, 0.0): ct * speed**2}
    for (body, wheel), heat in cases.items():
        found = QUARTER_CAR.entropy_rate(0.0, (0.01, 0.02, 0.0, body, wheel), (50.0,), (speed,), CAR)
        assert found == pytest.approx(heat, rel=1e-12, abs=1e-15)


@pytest.mark.slow
def test_the_wheel_keeps_to_the_road_in_every_situation():
    """So the linear tyre holds: it never pulls as much as both masses weigh, with weak and with strong gains."""
    for situation in [s for group in sscq.standard_sets(QUARTER_CAR).values() for s in group]:
        for gains in ((0.0, 0.0, 0.0), (20e3, 20e3, 2.5e3), (40e3, 40e3, 5e3)):
            run = sscq.record(QUARTER_CAR, PID(), np.array(gains), situation, step=0.002)
            p = QUARTER_CAR.values("parameters", dict(situation.parameters or {}))
            (road_rate,) = run.group("disturbances").T
            _, wheel, road, _, wheel_speed = run.group("states").T
            pull = p[4] * (wheel - road) + p[5] * (wheel_speed - road_rate + p[6] * road)
            assert pull.max() < 0.8 * 9.81 * (p[0] + p[1]), situation.name  # measured: at most 0.72


def test_more_voltage_pulls_the_ball_up_and_so_its_gains_are_negative():
    model = plants.linearise(BALL, BALL.operating_points[0])
    assert model.A[1, 2] * model.B[2, 0] < 0.0
    assert all(high <= 0.0 for high in BALL.channels[0].gains_high)


def test_the_published_no_load_point_of_the_motor():
    """3350 r/min and 0.15 A at 6 V, the sheet's two or three digits; the friction was derived from them."""
    matrix = plants.linearise(MOTOR, (0.0, 0.0, 0.0)).A[1:, 1:]
    speed, current = np.linalg.solve(matrix, [0.0, -6.0 / MOTOR.nominal()[1]])
    assert speed * 30.0 / np.pi == pytest.approx(3350.0, rel=2e-3)
    assert current == pytest.approx(0.15, rel=5e-3)


def test_units_of_the_motors_data_sheet():
    ounce_inch = 0.45359237 / 16.0 * 9.80665 * 0.0254  # N m
    assert MOTOR.nominal()[2:4] == pytest.approx((2.0 * ounce_inch, 150e-6 * ounce_inch), rel=1e-4)
