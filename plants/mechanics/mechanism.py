"""A mechanical system, declared once: coordinates, energies, forces, constraints.

What is declared is plain Python arithmetic on symbols, with the functions of :mod:`plants.core.elementary`; it lands
on a tape as it is written, so loops and helper functions may be used freely. :meth:`Mechanism.build` turns it into a
`Plant` like any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.names import unknown
from plants.core.quantities import Quantity
from plants.core.replay import replay
from plants.core.tracing.gradients import along
from plants.core.tracing.trace import Program
from plants.mechanics.declaration.declaration import KINDS, DeclarationError, Gap, MechanismDeclaration, Symbol
from plants.mechanics.declaration.names import GivenVelocities, Names
from plants.mechanics.rigid_body import RigidBody

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.core.plant import Plant
    from plants.core.tracing.tape import Traced


class Mechanism:
    """A mechanical system under declaration.

    Parameters
    ----------
    name : str
        The plant's name.
    text : str
        What it is and where its equations come from.

    Examples
    --------
    >>> mech = Mechanism("pendulum")
    >>> angle = mech.coordinates("angle", units="rad", initial=0.1)
    >>> rate = mech.rates("rate")
    >>> m, l = mech.parameters(m=1.0, l=0.5)
    >>> mech.kinetic(m * l * l * rate * rate / 2)
    >>> mech.potential(-m * 9.81 * l * cos(angle))
    >>> plant = mech.build()
    """

    def __init__(self, name: str, text: str = "") -> None:
        self.name, self.text = name, text
        self.names = Names(name)
        self._tape = self.names.tape
        self._given = GivenVelocities(self.names)
        self._kinetic: Any = 0.0
        self._potential: Any = 0.0
        self._forces: dict[str, dict[int, Any]] = {kind: {} for kind in KINDS}
        self._positions: list[Any] = []
        self._rows: list[Any] = []
        self._gaps: list[Gap] = []
        self._linear = True
        self._independent: tuple[int, ...] = ()
        self._places: dict[int, Any] = {}
        self._measured: list[tuple[Quantity, Any]] = []

    # ------------------------------------------------------------------------------------------------------- symbols

    @property
    def time(self) -> Traced:
        """Time t [s], for what depends on it explicitly."""
        return self._tape.input("t")

    def symbol(self, name: str) -> Symbol:
        """Return the symbol of a declared name."""
        return self.names.symbol(name)

    def rate_of(self, expression: Any) -> Any:
        """Return the rate of a function of coordinates and time, d/dt f(q, t), as a function of the rates too.

        Raises
        ------
        DeclarationError
            Where the expression depends on rates: accelerations are not known before the equations are.
        """
        symbols = self.names.symbols
        if len(symbols["v"]) < len(symbols["q"]):
            self.rates()
        value = self._tape.lift(expression)
        used = {self._tape.input_names.get(node) for node in self._tape.needed([value.index])}
        bad = [q.label for kind in "vrzuw" for k, q in enumerate(symbols[kind]) if f"{kind}{k}" in used]
        if bad:
            raise DeclarationError(
                f"mechanism {self.name!r}: rate_of takes a function of coordinates and time, got one of "
                f"{', '.join(bad)}; differentiate positions, their rates are then yours to combine"
            )
        moving = [*symbols["q"], *symbols["s"], self.time]
        return along([value], moving, [*symbols["v"], *symbols["r"], 1.0])[0]

    def coordinates(
        self,
        names: str | Sequence[str],
        *,
        units: str | Sequence[str] = "",
        initial: Any = 0.0,
        low: Any = None,
        high: Any = None,
    ) -> Any:
        """Add coordinates.

        Parameters
        ----------
        names : str or sequence of str
            Separated by blanks; ``"q[3]"`` stands for q1 q2 q3.
        units : str or sequence of str
            Separated by blanks, or a sequence where units of several names have blanks; one unit stands for all.
        initial, low, high : float or sequence of float
            Nominal initial values, and the region where the model holds.

        Returns
        -------
        Symbol or tuple of Symbol
            One symbol for one name.
        """
        return self.names.add("q", names, units, initial, low, high)

    def rates(self, names: str = "", *, initial: Any = 0.0, low: Any = None, high: Any = None) -> Any:
        """Name the rates of all coordinates that have none yet, in their order; left empty: ``d_`` and the coordinate.

        Returns
        -------
        Symbol or tuple of Symbol
            As :meth:`coordinates`.
        """
        return self.names.add_rates(names, initial, low, high)

    def parameters(self, /, **nominal: float) -> Any:
        """Add parameters by name and nominal value; they stay arguments of the compiled plant."""
        added = [self.parameter(name, value) for name, value in nominal.items()]
        return added[0] if len(added) == 1 else tuple(added)

    def parameter(self, name: str, nominal: float, unit: str = "", *, low: Any = None, high: Any = None) -> Symbol:
        """Add one parameter with its unit and bounds."""
        return self.names.add("p", name, (unit,), nominal, low, high)

    def inputs(self, names: str, *, units: str | Sequence[str] = "", low: Any = None, high: Any = None) -> Any:
        """Add inputs: forces and moments that a controller commands."""
        return self.names.add("u", names, units, 0.0, low, high)

    def disturbances(self, names: str, *, units: str | Sequence[str] = "", usual: Any = 0.0) -> Any:
        """Add disturbances, with their usual size (standard deviation; 0: none)."""
        return self.names.add("w", names, units, usual)

    def joints(
        self,
        names: str,
        *,
        units: str | Sequence[str] = "",
        initial: Any = 0.0,
        rates: Any = 0.0,
        low: Any = None,
        high: Any = None,
    ) -> Any:
        """Add joint coordinates: the coordinates are given as functions of them by :meth:`place`.

        The equations are then transferred to the joint coordinates by the Jacobian of these functions; position
        constraints that the joints fulfil need not be declared. Their rates are called ``d_`` and the joint.

        Parameters
        ----------
        names, units, initial, low, high
            As :meth:`coordinates`.
        rates : float or sequence of float
            Nominal initial rates.
        """
        return self.names.add_joints(names, units, initial, rates, low, high)

    # ------------------------------------------------------------------------------------------------ energies, forces

    def kinetic(self, energy: Any) -> None:
        """Add kinetic energy [J]: of second degree in the rates."""
        self._kinetic = self._kinetic + self._tape.lift(energy)

    def potential(self, energy: Any) -> None:
        """Add potential energy [J]."""
        self._potential = self._potential + self._tape.lift(energy)

    def force(self, forces: Mapping[Any, Any], *, kind: str = "drive") -> None:
        """Add generalised forces.

        Parameters
        ----------
        forces : mapping of coordinate (or its name) to force
            [N] on a length, [N m] on an angle.
        kind : str
            "drive": its power counts as supplied. "dissipative": its power, with the sign changed, is the rate of
            entropy production times T0.
        """
        if kind not in KINDS:
            raise DeclarationError(unknown("kind of force", kind, KINDS))
        for coordinate, value in forces.items():
            index = self.names.index("q", coordinate)
            self._forces[kind][index] = self._forces[kind].get(index, 0.0) + self._tape.lift(value)

    def body(
        self, name: str, *, mass: Any, inertia: Sequence[Any], initial: Any = 0.0, gravity: Any = 0.0
    ) -> RigidBody:
        """Add a rigid body with six coordinates (:class:`plants.mechanics.rigid_body.RigidBody`).

        Its weight is among the potential energies: `gravity` [m/s^2] pulls along -z of the ground.
        """
        return RigidBody(self, name, mass, inertia, initial, gravity)

    # -------------------------------------------------------------------------------------------------- constraints

    def position_constraint(self, residual: Any) -> None:
        """Add the holonomic constraint residual(q, t) = 0."""
        self._positions.append(self._tape.lift(residual))

    def velocity_constraint(self, residual: Any, *, linear: bool = True) -> None:
        """Add the nonholonomic constraint residual(q, v, t) = 0.

        It is checked to be linear in the rates unless `linear` is false. Constraints that are not need
        :meth:`admissible` for the form without multipliers; virtual displacements are Chetaev's, as in Gauss'
        principle: accelerations that the differentiated constraint allows.
        """
        self._rows.append(self._tape.lift(residual))
        self._linear = self._linear and linear

    def gap(self, distance: Any, *, restitution: float = 0.0) -> None:
        """Add the one-sided constraint distance(q, t) >= 0, with Newton's coefficient of restitution for impacts."""
        if not 0.0 <= restitution <= 1.0:
            raise DeclarationError(f"mechanism {self.name!r}: a restitution lies in [0, 1], got {restitution}")
        self._gaps.append(Gap(self._tape.lift(distance), float(restitution)))

    def basis(self, /, **columns: Sequence[Any]) -> None:
        """Name quasi-velocities and the velocity vector that each stands for: v = D w + w0.

        Parameters
        ----------
        **columns : sequence of numbers [n_coordinates]
            Column of D for each quasi-velocity; may depend on coordinates, time and parameters.
        """
        self._given.add_columns(columns)

    def basis_offset(self, *offset: Any) -> None:
        """Give w0 of v = D w + w0 [n_coordinates]: the velocity that moving constraints impose."""
        self._given.set_offset(offset)

    def independent(self, *coordinates: Any) -> None:
        """Say whose rates are independent; the constraints give the others (the form "chaplygin").

        Parameters
        ----------
        *coordinates : Symbol or str
            As many as there are degrees of freedom. Left undeclared, a good choice is made from numbers.
        """
        indices = sorted({self.names.index("q", coordinate) for coordinate in coordinates})
        if not coordinates or len(indices) != len(coordinates):
            raise DeclarationError(
                f"mechanism {self.name!r}: independent() takes each independent coordinate once, got "
                f"{[getattr(c, 'label', c) for c in coordinates]}"
            )
        self._independent = tuple(indices)

    def quasi_velocities(
        self, names: str, *, units: str | Sequence[str] = "", low: Any = None, high: Any = None
    ) -> Any:
        """Add quasi-velocities as symbols for :meth:`admissible`; for rates linear in them :meth:`basis` is shorter.

        Beside :meth:`basis` it gives the units and bounds of the quasi-velocities that are named there.

        Parameters
        ----------
        names, units, low, high
            As :meth:`coordinates`.

        Returns
        -------
        Symbol or tuple of Symbol
            One symbol for one name.
        """
        return self.names.add("z", names, units, 0.0, low, high)

    def admissible(self, rates: Mapping[Any, Any]) -> None:
        """Give every rate as a function of coordinates, quasi-velocities and time, so that the constraints hold."""
        self._given.add_rates(rates)

    def place(self, positions: Mapping[Any, Any]) -> None:
        """Give coordinates as functions of the joint coordinates, time, and other coordinates that are placed."""
        for coordinate, value in positions.items():
            self._places[self.names.index("q", coordinate)] = self._tape.lift(value)

    def measure(self, name: str, value: Any, unit: str = "", text: str = "") -> None:
        """Add a measurement, a function of coordinates, rates and time; without any, the states are measured."""
        self._measured.append((Quantity(name, unit, text=text), self._tape.lift(value)))

    def suggest_basis(self) -> dict[str, tuple[Traced, ...]]:
        """Return null vectors of the constraints without poles: ``mech.basis(**mech.suggest_basis())``.

        They may be dependent where constraints lose rank and, for a row of three varying entries or more, where the one
        that is largest at the initial coordinates vanishes (:mod:`plants.mechanics.algebra.null_vectors`).
        """
        from plants.mechanics.algebra.null_vectors import null_vectors  # symengine: slow to start

        return null_vectors(self.declared())[0]

    def suggest_offset(self) -> tuple[Traced, ...]:
        """Return what goes with :meth:`suggest_basis` where constraints move: ``mech.basis_offset(*...)``."""
        from plants.mechanics.algebra.null_vectors import null_vectors  # symengine: slow to start

        return null_vectors(self.declared())[1]

    # --------------------------------------------------------------------------------------------------------- result

    def declared(self) -> MechanismDeclaration:
        """Return what was declared, checked for completeness; rates that were not named are ``d_`` and the coordinate.

        Raises
        ------
        DeclarationError
            Without coordinates, or where joints and places, or what was said of velocities, do not go together.
        """
        n = len(self.names.quantities["q"])
        self._check_complete()
        if len(self.names.quantities["v"]) < n:
            self.rates()
        lift = self._tape.lift
        return MechanismDeclaration(
            name=self.name,
            text=self.text,
            tape=self._tape,
            quantities={kind: tuple(values) for kind, values in self.names.quantities.items()},
            symbols={kind: tuple(values) for kind, values in self.names.symbols.items()},
            kinetic=lift(self._kinetic),
            potential=lift(self._potential),
            forces={k: tuple(lift(f.get(i, 0.0)) for i in range(n)) for k, f in self._forces.items()},
            positions=tuple(self._positions),
            rows=tuple(self._rows),
            linear=self._linear,
            gaps=tuple(self._gaps),
            velocities=self._given.velocities(),
            places=self._joined() if self._places else (),
            measured=tuple(self._measured),
            independent=self._independent,
        )

    def _joined(self) -> tuple[Traced, ...]:
        """Places of all coordinates, in which those of other coordinates stand for these."""
        tape, symbols = self._tape, self.names.symbols["q"]
        done: dict[int, Traced] = {}
        begun: list[int] = []

        def place(index: int) -> Traced:
            if index in begun:
                names = [symbols[k].label for k in (*begun[begun.index(index) :], index)]
                raise DeclarationError(f"mechanism {self.name!r}: places go in a circle: {' <- '.join(names)}")
            if index not in self._places:
                return symbols[index]  # refused with what is missing where all is checked
            if index not in done:
                begun.append(index)
                value = self._places[index]
                names = [tape.input_names[k] for k in tape.needed([value.index]) if k in tape.input_names]
                if any(name[0] == "q" for name in names):
                    numbers = [place(int(name[1:])) if name[0] == "q" else tape.input(name) for name in names]
                    value = tape.lift(replay(Program(tape, tuple(names), (value.index,)), *numbers)[0])
                done[index] = value
                begun.pop()
            return done[index]

        return tuple(place(index) for index in range(len(symbols)))

    def _check_complete(self) -> None:
        missing = [
            (not self.names.quantities["q"], "it has no coordinates; mech.coordinates(...) adds some"),
            (
                self.names.quantities["s"] and not self._places,
                "it has joints, but no mech.place(...) says what they move",
            ),
            (self._places and not self.names.quantities["s"], "coordinates are placed without mech.joints(...)"),
        ]
        for lacks, what in missing:
            if lacks:
                raise DeclarationError(f"mechanism {self.name!r}: {what}")

    def build(self, form: str = "auto", **options: Any) -> Plant:
        """Return the mechanism as a plant (:func:`plants.mechanics.build.build`)."""
        from plants.mechanics.build import build  # symengine and scipy: slow to start

        return build(self.declared(), form, **options)
