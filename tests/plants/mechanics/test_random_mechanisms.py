"""Mechanisms that nobody thought of: both ways of deriving, the pseudo-inverse and difference quotients agree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plants.core.elementary import acos, asin, atan2, cos, exp, log, maximum, sin, sqrt, tan, tanh, where
from plants.mechanics import Mechanism
from plants.mechanics.algebra.symbolic import Symbolic
from plants.mechanics.checks import samples
from plants.mechanics.forms import pseudo_inverse

CLOSE = 1e-9  # of 1 + |a|: the worst of the generated mass matrices have a condition of 1e4
FUNCTIONS = (
    sin,
    cos,
    tanh,
    lambda a: exp(0.3 * a),
    lambda a: sqrt(1.0 + a * a),
    lambda a: a,
    lambda a: a * a * a / 6.0,
)
numbers = st.floats(-1.0, 1.0).map(lambda value: round(value, 3))
entries = st.tuples(st.integers(0, len(FUNCTIONS) - 1), numbers, numbers)


def function(entry, q, t):
    """A function of one or two neighbouring coordinates and time."""
    which, size, mixed = entry
    k = which % len(q)
    return size * FUNCTIONS[which](q[k] + mixed * q[(k + 1) % len(q)] + 0.1 * mixed * t)


@st.composite
def recipes(draw, constrained=True):
    n = draw(st.integers(2, 3))
    rows = draw(st.integers(1, n - 1)) if constrained else 0
    return {
        "n": n,
        "factor": [[draw(entries) for _ in range(n)] for _ in range(n)],
        "linear": [draw(entries) for _ in range(n)],
        "potential": draw(entries),
        "forces": [draw(entries) for _ in range(n)],
        "rows": [[draw(entries) for _ in range(n)] for _ in range(rows)],
        "moving": [draw(entries) for _ in range(rows)],
        "friction": draw(st.sampled_from(("none", "tanh", "where", "maximum"))),
    }


def mechanism(recipe, *, basis=False):
    """T = (|L v|^2 + v'v / 2) / 2 + B.v with L of functions of q; rows solved for the last rates."""
    mech = Mechanism("random")
    n, g = recipe["n"], len(recipe["rows"])
    q = mech.coordinates(" ".join(f"q{k}" for k in range(n)))
    v = mech.rates()
    u, scale = mech.inputs("u"), mech.parameters(scale=1.3)
    t = mech.time
    for k, row in enumerate(recipe["factor"]):
        mech.kinetic(sum(function(entry, q, t) * rate for entry, rate in zip(row, v, strict=True)) ** 2 / 2)
        mech.kinetic(scale * v[k] ** 2 / 4 + function(recipe["linear"][k], q, t) * v[k])
    mech.potential(function(recipe["potential"], q, t) * scale)
    mech.force({f"q{k}": function(entry, q, t) * u for k, entry in enumerate(recipe["forces"])})
    rub = {"none": lambda _: 0.0, "tanh": lambda w: -0.2 * tanh(w / 0.1), "where": lambda w: where(w, -0.2, 0.2) * (1 + w * w),
           "maximum": lambda w: -0.3 * maximum(w, 0.1 * w)}  # fmt: skip
    mech.force({"q0": rub[recipe["friction"]](v[0] - 0.5 * v[1])}, kind="dissipative")
    m = n - g
    table = [[function(entry, q, t) for entry in row[:m]] for row in recipe["rows"]]
    moving = [function(entry, q, t) for entry in recipe["moving"]]
    for k in range(g):
        mech.velocity_constraint(v[m + k] - sum(a * rate for a, rate in zip(table[k], v[:m], strict=True)) - moving[k])
    if basis:
        columns = {f"w{j}": [float(i == j) for i in range(m)] + [table[k][j] for k in range(g)] for j in range(m)}
        mech.basis(**columns)
        mech.basis_offset(*(0.0,) * m, *moving)
    return mech


def accelerations(plant, t, q, v, u):
    x = plant.equations.state_from(q, v, t=t) if plant.equations.form == "quasi" else (*q, *v)
    return np.array(plant.equations.coordinate_accelerations(*plant.equations.block(t, x, u)), float)


@settings(max_examples=4)
@given(recipes())
def test_random_mechanisms_under_moving_constraints(recipe):
    quasi = [mechanism(recipe, basis=True).build("quasi", derivatives=way, check=False) for way in ("symbols", "tape")]
    routh = [mechanism(recipe).build("routh", derivatives=way, check=False) for way in ("symbols", "tape")]
    for t, x, u in samples(quasi[0].equations, 3):
        q, v = (np.array(part, float) for part in quasi[0].equations.motion(*quasi[0].equations.block(t, x, u)))
        wanted = pseudo_inverse.accelerations(quasi[1].equations.full.at(t, q, v, u))
        for plant in (*quasi, *routh):
            found = accelerations(plant, t, q, v, u)
            assert np.abs(found - wanted).max() < CLOSE * (1.0 + np.abs(wanted).max()), plant.equations.form


@settings(max_examples=6)
@given(recipes(constrained=False))
def test_lagranges_equations_by_difference_quotients(recipe):
    """d/dt dT/dv - dT/dq + dV/dq = Q, with the derivatives of T and V taken numerically: no block of the kit is used."""
    plant = mechanism(recipe).build(check=False)
    n, h = recipe["n"], 1e-5
    rng = np.random.default_rng(0)

    def lagrangian(t, q, v):
        kinetic, potential = plant.equations.full(("kinetic", "potential"), t, tuple(q), tuple(v), (0.0,), (), (1.3,))
        return kinetic[0] - potential[0]

    def momenta(t, q, v):  # L is quadratic in v: a central difference of any width is exact
        return np.array([(lagrangian(t, q, v + e) - lagrangian(t, q, v - e)) / 2.0 for e in np.eye(n)])

    q, v, t, u = rng.uniform(-1, 1, n), rng.uniform(-1, 1, n), 0.4, 0.7
    a = np.array(plant.derivative(t, (*q, *v), (u,), (), (1.3,))[n:], float)
    ahead = momenta(t + h, q + h * v + h * h / 2 * a, v + h * a)
    behind = momenta(t - h, q - h * v + h * h / 2 * a, v - h * a)
    by_place = np.array([(lagrangian(t, q + h * e, v) - lagrangian(t, q - h * e, v)) / (2 * h) for e in np.eye(n)])
    force = np.array([forces(recipe, t, q, v)[k] * u for k in range(n)])
    force[0] += friction(recipe["friction"], v[0] - 0.5 * v[1])
    # h^2 times third derivatives (up to some 10) and rounding / h: 1e-8
    np.testing.assert_allclose((ahead - behind) / (2 * h) - by_place, force, atol=1e-6)


def forces(recipe, t, q, _v):
    return [float(function(entry, list(q), t)) for entry in recipe["forces"]]


def friction(kind, w):
    return {
        "none": 0.0, "tanh": -0.2 * np.tanh(w / 0.1), "where": (-0.2 if w > 0.0 else 0.2) * (1 + w * w),
        "maximum": -0.3 * max(w, 0.1 * w),
    }[kind]  # fmt: skip


def test_exponentials_logarithms_and_powers():
    """Computer algebra writes exp(a) as a power of e, and finds pi where arguments change their sign."""
    x = (0.4, -0.3)
    found = []
    for way in ("symbols", "tape"):
        mech = Mechanism("odd")
        a, da = mech.coordinates("a"), mech.rates()
        mech.kinetic((exp(-2.0 * a) + 1.0 / exp(a) + log(2.0 + a * a) + acos(-a) + (1.0 + a * a) ** 1.5) * da**2 / 2)
        mech.potential(
            exp(3.0 * a) + atan2(2.0 * sin(a), 1.0 + a * a) + (2.0 + a) ** a + asin(a / 2) / sqrt(3.0 + a) ** 3
        )
        mech.force({"a": tan(a) - exp(a) ** 2})
        found.append(mech.build(derivatives=way).derivative(0.0, x, (), (), ())[1])
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def test_what_computer_algebra_cannot_hand_back_is_left_to_the_tape():
    """tan(pi/2 - a) becomes a cotangent there, which has no operation here."""

    def mechanism():
        mech = Mechanism("cotangent")
        a, da = mech.coordinates("a"), mech.rates()
        mech.kinetic(da**2 / 2)
        mech.potential(tan(acos(0.0 * a) - a))
        return mech

    plant = mechanism().build()
    assert plant.derivative(0.0, (0.7, 0.0), (), (), ())[1] == pytest.approx(1.0 / np.sin(0.7) ** 2, rel=1e-12)


@pytest.mark.parametrize("form", ["quasi", "routh", "gauss", "joints", "free"])
@pytest.mark.parametrize(
    "rub", [lambda w: -where(w, 1.0, -0.5), lambda w: -maximum(w, 2.0 * w), lambda w: -tanh(w / 0.01)]
)
def test_friction_by_selects_sees_the_rates_of_every_form(form, rub):
    """A bead on a ring: friction on its horizontal speed is opaque to computer algebra, but for tanh."""
    plants = []
    for way in ("symbols", "tape"):
        mech = Mechanism("ring")
        if form == "free":
            a = mech.coordinates("a", initial=0.3)
            da = mech.rates()
            mech.kinetic(da**2 / 2)
            mech.force({a: cos(a) * rub(cos(a) * da)}, kind="dissipative")
        else:
            x, y = mech.coordinates("x y", initial=(np.sin(0.3), -np.cos(0.3)))
            vx, vy = mech.rates()
            mech.kinetic((vx**2 + vy**2) / 2)
            mech.force({x: rub(vx)}, kind="dissipative")
            if form == "joints":
                a = mech.joints("a")
                mech.place({x: sin(a), y: -cos(a)})
            else:
                mech.position_constraint((x**2 + y**2 - 1.0) / 2)
                mech.basis(w=(-y, x))
        plants.append(mech.build(form, derivatives=way))
    for angle, rate in ((0.3, 1.2), (0.3, -1.2), (2.5, 0.7), (2.5, -0.7)):
        s, c = np.sin(angle), np.cos(angle)
        wanted = c * float(rub(c * rate))
        for plant in plants:
            x = (
                (angle, rate)
                if form in {"free", "joints"}
                else plant.equations.state_from((s, -c), (c * rate, s * rate))
            )
            a = np.array(plant.equations.coordinate_accelerations(*plant.equations.block(0.0, x)), float)
            found = a[0] if form == "free" else a @ (c, s)  # along the ring
            assert found == pytest.approx(wanted, rel=1e-10), plant.equations.facts


def test_what_is_opaque_to_computer_algebra_follows_every_replacement():
    """The rate becomes the coordinate, then the coordinate a number: the select sees the number."""
    mech = Mechanism("twice")
    a, da = mech.coordinates("a"), mech.rates()
    mech.kinetic(da**2 / 2)
    mech.force({a: where(da - 6.0, 10.0, 20.0)})
    declared = mech.declared()
    calculus = Symbolic(declared)
    q, v = calculus.symbol("q0"), calculus.symbol("v0")
    (force,) = calculus.lift(declared.forces["drive"])
    (once,) = calculus.replace([force], [v], [q])
    (twice,) = calculus.replace([once], [q, v], [5.0, 7.0])
    for value, wanted in ((force, 10.0), (once, 20.0), (twice, 20.0)):
        assert calculus.land([value], ("t", "q0", "v0"))(0.0, 1.0, 8.0) == (wanted,)
    (other,) = calculus.replace([once], [q, v], [7.0, 5.0])
    assert calculus.land([other], ("t", "q0", "v0"))(0.0, 1.0, 1.0) == (10.0,)
