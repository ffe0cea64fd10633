"""A mechanism's equations in one form: the plant's blocks, and what an engineer wants to look at beside them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from plants.core.linear_solve import solve_symmetric
from plants.core.trace import Program, names, trace
from plants.mechanics import observers
from plants.mechanics.deriving.parts import triangle
from plants.mechanics.forms import multipliers
from plants.mechanics.forms.solving import dot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.mechanics.declaring.declared import Declaration
    from plants.mechanics.deriving.full import Full
    from plants.mechanics.deriving.parts import Parts

    Numbers = tuple[Any, ...]


@dataclass(frozen=True)
class Equations:
    """Equations of motion of a mechanism in the state (positions, velocities).

    Attributes
    ----------
    form : str
        Formulation.
    declared : Declaration
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
    declared: Declaration
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
        from plants.core.printers.python import Printed

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
        if self.form in multipliers.FORMS:
            return tuple(multipliers.accelerations(self.form, self.declared)(self.parts, t, x, u, w, p)[0])
        matrix, right = self.parts(("matrix", "right"), t, x, u, w, p)
        return solve_symmetric(triangle(matrix, len(self.velocities)), right)

    @cached_property
    def _contacts(self) -> tuple[Any, Any]:
        from plants.mechanics.contacts.blocks import contact_blocks

        return contact_blocks(self.full, baumgarte=self.facts.get("feedback"))

    def settled(self, t: Any, x: Any, u: Any, w: Any, p: Any, h: Any) -> Numbers:
        """State after the impacts of a step."""
        return tuple(self._contacts[1](t, x, u, w, p, h))

    def contact_forces(self, t: Any, x: Any, u: Any, w: Any, p: Any) -> Numbers:
        """Force of each gap's contact [N], not below 0."""
        from plants.mechanics.contacts.blocks import contact_forces

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
        if self.moving or (self.form in multipliers.FORMS and self.declared.n_constraints) or self.declared.gaps:
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
        return observers.works(self)

    @cached_property
    def flow(self) -> Parts:
        """Accelerations of the coordinates ("a") from the state and its velocities' rates."""
        return observers.flow(self)

    def coordinate_accelerations(self, *block: Any) -> Numbers:
        """Second derivatives of the coordinates [n] at (t, x, u, w, p)."""
        return observers.coordinate_accelerations(self, *block)

    def reactions(self, *block: Any) -> Numbers:
        """Generalised forces of the constraints on the coordinates [n] at (t, x, u, w, p): M a - f."""
        return observers.reactions(self, *block)

    def multipliers(self, *block: Any) -> Numbers:
        """Multipliers of the two-sided constraints, holonomic ones first [g]; 0 for rows that repeat others."""
        return observers.multipliers(self, *block)

    def residuals(self, *block: Any) -> Numbers:
        """Residuals of the constraints: holonomic at position level, then all at velocity level."""
        return observers.residuals(self, *block)

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
        return observers.observe(self, *self.block(t, x, u, w, p))

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
        """Return the admissible state nearest to coordinates and rates (:mod:`plants.mechanics.admissible`)."""
        from plants.mechanics.admissible import state_from

        return state_from(self, q, v, t, p)
