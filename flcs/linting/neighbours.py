"""Jumps between neighbouring rules: those that differ by one step in one term."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from flcs.linting.region import centre_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flcs.linting.finding import Finding
    from flcs.linting.subject import Subject


class Jump(NamedTuple):
    """A jump of one gain.

    Attributes
    ----------
    ratio : float
        Jump over distance: boxes per range.
    size : float
        Share of the box.
    distance : float
        Of the centres, as a share of the range.
    rules : (int, int)
    place, column : int
        Of the input and of the gain.
    """

    ratio: float
    size: float
    distance: float
    rules: tuple[int, int]
    place: int
    column: int


def find(subject: Subject) -> Iterator[Finding]:
    """Yield L402: for each gain the largest jump for the distance of the centres."""
    found = list(_jumps(subject))
    for column, gain in enumerate(subject.base.gain_names):
        own = [jump for jump in found if jump.column == column]
        if own:
            yield _told(subject, gain, max(own), own)


def _told(subject: Subject, gain: str, worst: Jump, own: list[Jump]) -> Finding:
    one, other = map(subject.premise, worst.rules)
    input_words = subject.base.inputs[worst.place].words
    more = f" (and {len(own) - 1} more such jumps)" if len(own) > 1 else ""
    return subject.found(
        "L402",
        f"{gain} jumps by {100 * worst.size:.0f} % of its box from {one} to {other}, whose centres of {input_words} "
        f"are {100 * worst.distance:.1f} % of the range apart{more}",
        gain=gain, jump=worst.size, distance=worst.distance, rules=list(map(subject.named, worst.rules)),
        pairs=[list(map(subject.named, jump.rules)) for jump in own],
    )  # fmt: skip


def _jumps(subject: Subject) -> Iterator[Jump]:
    base = subject.base
    by_terms = {base.rules[number].terms: number for number in base.active}
    for terms, number in by_terms.items():
        for place, v in enumerate(base.inputs):
            other = by_terms.get((*terms[:place], terms[place] + 1, *terms[place + 1 :]))
            if other is None:
                continue
            distance = (v.centres[terms[place] + 1] - v.centres[terms[place]]) / (v.high - v.low)
            middle = 0.5 * (np.array([centre_of(base, number)]) + np.array([centre_of(base, other)]))
            apart = np.abs(subject.consequents(other, middle) - subject.consequents(number, middle))[0] / subject.span
            for column in np.flatnonzero(apart > subject.limits.jump * distance):
                size = float(apart[column])
                yield Jump(size / distance, size, distance, (number, other), place, int(column))
