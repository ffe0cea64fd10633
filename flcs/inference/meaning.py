"""What the words of terms say about their centres, and centres that keep to it.

Terms called negative stand below 0, terms called positive above it, and 0 belongs to the term called zero: it lies
nearer than half-way from that term's centre to the neighbours'. For terms that form a strong partition this is a
membership of more than 1/2 in zero, and of less in all others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

ZERO = "zero"
_SIGNS = {"negative": -1.0, "positive": 1.0}
_QUARTER_WAY = 0.25
_HALF_WAY = 0.9  # of the way to the point where 0 would belong to the neighbour: a membership in zero of 1 / 1.9


def untrue(words: Sequence[str], centres: Sequence[float]) -> tuple[int, ...]:
    """Return the places of the terms whose words their centres contradict.

    Parameters
    ----------
    words : sequence of str [n_terms]
        As :func:`flcs.inference.variable.term_words` has them: "negative big", "zero"; others say nothing about signs.
    centres : sequence of float [n_terms]
        In increasing order.
    """
    return tuple(k for k, word in enumerate(words) if not _true(word, k, centres))


def _true(word: str, k: int, centres: Sequence[float]) -> bool:
    if word == ZERO:
        return bool(
            (k == 0 or centres[k - 1] + centres[k] < 0.0)
            and (k + 1 == len(centres) or centres[k] + centres[k + 1] > 0.0)
        )
    sign = _SIGNS.get(word.partition(" ")[0])
    return sign is None or sign * centres[k] > 0.0


def nearly_zero(k: int, centres: Sequence[float]) -> bool:
    """Return whether 0 is nearly all of a term: at most a quarter of the way to where it would belong to a neighbour.

    For terms that form a strong partition this is a membership of 0.8. A term of less may hold 0 and still speak of
    other values more than of 0: then its centre is a truer word.
    """
    centre = centres[k]
    far = k - 1 if centre > 0.0 else k + 1
    return centre == 0.0 or (0 <= far < len(centres) and abs(centre) <= _QUARTER_WAY * abs(centres[far]))


def room_for_signs(low: float, high: float, n_terms: int, gap: float) -> bool:
    """Return whether negative and positive terms, `gap` apart, find room on their sides of 0 within [low, high]."""
    return min(-low, high) >= gap * (_nearest(n_terms) + n_terms // 2 - 1)


def _nearest(n_terms: int) -> float:
    """How near to 0 the centres of the innermost signed terms may come [gaps]: a gap from zero, or from each other."""
    return 1.0 if n_terms % 2 else 0.5


def kept_true(centres: Array, gap: float) -> Array:
    """Return centres moved as little as it takes for the words of signed terms (N, Z, P; NB .. PB) to be true.

    Parameters
    ----------
    centres : array [n, n_terms]
        In increasing order, at least `gap` apart; so are the results. The range has room for signs.
    gap : float
        Smallest distance of neighbouring centres [unit].
    """
    found, n = centres.copy(), centres.shape[1]
    side = n // 2
    nearest = gap * (_nearest(n) + np.arange(side))
    found[:, :side] = np.minimum(found[:, :side], -nearest[::-1])
    found[:, n - side :] = np.maximum(found[:, n - side :], nearest)
    if n % 2:
        below, above = found[:, side - 1], found[:, side + 1]
        found[:, side] = np.clip(found[:, side], -_HALF_WAY * above, -_HALF_WAY * below)
    for k in range(1, n):  # what rounding has brought nearer
        found[:, k] = np.maximum(found[:, k], found[:, k - 1] + gap)
    return found
