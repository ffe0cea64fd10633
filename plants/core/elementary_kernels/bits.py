"""Bit patterns of doubles, and the parts that make products exact."""

from __future__ import annotations

import numpy as np


def fma(a: float, b: float, c: float) -> float:
    """a * b + c; in compiled text, where the header gives the name, with one rounding."""
    return a * b + c


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
