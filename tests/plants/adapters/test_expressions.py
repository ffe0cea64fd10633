"""Expressions of CasADi and SymPy as plants: every operation against the package's own evaluation."""

import math

import numpy as np
import pytest

import controllers
import plants
import sscq
from plants import Channel, Quantity
from plants.adapters import functions
from plants.adapters.casadi_expression import _OPERATIONS, from_casadi
from plants.adapters.sympy_expression import from_sympy
from plants.core.tracing.trace import names, trace

Q, V, U, G = (
    Quantity("angle", "rad", 0.3),
    Quantity("rate", "rad/s"),
    Quantity("torque", "N m"),
    Quantity("g", "", 9.81),
)
CHANNELS = (Channel(output="angle", rate="rate"),)
POINTS = np.random.default_rng(5).uniform(-1.9, 1.9, (200, 3))


def relative(got, expected):
    return abs(got - expected) / max(1.0, abs(expected))


def evaluated(plant, point):
    """Rates by the block on floats, and by its tape."""
    q, v, u = map(float, point)
    program = trace(plant.derivative, "t", names("x", 2), names("u", 1), (), names("p", 1))
    return plant.derivative(0.4, (q, v), (u,), (), (9.81,)), program(0.4, q, v, u, 9.81)


def of_one(ca, q, v, u):
    """An expression for each of CasADi's operations, inside the range of each."""
    safe, unit = ca.fabs(q) + 0.5, 0.5 * ca.sin(v)
    return {
        "EXP": ca.exp(q), "LOG": ca.log(safe), "POW": safe**v, "CONSTPOW": safe**1.7, "SQRT": ca.sqrt(safe),
        "SQ": q * q, "TWICE": q + q, "SIN": ca.sin(q), "COS": ca.cos(q), "TAN": ca.tan(unit), "ASIN": ca.asin(unit),
        "ACOS": ca.acos(unit), "ATAN": ca.atan(q), "LT": q < v, "LE": q <= v, "EQ": ca.eq(ca.floor(q), ca.floor(v)),
        "NE": ca.ne(ca.floor(q), ca.floor(v)), "NOT": ca.logic_not(q < v), "AND": ca.logic_and(q < v, v < u),
        "OR": ca.logic_or(q < v, v < u), "FLOOR": ca.floor(q), "CEIL": ca.ceil(q), "FMOD": ca.fmod(3.0 * q, v),
        "FABS": ca.fabs(q), "SIGN": ca.sign(q), "COPYSIGN": ca.copysign(q, v), "IF_ELSE_ZERO": ca.if_else(q < v, u, v),
        "FMIN": ca.fmin(q, v), "FMAX": ca.fmax(q, v), "INV": 1 / safe, "SINH": ca.sinh(q), "COSH": ca.cosh(q),
        "TANH": ca.tanh(q), "ASINH": ca.asinh(q), "ACOSH": ca.acosh(1.0 + safe), "ATANH": ca.atanh(unit),
        "ATAN2": ca.atan2(q, v), "LOG1P": ca.log1p(safe), "EXPM1": ca.expm1(q), "HYPOT": ca.hypot(q, v),
        "NEG": -q, "DIV": q / safe, "SUB": q - v, "ADD": q + v, "MUL": q * v,
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["SX", "MX"])
def test_every_operation_of_casadi_gives_casadis_numbers(kind):
    ca = pytest.importorskip("casadi")
    symbol = getattr(ca, kind).sym
    t, q, v, u, g = (symbol(name) for name in "tqvug")
    of_names = of_one(ca, q, v, u)
    assert set(of_names) == set(_OPERATIONS) - {"ASSIGN"}
    for name, expression in of_names.items():
        rates = ca.vertcat(v, expression + 0.0 * g)
        plant = from_casadi(
            "one", {"derivative": rates}, time=t, states=[(q, Q), (v, V)], inputs=[(u, U)], parameters=[(g, G)]
        )
        theirs = ca.Function("theirs", [q, v, u], [expression])
        for point in POINTS:
            expected = float(theirs(*point))
            for got in evaluated(plant, point):
                # Our own forms of a few functions round a few times more than a C library's: 1e-12 leaves 4000 ulp.
                assert relative(got[1], expected) < 1e-12, (name, point)


def test_functions_keep_their_digits_near_zero_and_far_away():
    mpmath = pytest.importorskip("mpmath")
    for name in ("log1p", "expm1", "sinh", "asinh", "atanh", "cosh"):
        sizes = [10.0**-k for k in range(17)] + ([] if name in {"atanh", "log1p"} else [3.0, 30.0, 300.0])
        for x in (sign * size for size in sizes for sign in (1.0, -1.0)):
            if name in {"atanh", "log1p"} and abs(x) == 1.0:
                continue
            with mpmath.workdps(40):
                expected = float(getattr(mpmath, name)(mpmath.mpf(x)))
            assert getattr(functions, name)(x) == pytest.approx(expected, rel=1e-13, abs=0.0), (name, x)


def test_a_comparison_with_nan_is_false():
    for function in (functions.less, functions.less_equal, functions.equal):
        assert function(math.nan, 1.0) == 0.0
    assert functions.less(1.0, math.nextafter(1.0, 2.0)) == 1.0


def pendulum_of_casadi(ca):
    q, v, u, g = (ca.SX.sym(name) for name in ("q", "v", "u", "g"))
    return from_casadi(
        "pendulum of casadi",
        {"derivative": [v, u - 0.2 * v - g * ca.sin(q)], "entropy_rate": 0.2 * v * v, "outputs": ca.vertcat(q, v)},
        states=[(q, Q), (v, V)], inputs=[(u, U)], parameters=[(g, G)], measurements=(Q, V), channels=CHANNELS,
    )  # fmt: skip


def pendulum_of_sympy(sympy):
    q, v, u, g = sympy.symbols("q v u g")
    return from_sympy(
        "pendulum of sympy",
        {"derivative": [v, u - sympy.Rational(1, 5) * v - g * sympy.sin(q)], "entropy_rate": v**2 / 5},
        states=[(q, Q), (v, V)], inputs=[(u, U)], parameters=[(g, G)], channels=CHANNELS,
    )  # fmt: skip


def derivative(t, x, u, w, p):
    return x[1], u[0] - 0.2 * x[1] - p[0] * plants.sin(x[0])


@pytest.mark.parametrize("package", ["casadi", "sympy"])
def test_such_a_plant_is_compiled_and_moves_as_the_same_one_written_by_hand(package):
    module = pytest.importorskip(package)
    plant = (pendulum_of_casadi if package == "casadi" else pendulum_of_sympy)(module)
    by_hand = plants.Plant(
        "by hand", (Q, V), (G,), (U,), channels=CHANNELS, derivative=derivative,
        entropy_rate=lambda t, x, u, w, p: 0.2 * x[1] * x[1],
    )  # fmt: skip
    report = plants.check(plant)
    assert report.ok, str(report)
    task = [sscq.Situation("step", reference=1.0, t_end=5.0)]
    one, other = (sscq.evaluate(p, controllers.PID(), [[8.0, 4.0, 2.0]], task) for p in (plant, by_hand))
    # The same operations in another order: a stable loop does not grow their rounding.
    for name in ("iae", "entropy_plant", "effort"):
        np.testing.assert_allclose(one[name], other[name], rtol=1e-12)


def test_every_function_of_sympy_gives_sympys_numbers():
    sympy = pytest.importorskip("sympy")
    q, v, u, g, t = sympy.symbols("q v u g t", real=True)
    safe, unit = sympy.Abs(q) + sympy.Rational(1, 2), sympy.sin(v) / 2
    expressions = [
        sympy.sin(q) * sympy.cos(v) + sympy.tan(unit), sympy.asin(unit) + sympy.acos(unit) * sympy.atan(q),
        sympy.atan2(q, v), sympy.exp(q) * sympy.log(safe), sympy.sinh(q) + sympy.cosh(v) - sympy.tanh(u),
        sympy.asinh(q) + sympy.acosh(safe + 1) + sympy.atanh(unit), safe**v, safe ** sympy.Rational(-3, 2), q**5 / safe,
        sympy.sign(q) * sympy.floor(v) + sympy.ceiling(u), sympy.Min(q, v, u) - sympy.Max(q, v), sympy.pi * sympy.E * q,
        sympy.Piecewise((q, q < v), (v**2, sympy.And(v <= u, q > u)), (u, True)), sympy.sqrt(safe) + t,
        sympy.Piecewise((1, sympy.Or(sympy.Ne(q, v), sympy.Eq(v, u))), (0, True)),
        sympy.Piecewise((1, sympy.Not(sympy.And(q < v, v < u))), (0, True)),
    ]  # fmt: skip
    for expression in expressions:
        plant = from_sympy(
            "one", {"derivative": sympy.Matrix([v, expression])}, time=t,
            states=[(q, Q), (v, V)], inputs=[(u, U)], parameters=[(g, G)],
        )  # fmt: skip
        for point in POINTS[:20]:
            values = dict(zip((q, v, u, t), [*map(float, point), 0.4], strict=True))
            expected = float(expression.subs(values).evalf(30))
            for got in evaluated(plant, point):
                assert relative(got[1], expected) < 1e-12, (expression, point)


def test_functions_of_time_are_symbols_too():
    sympy = pytest.importorskip("sympy")
    t = sympy.symbols("t")
    q, v = sympy.Function("q")(t), sympy.Function("v")(t)
    plant = from_sympy("of time", {"derivative": [v, -q]}, time=t, states=[(q, Q), (v, V)])
    assert plant.derivative(0.0, (1.0, 2.0), (), (), ()) == (2.0, -1.0)


def test_what_cannot_be_translated_is_named():
    sympy = pytest.importorskip("sympy")
    q, v, stray = sympy.symbols("q v stray")
    states = [(q, Q), (v, V)]
    with pytest.raises(ValueError, match="derivative of plant 'one' has stray"):
        from_sympy("one", {"derivative": [v, stray]}, states=states)
    with pytest.raises(ValueError, match="SymPy's erf has no compiled form"):
        from_sympy("one", {"derivative": [v, sympy.erf(q)]}, states=states)
    with pytest.raises(ValueError, match="derivative of plant 'one' must have 2 entries, got 1"):
        from_sympy("one", {"derivative": [v]}, states=states)
    with pytest.raises(ValueError, match="got derivative, power"):
        from_sympy("one", {"derivative": [v, q], "power": q}, states=states)


def test_what_casadi_has_and_we_do_not_is_named():
    ca = pytest.importorskip("casadi")
    q, v, stray = (ca.SX.sym(name) for name in ("q", "v", "stray"))
    states = [(q, Q), (v, V)]
    with pytest.raises(ValueError, match="derivative of plant 'one' has symbols .*: stray"):
        from_casadi("one", {"derivative": [v, stray]}, states=states)
    with pytest.raises(ValueError, match="CasADi's operation ERF has no compiled form"):
        from_casadi("one", {"derivative": [v, ca.erf(q)]}, states=states)


def test_entries_that_are_structurally_zero_are_zero():
    ca = pytest.importorskip("casadi")
    q, v = ca.SX.sym("q"), ca.SX.sym("v")
    plant = from_casadi("one", {"derivative": ca.vertcat(ca.SX(1, 1), q)}, states=[(q, Q), (v, V)])
    assert plant.derivative(0.0, (3.0, 4.0), (), (), ()) == (0.0, 3.0)
