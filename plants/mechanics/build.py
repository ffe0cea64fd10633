"""From a declaration to a plant: choose a form and a way to derive it, check it, put the blocks together.

Where it is asked for, constraint drift is taken away after each integration step, by the metric of the mass matrix:

    q <- q - M^-1 A' S^-1 phi  (holonomic rows, twice),   v <- v - M^-1 A' S^-1 (A v + b),   S = A M^-1 A'
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plants.core.linear_solve import solve_symmetric
from plants.core.names import unknown
from plants.core.plant import Plant, StartWarning, keywords
from plants.core.quantities import Quantity
from plants.mechanics import checks
from plants.mechanics.admissible import start_projection
from plants.mechanics.algebra.blocks import Full
from plants.mechanics.algebra.calculus import in_rows, triangle
from plants.mechanics.declaration import declaration
from plants.mechanics.declaration.declaration import DeclarationError, MechanismDeclaration
from plants.mechanics.derivation import WAYS, derived, state_names
from plants.mechanics.equations import Equations
from plants.mechanics.forms import multipliers
from plants.mechanics.forms.multipliers import MULTIPLIER_FORMS
from plants.mechanics.forms.solving import dot, solve_semidefinite

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Block = Callable[..., Any]


ROUNDS = 2  # quadratic convergence: what is 1e-4 away is 1e-16 away after two


def projection(equations: Equations) -> Callable[..., tuple[Any, ...]]:
    """Return the block ``(t, x, u, w, p, h) -> state`` that moves a state back onto the constraints.

    In the forms without multipliers speeds fulfil the constraints by construction: positions alone are moved.
    """
    full, n = equations.full, len(equations.positions)
    held = len(equations.declared.positions)
    speeds_too = equations.form in MULTIPLIER_FORMS

    def after_step(t: Any, x: Any, u: Any, w: Any, p: Any, h: Any) -> tuple[Any, ...]:
        q, velocities = tuple(x[:n]), tuple(x[n:])
        for _ in range(ROUNDS if held else 0):
            q = _moved(full, q, ("residuals", held), t, (q, velocities if speeds_too else (0.0,) * n), u, w, p)
        if speeds_too:
            count = equations.declared.n_constraints
            velocities = _moved(full, velocities, ("speeds", count), t, (q, velocities), u, w, p)
        return (*q, *velocities)

    return after_step


def _moved(
    full: Full, values: Sequence[Any], level: tuple[str, int], t: Any, state: Any, u: Any, w: Any, p: Any
) -> tuple[Any, ...]:
    name, count = level
    q, v = state
    lower, entries, residuals = full(("mass", "jacobian", name), t, q, v, u, w, p)
    n = full.declared.n
    mass, rows = triangle(lower, n), in_rows(entries, n)[:count]
    answers = [solve_symmetric(mass, row) for row in rows]
    compliance = [[dot(row, answer) for answer in answers] for row in rows]
    push = solve_semidefinite(compliance, residuals)
    return tuple(value - dot([answer[i] for answer in answers], push) for i, value in enumerate(values))


def as_plant(equations: Equations, project: bool, fields: Mapping[str, Any]) -> Plant:
    """Return the plant of derived equations.

    Parameters
    ----------
    project : bool
        Whether each step ends with a projection onto the constraints.
    fields : mapping
        Further fields of the plant, or others than those derived.
    """
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
    if declared.n_constraints and form != "joints":
        given["constraints"] = equations.residuals
        begin = [q.nominal for q in given["states"]]
        given["admissible"] = start_projection(equations.full, begin, rates_too=form in MULTIPLIER_FORMS)
    if declared.measured:
        given |= {"measurements": tuple(q for q, _ in declared.measured), "outputs": equations.outputs}
    if form in multipliers.MULTIPLIER_FORMS:
        given["derivative"] = equations.derivative
    else:
        given |= {"mass_matrix": equations.mass_matrix, "force": equations.force}
        given |= {"kinematics": equations.kinematics, "velocities": equations.velocities}
    ends = _step_ends(equations, project)
    if ends:
        given["after_step"] = _one_after_the_other(ends)
    return Plant(**{**given, **fields})


def _step_ends(equations: Equations, project: bool) -> list[Block]:
    """What happens after a step: impacts, then the projection onto two-sided constraints."""
    ends = [equations.settled] if equations.declared.gaps else []
    return [*ends, projection(equations)] if project else ends


def _one_after_the_other(ends: Sequence[Block]) -> Block:
    if len(ends) == 1:
        return ends[0]

    def after_step(t: Any, x: Any, u: Any, w: Any, p: Any, h: Any) -> Any:
        for end in ends:
            x = end(t, x, u, w, p, h)
        return x

    return after_step


def _states(equations: Equations) -> tuple[Quantity, ...]:
    declared = equations.declared
    places, turned = (declared.quantities[kind] for kind in ("sr" if equations.form == "joints" else "qv"))
    quasi = {q.name: replace(q, text="quasi-velocity") for q in declared.quantities["z"]}
    known = {q.name: q for q in turned} | (quasi if equations.form == "quasi" else {})
    rates = tuple(known.get(name, Quantity("", "", text="quasi-velocity")) for name in equations.velocities)
    initial = equations.state_from([q.nominal for q in places], [q.nominal for q in turned])
    _announce(equations, places, initial)
    return tuple(
        Quantity(name, q.unit, value, q.low, q.high, q.text)
        for name, q, value in zip(equations.layout, (*places, *rates), initial, strict=True)
    )


def _announce(equations: Equations, places: Sequence[Quantity], initial: Sequence[float]) -> None:
    """Say which initial coordinates had to move onto the constraints by more than rounding of their digits.

    One that is 0 was not given, or is where the others put it.
    """
    moved = [
        f"{q.name} {q.nominal:.4g} -> {value:.4g}"
        for q, value in zip(places, initial, strict=False)
        if q.nominal != 0.0 and abs(value - q.nominal) > ROUNDED * (1.0 + abs(q.nominal))
    ]
    if moved:
        warnings.warn(
            f"mechanism {equations.declared.name!r}: its initial coordinates break its position constraints and were "
            f"moved onto them: {', '.join(moved)}; give initial=... that fulfils them",
            StartWarning,
            stacklevel=6,
        )


ROUNDED = 0.01
"""Of 1 + its size: what an initial coordinate may move without a word, for it was given with few digits."""

FORMS = ("auto", "free", "quasi", "joints", "routh", "gauss", "maggi", "chaplygin")


class BasisWarning(UserWarning):
    """A constrained mechanism without a basis: its constraints will drift."""


def build(
    declared: MechanismDeclaration,
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
    declared : MechanismDeclaration
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
    known = keywords()
    for name in fields:
        if name not in known:
            raise DeclarationError(unknown("option of build or field of a plant", name, known))
    declaration.check_dependence(declared)
    declared = declared.baked(bake.split() if isinstance(bake, str) else bake)
    form = _chosen(declared, form)
    if form in {"free", "joints", "chaplygin"}:
        declared = replace(declared, velocities=None)  # these forms have velocities of their own
    parts, facts = derived(declared, form, derivatives, _feedback(declared, form, stabilise))
    state = state_names(declared, form, facts)
    equations = Equations(form, declared, parts, Full(declared), *state, facts)
    if check:
        checks.check(equations)
    return as_plant(equations, stabilise == "project", fields)


def _chosen(declared: MechanismDeclaration, form: str) -> str:
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
        "let the constraints drift. form='routh', stabilise='project' holds them. mech.basis(**mech.suggest_basis()) "
        "gives a basis, which is cheaper, but may become dependent along the motion; form='routh' alone says that the "
        "drift is meant",
        BasisWarning,
        stacklevel=4,
    )
    return "routh"


def _fitting(declared: MechanismDeclaration, form: str) -> str:
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


def _feedback(declared: MechanismDeclaration, form: str, stabilise: Any) -> tuple[float, float] | None:
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
    if form not in multipliers.MULTIPLIER_FORMS:
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
