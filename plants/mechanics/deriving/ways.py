"""The ways to derive a form: all that are asked for are gone, the one with the fewest operations is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.mechanics.declaring.declared import Declaration, DeclarationError
from plants.mechanics.deriving import stored
from plants.mechanics.deriving.full import Full
from plants.mechanics.deriving.taped import Taped
from plants.mechanics.equations import Equations
from plants.mechanics.forms import multipliers
from plants.mechanics.forms.reduced import reduced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from plants.mechanics.chaplygin.split import Split
    from plants.mechanics.deriving.calculus import Calculus
    from plants.mechanics.deriving.parts import Parts

    Facts = dict[str, Any]

WAYS = ("smaller", "symbols", "tape")
LARGE = 4000
"""Operations of the tape's own derivation beyond which no expansion is tried."""


def derived(
    declared: Declaration, form: str, derivatives: str, feedback: tuple[float, float] | None
) -> tuple[Parts, Facts]:
    """Return a form's parts, from the cache folder where they are there, and how they were derived.

    Parameters
    ----------
    derivatives : str
        A name of :data:`WAYS`.
    feedback : (alpha, beta), optional
        Baumgarte's.

    Returns
    -------
    Parts
    dict
        "derivatives": the way that was kept; "operations": of one evaluation, by way; "feedback": Baumgarte's
        coefficients; "independent": which rates Chaplygin's form has, by number. No names: they are not in the key.

    Raises
    ------
    SymbolicError
        Where computer algebra is asked for and cannot differentiate what is declared.
    """
    options = {"form": form, "derivatives": derivatives, "feedback": feedback}
    return stored.parts(declared, options, lambda: _smallest(declared, form, derivatives, feedback))


def _smallest(declared: Declaration, form: str, derivatives: str, feedback: Any) -> tuple[Parts, Facts]:
    facts: Facts = {"feedback": feedback}
    if form == "chaplygin":
        split = _split(declared, derivatives)
        facts["independent"] = list(split.independent)
        found = _mechanised(declared, split)
    else:
        found = _generic(declared, form, derivatives, feedback)
    parts, sizes = {}, {}
    for name, made in found:
        parts[name] = made.condensed()
        sizes[name] = _size(declared, form, parts[name], facts)
        if name == "tape" and sizes[name] > LARGE and derivatives == "smaller":
            break
    best = min(sizes, key=lambda name: sizes[name])
    return parts[best], {**facts, "derivatives": best, "operations": sizes}


def _generic(declared: Declaration, form: str, derivatives: str, feedback: Any) -> Iterator[tuple[str, Parts]]:
    def derive(calculus: Calculus) -> Parts:
        if form in multipliers.FORMS:
            return multipliers.with_multipliers(calculus, declared, feedback)
        return reduced(calculus, declared)

    if derivatives != "symbols":
        yield "tape", derive(Taped(declared))
    if derivatives != "tape":
        yield from _by_algebra(derive, declared, required=derivatives == "symbols")


def _by_algebra(
    derive: Callable[[Calculus], Parts], declared: Declaration, *, required: bool
) -> Iterator[tuple[str, Parts]]:
    from plants.mechanics.deriving.landing import SymbolicError
    from plants.mechanics.deriving.symbolic import Symbolic

    for name, normal in (("symbols", True), ("symbols, as derived", False)):
        try:
            yield name, derive(Symbolic(declared, trigonometric=normal))
        except SymbolicError:
            if required:
                raise
            return


def _split(declared: Declaration, derivatives: str) -> Split:
    from plants.mechanics.chaplygin.split import split_of

    if derivatives == "tape":
        raise DeclarationError(
            f"mechanism {declared.name!r}: form 'chaplygin' is a procedure of computer algebra; leave out "
            "derivatives='tape'"
        )
    return split_of(declared)


def _mechanised(declared: Declaration, split: Split) -> Iterator[tuple[str, Parts]]:
    """With names kept and replaced, in trigonometric normal form and as derived."""
    from plants.mechanics.chaplygin.equations import chaplygin

    for kept, normal in ((True, True), (True, False), (False, True), (False, False)):
        name = ("names kept" if kept else "names replaced") + ("" if normal else ", as derived")
        yield name, chaplygin(declared, split=split, kept=kept, trigonometric=normal)


def state_names(declared: Declaration, form: str, facts: Facts) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of a form's positions and velocities."""
    names = {kind: tuple(q.name for q in declared.quantities[kind]) for kind in "qvsr"}
    if form == "joints":
        return names["s"], names["r"]
    if form == "quasi" and declared.velocities is not None:
        return names["q"], declared.velocities.names
    if form == "chaplygin":
        return names["q"], tuple(names["v"][k] for k in facts["independent"])
    return names["q"], names["v"]


def _size(declared: Declaration, form: str, parts: Parts, facts: Facts) -> int:
    state = state_names(declared, form, facts)
    return Equations(form, declared, parts, Full(declared) if declared.gaps else None, *state, facts).operations  # type: ignore[arg-type]
