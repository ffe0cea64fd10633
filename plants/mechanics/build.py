"""From a declaration to a plant: choose a form and a way to derive it, check it, name its states."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plants.core.naming import unknown
from plants.core.plant import Plant, Quantity
from plants.mechanics import checked, dependence, multipliers
from plants.mechanics.declared import Declaration, DeclarationError
from plants.mechanics.equations import Equations
from plants.mechanics.full import Full
from plants.mechanics.ways import WAYS, derived

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
        independent rates); it has poles. "maggi": a test's second opinion. "auto": joints or basis where given, "gauss"
        with gaps, else "routh".
    stabilise : ("baumgarte", alpha, beta) or "project", optional
        What holds constraints against drift: feedback [1/s], or a projection after each step.
    derivatives : str
        "symbols": computer algebra with trigonometric normal form; "tape": derivatives on the tape, nothing expanded;
        "smaller": whichever needs fewer operations.
    bake : sequence of str
        Parameters that become constants.
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
    dependence.check(declared)
    declared = declared.baked(bake)
    form = _chosen(declared, form)
    if form in {"free", "joints", "chaplygin"}:
        declared = replace(declared, velocities=None)  # these forms have velocities of their own
    parts, facts = derived(declared, form, derivatives, _feedback(declared, form, stabilise))
    state = tuple(facts["positions"]), tuple(facts["velocities"])
    equations = Equations(form, declared, parts, Full(declared), *state, facts)
    if check:
        checked.check(equations)
    return _plant(equations, stabilise, fields)


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
    needs = {
        "quasi": (declared.velocities is not None, "mech.basis(...)"),
        "maggi": (declared.velocities is not None and bool(declared.velocities.columns), "mech.basis(...)"),
        "joints": (bool(declared.places), "mech.joints(...) and mech.place(...)"),
        "free": (not declared.n_constraints, "no constraints"),
    }
    met, what = needs.get(form, (True, ""))
    if not met:
        raise DeclarationError(f"mechanism {declared.name!r}: form {form!r} needs {what}")
    if declared.gaps and form != "gauss":
        raise DeclarationError(f"mechanism {declared.name!r} has gaps: form must be 'gauss', got {form!r}")
    if declared.places and form != "joints":
        raise DeclarationError(
            f"mechanism {declared.name!r} is placed by joints: form must be 'joints', got {form!r}; for the form in "
            "its own coordinates declare their constraints instead of mech.place(...)"
        )
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
    if name == "project":
        return None
    if form not in {"routh", "gauss"}:
        raise DeclarationError(
            f"mechanism {declared.name!r}: form {form!r} holds the constraints' speeds exactly, so there is nothing "
            "for Baumgarte to feed back; use stabilise='project' against drift of positions"
        )
    return float(numbers[0]), float(numbers[1])


# ---------------------------------------------------------------------------------------------------------- the plant


def _plant(equations: Equations, stabilise: Any, fields: dict[str, Any]) -> Plant:
    declared, form = equations.declared, equations.form
    given: dict[str, Any] = {
        "name": declared.name,
        "text": declared.text,
        "states": _states(equations),
        "parameters": declared.quantities["p"],
        "inputs": declared.quantities["u"],
        "disturbances": declared.quantities["w"],
        "energy": equations.energy,
        "supplied_power": equations.supplied_power,
        "entropy_rate": equations.entropy_rate,
        "equations": equations,
    }
    if declared.measured:
        given |= {"measurements": tuple(q for q, _ in declared.measured), "outputs": equations.outputs}
    if form in multipliers.FORMS:
        given["derivative"] = equations.derivative
    else:
        given |= {"mass_matrix": equations.mass_matrix, "force": equations.force}
        given |= {"kinematics": equations.kinematics, "velocities": equations.velocities}
    if declared.gaps:
        given |= _contacts(equations, stabilise)
    elif stabilise == "project":
        from plants.mechanics.projection import projection

        given["after_step"] = projection(equations)
    return Plant(**{**given, **fields})


def _contacts(equations: Equations, stabilise: Any) -> dict[str, Any]:
    """Derivative and after_step of a mechanism with gaps; projection onto two-sided constraints comes last."""
    from plants.mechanics.contact_blocks import contact_blocks
    from plants.mechanics.projection import projection

    derivative, settled = contact_blocks(
        equations.full, baumgarte=_feedback(equations.declared, equations.form, stabilise)
    )
    if stabilise != "project":
        return {"derivative": derivative, "after_step": settled}
    project = projection(equations)

    def after_step(t: Any, x: Any, u: Any, w: Any, p: Any, h: Any) -> tuple[Any, ...]:
        return project(t, settled(t, x, u, w, p, h), u, w, p, h)

    return {"derivative": derivative, "after_step": after_step}


def _states(equations: Equations) -> tuple[Quantity, ...]:
    declared = equations.declared
    kind = "s" if equations.form == "joints" else "q"
    places, turned = declared.quantities[kind], declared.quantities["v"]
    known = {q.name: q for q in turned}
    if kind == "s":
        known = {f"d_{q.name}": Quantity("", f"{q.unit or '1'}/s") for q in places}
    rates = tuple(known.get(name, Quantity("", "", text="quasi-velocity")) for name in equations.velocities)
    initial = equations.state_from([q.nominal for q in places], [q.nominal for q in turned] if kind == "q" else ())
    return tuple(
        Quantity(name, q.unit, value, q.low, q.high, q.text)
        for name, q, value in zip(equations.layout, (*places, *rates), initial, strict=True)
    )
