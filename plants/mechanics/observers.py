"""What an engineer wants to look at beside a mechanism's motion: accelerations, reactions, multipliers, residuals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.gradients import along
from plants.core.tape import Traced
from plants.core.trace import Program
from plants.mechanics.deriving.parts import Parts, in_rows, triangle
from plants.mechanics.forms import multipliers as with_multipliers
from plants.mechanics.forms.solving import dot, least_constraint

if TYPE_CHECKING:
    from plants.mechanics.equations import Equations

    Numbers = tuple[Any, ...]


def works(equations: Equations) -> bool:
    """Whether constraints do work: they move, are not linear in the rates, or the joints are placed by time."""
    declared = equations.declared
    if not declared.linear:
        return True
    program, (first, last) = equations.full.parts.program, equations.full.parts.slices["drift"]
    still = all(program.tape.constants.get(node) == 0.0 for node in program.outputs[first:last])
    placed = declared.tape.needed(place.index for place in declared.places)
    return not still or any(declared.tape.input_names.get(node) == "t" for node in placed)


def flow(equations: Equations) -> Parts:
    """Return the accelerations of the coordinates ("a") as a program of the state and its velocities' rates."""
    parts, m = equations.parts, len(equations.velocities)
    tape, inputs, behind = parts.program.tape, parts.program.inputs, 1 + len(equations.layout)
    state = [tape.input(name) for name in inputs[1:behind]]
    turned = [tape.input(f"a{k}") for k in range(m)]
    kinematics, rates = (
        [Traced(tape, node) for node in parts.program.outputs[slice(*parts.slices[name])]]
        for name in ("kinematics", "rates")
    )
    result = along(rates, [*state, tape.input("t")], [*kinematics, *turned, 1.0])
    order = (*inputs[:behind], *(f"a{k}" for k in range(m)), *inputs[behind:])
    program = Program(tape, order, tuple(tape.lift(value).index for value in result))
    return Parts(program, {"a": (0, len(result))})


def coordinate_accelerations(equations: Equations, t: Any, x: Any, u: Any, w: Any, p: Any) -> Numbers:
    """Return the second derivatives of the coordinates [n]."""
    turned = equations.accelerations(t, x, u, w, p)
    if equations.form in with_multipliers.FORMS:
        return turned
    return tuple(equations.flow(("a",), t, (*x, *turned), u, w, p)[0])


def reactions(equations: Equations, t: Any, x: Any, u: Any, w: Any, p: Any) -> Numbers:
    """Return the generalised forces of the constraints on the coordinates [n]: M a - f."""
    q, v = equations.motion(t, x, u, w, p)
    a = coordinate_accelerations(equations, t, x, u, w, p)
    lower, load = equations.full(("mass", "load"), t, q, v, u, w, p)
    return tuple(dot(row, a) - f for row, f in zip(triangle(lower, equations.declared.n), load, strict=True))


def multipliers(equations: Equations, t: Any, x: Any, u: Any, w: Any, p: Any) -> Numbers:
    """Return the multipliers of the two-sided constraints, holonomic ones first [g]; 0 for rows that repeat others.

    They belong to the accelerations as they are: with Baumgarte's feedback, and beside the contacts' forces.
    """
    q, v = equations.motion(t, x, u, w, p)
    n, a = equations.declared.n, coordinate_accelerations(equations, t, x, u, w, p)
    lower, load, entries, pushes = equations.full(("mass", "load", "jacobian", "gap_jacobian"), t, q, v, u, w, p)
    forces = equations.contact_forces(t, x, u, w, p)
    pushed = [f + dot(pushes[i::n], forces) for i, f in enumerate(load)]
    rows = in_rows(entries, n)
    return tuple(least_constraint(triangle(lower, n), pushed, rows, [dot(row, a) for row in rows])[1])


def residuals(equations: Equations, t: Any, x: Any, u: Any, w: Any, p: Any) -> Numbers:
    """Return the residuals of the constraints: holonomic at position level, then all at velocity level."""
    q, v = equations.motion(t, x, u, w, p)
    positions, speeds = equations.full(("residuals", "speeds"), t, q, v, u, w, p)
    return (*positions, *speeds)


def observe(equations: Equations, *block: Any) -> dict[str, Any]:
    """Return everything about one state by name (:meth:`plants.mechanics.equations.Equations.observe`)."""
    (t, _x, *rest), (q, v) = block, equations.motion(*block)
    kinetic, potential = equations.full(("kinetic", "potential"), t, q, v, *rest)
    return {
        "coordinates": q,
        "rates": v,
        "accelerations": coordinate_accelerations(equations, *block),
        "reactions": reactions(equations, *block),
        "multipliers": multipliers(equations, *block),
        "contact_forces": equations.contact_forces(*block),
        "residuals": residuals(equations, *block),
        "energy": equations.energy(*block),
        "kinetic": kinetic[0],
        "potential": potential[0],
        "supplied": equations.supplied_power(*block),
        "lost": equations.entropy_rate(*block),
    }
