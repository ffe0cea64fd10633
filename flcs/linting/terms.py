"""Ranges and terms of the inputs: terms outside, unused or alike, data outside."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from flcs.linting.region import similarity
from flcs.variable import term_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flcs.linting.finding import Finding
    from flcs.linting.subject import Subject
    from flcs.variable import Variable


def find(subject: Subject) -> Iterator[Finding]:
    """Yield L501, L502, L701, L702."""
    for place, variable in enumerate(subject.base.inputs):
        yield from _outside(subject, variable)
        yield from _data_outside(subject, place, variable)
        yield from _unused(subject, place, variable)
        yield from _alike(subject, variable)


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
