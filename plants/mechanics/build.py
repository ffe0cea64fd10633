"""From a declaration to a plant: choose a form and a way to derive it, check it, name its states."""

from __future__ import annotations

import warnings
from dataclasses import fields as dataclass_fields
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plants.core.naming import unknown
from plants.core.plant import Plant
from plants.mechanics import checked
from plants.mechanics.as_plant import as_plant
from plants.mechanics.declaring import dependence
from plants.mechanics.declaring.declared import Declaration, DeclarationError
from plants.mechanics.deriving.full import Full
from plants.mechanics.deriving.ways import WAYS, derived, state_names
from plants.mechanics.equations import Equations
from plants.mechanics.forms import multipliers

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMS = ("auto", "free", "quasi", "joints", "routh", "gauss", "maggi", "chaplygin")


class BasisWarning(UserWarning):
    """A constrained mechanism without a basis: its constraints will drift."""


def build(
    declared: Declaration,
    form: str = "auto",
    *,
    stabilise: tuple[str, float, float] | str | None = None,
    derivatives: str = "smaller",
    bake: Sequence[str] = (),
    check: bool = True,
    **fields: Any,
) -> Plant:
    """Return a declared mechanism as a plant.

    Parameters
    ----------
    declared : Declaration
    form : str
        "quasi": quasi-velocities, state (q, w), no multipliers. "joints": transferred to joint coordinates. "free": no
        constraints. "routh": multipliers, state (q, v). "gauss": the same by least constraint, with redundant rows and
        one-sided constraints. "chaplygin": Chaplygin's and Voronets' equations by the mechanised procedure, state (q,
        independent rates); it has poles. "maggi": a test's second opinion. "auto": "gauss" with gaps, else joints or
        basis where given, "free" without constraints, else "routh" with a warning.
    stabilise : ("baumgarte", alpha, beta) or "project", optional
        What holds constraints against drift: feedback [1/s], or a projection after each step.
    derivatives : str
        "symbols": computer algebra with trigonometric normal form; "tape": derivatives on the tape, nothing expanded;
        "smaller": whichever needs fewer operations.
    bake : sequence of str
        Parameters that become constants; one text of names separated by blanks will do.
    check : bool
        Compare with the pseudo-inverse at random admissible states.
    **fields
        Further fields of the plant: channels, situations, step, outputs, ...

    Raises
    ------
    DeclarationError
        For an unknown option, or where a check fails.
    """
    if form not in FORMS:
        raise DeclarationError(unknown("form", form, FORMS))
    if derivatives not in WAYS:
        raise DeclarationError(unknown("way to derive", derivatives, WAYS))
    known = [field.name for field in dataclass_fields(Plant)]
    for name in fields:
        if name not in known:
            raise DeclarationError(unknown("option of build or field of a plant", name, known))
    dependence.check(declared)
    declared = declared.baked(bake.split() if isinstance(bake, str) else bake)
    form = _chosen(declared, form)
    if form in {"free", "joints", "chaplygin"}:
        declared = replace(declared, velocities=None)  # these forms have velocities of their own
    parts, facts = derived(declared, form, derivatives, _feedback(declared, form, stabilise))
    state = state_names(declared, form, facts)
    equations = Equations(form, declared, parts, Full(declared), *state, facts)
    if check:
        checked.check(equations)
    return as_plant(equations, stabilise == "project", fields)


def _chosen(declared: Declaration, form: str) -> str:
    if form != "auto":
        return _fitting(declared, form)
    if declared.gaps:
        return _fitting(declared, "gauss")
    if declared.places:
        return "joints"
    if declared.velocities is not None:
        return "quasi"
    if not declared.n_constraints:
        return "free"
    warnings.warn(
        f"mechanism {declared.name!r} has constraints and no basis of quasi-velocities: built with multipliers, which "
        "let the constraints drift. mech.basis(**mech.suggest_basis()) gives one; form='routh' says this is meant",
        BasisWarning,
        stacklevel=4,
    )
    return "routh"


def _fitting(declared: Declaration, form: str) -> str:
    if declared.gaps and declared.places:
        raise DeclarationError(
            f"mechanism {declared.name!r} has gaps and joints: gaps need multipliers. Declare position constraints "
            "instead of mech.place(...)"
        )
    if declared.gaps and form != "gauss":
        raise DeclarationError(f"mechanism {declared.name!r} has gaps: form must be 'gauss', got {form!r}")
    if declared.places and form != "joints":
        raise DeclarationError(
            f"mechanism {declared.name!r} is placed by joints: form must be 'joints', got {form!r}; for the form in "
            "its own coordinates declare their constraints instead of mech.place(...)"
        )
    needs = {
        "quasi": (declared.velocities is not None, "mech.basis(...)"),
        "maggi": (declared.velocities is not None and bool(declared.velocities.columns), "mech.basis(...)"),
        "joints": (bool(declared.places), "mech.joints(...) and mech.place(...)"),
        "free": (not declared.n_constraints, f"no constraints; it has {declared.n_constraints}"),
        "chaplygin": (declared.linear, "velocity constraints that are linear in the rates"),
    }
    met, what = needs.get(form, (True, ""))
    if not met:
        raise DeclarationError(f"mechanism {declared.name!r}: form {form!r} needs {what}")
    return form


def _feedback(declared: Declaration, form: str, stabilise: Any) -> tuple[float, float] | None:
    """Baumgarte's coefficients, after a look at whether the option means something here."""
    if stabilise is None:
        return None
    name, *numbers = stabilise if isinstance(stabilise, (tuple, list)) else (stabilise,)
    if name not in {"baumgarte", "project"} or len(numbers) != (2 if name == "baumgarte" else 0):
        raise DeclarationError(f"stabilise must be ('baumgarte', alpha, beta) or 'project', got {stabilise!r}")
    if not declared.n_constraints:
        raise DeclarationError(f"mechanism {declared.name!r} has no constraints to stabilise")
    if form == "joints":
        raise DeclarationError(f"mechanism {declared.name!r}: nothing drifts with joints; leave out stabilise")
    if name == "project":
        return None
    if form not in multipliers.FORMS:
        raise DeclarationError(
            f"mechanism {declared.name!r}: form {form!r} holds the constraints' speeds exactly, so there is nothing "
            "for Baumgarte to feed back; use stabilise='project' against drift of positions"
        )
    alpha, beta = map(float, numbers)
    if not (alpha >= 0.0 and beta >= 0.0):
        raise DeclarationError(
            f"mechanism {declared.name!r}: Baumgarte's coefficients are rates [1/s] of 0 or more, got {alpha}, {beta}; "
            "below 0 the constraints' drift would grow"
        )
    return alpha, beta
