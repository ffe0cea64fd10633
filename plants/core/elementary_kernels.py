# ruff: noqa: FURB136  (the built-in min and max treat NaN otherwise, and are calls)
"""Elementary functions without branches, loops or library calls, for the lanes of generated kernels.

The text of these functions is printed into every generated kernel that needs them; it refers to nothing but ``math``,
``np`` and the functions before it. The compiler evaluates them for many lanes at a time, because all choices are
selects. Called as plain Python on floats they give the same results up to rounding, and raise nothing.

Three rules keep the forms exact wherever the compiler fuses a product into a sum, and wherever it does not:

- a product that an exact remainder relies on has factors of at most 26 bits each, or a whole number and a constant
  with trailing zeros, so that it is exact either way (:func:`k_head` cuts a number to 26 bits);
- whole numbers are found by adding 1.5 * 2**52 and read from the low bits of the sum, since AVX2 has no conversion
  between doubles and 64-bit integers;
- a sum that must give -0 for an argument of -0 subtracts its small terms: -0 - 0 is -0, but -0 + 0 is 0.

Error bounds are in units in the last place (ulp) of the exact result, subnormal results included. They are the largest
errors found by searches over tens of millions of points where each form is weakest, with and without fused
multiply-add, rounded up. The polynomials are minimax in relative error (Remez exchange,
coefficients rounded one after the other and the rest refitted).
"""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.naming import unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def k_bits(x: float) -> np.int64:
    """Bit pattern of a double as a 64-bit integer."""
    return np.float64(x).view(np.int64)


def k_from_bits(bits: np.int64 | int) -> float:
    """Double with the given bit pattern."""
    return float(np.int64(bits).view(np.float64))


def k_head(x: float) -> float:
    """Leading 26 bits of x: the product of two heads is exact."""
    return k_from_bits(k_bits(x) & -134217728)


def k_ratio(n: float, over: float, d: float, rest: float) -> float:
    """Quotient (n - over) / (d + rest) of two sums with small second terms, with one rounding that matters."""
    inverse = 1.0 / d
    q = n * inverse
    q_head, d_head = k_head(q), k_head(d)
    residue = ((q_head * d_head - n) + q_head * (d - d_head)) + (q - q_head) * d
    return q - (residue + (over + q * rest)) * inverse


def k_quarter_turns(x: float) -> tuple[float, float, np.int64]:
    """Give (r, over, n): x = n pi/2 + (r - over), where |r| <= pi/4 and the low two bits of n count.

    pi/2 is taken in parts of 36, 36 and 53 bits: the nearest that a double below 1e5 comes to a multiple of pi/2 is
    6e-19, which they resolve.
    """
    x = x if abs(x) <= 1e9 else math.nan
    shifted = x * 0.6366197723675814 + 6755399441055744.0
    n = shifted - 6755399441055744.0
    a = x - n * 1.5707963267923333
    middle = n * 2.5633441515839558e-12
    b = a - middle
    low = n * 1.0562999066987428e-23 - ((a - b) - middle)
    r = b - low
    return r, low - (b - r), k_bits(shifted)


def k_turn_series(z: float) -> tuple[float, float]:
    """Give (p, q) for z = r r: sin(r) = r + r z p and cos(r) = 1 - z / 2 + z z q, where |r| <= pi/4."""
    w = z * z
    p = (-0.1666666666666663 + w * (-0.00019841269829358528 + w * -2.5050734389008595e-08)) + z * (
        0.00833333333332184 + w * (2.755731353851393e-06 + w * 1.5895433254557744e-10)
    )
    q = (0.041666666666666595 + w * (2.48015872890021e-05 + w * 2.087570539848664e-09)) + z * (
        -0.0013888888888873342 + w * (-2.7557314217051174e-07 + w * -1.1358749401681035e-11)
    )
    return p, q


def k_sincos(x: float) -> tuple[float, float]:
    """Sine and cosine within 1.0 ulp for |x| <= 1e5.

    The error stays below |x| 2**-52 up to 1e9; beyond, and for infinities and NaN, both are NaN. sin(-0) is -0.
    """
    r, over, n = k_quarter_turns(x)
    z = r * r
    p, q = k_turn_series(z)
    s = r + (r * (z * p + 0.0) - over)
    half = 0.5 * z
    head = 1.0 - half
    c = head + (((1.0 - head) - half) + (z * z * q + r * over))
    odd = (n & 1) != 0
    sine, cosine = c if odd else s, s if odd else c
    return (-sine if (n & 2) != 0 else sine), (-cosine if ((n + 1) & 2) != 0 else cosine)


def k_tan(x: float) -> float:
    """Tangent within 1.35 ulp for |x| <= 1e5.

    Up to 1e9 its angle is wrong by at most |x| 2**-52; beyond, and for infinities and NaN, NaN. tan(-0) is -0.
    """
    r, over, n = k_quarter_turns(x)
    z = r * r
    p, q = k_turn_series(z)
    rest = r * (z * p + 0.0) - over
    s = r + rest
    s_over = (s - r) - rest
    half = 0.5 * z
    head = 1.0 - half
    rest = ((1.0 - head) - half) + (z * z * q + r * over)
    c = head + rest
    c_rest = (head - c) + rest
    odd = (n & 1) != 0
    return k_ratio(-c if odd else s, c_rest if odd else s_over, s if odd else c, -s_over if odd else c_rest)


def k_octave_exp(x: float, low: float) -> tuple[float, float, np.int64]:
    """Give (r, rest, n): exp(x + low) = 2**n (1 + r + rest), n in the low 12 bits, for |x| <= 800 and a small low."""
    shifted = x * 1.4426950408889634 + 6755399441055744.0
    n = shifted - 6755399441055744.0
    a = x - n * 0.6931471805598903
    b = n * 5.497923018708371e-14 - low
    r = a - b
    z = r * r
    w = z * z
    even = (0.5 + z * 0.04166666666666669) + w * (
        (0.0013888888888889926 + z * 2.480158728614084e-05) + w * (2.7557323779705495e-07 + z * 2.0895578706546633e-09)
    )
    odd = (0.16666666666666677 + z * 0.008333333333321825) + w * (
        (0.00019841269885224148 + z * 2.7557245302270243e-06) + w * 2.5108626239046052e-08
    )
    return r, z * (even + r * odd) + ((a - r) - b), k_bits(shifted)


def k_sum_exp(x: float, low: float) -> float:
    """Exponential of x + low, |x| <= 800 and a small low; two factors of 2**(n / 2) reach subnormals and infinity."""
    r, rest, n = k_octave_exp(x, low)
    half = n >> 1
    first = k_from_bits((half + 1023) << 52)
    second = k_from_bits((n - half + 1023) << 52)
    return (1.0 + (r + rest)) * first * second


def k_exp(x: float) -> float:
    """Exponential within 1.05 ulp for all x; gradual underflow (no flush to zero), then 0; overflow gives infinity."""
    x = 800.0 if x > 800.0 else x
    return k_sum_exp(-800.0 if x < -800.0 else x, 0.0)


def k_tanh(x: float) -> float:
    """Hyperbolic tangent within 1.25 ulp for all x; odd bit for bit, tanh(x) = x for tiny x."""
    a = 2.0 * abs(x)
    r, rest, n = k_octave_exp(44.0 if a > 44.0 else a, 0.0)
    u = k_from_bits((1023 - n) << 52)
    below, above = 1.0 - u, 1.0 + u
    g, h = below + r, above + r
    g_rest = ((below - g) + r) + rest
    h_rest = ((above - h) + r) + (((1.0 - above) + u) + rest)
    num, den = g + g_rest, h + h_rest
    return math.copysign(k_ratio(num, (num - g) - g_rest, den, (h - den) + h_rest), x)


def k_octave(x: float) -> tuple[float, float]:
    """Give (m, n): x = m 2**n with m in [sqrt(1/2), sqrt(2)), for finite x > 0, subnormal numbers included."""
    small = x < 2.2250738585072014e-308
    bits = k_bits(x * 18014398509481984.0 if small else x)
    shifted = bits + 2638147582215219  # its exponent field steps at sqrt(2) 2**n instead of 2**n
    m = k_from_bits(bits - (shifted & -4503599627370496) + 4607182418800017408)
    return m, k_from_bits((shifted >> 52) | 4841369599423283200) - (4503599627371573.0 if small else 4503599627371519.0)


def k_log(x: float) -> float:
    """Natural logarithm within 0.95 ulp for x > 0, subnormal numbers included.

    log(0) is -inf, log(inf) is inf, NaN and negative numbers give NaN.
    """
    inside = x > 0.0 and x <= 1.7976931348623157e308
    m, n = k_octave(x if inside else 1.0)
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    p = (0.6666666666666734 + z * 0.39999999999416647) + w * (
        (0.28571428742026095 + z * 0.22222198605338425)
        + w * ((0.18183562833378963 + z * 0.1531408537309075) + w * 0.14795627344088108)
    )
    half = 0.5 * f * f
    value = n * 0.6931471805598903 + (f - (half - (s * (half + z * p) + n * 5.497923018708371e-14)))
    outside = x if x > 0.0 else (-math.inf if x == 0.0 else math.nan)
    return value if inside else outside


def k_log_square_series(z: float) -> float:
    """Give p for z = s s: atanh(s) = s + s z (1/3 + z p), where |s| <= 3 - sqrt(8)."""
    w = z * z
    low = (0.1999999999999999 + z * 0.1428571428572192) + w * (0.11111111108894879 + z * 0.09090909421993551)
    high = (0.07692279214590719 + z * 0.06668132232751692) + w * (0.058378907746562174 + z * 0.059908726540178175)
    return low + w * w * high


def k_pair_log(x: float) -> tuple[float, float]:
    """Give (high, low): the sum is log(x) within 2**-64 of itself, for finite x > 0."""
    m, n = k_octave(x)
    f, d = m - 1.0, m + 1.0
    d_head = k_head(d)
    inverse = 1.0 / d
    s = k_head(f * inverse)
    s_low = ((f - s * d_head) - s * ((d - d_head) + (m - (d - 1.0)))) * inverse
    z_low = s_low * (2.0 * s + s_low)
    z = s * s + z_low
    z_head = k_head(z)
    z_low = (s * s - z_head) + z_low
    q = z * k_log_square_series(z)
    c = k_head(0.3333333333333333 + q)
    c_low = ((0.3333333333333333 - c) + q) + 1.850371707708594e-17
    t_low = z_head * c_low + z_low * (c + c_low)
    t = k_head(z_head * c + t_low)
    t_low = (z_head * c - t) + t_low
    a = s + s * t
    b = ((s - a) + s * t) + (s * t_low + s_low * (1.0 + (t + t_low)))
    high = n * 0.6931471805598903 + 2.0 * a
    return high, ((n * 0.6931471805598903 - high) + 2.0 * a) + (2.0 * b + n * 5.497923018708371e-14)


def k_pow(x: float, y: float) -> float:
    """Power x**y within 1.2 ulp for all x and y.

    Special cases are those of IEEE 754 and C: x**0 and 1**y are 1 (also for NaN), a negative x needs a whole y (else
    NaN), 0**y is 0 or infinity (-0 and -inf keep their sign for odd y), infinities give their limits.
    """
    inside = abs(x) > 0.0 and abs(x) <= 1.7976931348623157e308
    high, low = k_pair_log(abs(x) if inside else 2.0)
    e = 1e21 if y > 1e21 else y
    e = -1e21 if e < -1e21 else e
    e_head, l_head = k_head(e), k_head(high)
    rest = e_head * ((high - l_head) + low) + (e - e_head) * (high + low)
    v = e_head * l_head + rest
    fits = abs(v) < 800.0  # beyond, the result is 0 or infinite, and the low part is no longer small
    size = k_sum_exp(v if fits else math.copysign(800.0, v), (e_head * l_head - v) + rest if fits else 0.0)
    size = size if inside else (math.inf if (x == 0.0) == (y < 0.0) else 0.0)
    whole = np.floor(y) == y
    odd = whole and np.floor(0.5 * y) != 0.5 * y
    size = -size if odd and k_bits(x) < 0 else size
    size = math.nan if x < 0.0 and inside and not whole else size
    size = math.nan if math.isnan(x) or math.isnan(y) else size
    return 1.0 if y == 0.0 or x == 1.0 else size


def k_pair_sqrt(z: float) -> tuple[float, float]:
    """Give (head, rest): the sum is sqrt(z) for 0 <= z <= 1; 0 for a negative z."""
    root = math.sqrt(z if z > 0.0 else 0.0)
    head = k_head(root)
    return head, (z - head * head) / (root + head + 1e-200)


def k_arc_series(z: float) -> float:
    """Give p for z = s s: asin(s) = s + s p, where |s| <= 1/2."""
    w = z * z
    even = (0.16666666666665408 + w * 0.04464285682821853) + w * w * (
        (0.022371757933838683 + w * 0.013885217165944005) + w * w * (0.006527433213805593 + w * -0.01622667129388174)
    )
    odd = (0.07500000000337141 + w * 0.03038195914167378) + w * w * (
        (0.017359706571465298 + w * 0.012169334449410324) + w * w * (0.01952977775105867 + w * 0.031913958033930816)
    )
    return z * (even + z * odd)


def k_asin(x: float) -> float:
    """Arc sine within 0.9 ulp for |x| <= 1, else NaN; odd bit for bit."""
    a = abs(x)
    far = a > 0.5  # asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2))
    z = 0.5 * (1.0 - a) if far else a * a
    p = k_arc_series(z)
    head, rest = k_pair_sqrt(z)
    from_top = (1.5707963267948966 - 2.0 * head) - (2.0 * (rest + (head + rest) * p) - 6.123233995736766e-17)
    angle = from_top if far else a + a * p
    return math.copysign(math.nan if a > 1.0 else angle, x)


def k_acos(x: float) -> float:
    """Arc cosine within 1.0 ulp for |x| <= 1, else NaN."""
    far = abs(x) > 0.5
    z = 0.5 * (1.0 - abs(x)) if far else x * x
    p = k_arc_series(z)
    head, rest = k_pair_sqrt(z)
    root = head + rest
    right = 2.0 * (head + (rest + root * p))
    left = 2.0 * (1.5707963267948966 - (root + (root * p - 6.123233995736766e-17)))
    middle = 1.5707963267948966 - (x - (6.123233995736766e-17 - x * p))
    angle = (right if x > 0.0 else left) if far else middle
    return math.nan if abs(x) > 1.0 else angle


def k_atan_series(z: float) -> float:
    """Give p for z = q q: atan(q) = q + q p, where |q| <= 1/2."""
    w = z * z
    even = (-0.3333333333333298 + w * -0.1428571427638489) + w * w * (
        (-0.09090896242801202 + w * -0.06663810209104988) + w * w * (-0.05121991424400953 + w * -0.02743423227198513)
    )
    odd = (0.19999999999903104 + w * 0.11111110659574955) + w * w * (
        (0.07692073877005702 + w * 0.058582959009793344) + w * w * (0.04186461670740365 + w * 0.010116325324392456)
    )
    return z * (even + z * odd)


def k_atan2(y: float, x: float) -> float:
    """Angle of the point (x, y) within 1.7 ulp for all x and y; zeros, signs and infinities as in `math.atan2`."""
    steep = abs(y) > abs(x)
    a, b = (abs(x) if steep else abs(y)), (abs(y) if steep else abs(x))
    scale = 0.25 if b > 1e300 else 1.0  # so that the sum of both is finite
    a, b = a * scale, b * scale
    turned = b > 0.0 and a + a >= b  # the angle is seen from the diagonal
    num = (a - b if a < b else 0.0) if turned else a
    den = a + b if turned else (b if b != 0.0 else 1.0)
    q = num / den
    p = k_atan_series(q * q)
    left = k_bits(x) < 0
    n = 1.0 if turned else 0.0
    n = 2.0 - n if steep else n
    n = 4.0 - n if left else n
    q = -q if steep != left else q
    corner = n * 0.7853981633974483  # exact: the double nearest to pi/4 ends in three zero bits
    angle = corner + q
    return math.copysign(angle + (((corner - angle) + q) + (q * p + n * 3.061616997868383e-17)), y)


def k_floor(x: float) -> float:
    """Largest whole number not above x, exact; infinities, NaN and -0 stay."""
    return float(np.floor(x))


def k_abs(x: float) -> float:
    """Magnitude, exact."""
    return abs(x)


def k_sign(x: float) -> float:
    """1, 0 or -1, exact; 0 for both zeros, NaN for NaN."""
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else x - x)


def k_sqrt(x: float) -> float:
    """Square root, correctly rounded; NaN for a negative x."""
    return math.sqrt(x) if x >= 0.0 else math.nan


@dataclass(frozen=True)
class Kernel:
    """One elementary function as generated kernels call it.

    Attributes
    ----------
    name : str
        Name of the operation; the function to call is ``k_<name>``.
    functions : tuple of functions
        What its text needs, each after those that it calls; the last is the function itself.
    domain : tuple of (float, float)
        Closed range of each argument within which `error_ulp` holds.
    error_ulp : float
        Largest error in that range, in units in the last place of the exact result.
    results : int
        Number of results: 2 (a tuple) for sincos, else 1.
    """

    name: str
    functions: tuple[Callable[..., Any], ...]
    domain: tuple[tuple[float, float], ...]
    error_ulp: float
    results: int = 1

    @property
    def function(self) -> Callable[..., Any]:
        """The function itself, as plain Python."""
        return self.functions[-1]

    @property
    def arity(self) -> int:
        """Number of arguments."""
        return len(self.domain)


_ALL, _BITS, _ANGLE, _SINE = (-inf, inf), (k_bits, k_from_bits), (-1e5, 1e5), (-1.0, 1.0)
_HEAD = (*_BITS, k_head)
_TURNS = (k_bits, k_quarter_turns, k_turn_series)
_EXP = (*_BITS, k_octave_exp, k_sum_exp)
_ARC = (*_HEAD, k_pair_sqrt, k_arc_series)
_POW = (*_HEAD, k_octave_exp, k_sum_exp, k_octave, k_log_square_series, k_pair_log, k_pow)

KERNELS: dict[str, Kernel] = {
    kernel.name: kernel
    for kernel in (
        Kernel("sincos", (*_TURNS, k_sincos), (_ANGLE,), 1.0, results=2),
        Kernel("tan", (*_HEAD, k_ratio, *_TURNS[1:], k_tan), (_ANGLE,), 1.35),
        Kernel("asin", (*_ARC, k_asin), (_SINE,), 0.9),
        Kernel("acos", (*_ARC, k_acos), (_SINE,), 1.0),
        Kernel("atan2", (k_bits, k_atan_series, k_atan2), (_ALL, _ALL), 1.7),
        Kernel("exp", (*_EXP, k_exp), (_ALL,), 1.05),
        Kernel("log", (*_BITS, k_octave, k_log), ((0.0, inf),), 0.95),
        Kernel("tanh", (*_HEAD, k_ratio, k_octave_exp, k_tanh), (_ALL,), 1.25),
        Kernel("pow", _POW, (_ALL, _ALL), 1.2),
        Kernel("floor", (k_floor,), (_ALL,), 0.0),
        Kernel("abs", (k_abs,), (_ALL,), 0.0),
        Kernel("sign", (k_sign,), (_ALL,), 0.0),
        Kernel("sqrt", (k_sqrt,), ((0.0, inf),), 0.5),
    )
}


def source(names: Iterable[str]) -> str:
    """Text of the named kernels and of all they need, each function once, below a decorator called ``inline``.

    Parameters
    ----------
    names : iterable of str
        Keys of :data:`KERNELS`.

    Returns
    -------
    str
        Python text that needs ``math``, ``np`` and ``inline`` in its namespace; the same for any order of the names.

    Raises
    ------
    ValueError
        If there is no kernel of a name; the near miss is named.
    """
    functions: dict[str, Callable[..., Any]] = {}
    for name in sorted(set(names)):
        if name not in KERNELS:
            raise ValueError(unknown("elementary kernel", name, list(KERNELS)))
        functions.update({f.__name__: f for f in KERNELS[name].functions})
    return "\n\n".join(f"@inline\n{inspect.getsource(f).rstrip()}\n" for f in functions.values())
