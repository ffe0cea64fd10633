"""Findings about rules beside one another: contradictions, repetitions, jumps, and rules that never fire.

Jumps are between neighbours, which differ by one step in one term.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from flcs.lint.region import centre_of, similarity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flcs.lint.findings import Finding
    from flcs.lint.subject import Subject


def find_in_rules(subject: Subject) -> Iterator[Finding]:
    """Yield L201, L202, L301, L302, L304."""
    yield from _pairs(subject)
    yield from _silent(subject)


def _pairs(subject: Subject) -> Iterator[Finding]:
    """Pairs of rules by the similarity of their premises: the smallest similarity of their terms.

    Source: Y. Jin, Fuzzy modeling of high-dimensional systems, IEEE Trans. Fuzzy Systems 8 (2000) 212.
    """
    base, limits = subject.base, subject.limits
    tables = [similarity(variable) for variable in base.inputs]
    for a, b in itertools.combinations(base.active, 2):
        pairs = zip(tables, base.rules[a].terms, base.rules[b].terms, strict=True)
        alike = min(float(table[i, k]) for table, i, k in pairs)
        if alike < limits.overlap:
            continue
        middle = 0.5 * (np.array([centre_of(base, a)]) + np.array([centre_of(base, b)]))
        apart = (subject.consequents(b, middle) - subject.consequents(a, middle))[0]
        yield from _judged(subject, (a, b), alike, np.abs(apart) / subject.span)


def _judged(subject: Subject, pair: tuple[int, int], alike: float, apart: np.ndarray) -> Iterator[Finding]:
    limits, most = subject.limits, float(apart.max())
    numbers = {"rules": list(map(subject.named, pair)), "similarity": alike, "difference": most}
    rules = " and ".join(map(subject.premise, pair))
    if most > limits.contradiction:
        gain = subject.base.gain_names[int(apart.argmax())]
        values = [subject.base.rules[k].gains[int(apart.argmax())] for k in pair]
        yield subject.found(
            "L201" if alike > limits.same else "L202",
            f"{rules} have premises of similarity {alike:.2f} but {gain} = {values[0]:.4g} and {values[1]:.4g}, "
            f"{100 * most:.0f} % of the box apart (more than {100 * limits.contradiction:.0f} %)",
            **numbers, gain=gain,
        )  # fmt: skip
    elif alike > limits.same:
        yield subject.found(
            "L304",
            f"{rules} have premises of similarity {alike:.2f} and gains within {100 * most:.1f} % of the box",
            **numbers,
        )


def _silent(subject: Subject) -> Iterator[Finding]:
    peaks = subject.firing.max(axis=0)
    least = subject.limits.fires
    for rule in subject.base.active:
        if peaks[rule] < least:
            yield subject.found(
                "L301",
                f"{subject.premise(rule)} fires with {peaks[rule]:.2g} at most in the declared ranges (< {least:g})",
                rule=subject.named(rule), largest=float(peaks[rule]),
            )  # fmt: skip
    if subject.rows is None:
        return
    in_data = subject.firing_at(subject.rows).max(axis=0)
    for rule in subject.base.active:
        if in_data[rule] < least <= peaks[rule]:
            yield subject.found(
                "L302",
                f"{subject.premise(rule)} fires with {in_data[rule]:.2g} at most in the {len(subject.rows)} rows of "
                f"the data (< {least:g})",
                rule=subject.named(rule), largest=float(in_data[rule]),
            )  # fmt: skip


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


def find_jumps(subject: Subject) -> Iterator[Finding]:
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
