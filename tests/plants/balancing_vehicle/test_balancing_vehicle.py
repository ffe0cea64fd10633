"""The balancing vehicle at single states: reference cases T1 to T3, an independent derivation, gaps, symmetry, powers."""

import math

import numpy as np
import pytest

import plants
from plants.balancing_vehicle import (
    BALANCER,
    BALANCING_VEHICLE,
    BALANCING_VEHICLE_NO_SLIP,
    BALANCING_VEHICLE_RIGID,
    STUDY,
    no_slip,
    standing,
)
from plants.balancing_vehicle.bodies import equations, pose
from plants.balancing_vehicle.energy import limited, losses
from plants.balancing_vehicle.motion import grip
from plants.balancing_vehicle.parameters import PARAMETERS, VehicleParameters
from plants.balancing_vehicle.signals import allocate
from plants.balancing_vehicle.stepping import advance
from plants.balancing_vehicle.wheels import dynamics, ground, on_patch
from tests.reference.balancing_mechanism import vehicle

P = BALANCING_VEHICLE.nominal()
NAMED = VehicleParameters(*P)
DRY = (1.0, 1.0, 0.0, 0.0)
Q2 = (0.1, -0.2, 0.5, 0.4, 0.15, -0.25, 0.3, 0.6)
U2 = (0.5, -0.3, 0.2, 0.7, -0.4, 0.9, 3.0, -2.0)
X3 = (
    0.3, -0.2, 0.15 + 0.2 * math.cos(0.2), 0.6, 0.0, 0.2, 0.7, -0.4,
    0.9, 0.5, 0.2 * math.sin(0.2) * 0.3, 0.4, 0.0, -0.3, 7.0, 7.9, 2e-5, -1e-5, 3e-5, 1.5e-5,
)  # fmt: skip


def close(found, expected, relative=1e-9):
    """The specification's tolerance at single states, on numbers of twelve digits."""
    np.testing.assert_allclose(found, expected, rtol=relative, atol=1e-12)


def random_states(count, seed=0):
    """Near the ground with all rates, bristles as far as friction can bend them."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        q = rng.uniform(-0.4, 0.4, 8)
        q[2] = 0.35 + rng.uniform(-0.02, 0.02)
        yield (*q, *rng.uniform(-1.0, 1.0, 8), *rng.uniform(-5e-5, 5e-5, 4))


def test_the_order_of_states_and_signals():
    names = [q.name for q in BALANCING_VEHICLE.states]
    assert names[:8] == ["x", "y", "z", "psi", "phi", "theta", "aL", "aR"]
    assert names[16:] == ["zt_L", "zs_L", "zt_R", "zs_R"]
    assert [q.name for q in BALANCING_VEHICLE.inputs] == ["tau_L", "tau_R"]
    assert [q.name for q in BALANCING_VEHICLE.disturbances][:2] == ["s_L", "s_R"]
    assert BALANCING_VEHICLE.calm() == DRY
    assert VehicleParameters._fields == tuple(q.name for q in PARAMETERS)
    assert STUDY["I_px"] == pytest.approx(0.216666666667)
    assert BALANCER["I_d"] == pytest.approx(0.00575833333333)


def test_t1_ideal_rolling():
    plant = BALANCING_VEHICLE_NO_SLIP
    rates = plant.derivative(0.0, (0.0, 0.0, 0.0, 0.3, 1.2, -0.5, 0.8), (1.5, 2.0), (0.0,), plant.nominal())
    close(rates[4:], (2.10233308609, -2.4097813722, 0.622170808222))
    poles = np.sort(plants.linearise(plant, "upright").poles.real)
    np.testing.assert_allclose([poles[0], poles[-1]], (-8.2172, 7.9442), atol=5e-5)  # published to four places
    assert np.abs(poles + 0.0684).min() < 5e-5


def test_t2_free_flight():
    rates = BALANCING_VEHICLE.derivative(0.0, (*Q2, *U2, *[0.0] * 4), (1.0, -0.5), DRY, P)
    close(
        rates[8:16],
        (-0.0625155383475, 0.0149174786619, -9.85435670675, 0.162524267718, 0.500349366314, -1.45357607162,
         87.9283668726, -40.9605220163),
    )  # fmt: skip
    mass = equations(pose((*Q2, *U2)), (1.0, -0.5), NAMED).mass
    close((mass[3][3], mass[3][5]), (0.425693585021, 0.0464503528439))
    assert mass[4][5] == pytest.approx(0.0, abs=1e-15)
    at_rest = BALANCING_VEHICLE.energy(0.0, (*Q2, *[0.0] * 12), (0.0, 0.0), DRY, P)
    energy = BALANCING_VEHICLE.energy(0.0, (*Q2, *U2, *[0.0] * 4), (0.0, 0.0), DRY, P)
    close((energy - at_rest, at_rest), (2.53590430588, 55.1006801575))


def test_t3_slip_model():
    now = dynamics(X3, (2.0, 1.0), DRY, NAMED)
    acting = grip(now, X3, NAMED)
    slips = (-0.0210727152133, -0.111403965064, 0.0439272847867, -0.111403965064)
    close((*now.slip(0), *now.slip(1)), slips)
    close(acting.loads, (38.978389374, 72.5041669025))
    forces = [-load * mu for load, pair in zip(acting.loads, acting.friction, strict=True) for mu in pair]
    close(forces, (-1.44254540512, 13.9591938882, -19.0700258101, 13.705439846))
    rates = BALANCING_VEHICLE.derivative(0.0, X3, (2.0, 1.0), DRY, P)
    close(rates[16:], (-0.0587923640294, -0.0925441406562, -0.0158841850782, -0.141309699997))
    close(
        rates[8:16],
        (-2.25137453609, 1.14308890398, -0.623744372354, -12.5170716838, 0.0, 15.2540699545, 175.535424336,
         320.879607514),
    )  # fmt: skip
    heat = losses(now, acting, X3, NAMED)
    assert heat.sliding + heat.bristle + heat.viscous == pytest.approx(1.62231537633 + 4.24686698927, rel=1e-9)
    assert heat.joints == pytest.approx(0.01 * (7.0**2 + 7.9**2))


def test_the_mechanics_kit_derives_the_same_free_flight():
    plant = vehicle(rolling=False).build("free")
    rng = np.random.default_rng(2)
    for x in random_states(10):
        u = tuple(rng.uniform(-3.0, 3.0, 2))
        high = (*x[:2], 5.0, *x[3:])
        expected = plant.derivative(0.0, high[:16], u, (), plant.nominal())[8:]
        found = BALANCING_VEHICLE.derivative(0.0, high, u, DRY, P)[8:16]
        np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())


def test_rolling_imposed_by_multipliers_is_the_ideal_model():
    plant, other = vehicle(rolling=True).build("routh"), BALANCING_VEHICLE_NO_SLIP
    rng, radius, half, high = np.random.default_rng(3), 0.15, 0.25, 0.2
    for _ in range(10):
        psi, theta, v, pitching, yawing = rng.uniform(-1.0, 1.0, 5)
        u = tuple(rng.uniform(-3.0, 3.0, 2))
        c, s = math.cos(theta), math.sin(theta)
        ahead, aside = v + high * c * pitching, high * s * yawing
        turns = [(v + k * half * yawing) / radius - pitching for k in (-1.0, 1.0)]
        x = (
            0.0, 0.0, radius + high * c, psi, 0.0, theta, 0.0, 0.0,
            ahead * math.cos(psi) - aside * math.sin(psi), ahead * math.sin(psi) + aside * math.cos(psi),
            -high * s * pitching, yawing, 0.0, pitching, *turns,
        )  # fmt: skip
        rates = plant.derivative(0.0, x, u, (), plant.nominal())[8:]
        expected = no_slip.accelerations((0.0, 0.0, psi, theta, v, pitching, yawing), u, (0.0,), other.nominal())
        # v = u_f - l cos(theta) theta'
        speed = rates[0] * math.cos(psi) + rates[1] * math.sin(psi) + aside * yawing
        speed -= high * (c * rates[5] - s * pitching**2)
        np.testing.assert_allclose((speed, rates[5], rates[3]), expected, rtol=0.0, atol=1e-10)


ROUGH = {"bump_L": 0.04, "bump_R": 0.03, "bump_x": -0.3, "bump_length": 0.7, "slope_x": 0.05, "slope_y": -0.03}


@pytest.mark.parametrize("more", [{}, ROUGH, {"payload": 3.0, "payload_x": 0.1, "payload_y": -0.05}])
def test_rates_of_the_gaps(more):
    """delta' and its part without accelerations against differences along q + t U."""
    named = VehicleParameters(*BALANCING_VEHICLE.values("parameters", more))
    h = 1e-4
    for x in random_states(12, seed=4):

        def gaps(t, x=x):
            moved = tuple(q + t * v for q, v in zip(x[:8], x[8:16], strict=True))
            return np.array([touch.gap for touch in dynamics((*moved, *x[8:]), (0.0, 0.0), DRY, named).touches])

        now = dynamics(x, (0.0, 0.0), DRY, named)
        rate = (8.0 * (gaps(h) - gaps(-h)) - gaps(2.0 * h) + gaps(-2.0 * h)) / (12.0 * h)
        second = (16.0 * (gaps(h) + gaps(-h)) - gaps(2.0 * h) - gaps(-2.0 * h) - 30.0 * gaps(0.0)) / (12.0 * h * h)
        np.testing.assert_allclose(now.speeds[:2], rate, atol=1e-10)
        # Rounding of the gaps over h^2.
        np.testing.assert_allclose([touch.bias for touch in now.touches], second, atol=1e-6)


def mirrored(x):
    """The same state seen in a mirror along x: y, yaw and roll change sign, the wheels change places."""
    sign = (1.0, -1.0, 1.0, -1.0, -1.0, 1.0)

    def half(q):
        return (*(a * b for a, b in zip(sign, q[:6], strict=True)), q[7], q[6])

    return (*half(x[:8]), *half(x[8:16]), x[18], -x[19], x[16], -x[17])


@pytest.mark.parametrize("plant", [BALANCING_VEHICLE, BALANCING_VEHICLE_RIGID], ids=["soft", "rigid"])
@pytest.mark.parametrize("block", ["derivative", "advance"])
def test_it_looks_the_same_in_a_mirror(block, plant):
    p = BALANCING_VEHICLE.values("parameters", {"bump_x": -0.3, "bump_L": 0.04, "bump_R": 0.01, "slope_y": 0.02})
    q = BALANCING_VEHICLE.values("parameters", {"bump_x": -0.3, "bump_L": 0.01, "bump_R": 0.04, "slope_y": -0.02})
    more = (1e-3,) if block == "advance" else ()
    move = getattr(plant, block)
    for x in random_states(10, seed=5):
        here = mirrored(move(0.0, x, (2.0, -1.0), (0.7, 1.0, 5.0, 3.0), p, *more))
        there = move(0.0, mirrored(x), (-1.0, 2.0), (1.0, 0.7, 5.0, -3.0), q, *more)
        np.testing.assert_allclose(there, here, rtol=1e-9, atol=1e-9 * np.abs(here).max())


def test_heat_is_never_taken_back():
    for x in random_states(200, seed=6):
        now = dynamics(x, (1.0, -2.0), DRY, NAMED)
        heat = losses(now, grip(now, x, NAMED), x, NAMED)
        assert heat.sliding + heat.bristle + heat.viscous >= 0.0
        assert heat.joints >= 0.0


def test_no_wheel_is_pulled_to_the_ground():
    x = standing()
    for height, gap in ((0.02, True), (1e-6, False)):
        lifted = (*x[:2], x[2] + height, *x[3:])
        now = dynamics(lifted, (0.0, 0.0), DRY, NAMED)
        assert (grip(now, lifted, NAMED).loads == (0.0, 0.0)) is gap
    np.testing.assert_allclose(grip(dynamics(x, (0.0, 0.0), DRY, NAMED), x, NAMED).loads, 58.86, rtol=1e-9)


def test_the_ground():
    named = VehicleParameters(*BALANCING_VEHICLE.values("parameters", ROUGH | {"patch": 0.2, "patch_x": 1.0}))
    place, h = 0.1, 1e-5
    here, ahead, behind = (ground(place + d, 0.3, 0.04, named) for d in (0.0, h, -h))
    assert here.slope_x == pytest.approx((ahead.height - behind.height) / (2.0 * h), rel=1e-8)
    assert here.curvature == pytest.approx((ahead.slope_x - behind.slope_x) / (2.0 * h), rel=1e-8)
    top, off = ground(0.05, 0.0, 0.04, named), ground(2.0, 0.0, 0.04, named)
    assert top.height == pytest.approx(0.04 + 0.05 * 0.05)
    assert (off.height, off.curvature) == (pytest.approx(0.1), 0.0)
    assert on_patch(1.5, 0.0, named) == 1.0
    assert on_patch(0.5, 0.0, named) == on_patch(1.5, 1.5, named) == 0.0
    assert ground(1.5, 0.0, 0.0, named).friction == pytest.approx(0.2)


def test_motors_have_limits():
    named = VehicleParameters(*BALANCING_VEHICLE.values("parameters", {"no_load_speed": 60.0}))
    assert allocate(0.0, standing(), (-4.0, 0.0, 1.0), P) == (1.5, 2.5)
    assert allocate(0.0, standing(), (-40.0, 0.0, 0.0), P) == (6.0, 6.0)
    assert limited(10.0, 30.0, named) == pytest.approx(3.0)  # half the speed, half the torque
    assert limited(-10.0, 30.0, named) == pytest.approx(-6.0)  # braking
    assert limited(10.0, 90.0, named) == 0.0
    assert limited(2.0, 30.0, named) == 2.0
    assert limited(10.0, 90.0, NAMED) == 6.0  # without a speed line


def test_the_vehicle_of_the_step_map_is_that_of_the_equations():
    """One short step against the derivative, in contact and in the air."""
    for x in (X3, (*X3[:2], 0.5, *X3[3:])):
        rates = np.array(BALANCING_VEHICLE.derivative(0.0, x, (2.0, 1.0), DRY, P))
        misses = [
            np.abs((np.array(advance(0.0, x, (2.0, 1.0), DRY, P, h)) - x) / h - rates).max() for h in (1e-6, 1e-7)
        ]
        assert misses[1] < 0.12 * misses[0] < 0.02 * np.abs(rates).max()


def test_upright_and_its_margins():
    model = plants.linearise(BALANCING_VEHICLE, "upright")
    poles = model.poles
    assert poles.real.max() == pytest.approx(7.9442, rel=2e-3)  # the ideal model's, through bristles
    stuck = poles[np.argmin(np.abs(poles - (-699.0 + 952.0j)))]
    assert stuck == pytest.approx(-699.0 + 952.0j, abs=1.0)  # published to three digits
    lateral = poles[np.argmin(np.abs(poles - (-49.1 + 309.0j)))]
    assert lateral == pytest.approx(-49.1 + 309.0j, abs=0.6)
