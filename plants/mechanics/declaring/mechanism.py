"""A mechanical system, declared once: coordinates, energies, forces, constraints.

What is declared is plain Python arithmetic on symbols, with the functions of :mod:`plants.core.elementary`; it lands on
a tape as it is written, so loops and helper functions may be used freely. :meth:`Mechanism.build` turns it into a
`Plant` like any other.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from plants.core.naming import unknown
from plants.core.plant import Quantity
from plants.core.tape import Tape, Traced
from plants.mechanics.declaring.declared import KINDS, Declaration, DeclarationError, Gap, Symbol, Velocities

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.core.plant import Plant
    from plants.mechanics.declaring.rigid_body import Body


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
        self._tape = Tape()
        self._symbols: dict[str, list[Symbol]] = {kind: [] for kind in "qvuwpsz"}
        self._quantities: dict[str, list[Quantity]] = {kind: [] for kind in "qvuwpsz"}
        self._kinetic: Any = 0.0
        self._potential: Any = 0.0
        self._forces: dict[str, dict[int, Any]] = {kind: {} for kind in KINDS}
        self._positions: list[Any] = []
        self._rows: list[Any] = []
        self._gaps: list[Gap] = []
        self._columns: dict[str, tuple[Any, ...]] = {}
        self._offset: tuple[Any, ...] | None = None
        self._rates: dict[int, Any] = {}
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
        known = {symbol.label: symbol for symbols in self._symbols.values() for symbol in symbols}
        if name not in known:
            raise DeclarationError(unknown(f"name of mechanism {self.name!r}", name, tuple(known)))
        return known[name]

    def coordinates(
        self, names: str, *, units: str | Sequence[str] = "", initial: Any = 0.0, low: Any = None, high: Any = None
    ) -> Any:
        """Add coordinates.

        Parameters
        ----------
        names : str
            Separated by blanks.
        units : str or sequence of str
            Separated by blanks, or a sequence where units have blanks; one unit stands for all.
        initial, low, high : float or sequence of float
            Nominal initial values, and the region where the model holds.

        Returns
        -------
        Symbol or tuple of Symbol
            One symbol for one name.
        """
        return self._add("q", names, units, initial, low, high)

    def rates(self, names: str = "", *, initial: Any = 0.0, low: Any = None, high: Any = None) -> Any:
        """Name the rates of all coordinates that have none yet, in their order; left empty: ``d_`` and the coordinate.

        Returns
        -------
        Symbol or tuple of Symbol
            As :meth:`coordinates`.
        """
        waiting = self._quantities["q"][len(self._quantities["v"]) :]
        labels = names.split() or [f"d_{q.name}" for q in waiting]
        if not waiting or len(labels) != len(waiting):
            raise DeclarationError(
                f"mechanism {self.name!r}: {len(waiting)} coordinates have no rate yet "
                f"({', '.join(q.name for q in waiting) or 'none'}), got {len(labels)} names of rates {labels}; "
                "declare the coordinates first"
            )
        units = [f"{q.unit or '1'}/s" for q in waiting]
        return self._add("v", " ".join(labels), units, initial, low, high)

    def parameters(self, /, **nominal: float) -> Any:
        """Add parameters by name and nominal value; they stay arguments of the compiled plant."""
        added = [self.parameter(name, value) for name, value in nominal.items()]
        return added[0] if len(added) == 1 else tuple(added)

    def parameter(self, name: str, nominal: float, unit: str = "", *, low: Any = None, high: Any = None) -> Symbol:
        """Add one parameter with its unit and bounds."""
        return self._add("p", name, (unit,), nominal, low, high)

    def inputs(self, names: str, *, units: str | Sequence[str] = "", low: Any = None, high: Any = None) -> Any:
        """Add inputs: forces and moments that a controller commands."""
        return self._add("u", names, units, 0.0, low, high)

    def disturbances(self, names: str, *, units: str | Sequence[str] = "", usual: Any = 0.0) -> Any:
        """Add disturbances, with their usual size (standard deviation; 0: none)."""
        return self._add("w", names, units, usual, None, None)

    def joints(self, names: str, *, units: str | Sequence[str] = "", initial: Any = 0.0) -> Any:
        """Add joint coordinates: the coordinates are given as functions of them by :meth:`place`.

        The equations are then transferred to the joint coordinates by the Jacobian of these functions; position
        constraints that the joints fulfil need not be declared.
        """
        return self._add("s", names, units, initial, None, None)

    def _add(self, kind: str, names: str, units: str | Sequence[str], nominal: Any, low: Any, high: Any) -> Any:
        labels = names.split()
        if not labels:
            raise DeclarationError(f"mechanism {self.name!r}: at least one name is needed, got {names!r}")
        taken = [q.name for k in self._quantities for q in self._quantities[k]]
        for k, label in enumerate(labels):
            if label in taken or label in labels[:k]:
                raise DeclarationError(f"mechanism {self.name!r}: the name {label!r} is taken; names must differ")
        fields = [_spread(value, len(labels)) for value in (_listed(units), nominal, low, high)]
        new = []
        for label, unit, value, least, most in zip(labels, *fields, strict=True):
            index = len(self._quantities[kind])
            bounds = (-math.inf if least is None else float(least), math.inf if most is None else float(most))
            self._quantities[kind].append(Quantity(label, unit, float(value), *bounds))
            new.append(Symbol(self._tape, f"{kind}{index}", label))
            self._symbols[kind].append(new[-1])
        return new[0] if len(new) == 1 else tuple(new)

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
            index = self._index("q", coordinate)
            self._forces[kind][index] = self._forces[kind].get(index, 0.0) + self._tape.lift(value)

    def body(self, name: str, *, mass: Any, inertia: Sequence[Any], initial: Any = 0.0) -> Body:
        """Add a rigid body with six coordinates (:class:`plants.mechanics.declaring.rigid_body.Body`)."""
        from plants.mechanics.declaring.rigid_body import Body

        return Body(self, name, mass, inertia, initial)

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
        n = len(self._quantities["q"])
        for name, column in columns.items():
            if len(column) != n:
                raise DeclarationError(
                    f"mechanism {self.name!r}: basis vector {name!r} needs {n} entries, one for each coordinate "
                    f"({', '.join(q.name for q in self._quantities['q'])}), got {len(column)}"
                )
            self._columns[name] = tuple(self._tape.lift(value) for value in column)

    def basis_offset(self, *offset: Any) -> None:
        """Give w0 of v = D w + w0 [n_coordinates]: the velocity that moving constraints impose."""
        self._offset = tuple(self._tape.lift(value) for value in offset)

    def independent(self, *coordinates: Any) -> None:
        """Say whose rates are independent; the constraints give the others (the form "chaplygin").

        Parameters
        ----------
        *coordinates : Symbol or str
            As many as there are degrees of freedom. Left undeclared, a good choice is made from numbers.
        """
        indices = sorted({self._index("q", coordinate) for coordinate in coordinates})
        if not coordinates or len(indices) != len(coordinates):
            raise DeclarationError(
                f"mechanism {self.name!r}: independent() takes each independent coordinate once, got "
                f"{[getattr(c, 'label', c) for c in coordinates]}"
            )
        self._independent = tuple(indices)

    def quasi_velocities(self, names: str) -> Any:
        """Add quasi-velocities as symbols for :meth:`admissible`; for rates linear in them :meth:`basis` is shorter.

        Returns
        -------
        Symbol or tuple of Symbol
            One symbol for one name.
        """
        return self._add("z", names, "", 0.0, None, None)

    def admissible(self, rates: Mapping[Any, Any]) -> None:
        """Give every rate as a function of coordinates, quasi-velocities and time, so that the constraints hold."""
        for rate, value in rates.items():
            self._rates[self._index("v", rate)] = self._tape.lift(value)

    def place(self, positions: Mapping[Any, Any]) -> None:
        """Give coordinates as functions of the joint coordinates and time."""
        for coordinate, value in positions.items():
            self._places[self._index("q", coordinate)] = self._tape.lift(value)

    def measure(self, name: str, value: Any, unit: str = "", text: str = "") -> None:
        """Add a measurement, a function of coordinates, rates and time; without any, the states are measured."""
        self._measured.append((Quantity(name, unit, text=text), self._tape.lift(value)))

    def suggest_basis(self) -> dict[str, tuple[Traced, ...]]:
        """Return null vectors of the constraints without poles: ``mech.basis(**mech.suggest_basis())``."""
        from plants.mechanics.declaring.basis import null_vectors

        return null_vectors(self.declared())[0]

    def suggest_offset(self) -> tuple[Traced, ...]:
        """Return what goes with :meth:`suggest_basis` where constraints move: ``mech.basis_offset(*...)``."""
        from plants.mechanics.declaring.basis import null_vectors

        return null_vectors(self.declared())[1]

    # --------------------------------------------------------------------------------------------------------- result

    def _index(self, kind: str, symbol: Any) -> int:
        labels = [q.name for q in self._quantities[kind]]
        label = symbol.label if isinstance(symbol, Symbol) else symbol
        if label in [q.name for q in self._quantities["s"]]:
            raise DeclarationError(
                f"mechanism {self.name!r}: {label!r} is a joint; forces act on coordinates "
                f"({', '.join(labels)}): write the force of a joint's drive as forces on the bodies that it joins"
            )
        if label not in labels:
            raise DeclarationError(unknown(f"coordinate of mechanism {self.name!r}", str(label), tuple(labels)))
        return labels.index(label)

    def declared(self) -> Declaration:
        """Return what was declared, checked for completeness.

        Raises
        ------
        DeclarationError
            Where coordinates have no rates, or nothing moves.
        """
        n = len(self._quantities["q"])
        self._check_complete()
        if len(self._quantities["v"]) < n:
            self.rates()
        lift = self._tape.lift
        return Declaration(
            name=self.name,
            text=self.text,
            tape=self._tape,
            quantities={kind: tuple(values) for kind, values in self._quantities.items()},
            symbols={kind: tuple(values) for kind, values in self._symbols.items()},
            kinetic=lift(self._kinetic),
            potential=lift(self._potential),
            forces={k: tuple(lift(f.get(i, 0.0)) for i in range(n)) for k, f in self._forces.items()},
            positions=tuple(self._positions),
            rows=tuple(self._rows),
            linear=self._linear,
            gaps=tuple(self._gaps),
            velocities=self._velocities(n),
            places=tuple(lift(self._places.get(i, self._symbols["q"][i])) for i in range(n)) if self._places else (),
            measured=tuple(self._measured),
            independent=self._independent,
        )

    def _check_complete(self) -> None:
        missing = [
            (not self._quantities["q"], "it has no coordinates; mech.coordinates(...) adds some"),
            (self._quantities["s"] and not self._places, "it has joints, but no mech.place(...) says what they move"),
            (self._places and not self._quantities["s"], "coordinates are placed without mech.joints(...)"),
            (
                self._offset and not self._columns,
                "mech.basis_offset(...) goes with mech.basis(...), which was not given",
            ),
        ]
        for lacks, what in missing:
            if lacks:
                raise DeclarationError(f"mechanism {self.name!r}: {what}")

    def _velocities(self, n: int) -> Velocities | None:
        if self._rates or self._quantities["z"]:
            return self._by_functions(n)
        if not self._columns:
            return None
        rates = list(self._offset or (self._tape.constant(0.0),) * n)
        if len(rates) != n:
            raise DeclarationError(f"mechanism {self.name!r}: basis_offset needs {n} entries, got {len(rates)}")
        for j, column in enumerate(self._columns.values()):
            w = self._tape.input(f"z{j}")
            rates = [rate + entry * w for rate, entry in zip(rates, column, strict=True)]
        return Velocities(tuple(self._columns), tuple(rates), tuple(self._columns.values()))

    def _by_functions(self, n: int) -> Velocities:
        names = tuple(q.name for q in self._quantities["z"])
        missing = [q.name for k, q in enumerate(self._quantities["v"]) if k not in self._rates]
        if missing or not names or self._columns:
            raise DeclarationError(
                f"mechanism {self.name!r}: mech.admissible(...) needs all {n} rates as functions of the "
                f"quasi-velocities of mech.quasi_velocities(...), and no basis beside; missing are {missing}"
            )
        return Velocities(names, tuple(self._rates[k] for k in range(n)))

    def build(self, form: str = "auto", **options: Any) -> Plant:
        """Return the mechanism as a plant (:func:`plants.mechanics.build.build`)."""
        from plants.mechanics.build import build

        return build(self.declared(), form, **options)


def _listed(units: str | Sequence[str]) -> list[str]:
    return (units.split() or [""]) if isinstance(units, str) else list(units)


def _spread(value: Any, count: int) -> list[Any]:
    """One value for all, or one for each."""
    if isinstance(value, (tuple, list)):
        if len(value) not in {1, count}:
            raise DeclarationError(f"one value or {count} were expected, got {len(value)}: {value}")
        return list(value) * (count if len(value) == 1 else 1)
    return [value] * count
