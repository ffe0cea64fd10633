"""C from the tape: the elementary kernels bit for bit, fused operations, selects and constants as in the kernels."""

import ctypes
import math
import random
import shutil
import subprocess
from fractions import Fraction

import numpy as np
import pytest

from plants.core import elementary
from plants.core.elementary import clip, maximum, minimum, sin, where
from plants.core.elementary_kernels import KERNELS
from plants.core.printers import c, c_kernels
from plants.core.tracing.trace import trace
from tests.reference import expressions

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")

FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC")
SPECIAL = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 5e-324, 1e308, 0.5, 2.0, 3.0)


def built(folder, text):
    """Compile a C text without a warning and load it."""
    source = folder / f"text{len(list(folder.iterdir()))}.c"  # a library is loaded once for each path
    source.write_text(text)
    command = ["gcc", *FLAGS, "-o", str(source.with_suffix(".so")), str(source), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(source.with_suffix(".so")))


def called(library, name, points, n_out):
    """Values [n_points, n_out] of a printed function at points [n_points, n_in]."""
    function = getattr(library, name)
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    function.restype = None
    points, out = np.ascontiguousarray(points, float), np.empty((len(points), n_out))
    for k in range(len(points)):
        function(points[k:].ctypes.data, out[k:].ctypes.data)
    return out


@pytest.fixture(scope="module")
def kernels_in_c(tmp_path_factory):
    """Every elementary kernel behind a function ``call_<name>(in, out)``."""
    calls = []
    for name, kernel in KERNELS.items():
        args = ", ".join(f"in[{k}]" for k in range(len(kernel.domain)))
        line = f"out[0] = k_{name}({args});"
        if kernel.results == 2:
            line = f"const struct k_{name}_results both = k_{name}({args}); out[0] = both.r0; out[1] = both.r1;"
        head = f"void call_{name}(const double *in, double *out)"
        calls.append(f"{head};\n{head} {{ {line} }}\n")
    return built(tmp_path_factory.mktemp("c"), "\n".join([c.HEADER, c_kernels.source(KERNELS), *calls]))


def points_for(kernel):
    rng = np.random.default_rng(5)
    wide = rng.choice([-1.0, 1.0], 4000) * np.exp(rng.uniform(-700.0, 700.0, 4000))
    usual = np.concatenate([rng.uniform(-1.0, 1.0, 1000), rng.uniform(-1e5, 1e5, 1000), rng.normal(0.0, 3.0, 2000)])
    columns = [rng.permutation(np.concatenate([wide, usual])) for _ in range(len(kernel.domain))]
    special = np.array(np.meshgrid(*[SPECIAL] * len(kernel.domain))).reshape(len(kernel.domain), -1).T
    return np.concatenate([np.stack(columns, axis=1), special])


def rounded_once(a, b, c):
    """a * b + c with one rounding, as C's fma."""
    if math.isfinite(a) and math.isfinite(b) and math.isinf(c):
        return c  # a product beyond the largest double is not rounded before
    if not all(map(math.isfinite, (a, b, c))) or ((a == 0.0 or b == 0.0) and c == 0.0):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


@pytest.mark.parametrize("name", KERNELS)
def test_elementary_kernels_in_c_are_those_in_python_bit_for_bit(name, kernels_in_c, monkeypatch):
    monkeypatch.setattr("plants.core.elementary_kernels.bits.fma", rounded_once)
    kernel = KERNELS[name]
    points = points_for(kernel)
    with np.errstate(all="ignore"):
        plain = np.array([kernel.function(*map(float, point)) for point in points]).reshape(len(points), -1)
    ours = called(kernels_in_c, f"call_{name}", points, kernel.results)
    np.testing.assert_array_equal(ours, plain)
    signs = ~np.isnan(plain)  # the sign of NaN is nobody's
    np.testing.assert_array_equal(np.signbit(ours)[signs], np.signbit(plain)[signs])


def test_printed_expressions_are_the_kernels_bit_for_bit(tmp_path, compiled):
    trees = [expressions.grow(random.Random(seed), 4) for seed in range(8)]
    program = trace(expressions.block(*trees), "a", "b", "c")
    points = np.random.default_rng(3).uniform(-3.0, 3.0, (300, 3))
    ours = called(built(tmp_path, c.function("forest", program)), "forest", points, len(trees))
    np.testing.assert_array_equal(ours, compiled(expressions.block(*trees), 3, len(trees))(*points.T).T)


def test_selects_decide_in_c_as_in_python_where_something_is_nan(tmp_path):
    def selects(a, b, d):
        return where(a, b, d), minimum(a, b), maximum(a, b), clip(a, b, d)

    program = trace(selects, "a", "b", "d")
    points = np.array(np.meshgrid(SPECIAL, SPECIAL, SPECIAL)).reshape(3, -1).T
    ours = called(built(tmp_path, c.function("selects", program)), "selects", points, 4)
    np.testing.assert_array_equal(ours, np.array([selects(*map(float, p)) for p in points]))


def test_products_in_sums_are_fused_where_the_tape_says_so_and_nowhere_else(tmp_path):
    program = trace(lambda a, b, d: (a * b - d, d - a * b, a * b, (a + d) * b), "a", "b", "d")
    text = c.function("sums", program)
    assert text.count("fma(") == 2
    a = 1.0 + 2.0**-30  # its square needs more digits than a double has: 2**-60 is lost in the product
    (ours,) = called(built(tmp_path, text), "sums", [[a, a, a * a]], 4)
    assert ours.tolist() == [2.0**-60, -(2.0**-60), a * a, (a + a * a) * a]


def test_constants_read_back_exactly_and_outputs_may_be_the_inputs(tmp_path):
    values = (0.1, -1e-300, 1e22, 5e-324, -0.0, math.inf, -math.inf, 2.0)
    program = trace(lambda a: (*values, a * 3.0), "a")
    (ours,) = called(built(tmp_path, c.function("constants", program)), "constants", [[7.0]], len(values) + 1)
    assert ours.tolist() == [*values, 21.0]
    assert math.copysign(1.0, ours[4]) < 0.0
    library = built(tmp_path, c.function("swap", trace(lambda a, b: (b, a), "a", "b")))
    both = np.array([1.0, 2.0])
    library.swap(both.ctypes, both.ctypes)
    assert both.tolist() == [2.0, 1.0]


def test_an_angle_is_turned_once_for_sine_and_cosine():
    program = trace(lambda a: (sin(a), elementary.cos(a), sin(a) * 2.0), "a")
    text = c.function("turn", program)
    assert text.count("= k_sincos(") == 1


def test_what_has_no_form_in_c_is_refused():
    with pytest.raises(ValueError, match="no elementary kernel 'sincs'; did you mean 'sincos'"):
        c_kernels.source(["sincs"])
    with pytest.raises(ValueError, match="letters, digits and underscores, got 'two words'"):
        c.function("two words", trace(lambda a: a, "a"))


def looping(x: float) -> float:
    """Loops have no place in a kernel."""
    while x > 1.0:
        x = 0.5 * x
    return x


def test_a_kernel_written_otherwise_is_refused():
    with pytest.raises(TypeError, match="looping: .* has no form in the C printer"):
        c_kernels._CFunction(looping).text()
