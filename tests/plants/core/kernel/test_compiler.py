"""The compiler of generated text: it means what Python means, gives what Numba gives, and refuses the rest."""

import math
import re
import textwrap
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import controllers
import flcs
import plants
import sscq
from plants.core.compiler import RefusedError, module_text
from plants.core.kernel import machine_code
from plants.core.kernel.kernel import ARGUMENTS
from plants.core.kernel.machine_code import MachineCode
from plants.core.kernel.numba_code import by_numba
from plants.excitation import WhiteNoise
from sscq.loop.closed_loop import ClosedLoop
from tests.flcs.conftest import make_kb
from tests.plants.core.kernel.test_vectorised import PLAIN, RICH, SAMPLED, VDP

NOISY = replace(PLAIN, noise=0.02, delay=0.035, excitation=WhiteNoise(0.3, hold=0.1))
DOUBLES, WHOLES = "float64[::1]", "int64[::1]"
FOUR = (DOUBLES, WHOLES, DOUBLES, WHOLES)
HEAD = "import math\nimport numpy as np\nMASK = 255\n"
INTEGERS = st.integers(-(2**31), 2**31)
ANY = st.floats()


def compiled(text, types):
    return MachineCode(machine_code.compiled(text, types), types)


def both(body, x=(), n=(), size=8, more=""):
    """Run `rollout(x, n, y, k)` compiled and as Python; it fills doubles y and whole numbers k."""
    text = f"{HEAD}\n{more}\ndef rollout(x, n, y, k):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"
    given_ = (np.array(x, float), np.array(n, np.int64))
    ours, theirs = [(np.zeros(size), np.zeros(size, np.int64)) for _ in range(2)]
    compiled(text, FOUR)(*given_, *ours)
    namespace = {}
    exec(f"inline = lambda f: f\nfma = lambda a, b, c: a * b + c\n{text}", namespace)
    with np.errstate(all="ignore"):
        # Python's own numbers: NumPy's integers would count a negative remainder as Python does, but raise nothing.
        namespace["rollout"]([float(v) for v in given_[0]], [int(v) for v in given_[1]], *theirs)
    return ours, theirs


def assert_same(body, **options):
    ours, theirs = both(body, **options)
    np.testing.assert_array_equal(ours[0].view(np.int64), theirs[0].view(np.int64))  # signs of zeros as well
    np.testing.assert_array_equal(ours[1], theirs[1])
    return ours


@given(INTEGERS, INTEGERS.filter(bool))
def test_whole_numbers_are_divided_and_compared_as_in_python(a, b):
    assert_same(
        """
        k[0], k[1], k[2] = n[0] // n[1], n[0] % n[1], n[0] * n[1]
        k[3], k[4], k[5] = n[0] >> 3, n[0] & MASK, n[0] ^ n[1]
        k[6] = (n[0] < n[1]) + 2 * (n[0] == n[1]) + 4 * (n[0] >= 0)
        k[7] = n[0] // 8 - n[0] % 16 + n[0] // 7 * 3 + n[0] % -7
        y[0] = n[0] / n[1] + 1
        """,
        n=(a, b),
    )


@given(ANY, ANY, ANY)
def test_doubles_are_computed_and_compared_as_in_python(a, b, c):
    body = """
        y[0], y[1], y[2] = x[0] + x[1], x[0] - x[1], x[0] * x[1]
        y[3] = x[0] if x[0] > x[1] else x[1]
        y[4], y[5] = max(x[0], x[1], x[2]), min(x[0], x[1], x[2])
        y[6] = abs(-x[0]) + (1.0 if x[0] <= x[1] <= x[2] else -0.0)
        k[0] = 1 if x[0] > 0.0 and not x[1] > 0.0 or x[2] != x[2] else 0
        k[1] = (x[0] == x[1]) + 2 * (x[0] != x[2])
        k[2] = 1 if math.isnan(x[0]) else 2
        """
    ours, theirs = both(body, x=(a, b, c))
    np.testing.assert_array_equal(ours[0], theirs[0])  # NaN equals NaN here: its sign bit means nothing
    np.testing.assert_array_equal(np.signbit(ours[0][~np.isnan(ours[0])]), np.signbit(theirs[0][~np.isnan(theirs[0])]))
    np.testing.assert_array_equal(ours[1], theirs[1])


@given(st.lists(INTEGERS, min_size=6, max_size=6))
def test_branches_and_loops_are_taken_as_in_python(numbers):
    assert_same(
        """
        total = 0
        for i in range(6):
            if n[i] % 3 == 0:
                continue
            elif n[i] % 5 == 0:
                total -= 1
            else:
                total += n[i] % 11
            if total > 20:
                break
        k[0], k[1] = total, i
        j = 0
        while j < 5:
            inner = 0.5
            for m in range(j, 6, 2):
                inner = inner * 1.25 + m
                if m == 4 and n[m] > 0:
                    break
            y[j] = inner
            j += 1
        flag = n[0] > n[1]
        k[2] = j if flag else -j
        k[3] = 7 if n[2] else 8
        """,
        n=numbers,
    )


def test_functions_give_one_number_or_several_and_stop_where_they_return():
    more = """
@inline
def pair(a, b):
    \"\"\"Sum and difference.\"\"\"
    return a + b, a - b

def sized(n, a):
    if n > 3:
        return 2.0 * a
    return -a

def sign(a):
    if a > 0.0:
        return 1
    elif a < 0.0:
        return -1
    else:
        return 0

def fill(out, row, n):
    for i in range(out.shape[0]):
        out[i] = sized(n[row], 1.5) + i
"""
    body = """
    a, b = pair(x[0], 2)
    a, b = b, a
    y[0], y[1] = a, b
    c, d = pair(n[0], n[1])
    k[0], k[1] = c, d
    grid = y.reshape(4, 2)
    fill(grid[2], 1, n)
    fill(grid[3], 0, n)
    grid[1, 1] += 0.25
    k[2] = grid.shape[0] * 10 + grid.shape[1]
    k[3], k[4], k[5] = sign(x[0]), sign(-x[0]), sign(0.0)
    """
    text = f"{HEAD}\n{more}\ndef rollout(x, n, y, k):\n{body}"
    y, k = np.zeros(8), np.zeros(8, np.int64)
    compiled(text, FOUR)(np.array([0.75]), np.array([2, 5]), y, k)
    assert y.tolist() == [-1.25, 2.75, 0.0, 0.25, 3.0, 4.0, -1.5, -0.5]
    assert k[:6].tolist() == [7, -3, 42, 1, -1, 0]


def test_the_beginning_of_an_array_is_an_array():
    body = """
    m = n[0]
    part = y[: 2 * m].reshape(2, m)
    part[1, 0] = x[0]
    k[0], k[1], k[2] = len(y[:m]), part.shape[1], len(k)
    rows = y.reshape(4, 2)[:3]
    rows[2, 1] = 2.5
    k[3] = len(rows) * 10 + rows.shape[1]
    """
    text = f"{HEAD}\ndef rollout(x, n, y, k):\n{body}"
    namespace = {}
    exec(text, namespace)
    for run in (compiled(text, FOUR), namespace["rollout"]):
        y, k = np.zeros(8), np.zeros(8, np.int64)
        run(np.array([0.75]), np.array([3]), y, k)
        assert y.tolist() == [0.0, 0.0, 0.0, 0.75, 0.0, 2.5, 0.0, 0.0]
        assert k[:4].tolist() == [3, 3, 8, 32]


@given(ANY, ANY, st.integers(-(2**62), 2**62))
def test_bits_roots_and_signs_are_those_of_numpy(a, b, n):
    ours, _ = both(
        """
        k[0] = np.float64(x[0]).view(np.int64)
        y[0] = np.int64(n[0]).view(np.float64)
        y[1] = math.sqrt(x[0]) if x[0] >= 0.0 else math.nan
        y[2] = math.copysign(x[0], x[1])
        y[3] = float(np.floor(x[0]))
        """,
        x=(a, b), n=(n,),
    )  # fmt: skip
    assert ours[1][0] == np.float64(a).view(np.int64)
    with np.errstate(invalid="ignore"):
        wanted = [np.int64(n).view(np.float64), np.sqrt(a), np.copysign(a, b), np.floor(a)]
    np.testing.assert_array_equal(ours[0][:4], wanted)


@given(*[st.floats(-1e100, 1e100)] * 4)
def test_complex_numbers_are_two_doubles(a, b, c, d):
    more = """
def turned(z, w):
    return 2, z * w, (z + w) * 0.5

def passed(three, z):
    n, product, middle = three
    return product - middle * n + z
"""
    body = """
    z, w = complex(x[0], x[1]), complex(x[2], x[3])
    three = turned(z, w)
    u = passed(three, z)
    u = u - w
    y[0], y[1] = u.real, u.imag
    y[2] = (z * w).imag
    y[3] = (2.0 * z).real + (z + 1.0).imag
    """
    assert_same(body, x=(a, b, c, d), more=more)


@given(st.floats(1e-3, 1e3), st.floats(-3.0, 3.0))
def test_library_functions_are_those_of_python(a, b):
    body = """
    y[0], y[1], y[2] = math.log(x[0]), math.exp(x[1]), math.atan2(x[1], x[0])
    y[3], y[4] = x[0] ** 2, x[0] ** x[1]
    k[0] = 1 if math.isinf(x[0] * 1e308 * 1e308) else 0
    k[1] = len(x) + len(y.reshape(4, 2))
    """
    ours, theirs = both(body, x=(a, b))
    np.testing.assert_allclose(ours[0], theirs[0], rtol=4e-16)  # an ulp: the C library may round one otherwise
    assert ours[1].tolist() == [1, 6, 0, 0, 0, 0, 0, 0]


@given(st.floats(-(2.0**62), 2.0**62))
def test_a_double_becomes_a_whole_number_towards_zero_as_in_python(x):
    assert_same("k[0] = int(x[0])\nk[1] = int(x[0]) + 1", x=[x])


def test_numbers_of_numpy_are_passed_by_value():
    y = np.zeros(3)
    run = compiled("def rollout(a, n, y):\n    y[n] = a + n\n", ("float64", "int64", DOUBLES))
    run(np.float32(0.5), np.int64(2), y)
    assert y.tolist() == [0.0, 0.0, 2.5]


def test_sums_are_fused_only_where_the_text_says_so():
    body = "\ndef rollout(x, y):\n    y[0] = x[0] * x[0] - x[1]\n"
    a, found = 1.0 + 2.0**-30, []
    for head in ("", "FUSED = 1\n"):
        y = np.zeros(1)
        compiled(head + body, (DOUBLES, DOUBLES))(np.array([a, a * a]), y)
        found.append(y[0])
    assert found == [0.0, 2.0**-60]


def test_a_fused_product_is_rounded_once_and_another_twice():
    a = 1.0 + 2.0**-30
    ours, _ = both("y[0] = fma(x[0], x[0], -x[1])\ny[1] = x[0] * x[0] - x[1]", x=(a, a * a))
    assert ours[0][0] == 2.0**-60
    assert ours[0][1] == 0.0


def test_a_whole_number_divided_by_zero_gives_zero_and_a_double_infinity():
    text = "def rollout(x, n, y, k):\n    k[0], k[1] = 5 // n[0], 5 % n[0]\n    y[0], y[1] = 1.0 / x[0], -1.0 / x[0]\n"
    y, k = np.ones(2), np.ones(2, np.int64)
    compiled(text, FOUR)(np.zeros(1), np.zeros(1, np.int64), y, k)
    assert k.tolist() == [0, 0]
    assert y.tolist() == [math.inf, -math.inf]


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("y[0] = n[0] ** 2", "n[0] ** 2"),
        ("y[0] = unknown(x[0])", "unknown(x[0])"),
        ("y[0] = missing", "missing"),
        ("y[0] = [v for v in x][0]", "[v for v in x]"),
        ("with x:\n        pass", "with x:"),
        ("for v in x:\n        y[0] = v", "x"),
        ("for i in range(9, 0, -1):\n        y[i] = i", "range(9, 0, -1)"),
        ("for i in range(0, 9, 0):\n        y[i] = i", "range(0, 9, 0)"),
        ("y[x[0]] = 1.0", "y[x[0]]"),
        ("y[0, 0] = 1.0", "y[0, 0]"),
        ("x[0], y[0] = 1.0, 2.0, 3.0", "x[0], y[0]"),
        ("y[0] = 'text'", "'text'"),
        ("import os", "import os"),
        ("lambda: 0", "lambda: 0"),
        ("y[0] = len(x[1:])", "x[1:]"),
        ("y[0] = len(x[0:2])", "x[0:2]"),
        ("y[0] = len(x[: x[0]])", "x[:x[0]]"),
    ],
)
def test_what_has_no_form_is_refused_with_its_line(statement, named):
    text = f"def rollout(x, n, y):\n    {statement}\n"
    with pytest.raises(RefusedError, match=re.escape(named)) as caught:
        module_text(text, "rollout", (DOUBLES, WHOLES, DOUBLES), "f")
    assert "line 2" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def rollout(n):\n    a = 1\n    a = 2.5\n", "held a number of kind i64 is given one of kind double"),
        ("def rollout(n):\n    return 3\n", "rollout must not return anything"),
        (
            "def f(n):\n    if n > 0:\n        return 1\n    return 2.0\n\ndef rollout(n):\n    a = f(n)\n",
            "f returns i64",
        ),
        (
            "def f(n):\n    if n > 0:\n        return 1\n\ndef rollout(n):\n    a = f(n)\n",
            "f returns i64, and may end without",
        ),
        (
            "def rollout(n):\n    a = complex(1.0, 2.0)\n    a = 1.0\n",
            "a is a complex number in one place and a number in another",
        ),
        (
            "def rollout(n):\n    a = (1, 2)\n    for i in range(n):\n        b, c = a\n        a = (b, i)\n",
            "a is several values and is given twice",
        ),
        ("LIMIT = 'x'\n\ndef rollout(n):\n    pass\n", "LIMIT = 'x'\" has no form"),
    ],
)
def test_kinds_that_change_are_refused(text, message):
    with pytest.raises(TypeError, match=message):
        module_text(text, "rollout", ("int64",), "f")


@pytest.mark.parametrize("what", ["noise", *(pytest.param(w, marks=pytest.mark.slow) for w in ("rich", "fuzzy"))])
def test_numba_gives_the_same_bits(what, monkeypatch):
    law = flcs.FuzzyController(make_kb("gaussian", order=1, tick=0.02)) if what == "fuzzy" else SAMPLED
    few = ("iae", "itae")
    loop = ClosedLoop(VDP, law, (NOISY if what == "noise" else RICH,), 0.01, measures=few)
    base = law.theta if what == "fuzzy" else [1.0, 0.5, 0.8]
    theta = np.random.default_rng(0).uniform(0.9, 1.1, (20, 1)) * base
    ours = loop.run(theta, [0], n_steps=60, threads=1)
    assert np.isfinite(ours.measures).all()
    by_peer = by_numba(loop.kernel.text, ARGUMENTS)

    def rollout(*values):
        # Numba takes no array that must not be written to, where it was told the types without that.
        by_peer(*(v if isinstance(v, int) or v.flags.writeable else v.copy() for v in values))

    monkeypatch.setattr(type(loop.kernel), "rollout", property(lambda _: rollout))
    theirs = loop.run(theta, [0], n_steps=60, threads=1)
    np.testing.assert_array_equal(ours.measures, theirs.measures)


def test_a_plant_and_its_controller_compile_in_one_walk():
    """The text in LLVM's words has no branch within a lane: each lane loop is one block."""
    loop = ClosedLoop(plants.get("cart_pole"), controllers.PID(), (sscq.Situation(name="plain", t_end=1.0),), 0.01)
    text = module_text(loop.kernel.text, "rollout", ARGUMENTS, "f")
    blocks = re.findall(r"^body\d+:\n((?:  .*\n)*)", text, re.MULTILINE)
    longest = max(blocks, key=len)
    assert len(longest.splitlines()) > 200
    assert longest.splitlines()[-1].startswith("  br label %next")
