"""Findings about ranges and terms of the inputs: holes in the coverage; terms outside, unused or alike; data outside.

Holes are parts of the declared ranges where the reference gains take over, named by their terms.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from flcs.inference.meaning import untrue
from flcs.inference.variable import term_words
from flcs.lint.region import similarity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from flcs.inference.variable import Variable
    from flcs.lint.findings import Finding
    from flcs.lint.subject import Subject

    Array = NDArray[np.float64]
    Box = tuple[slice, ...]


_MOST = 8  # regions told one by one; the others together


def find_holes(subject: Subject) -> Iterator[Finding]:
    """Yield L101 .. L104."""
    if not subject.base.active:
        yield subject.found("L104", f"none of the {len(subject.base.rules)} rules is on")
        return
    yield from _holes(subject)
    yield from _in_data(subject)


def _holes(subject: Subject) -> Iterator[Finding]:
    points, shares = subject.space
    reference = subject.reference_share(subject.firing)
    here = reference > subject.limits.thin
    points, reference, counts = points[here], reference[here], subject.base.counts
    cells = strongest(subject, points)
    size = np.bincount(cells, shares[here], minlength=int(np.prod(counts))).astype(float).reshape(counts)
    worst = np.zeros(size.size)
    np.maximum.at(worst, cells, reference)
    worst, numbers, hole = worst.reshape(counts), np.arange(size.size).reshape(counts), subject.limits.hole
    for code, wanted in (("L101", worst > hole), ("L102", (worst > 0.0) & (worst <= hole))):
        large, rest = _largest(wanted, size, subject.limits.region)
        for share, box in large:
            part = points[np.isin(cells, numbers[box])]
            yield _told(subject, code, box, part, share, float(worst[box].max()))
        if rest:
            others = f"and {len(rest)} smaller regions, together {100 * sum(rest):.2f} % of the declared ranges"
            yield subject.found(code, others, share=sum(rest))


def _largest(wanted: NDArray[np.bool_], size: Array, least: float) -> tuple[list[tuple[float, Box]], list[float]]:
    """Regions with their sizes, the largest first, and the sizes of those that are too many to be told."""
    found = [(float(size[box].sum()), box) for box in boxes(wanted)]
    large = sorted((one for one in found if one[0] >= least), key=lambda one: -one[0])
    return large[:_MOST], [share for share, _ in large[_MOST:]]


def _told(subject: Subject, code: str, box: Box, part: Array, share: float, most: float) -> Finding:
    low, high = part.min(axis=0), part.max(axis=0)
    where = _words(subject, box, low, high)
    what = (
        "no rule fires"
        if code == "L101"
        else f"rules fire weakly (the reference gains have up to {100 * most:.0f} % of the say)"
    )
    terms = [list(range(*s.indices(n))) for s, n in zip(box, subject.base.counts, strict=True)]
    return subject.found(
        code, f"{what} {where}: {100 * share:.1f} % of the declared ranges",
        share=share, reference_share=most, terms=terms, low=low, high=high,
    )  # fmt: skip


def _words(subject: Subject, box: Box, low: Array, high: Array) -> str:
    parts = []
    for v, chosen, a, b in zip(subject.base.inputs, box, low, high, strict=True):
        terms = range(v.n_terms)[chosen]
        if len(terms) < v.n_terms:
            names = " or ".join(map(v.term_words, terms))
            parts.append(f"{v.words} is {names} ({a:.4g} .. {b:.4g}{' ' if v.unit else ''}{v.unit})")
    return f"where {' and '.join(parts)}" if parts else "at any inputs"


def _in_data(subject: Subject) -> Iterator[Finding]:
    if subject.rows is None:
        return
    lost = subject.reference_share(subject.firing_at(subject.rows)) > 0.5
    if not lost.any():
        return
    cells, counts = np.unique(strongest(subject, subject.rows[lost]), return_counts=True)
    often = np.unravel_index(cells[counts.argmax()], subject.base.counts)
    pairs = zip(subject.base.inputs, often, strict=True)
    where = " and ".join(f"{v.words} is {v.term_words(int(term))}" for v, term in pairs)
    yield subject.found(
        "L103",
        f"in {int(lost.sum())} of {len(lost)} rows of the data ({100 * lost.mean():.1f} %) hardly a rule fires, most "
        f"often where {where}",
        rows=int(lost.sum()), of=len(lost), terms=[int(term) for term in often],
    )  # fmt: skip


def strongest(subject: Subject, x: Array) -> NDArray[np.int64]:
    """Return, as one number, the combination of terms that is the strongest at each point [n]."""
    terms = [np.stack(v.memberships(column)).argmax(axis=0) for v, column in zip(subject.base.inputs, x.T, strict=True)]
    return np.asarray(np.ravel_multi_index(terms, subject.base.counts))


def boxes(wanted: NDArray[np.bool_]) -> Iterator[Box]:
    """Yield boxes of neighbouring cells that together are all the wanted ones, each as large as it can grow."""
    left = wanted.copy()
    while left.any():
        box = [slice(int(k), int(k) + 1) for k in np.argwhere(left)[0]]
        for number, n in enumerate(left.shape):
            while box[number].stop < n:
                beside = (*box[:number], slice(box[number].stop, box[number].stop + 1), *box[number + 1 :])
                if not left[beside].all():
                    break
                box[number] = slice(box[number].start, box[number].stop + 1)
        left[tuple(box)] = False
        yield tuple(box)


def find_in_terms(subject: Subject) -> Iterator[Finding]:
    """Yield L501, L502, L701, L702, L703."""
    for place, variable in enumerate(subject.base.inputs):
        yield from _outside(subject, variable)
        yield from _data_outside(subject, place, variable)
        yield from _unused(subject, place, variable)
        yield from _alike(subject, variable)
        yield from _untrue(subject, variable)


def _term(variable: Variable, term: int) -> str:
    label = variable.labels[term]
    words = term_words(label)
    return f"term {label} ({words})" if words != label else f"term {label}"


def _outside(subject: Subject, v: Variable) -> Iterator[Finding]:
    for term, centre in enumerate(v.centres):
        if not v.low <= centre <= v.high:
            yield subject.found(
                "L501",
                f"{_term(v, term)} of {v.words} has its centre at {centre:.4g}, outside the range {v.low:.4g} .. "
                f"{v.high:.4g}{' ' if v.unit else ''}{v.unit}",
                input=v.name, term=term, centre=centre,
            )  # fmt: skip


def _data_outside(subject: Subject, place: int, v: Variable) -> Iterator[Finding]:
    if subject.rows is None:
        return
    x = subject.rows[:, place]
    outside = (x < v.low) | (x > v.high)
    if outside.any():
        yield subject.found(
            "L502",
            f"{v.words} leaves its range {v.low:.4g} .. {v.high:.4g} in {int(outside.sum())} of {len(x)} rows of the "
            f"data ({100 * outside.mean():.1f} %); they reach {x.min():.4g} .. {x.max():.4g}",
            input=v.name, rows=int(outside.sum()), of=len(x), least=float(x.min()), largest=float(x.max()),
        )  # fmt: skip


def _unused(subject: Subject, place: int, v: Variable) -> Iterator[Finding]:
    used = {subject.base.rules[number].terms[place] for number in subject.base.active}
    for term in range(v.n_terms):
        if term not in used and used:
            yield subject.found(
                "L701", f"no rule that is on uses {_term(v, term)} of {v.words}", input=v.name, term=term
            )


def _alike(subject: Subject, v: Variable) -> Iterator[Finding]:
    table = similarity(v)
    for i, k in itertools.combinations(range(v.n_terms), 2):
        if table[i, k] > subject.limits.same:
            yield subject.found(
                "L702",
                f"{_term(v, i)} and {_term(v, k)} of {v.words} have similarity {table[i, k]:.2f} (more than "
                f"{subject.limits.same:g})",
                input=v.name, terms=[i, k], similarity=float(table[i, k]),
            )  # fmt: skip


def _untrue(subject: Subject, v: Variable) -> Iterator[Finding]:
    """Terms that are not what they are called."""
    unit = f"{' ' if v.unit else ''}{v.unit}"
    for term in untrue([term_words(label) for label in v.labels], v.centres):
        nearest = min(range(v.n_terms), key=lambda k: abs(v.centres[k]))
        beside = f"; 0 is nearer to {_term(v, nearest)}" if v.labels[term] == "Z" and nearest != term else ""
        said = f"{_term(v, term)} of {v.words} has its centre at {v.centres[term]:.4g}{unit}{beside}"
        yield subject.found("L703", said, input=v.name, term=term, centre=v.centres[term])
