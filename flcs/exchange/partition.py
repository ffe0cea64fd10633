"""From the terms of a file to a linguistic variable's shape, centres and widths, or a complaint with the line."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NoReturn

from flcs.exchange.of_knowledge_base import partition_points
from flcs.exchange.system import refuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flcs.exchange.system import Antecedent, Term

_CLOSE = 1e-9  # of the distance of neighbours: rounding of break points that were computed from centres
_PLATEAU = 0.25  # of two trapezoids, whose break points say the sum of plateaus and slopes only


def ordered(item: Antecedent) -> tuple[tuple[Term, ...], tuple[int, ...]]:
    """Return an input's terms in the order of their centres, and for each place in the file its place there."""
    order = sorted(range(len(item.terms)), key=lambda k: _middle(item.terms[k]))
    places = tuple(order.index(k) for k in range(len(order)))
    return tuple(item.terms[k] for k in order), places


def shape(item: Antecedent, known: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return shape, labels, centres and widths of an input, as a knowledge base's document has them.

    Parameters
    ----------
    item : Antecedent
    known : mapping, optional
        Its shape and centres as a complement has them: taken where they give these very terms.

    Raises
    ------
    ExchangeError
        If the terms are of different kinds or no strong partition.
    """
    terms, _ = ordered(item)
    labels = [term.label for term in terms]
    kinds = {term.kind for term in terms}
    if len(terms) < 2 or len(kinds) > 1:
        refuse(item.line, f"two or more terms of one kind for {item.name!r}", f"{len(terms)} terms, {sorted(kinds)}")
    if kinds == {"points"}:
        return {**_partition(item.name, terms, known), "labels": labels, "widths": []}
    rows = [term.numbers for term in terms]
    found: dict[str, Any] = {"shape": {"name": terms[0].kind}, "labels": labels}
    if kinds == {"bell"}:
        found["shape"]["slope"] = _slope(terms)
    return {**found, "centres": [row[0] for row in rows], "widths": [row[1] for row in rows]}


def _slope(terms: Sequence[Term]) -> int:
    slope = terms[0].numbers[2]
    for term in terms:
        if term.numbers[2] != slope or slope != int(slope):
            refuse(term.line, "bells of one and the same whole slope", term.numbers[2])
    return int(slope)


def _middle(term: Term) -> float:
    if term.kind != "points":
        return term.numbers[0]
    tops = [x for x, grade in term.points if grade == 1.0]
    return sum(tops) / len(tops) if tops else term.points[0][0]


def _partition(name: str, terms: Sequence[Term], known: dict[str, Any] | None) -> dict[str, Any]:
    for j, term in enumerate(terms):
        _check_grades(name, term, first=j == 0, last=j == len(terms) - 1)
    flat = any(len(term.points) == 4 for term in terms)
    outer = terms[0].points[0][0], terms[-1].points[-1][0]
    if known is not None and known["shape"].get("name") == "trapezoid":
        centres, plateau = tuple(known["centres"]), known["shape"]["plateau"]
        if len(centres) == len(terms) and _fits(terms, centres, plateau, 0.0):
            return {"shape": dict(known["shape"]), "centres": list(centres)}
    if not flat and _fits(terms, _centres(terms), None, 0.0):
        return {"shape": {"name": "triangular"}, "centres": list(_centres(terms))}
    found = _trapezoids(terms)
    if found is None or not _fits(terms, found[1], found[0], _CLOSE * (outer[1] - outer[0])):
        return _complain(name, terms)
    return {"shape": {"name": "trapezoid", "plateau": found[0]}, "centres": list(found[1])}


def _check_grades(name: str, term: Term, *, first: bool, last: bool) -> None:
    grades = [grade for _, grade in term.points]
    wanted = [[1.0, 0.0]] if first else [[0.0, 1.0]] if last else [[0.0, 1.0, 0.0], [0.0, 1.0, 1.0, 0.0]]
    if grades not in wanted:
        what = "1 from the low end on, then falling" if first else "rising, then 1 up to the high end"
        what = what if first or last else "rising from 0 to 1 and falling to 0"
        refuse(term.line, f"term {term.label!r} of {name!r} to be {what}", f"points {list(term.points)}")


def _centres(terms: Sequence[Term]) -> tuple[float, ...]:
    """Places of membership 1, for triangles."""
    return tuple(next(x for x, grade in term.points if grade == 1.0) for term in terms)


def _fits(terms: Sequence[Term], centres: tuple[float, ...], plateau: float | None, slack: float) -> bool:
    for j, term in enumerate(terms):
        wanted = partition_points(centres, j, plateau)
        if len(wanted) != len(term.points):
            return False
        if any(abs(a - b) > slack or g != h for (a, g), (b, h) in zip(wanted, term.points, strict=True)):
            return False
    return True


def _trapezoids(terms: Sequence[Term]) -> tuple[float, tuple[float, ...]] | None:
    """Plateau and centres of trapezoids from their slopes: the gap of neighbours is slope / (1 - 2 plateau)."""
    ends = [(a.points[-2][0], b.points[1][0]) for a, b in itertools.pairwise(terms)]
    slopes = [end - start for start, end in ends]
    plateau = _PLATEAU
    if len(terms) > 2:  # the middle of an inner term's plateau is shared by two gaps
        flat = ends[1][0] - ends[0][1]
        plateau = round(flat / (slopes[0] + slopes[1] + 2.0 * flat), 12)
    if not 0.0 <= plateau < 0.5:
        return None
    share = plateau / (1.0 - 2.0 * plateau)
    first = [start - share * slope for (start, _), slope in zip(ends, slopes, strict=True)]
    return plateau, (*first, ends[-1][1] + share * slopes[-1])


def _complain(name: str, terms: Sequence[Term]) -> NoReturn:
    for a, b in itertools.pairwise(terms):
        falls, rises = a.points[-2:], b.points[:2]
        if (falls[0][0], falls[1][0]) != (rises[0][0], rises[1][0]):
            refuse(
                b.line, f"term {b.label!r} of {name!r} to rise from {falls[0][0]:g} to {falls[1][0]:g}, where "
                f"{a.label!r} falls (neighbours sum to 1)", f"a rise from {rises[0][0]:g} to {rises[1][0]:g}",
            )  # fmt: skip
    refuse(terms[0].line, f"terms of {name!r} with plateaus of one share of the distances", "other ones")
