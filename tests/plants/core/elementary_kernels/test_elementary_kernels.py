"""Elementary kernels: error against 120-bit arithmetic, special values, symmetries, packed instructions."""

import math
import re
from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plants.core.elementary_kernels import KERNELS, source
from plants.core.kernel import machine_code
from plants.core.kernel.machine_code import MachineCode
from tests.plants.core.kernel.test_vectorised import PACKED, SCALAR

EXACT = {
    "tan": mpmath.tan, "asin": mpmath.asin, "acos": mpmath.acos, "atan2": mpmath.atan2, "exp": mpmath.exp,
    "log": mpmath.log, "tanh": mpmath.tanh, "pow": mpmath.power, "floor": mpmath.floor, "abs": abs,
    "sign": mpmath.sign, "sqrt": mpmath.sqrt, "quotient": mpmath.fdiv,
}  # fmt: skip
NUMPY = {
    "sincos": lambda x: (np.sin(x), np.cos(x)), "tan": np.tan, "asin": np.arcsin, "acos": np.arccos,
    "atan2": np.arctan2, "exp": np.exp, "log": np.log, "tanh": np.tanh, "pow": np.power, "floor": np.floor,
    "abs": np.abs, "sign": np.sign, "sqrt": np.sqrt, "quotient": np.divide,
}  # fmt: skip
UNFUSED = {"quotient": 2.6}  # bounds of forms that need fused products, where these are not to be had
ODD = ["tan", "asin", "tanh"]
ANY = st.floats()
LANES, TYPES = 512, ("float64[:,:,::1]", "float64[::1]")
LOOP = """
import math
import numpy as np

FUSED = 1

{kernels}

def rollout(values, memory):
    S = memory.reshape(4, {lanes})
    for block in range(values.shape[1]):
        for lane in range({lanes}):
            S[0, lane] = values[0, block, lane]
            S[1, lane] = values[1, block, lane]
        for lane in range({lanes}):
            {call}
        for lane in range({lanes}):
            values[0, block, lane] = S[2, lane]
            values[1, block, lane] = S[3, lane]
"""


def lane_loop(name):
    """Text of a lane loop over one kernel: nothing but what is printed."""
    arguments = "S[0, lane], S[1, lane]" if len(KERNELS[name].domain) == 2 else "S[0, lane]"
    targets = "S[2, lane], S[3, lane]" if KERNELS[name].results == 2 else "S[2, lane]"
    return LOOP.format(kernels=source([name]), lanes=LANES, call=f"{targets} = k_{name}({arguments})")


@cache
def machine(name):
    return MachineCode(machine_code.compiled(lane_loop(name), TYPES), TYPES)


def compiled(name, points):
    """Evaluate a kernel at points [n, arity] in a lane loop: results [n, results]."""
    kernel, n = KERNELS[name], len(points)
    values = np.ones((2, -(-n // LANES), LANES))
    values.reshape(2, -1)[: len(kernel.domain), :n] = points.T
    machine(name)(values, np.empty(4 * LANES))
    return values.reshape(2, -1)[: kernel.results, :n].T


def plain(name, points):
    """Evaluate a kernel at points [n, arity] as ordinary Python on floats: results [n, results]."""
    results = [KERNELS[name].function(*map(float, point)) for point in points]
    return np.array(results).reshape(len(points), -1)


def exact(name, point):
    """All results at one point to 120 bits."""
    with mpmath.workprec(120):
        values = [mpmath.mpf(float(value)) for value in point]
        return (mpmath.sin(*values), mpmath.cos(*values)) if name == "sincos" else (EXACT[name](*values),)


def error_ulp(got, want):
    """Error of a double in units in the last place of the exact value."""
    if abs(want) >= mpmath.ldexp(2.0 - 2.0**-53, 1023):  # rounds to infinity
        return 0.0 if got == math.copysign(math.inf, want) else math.inf
    if not math.isfinite(got):
        return math.inf
    ulp = mpmath.ldexp(1, max(mpmath.mag(want) - 53, -1074) if want else -1074)
    with mpmath.workprec(120):
        return float(abs(got - want) / ulp)


def around(centers, spread, rng, n):
    return rng.choice(centers, n) + rng.uniform(-spread, spread, n)


def wide(rng, n, low, high):
    """Both signs, magnitudes even on the logarithm."""
    return rng.choice([-1.0, 1.0], n) * np.exp(rng.uniform(math.log(low), math.log(high), n))


def near_multiples(rng, n):
    """Doubles next to multiples of pi/2, where the sine or the cosine keeps no digit of the angle."""
    x = rng.integers(-63661, 63662, n) * (math.pi / 2)
    hardest = 45.553093477052  # 6e-19 from 29 pi/2
    return np.concatenate([[hardest, -hardest], x + np.spacing(x) * rng.integers(-2, 3, n)])


def sample(name, n=700):
    """Points [m, arity] in the declared range: dense, over all magnitudes, and where each form is hardest."""
    rng = np.random.default_rng(list(name.encode()))
    if name in {"sincos", "tan"}:
        sets = [
            rng.uniform(-1e5, 1e5, n),
            around([0.0], 4.0, rng, n),
            wide(rng, n, 1e-300, 1e5),
            near_multiples(rng, n),
        ]
        sets += [around(np.array([-0.785, 0.785]), 0.03, rng, n), np.linspace(-1e5, 1e5, n)]
    elif name in {"asin", "acos"}:
        sets = [np.linspace(-1.0, 1.0, n), wide(rng, n, 1e-308, 1.0), around([-0.5, 0.5], 0.1, rng, n)]
        sets += [1.0 - np.exp(rng.uniform(-36, -1, n)), np.exp(rng.uniform(-36, -1, n)) - 1.0]
    elif name == "exp":
        sets = [np.linspace(-750.0, 712.0, n), rng.uniform(-1, 1, n), wide(rng, n, 1e-20, 700.0)]
        sets += [rng.uniform(-745.2, -708.0, n), around([709.7827], 1e-4, rng, n)]
    elif name == "log":
        sets = [np.exp(rng.uniform(-708, 709, n)), rng.uniform(0.6, 1.6, n), 1 + wide(rng, n, 1e-16, 1e-2)]
        sets += [rng.uniform(0.0, 2.3e-308, n), 5e-324 * rng.integers(1, 99, n)]
    elif name == "tanh":
        sets = [np.linspace(-25.0, 25.0, n), around([-0.17, 0.17, 0.5], 0.02, rng, n), wide(rng, n, 1e-308, 30.0)]
    elif name == "sqrt":
        sets = [np.abs(wide(rng, n, 5e-324, 1e308))]
    else:
        sets = [rng.uniform(-9, 9, n), rng.integers(-9, 10, n) / 2.0, wide(rng, n, 1e-308, 1e308)]
    return np.concatenate(sets)[:, None]


def pairs(name, n=700):
    """Points [m, 2] for the functions of two arguments."""
    rng = np.random.default_rng(list(name.encode()))
    if name == "atan2":
        sets = [rng.normal(size=(n, 2)), np.stack([wide(rng, n, 1e-300, 1e300), wide(rng, n, 1e-300, 1e300)], axis=1)]
        sets += [np.stack([rng.uniform(0.3, 0.6, n), wide(rng, n, 0.5, 1.0)], axis=1)]
        sets += [wide(rng, 2 * n, 1e307, 1.7e308).reshape(n, 2), wide(rng, 2 * n, 5e-324, 1e-306).reshape(n, 2)]
    elif name == "quotient":
        sets = [wide(rng, 2 * n, 1e-3, 1e3).reshape(n, 2), rng.uniform(1.0, 2.0, (n, 2))]
        sets += [np.stack([wide(rng, n, 1e-5, 1e5), wide(rng, n, 1e-300, 1e300)], axis=1)]
        sets += [np.stack([rng.uniform(1.0, 2.0, n), 1.0 + rng.uniform(0.0, 1.0, n) ** 4], axis=1)]
    else:
        sets = [np.stack([rng.uniform(0.0, 20.0, n), rng.uniform(-9, 9, n)], axis=1)]
        sets += [np.stack([rng.uniform(0.71, 1.41, n), rng.uniform(-2000, 2000, n)], axis=1)]
        sets += [np.stack([np.abs(wide(rng, n, 5e-324, 1e308)), rng.uniform(-1.05, 1.05, n)], axis=1)]
        sets += [np.stack([1 + wide(rng, n, 1e-15, 1e-3), wide(rng, n, 1.0, 1e16)], axis=1)]
        sets += [np.stack([-rng.uniform(0, 9, n), rng.integers(-340, 340, n)], axis=1)]
    return np.concatenate(sets)


def points_of(name):
    return pairs(name) if len(KERNELS[name].domain) == 2 else sample(name)


def largest_error(name, points, results):
    """Largest error in ulp, and where."""
    return max(
        (max(error_ulp(got, want) for got, want in zip(row, exact(name, point), strict=True)), tuple(point))
        for point, row in zip(points, results.tolist(), strict=True)
    )


@pytest.mark.parametrize("name", KERNELS)
def test_compiled_error_is_within_the_declared_bound(name):
    points = points_of(name)
    error, where = largest_error(name, points, compiled(name, points))
    assert error <= KERNELS[name].error_ulp, where


@pytest.mark.parametrize("name", KERNELS)
def test_plain_python_error_is_within_the_declared_bound(name):
    """The bound holds without fused multiply-add too: every fourth point, since Python is slow."""
    points = points_of(name)[::4]
    error, where = largest_error(name, points, plain(name, points))
    assert error <= UNFUSED.get(name, KERNELS[name].error_ulp), where


LARGEST, SMALLEST = np.finfo(float).max, np.finfo(float).tiny
SPECIAL = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 1e5, math.inf, 5e-324, SMALLEST, LARGEST, math.nan])
SPECIAL = np.concatenate([SPECIAL, -SPECIAL])


@pytest.mark.parametrize("evaluate", [compiled, plain])
@pytest.mark.parametrize("name", KERNELS)
def test_special_values_are_those_of_ieee_arithmetic(name, evaluate):
    axes = [SPECIAL] * len(KERNELS[name].domain)
    points = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, len(KERNELS[name].domain))
    if name in {"sincos", "tan"}:  # finite angles outside the declared range have their own test
        points = points[(abs(points[:, 0]) <= 1e5) | ~np.isfinite(points[:, 0])]
    if name == "quotient":  # the only one that has no special divisors; and no subnormal results
        small = (points[:, 0] != 0.0) & (abs(points[:, 0]) < 1e-300)
        points = points[(abs(points[:, 1]) >= 0.5) & (abs(points[:, 1]) <= 1e5) & ~small]
    got = evaluate(name, points)
    with np.errstate(all="ignore"):
        want = np.stack(np.atleast_2d(NUMPY[name](*points.T)), axis=-1)
    # NumPy and the kernel each err by at most 4 ulp; where the result is 0, infinite or NaN there is nothing to round.
    np.testing.assert_allclose(got, want, rtol=8 * 2.0**-52, atol=0.0, equal_nan=True)
    number = ~np.isnan(want)
    assert np.array_equal(np.signbit(got)[number], np.signbit(want)[number])


@pytest.mark.parametrize("evaluate", [compiled, plain])
def test_angles_beyond_the_range_lose_accuracy_gradually_and_end_in_nan(evaluate):
    rng = np.random.default_rng(5)
    points = wide(rng, 400, 1e5, 1e9)[:, None]
    got = evaluate("sincos", points)
    for point, row in zip(points, got, strict=True):
        # A product of 30 and 36 bits is rounded: half a unit of the angle, twice that is the promise.
        assert all(abs(a - b) <= abs(point[0]) * 2.0**-52 for a, b in zip(row, exact("sincos", point), strict=True))
    beyond = np.array([[1.001e9], [-1e10], [1e300], [-math.inf], [math.nan]])
    assert np.isnan(evaluate("sincos", beyond)).all()
    assert np.isnan(evaluate("tan", beyond)).all()


@pytest.mark.parametrize("name", ODD)
@given(x=ANY)
def test_odd_functions_are_odd_bit_for_bit(name, x):
    function = KERNELS[name].function
    left, right = function(-x), function(x)
    assert math.isnan(left) == math.isnan(right)
    if not math.isnan(left):
        assert (left, math.copysign(1.0, left)) == (-right, -math.copysign(1.0, right))


@given(x=st.floats(-1e5, 1e5))
def test_sine_is_odd_cosine_even_and_squares_sum_to_one(x):
    sine, cosine = KERNELS["sincos"].function(x)
    assert KERNELS["sincos"].function(-x) == (-sine, cosine)
    # Each square errs by 2 ulp of itself and the sum by one rounding: below 3 * 2**-52.
    assert abs(sine * sine + cosine * cosine - 1.0) <= 3 * 2.0**-52


@pytest.mark.parametrize("name", KERNELS)
@given(x=ANY, y=ANY)
def test_plain_python_never_raises_and_stays_in_its_range(name, x, y):
    """Python's own float division and math.sqrt raise; a debugging run must go on as the compiled one does."""
    limit = {"sincos": 1.0, "asin": math.pi / 2, "acos": math.pi, "atan2": math.pi, "tanh": 1.0, "sign": 1.0}
    values = (x, y)[: len(KERNELS[name].domain)]
    with np.errstate(all="raise"):
        results = np.ravel(KERNELS[name].function(*values))
    assert len(results) == KERNELS[name].results
    assert all(math.isnan(result) or abs(result) <= limit.get(name, math.inf) for result in results)
    if name != "pow" and any(math.isnan(value) for value in values):
        assert np.isnan(results).all()


@pytest.mark.parametrize("evaluate", [compiled, plain])
def test_a_lost_divisor_never_gives_a_number(evaluate):
    """Divided by 0, infinity or NaN, a number becomes infinite or NaN: the guard against divergence sees it."""
    points = np.stack(np.meshgrid([1.0, -2.0, 1e-3], [0.0, -0.0, np.inf, -np.inf, np.nan]), axis=-1).reshape(-1, 2)
    assert not np.isfinite(evaluate("quotient", points)).any()


@pytest.mark.parametrize("cpu", [None, ("haswell", "+avx,+avx2,+fma,+bmi,+bmi2,+sse4.2,+popcnt")])
@pytest.mark.parametrize("name", KERNELS)
def test_lane_loops_are_computed_side_by_side(name, cpu, monkeypatch):
    if cpu:  # it has no 64-bit integer conversions and no arithmetic shift
        monkeypatch.setenv("SSCQ_CPU_NAME", cpu[0])
        monkeypatch.setenv("SSCQ_CPU_FEATURES", cpu[1])
    assembly = machine_code.assembly(lane_loop(name), TYPES)
    assert not SCALAR.findall(assembly)
    assert len(re.findall(r"^\s+v\w+\s.*%[yz]mm", assembly, re.MULTILINE)) >= 4
    # A magnitude is a mask, a sign three selects, rounding has a word of its own: none has arithmetic.
    assert name in {"abs", "sign", "floor"} or PACKED.findall(assembly)


def test_source_prints_each_function_once_after_what_it_calls():
    text = source(["pow", "sincos", "pow", "tan"])
    assert text == source(["tan", "pow", "sincos"])
    printed = re.findall(r"^def (k_\w+)", text, re.MULTILINE)
    assert len(printed) == len(set(printed))
    seen = set()
    for body in text.split("@inline\n")[1:]:
        name = re.match(r"def (k_\w+)", body).group(1)
        called = set(re.findall(r"\b(k_\w+)\(", body)) - {name}
        assert called <= seen
        seen.add(name)


@pytest.mark.parametrize("name", KERNELS)
def test_docstring_states_the_declared_bound(name):
    text, bound = KERNELS[name].function.__doc__, KERNELS[name].error_ulp
    words = {0.0: "exact", 0.5: "correctly rounded"}
    assert words.get(bound, f"within {bound} ulp") in text


def test_unknown_kernel_is_refused_with_the_near_miss():
    with pytest.raises(ValueError, match="no elementary kernel 'sincoss'; did you mean 'sincos'"):
        source(["sincoss"])
