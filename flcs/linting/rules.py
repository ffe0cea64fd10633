"""Rules beside one another: contradictions, repetitions, rules that never fire."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from flcs.linting.region import centre_of, similarity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flcs.linting.finding import Finding
    from flcs.linting.subject import Subject


def find(subject: Subject) -> Iterator[Finding]:
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
