"""Friction laws: the published behaviour of the LuGre element, its updates over a step, and what they may not do."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from plants.core.tracing.trace import names, trace
from plants.friction import LuGre, coulomb, stribeck, viscous
from plants.friction.lugre import dot

# The element of the 1995 paper, as forces on 1 kg; balancer per unit load.
PAPER = LuGre(1e5, 1e5**0.5, 0.4, 1.5, 1.0, 1e-3)
BALANCER = LuGre(1e4, 10.0, 0.02, 0.8, 0.6, 0.05, 0.1)
STUDY = LuGre(1e4, 10.0, 0.02, 0.15, 0.10, 0.05, 0.1)


def block(law, force, t_end, start=(0.0, 0.0, 0.0), **options):
    """A block of 1 kg under a force: position, speed, bristle."""

    def rates(t, x):
        return x[1], force(t) - law.coefficient((x[1],), (x[2],))[0], law.rate((x[1],), (x[2],))[0]

    return solve_ivp(rates, (0.0, t_end), start, "Radau", rtol=1e-8, atol=1e-12, **options)


def friction_along(law, run):
    return law.coefficient((run.y[1],), (run.y[2],))[0]


def test_steady_sliding_follows_stribecks_curve():
    speeds = (1e-3, 1e-2, 0.05, 0.1, 0.5, 2.0)
    published = (0.799940015998, 0.792357887830, 0.674575888234, 0.605663127778, 0.61, 0.64)
    np.testing.assert_allclose([BALANCER.steady(v) for v in speeds], published, rtol=1e-11)
    for v in speeds:  # the bristle at rest in its sliding: the dynamic law gives the same
        z = BALANCER.level(v) / BALANCER.stiffness
        assert BALANCER.rate((v,), (z,))[0] == pytest.approx(0.0, abs=1e-12)
        assert BALANCER.coefficient((v,), (z,))[0] == pytest.approx(BALANCER.steady(v), rel=1e-11)


@pytest.mark.parametrize(
    ("rate", "peak"), [(1.0, 1.4324), (2.0, 1.3944), (5.0, 1.3132), (10.0, 1.2199), (20.0, 1.0986)]
)
def test_break_away_force_falls_with_the_rate_of_loading(rate, peak):
    run = block(PAPER, lambda t: rate * t, 1.5 / rate + 0.05, max_step=2e-3 / rate)
    found = friction_along(PAPER, run)
    slid = run.y[1] > 0.02  # by then it has broken away; viscous friction rises again later
    assert found[: slid.argmax() or None].max() == pytest.approx(peak, abs=1e-4)  # published to four digits


def test_pre_sliding_is_a_closed_loop_that_costs_work():
    def force(t):
        return np.interp(t, (0.0, 3.0, 9.0, 15.0), (0.0, 1.425, -1.425, 1.425))

    run = block(PAPER, force, 15.0, max_step=5e-3, dense_output=True)
    corners = [run.sol(t)[0] for t in (3.0, 9.0, 15.0)]
    np.testing.assert_allclose(corners, (4.4782e-5, -8.988e-6, 4.4782e-5), atol=2e-9)  # published to 5e-10
    time = np.linspace(3.0, 15.0, 24001)
    work = np.trapezoid(force(time) * run.sol(time)[1], time)
    assert work == pytest.approx(8.200e-5, rel=1e-3)


@pytest.mark.parametrize(("stiffness", "final"), [(1e3, 0.49930), (1e4, 0.49993), (1e5, 0.499993)])
def test_stiff_bristles_are_coulomb_friction(stiffness, final):
    law = LuGre(stiffness, stiffness**0.5, 0.0, 1.0, 1.0, 1e-3)
    run = block(law, lambda t: 0.0, 1.6, start=(0.0, 1.0, 1.0 / stiffness))
    assert run.y[0].max() == pytest.approx(0.5, abs=1e-6)
    assert run.y[0, -1] == pytest.approx(final, abs=6e-6)
    assert run.y[0].max() - run.y[0, -1] < 1.0 / stiffness  # it springs back by less than the bristles were bent


@pytest.mark.parametrize("law", [BALANCER, STUDY])
def test_it_is_passive_wherever_bristles_can_be(law):
    """|z| <= mu_s / sigma0 is what sliding can bend; all speeds and directions."""
    rng, n = np.random.default_rng(0), 20000
    speed = 10.0 ** rng.uniform(-6.0, 1.0, n)
    bent = law.static / law.stiffness * rng.uniform(0.0, 1.0, n)
    angle = rng.uniform(0.0, 2.0 * np.pi, (2, n))
    v, z = ((s * np.cos(a), s * np.sin(a)) for s, a in zip((speed, bent), angle, strict=True))
    heat = sum(law.losses(v, z))
    assert (heat >= 0.0).all()
    # friction's power is heat and what bends bristles: nothing is missing
    power = dot(law.coefficient(v, z), v)
    np.testing.assert_allclose(power, heat + law.stiffness * dot(z, law.rate(v, z)), rtol=0.0, atol=1e-12 * power.max())


def test_with_constant_bristle_damping_it_is_not():
    law = LuGre(1e4, 10.0, 0.02, 0.8, 0.6, 0.05)
    speed = np.geomspace(1e-3, 10.0, 400)
    assert sum(law.losses((speed,), (0.8 / 1e4 + 0.0 * speed,))).min() < 0.0


def test_bristles_stay_in_the_disc_that_friction_can_bend():
    """Under any slip; the implicit step keeps it as the flow does, for any step."""
    rng = np.random.default_rng(1)
    for update in (BALANCER.implicit, BALANCER.exponential):
        z = (0.0, 0.0)
        for _ in range(500):
            v = tuple(rng.standard_normal(2) * 10.0 ** rng.uniform(-3.0, 1.0))
            z = update(v, z, 10.0 ** rng.uniform(-6.0, -1.0))
            assert dot(z, z) ** 0.5 <= BALANCER.static / BALANCER.stiffness * (1.0 + 1e-9)


@pytest.mark.parametrize("v", [1e-7, 1e-3, 0.5])
def test_updates_over_a_step(v):
    """The exponential one is exact for a constant velocity; the implicit one is of first order."""
    z, h = 2e-5, 1e-3
    path = solve_ivp(lambda t, y: BALANCER.rate((v,), (y[0],)), (0.0, h), [z], "Radau", rtol=1e-10, atol=1e-16)
    assert BALANCER.exponential((v,), (z,), h)[0] == pytest.approx(path.y[0, -1], rel=1e-7)
    errors = []
    for n in (4000, 8000):
        bent = z
        for _ in range(n):
            bent = BALANCER.implicit((v,), (bent,), h / n)[0]
        errors.append(abs(bent - path.y[0, -1]))
    assert errors[1] == pytest.approx(0.5 * errors[0], rel=0.05) or errors[0] < 1e-9 * z


def test_the_step_that_is_linear_in_the_new_velocity_is_the_implicit_one():
    v, z, h = (0.03, -0.2), (4e-5, 1e-5), 1e-3
    speed = (v[0] ** 2 + v[1] ** 2) ** 0.5
    a, b = BALANCER.linear(speed, h)
    after = BALANCER.implicit(v, z, h)
    rates = [(new - old) / h for new, old in zip(after, z, strict=True)]
    expected = [
        BALANCER.stiffness * c + BALANCER.faded(speed) * d + BALANCER.viscosity * e
        for c, d, e in zip(after, rates, v, strict=True)
    ]
    np.testing.assert_allclose([a * c + b * e for c, e in zip(z, v, strict=True)], expected, rtol=1e-10)


def test_laws_of_the_speed_alone():
    assert viscous(0.3, 2.0) == pytest.approx(0.6)
    assert coulomb(0.0, 5.0, 1e-3) == 0.0
    assert coulomb(1e-3, 5.0, 1e-3) == pytest.approx(5.0 / 2.0**0.5)
    assert coulomb(-10.0, 5.0, 1e-3) == pytest.approx(-5.0)
    assert stribeck(0.0, 1.5, 1.0, 0.01) == 1.5
    assert stribeck(0.01, 1.5, 1.0, 0.01) == pytest.approx(1.0 + 0.5 * np.exp(-1.0))
    assert stribeck(0.02, 1.5, 1.0, 0.01, 1.0) == pytest.approx(1.0 + 0.5 * np.exp(-2.0))


def test_all_of_it_can_be_taped():
    def laws(v, z, h):
        law = BALANCER
        return (
            *law.implicit(v, z, h), *law.exponential(v, z, h), *law.losses(v, z), *law.linear(v[0], h), law.stored(z),
            coulomb(v[0], 1.0, 0.1), viscous(v[0], 2.0), stribeck(v[0], 1.5, 1.0, 0.1, 1.3),
        )  # fmt: skip

    v, z, h = (0.03, -0.2), (4e-5, 1e-5), 1e-3
    taped = trace(laws, names("v", 2), names("z", 2), "h")(*v, *z, h)
    np.testing.assert_allclose(taped, laws(v, z, h), rtol=1e-12)
