"""A mechanism's equations in one form: the plant's blocks, and what an engineer wants to look at beside them.

Beside the motion those are accelerations, reactions, multipliers and residuals, and the admissible state nearest to
given coordinates and rates.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.linear_solve import solve_symmetric
from plants.core.printers.python import Printed
from plants.core.tracing.gradients import along
from plants.core.tracing.tape import Traced
from plants.core.tracing.trace import Program, names, trace
from plants.mechanics.admissible import EXACT, listed_values, projected
from plants.mechanics.algebra.calculus import Parts, in_rows, triangle
from plants.mechanics.contacts.blocks import contact_blocks, contact_forces
from plants.mechanics.declaration.declaration import DeclarationError
from plants.mechanics.forms import multipliers as with_multipliers
from plants.mechanics.forms.solving import dot, least_constraint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from plants.mechanics.algebra.blocks import Full
    from plants.mechanics.declaration.declaration import MechanismDeclaration

    Array = NDArray[np.float64]
    Numbers = tuple[Any, ...]


SPANNED = 1e-8  # of 1 + |v|: what a velocity may keep that no quasi-velocity gives


class BasisError(DeclarationError):
    """The quasi-velocities do not give all admissible rates at a state."""


def state_from(equations: Equations, q: Any, v: Any, t: float, p: Any) -> tuple[float, ...]:
    """Return the admissible state nearest to coordinates q [n] and rates v [n].

    With joints `q` and `v` are the joint coordinates and their rates.

    Raises
    ------
    ValueError
        For a wrong length, or where the quasi-velocities do not span the admissible rates.
    """
    declared = equations.declared
    size = len(equations.positions) if declared.places else declared.n
    q = [float(value) for value in q]
    v = [float(value) for value in v] if len(v) else [0.0] * size
    if len(q) != size or len(v) != size:
        raise ValueError(
            f"mechanism {declared.name!r}: {size} coordinates and as many rates are needed, got {len(q)} and {len(v)}"
        )
    if declared.places:
        return (*q, *v)
    places, rates = projected(equations.full, q, v, t, p)
    return tuple(map(float, (*places, *_velocities(equations, places, rates, t, p))))


def _velocities(equations: Equations, q: Array, v: Array, t: float, p: Any) -> Array:
    m = len(equations.velocities)
    block = equations.block(t, (*q, *(0.0,) * m), p=p)

    def rates(w: Any) -> Array:
        return np.array(equations.motion(t, (*block[1][: len(q)], *w), *block[2:])[1], float)

    declared = equations.declared.velocities
    if equations.form == "quasi" and declared is not None and not declared.columns:
        from scipy.optimize import least_squares

        w = least_squares(lambda w: rates(w) - v, np.full(m, 0.5), xtol=EXACT, ftol=EXACT, gtol=EXACT).x
    else:
        offset = rates((0.0,) * m)
        basis = np.stack([rates(unit) - offset for unit in np.eye(m)], axis=1)
        w, *_ = np.linalg.lstsq(basis, v - offset, rcond=None)
    missed = np.abs(rates(w) - v).max()
    if missed > SPANNED * (1.0 + np.abs(v).max()):
        raise BasisError(
            f"mechanism {equations.declared.name!r}: the velocities {', '.join(equations.velocities)} do not give all "
            f"admissible rates at ({listed_values(equations.full, q)}): they miss by {missed:.3g}; "
            "check mech.basis(...)"
        )
    return np.asarray(w)


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
    if equations.form in with_multipliers.MULTIPLIER_FORMS:
        return turned
    return tuple(equations.flow(("a",), t, (*x, *turned), u, w, p)[0])


def reactions(equations: Equations, t: Any, x: Any, u: Any, w: Any, p: Any) -> Numbers:
    """Return the generalised forces of the constraints on the coordinates [n]: M a - f."""
    q, v = equations.motion(t, x, u, w, p)
    a = coordinate_accelerations(equations, t, x, u, w, p)
    lower, load = equations.full(("mass", "load"), t, q, v, u, w, p)
    return tuple(dot(row, a) - f for row, f in zip(triangle(lower, equations.declared.n), load, strict=True))


def constraint_multipliers(equations: Equations, t: Any, x: Any, u: Any, w: Any, p: Any) -> Numbers:
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
        "multipliers": constraint_multipliers(equations, *block),
        "contact_forces": equations.contact_forces(*block),
        "residuals": residuals(equations, *block),
        "energy": equations.energy(*block),
        "kinetic": kinetic[0],
        "potential": potential[0],
        "supplied": equations.supplied_power(*block),
        "lost": equations.entropy_rate(*block),
    }


@dataclass(frozen=True)
class Equations:
    """Equations of motion of a mechanism in the state (positions, velocities).

    Attributes
    ----------
    form : str
        Formulation.
    declared : MechanismDeclaration
    parts : Parts
        What the form derived.
    full : Full
        All blocks in the coordinates as declared.
    positions, velocities : tuple of str
        Names of the state.
    facts : mapping
        How it was derived, and the operations of the ways that were tried.
    """

    form: str
    declared: MechanismDeclaration
    parts: Parts
    full: Full
    positions: tuple[str, ...]
    velocities: tuple[str, ...]
    facts: Mapping[str, Any]

    @property
    def layout(self) -> dict[str, int]:
        """Names of the state to their places."""
        return {name: k for k, name in enumerate(self.positions + self.velocities)}

    @cached_property
    def counts(self) -> dict[str, int]:
        """Operations of one evaluation of the state's rates, solve included, by name."""
        return self._traced(self.derivative).counts()

    @property
    def operations(self) -> int:
        """Number of operations of one evaluation of the state's rates."""
        return sum(self.counts.values())

    def source(self) -> str:
        """Return the state's rates as readable statements."""
        program = self._traced(self.derivative)
        tape = program.tape
        labels = [f"{name}_" for name in self._labels()]  # a mark of its own: a declared name collides with nothing
        inputs = {node: labels[program.inputs.index(name)] for node, name in tape.input_names.items()}
        printed = Printed(tape, program.outputs, inputs)
        rates = [f"rate of {name}: {printed.value(k)}" for name, k in zip(self.layout, program.outputs, strict=True)]
        return "\n".join([*printed.lines, *rates])

    def _labels(self) -> list[str]:
        rest = [q.name for kind in "uwp" for q in self.declared.quantities[kind]]
        return ["t", *self.layout, *rest]

    def _traced(self, block: Any) -> Program:
        sizes = [len(self.declared.quantities[kind]) for kind in "uwp"]
        return trace(
            block, "t", names("x", len(self.layout)), *(names(k, n) for k, n in zip("uwp", sizes, strict=True))
        )

    # --------------------------------------------------------------------------------------------- the plant's blocks

    def kinematics(self, t: Any, x: Any, u: Any, w: Any, p: Any) -> Numbers:
        """Rates of the positions."""
        return tuple(self.parts(("kinematics",), t, x, u, w, p)[0])

    def mass_matrix(self, t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
        """H of the reduced equations H w' = r."""
        return triangle(self.parts(("matrix",), t, x, u, w, p)[0], len(self.velocities))

    def force(self, t: Any, x: Any, u: Any, w: Any, p: Any) -> Numbers:
        """r of the reduced equations H w' = r."""
        return tuple(self.parts(("right",), t, x, u, w, p)[0])

    def derivative(self, t: Any, x: Any, u: Any, w: Any, p: Any) -> Numbers:
        """Rates of the state."""
        return (*self.kinematics(t, x, u, w, p), *self.accelerations(t, x, u, w, p))

    def accelerations(self, t: Any, x: Any, u: Any, w: Any, p: Any) -> Numbers:
        """Rates of the velocities."""
        if self.declared.gaps:
            return tuple(self._contacts[0](t, x, u, w, p)[len(self.positions) :])
        if self.form in with_multipliers.MULTIPLIER_FORMS:
            return tuple(with_multipliers.accelerations(self.form, self.declared)(self.parts, t, x, u, w, p)[0])
        matrix, right = self.parts(("matrix", "right"), t, x, u, w, p)
        return solve_symmetric(triangle(matrix, len(self.velocities)), right)

    @cached_property
    def _contacts(self) -> tuple[Any, Any]:
        return contact_blocks(self.full, baumgarte=self.facts.get("feedback"))

    def settled(self, t: Any, x: Any, u: Any, w: Any, p: Any, h: Any) -> Numbers:
        """State after the impacts of a step."""
        return tuple(self._contacts[1](t, x, u, w, p, h))

    def contact_forces(self, t: Any, x: Any, u: Any, w: Any, p: Any) -> Numbers:
        """Force of each gap's contact [N], not below 0."""
        if not self.declared.gaps:
            return ()
        return tuple(contact_forces(self.full, baumgarte=self.facts.get("feedback"))(t, x, u, w, p))

    def motion(self, t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Numbers, Numbers]:
        """Coordinates q and rates v of a state."""
        q, v = self.parts(("coordinates", "rates"), t, x, u, w, p)
        return tuple(q), tuple(v)

    def energy(self, t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
        """T + V [J]; where they depend on time Jacobi's integral v.dT/dv - T + V."""
        return self._one("energy", t, x, u, w, p)

    def entropy_rate(self, t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
        """Power of the dissipative forces, counted positive [W]."""
        return self._one("lost", t, x, u, w, p)

    def supplied_power(self, t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
        """Power of the driving forces and of constraints that do work [W].

        Two-sided constraints at rest do none at rates that they allow. A state with multipliers may have others, where
        it drifted or where a check looks; what the multipliers do there is counted.
        """
        power = self._one("supplied", t, x, u, w, p)
        if (
            self.moving
            or (self.form in with_multipliers.MULTIPLIER_FORMS and self.declared.n_constraints)
            or self.declared.gaps
        ):
            _q, v = self.motion(t, x, u, w, p)
            power = power + dot(self.reactions(t, x, u, w, p), v)
        return power

    def outputs(self, t: Any, x: Any, u: Any, w: Any, p: Any) -> Numbers:
        """Declared measurements."""
        q, v = self.motion(t, x, u, w, p)
        return tuple(self.full(("measured",), t, q, v, u, w, p)[0])

    def _one(self, name: str, t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
        q, v = self.motion(t, x, u, w, p)
        return self.full((name,), t, q, v, u, w, p)[0][0]

    # ------------------------------------------------------------------------------------------------------ observers

    @cached_property
    def moving(self) -> bool:
        """Whether constraints do work: they move, are not linear in the rates, or the joints are placed by time."""
        return works(self)

    @cached_property
    def flow(self) -> Parts:
        """Accelerations of the coordinates ("a") from the state and its velocities' rates."""
        return flow(self)

    def coordinate_accelerations(self, *block: Any) -> Numbers:
        """Second derivatives of the coordinates [n] at (t, x, u, w, p)."""
        return coordinate_accelerations(self, *block)

    def reactions(self, *block: Any) -> Numbers:
        """Generalised forces of the constraints on the coordinates [n] at (t, x, u, w, p): M a - f."""
        return reactions(self, *block)

    def multipliers(self, *block: Any) -> Numbers:
        """Multipliers of the two-sided constraints, holonomic ones first [g]; 0 for rows that repeat others."""
        return constraint_multipliers(self, *block)

    def residuals(self, *block: Any) -> Numbers:
        """Residuals of the constraints: holonomic at position level, then all at velocity level."""
        return residuals(self, *block)

    def observe(
        self, t: Any, x: Sequence[Any], u: Sequence[Any] = (), w: Sequence[Any] = (), p: Sequence[Any] | None = None
    ) -> dict[str, Any]:
        """Return everything about one state (or arrays of states) by name.

        Parameters
        ----------
        t, x, u, w, p
            As a block's; inputs and disturbances left out are 0, parameters nominal.

        Returns
        -------
        dict
            coordinates, rates, accelerations, reactions [n], multipliers [g], contact_forces [gaps], residuals, energy
            [J], kinetic, potential [J], supplied, lost [W].
        """
        return observe(self, *self.block(t, x, u, w, p))

    def block(self, t: Any, x: Any, u: Any = (), w: Any = (), p: Any = None) -> tuple[Any, Any, Any, Any, Any]:
        """Return a block's arguments with what is left out filled in; ValueError for a wrong number of them."""
        quantities = self.declared.quantities
        nominal = tuple(q.nominal for q in quantities["p"])
        zeros = {kind: (0.0,) * len(quantities[kind]) for kind in "uw"}
        return (
            t,
            self._fitting("states", list(self.layout), x),
            self._fitting("inputs", [q.name for q in quantities["u"]], u if len(u) else zeros["u"]),
            self._fitting("disturbances", [q.name for q in quantities["w"]], w if len(w) else zeros["w"]),
            self._fitting("parameters", [q.name for q in quantities["p"]], nominal if p is None else p),
        )

    def _fitting(self, what: str, names: Sequence[str], values: Sequence[Any]) -> Numbers:
        if len(values) != len(names):
            raise ValueError(
                f"{what} of mechanism {self.declared.name!r} must have {len(names)} values ({', '.join(names)}), got "
                f"{len(values)}"
            )
        return tuple(values)

    def state_from(self, q: Any, v: Any = (), *, t: float = 0.0, p: Any = None) -> tuple[float, ...]:
        """Return the admissible state nearest to coordinates and rates (:mod:`plants.mechanics.checks`)."""
        return state_from(self, q, v, t, p)
