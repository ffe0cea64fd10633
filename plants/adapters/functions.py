"""Functions that other packages' expressions have and blocks lack, made of those of blocks.

Each keeps relative accuracy near 0, where the formula of the text book loses it. Comparisons are 1 or 0, and 0 where a
number is NaN.

Source of `log1p` and `expm1`: N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. (SIAM, 2002),
sec. 1.14.1.
"""

from __future__ import annotations

from plants.core.elementary import abs as magnitude
from plants.core.elementary import atan2, exp, floor, log, maximum, minimum, sign, sqrt, tanh, where


def less(a, b):
    """1 where a < b."""
    return where(b - a, 1.0, 0.0)


def equal(a, b):
    """1 where a = b, both finite."""
    gap = magnitude(a - b)
    return where(gap, 0.0, where(1.0 - gap, 1.0, 0.0))


def less_equal(a, b):
    """1 where a <= b."""
    return maximum(less(a, b), equal(a, b))


def unequal(a, b):
    """1 where a and b differ."""
    return 1.0 - equal(a, b)


def negated(a):
    """1 where a is 0."""
    return equal(a, 0.0)


def both(a, b):
    """1 where neither is 0."""
    return minimum(unequal(a, 0.0), unequal(b, 0.0))


def either(a, b):
    """1 where one is not 0."""
    return maximum(unequal(a, 0.0), unequal(b, 0.0))


def chosen(condition, a, b=0.0):
    """`a` where the condition is not 0, else `b`."""
    return where(unequal(condition, 0.0), a, b)


def ceiling(a):
    """Smallest integer not below `a`."""
    return -floor(-a)


def copysign(a, b):
    """Magnitude of `a` with the sign of `b`; a zero counts as positive."""
    return where(-b, -magnitude(a), magnitude(a))


def remainder(a, b):
    """What is left of a / b rounded towards 0, with the sign of `a` (C's fmod)."""
    size = magnitude(b)
    return copysign(magnitude(a) - size * floor(magnitude(a) / size), a)


def atan(a):
    """Arc tangent [rad]."""
    return atan2(a, 1.0)


def log1p(a):
    """log(1 + a)."""
    u = 1.0 + a
    return chosen(equal(u, 1.0), a, log(u) * a / chosen(equal(u, 1.0), 1.0, u - 1.0))


def expm1(a):
    """exp(a) - 1."""
    u = exp(a)
    # Only for small numbers: log(u) is -inf or inf beyond, and the plain difference is accurate there.
    small = less(magnitude(a), 1.0)
    inner = where(small, u, 2.0)
    near = chosen(equal(inner, 1.0), a, (inner - 1.0) * a / chosen(equal(inner, 1.0), 1.0, log(inner)))
    return where(small, near, u - 1.0)


def cosh(a):
    """Hyperbolic cosine."""
    return 0.5 * (exp(a) + exp(-a))


def sinh(a):
    """Hyperbolic sine."""
    return tanh(a) * cosh(a)


def asinh(a):
    """Inverse hyperbolic sine."""
    size = magnitude(a)
    return sign(a) * log1p(size + size * size / (1.0 + sqrt(size * size + 1.0)))


def acosh(a):
    """Inverse hyperbolic cosine; NaN below 1."""
    return log(a + sqrt(a * a - 1.0))


def atanh(a):
    """Inverse hyperbolic tangent; NaN beyond 1."""
    return 0.5 * log1p(2.0 * a / (1.0 - a))


def hypot(a, b):
    """sqrt(a^2 + b^2)."""
    return sqrt(a * a + b * b)
