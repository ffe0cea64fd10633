"""Derived equations as a plant: blocks, names, nominal values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from plants.core.plant import Plant, Quantity
from plants.mechanics.forms import multipliers
from plants.mechanics.forms.projection import projection

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from plants.mechanics.equations import Equations

    Block = Callable[..., Any]


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
    if declared.measured:
        given |= {"measurements": tuple(q for q, _ in declared.measured), "outputs": equations.outputs}
    if form in multipliers.FORMS:
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
    return tuple(
        Quantity(name, q.unit, value, q.low, q.high, q.text)
        for name, q, value in zip(equations.layout, (*places, *rates), initial, strict=True)
    )
