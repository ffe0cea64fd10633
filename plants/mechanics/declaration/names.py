"""Names of a mechanism: its symbols by kind, on one tape, and the velocities that it is declared to have.

Admissible velocities are declared by a basis of quasi-velocities, or by rates as functions of them.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.names import unknown
from plants.core.quantities import Quantity
from plants.core.tracing.tape import Tape
from plants.mechanics.declaration.declaration import DeclarationError, Symbol, Velocities

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


ALL = "qvuwpsrz"
"""Coordinates, rates, inputs, disturbances, parameters, joint coordinates and their rates, quasi-velocities."""

_SAY = {"q": "coordinate", "v": "rate"}


class Names:
    """The names of one mechanism.

    Attributes
    ----------
    mechanism : str
        Its name, for messages.
    tape : Tape
        Holds the symbols, and all that is written with them.
    symbols, quantities : dict of kind to list
        In the order of declaration; kinds are the letters of :data:`ALL`.
    """

    def __init__(self, mechanism: str) -> None:
        self.mechanism, self.tape = mechanism, Tape()
        self.symbols: dict[str, list[Symbol]] = {kind: [] for kind in ALL}
        self.quantities: dict[str, list[Quantity]] = {kind: [] for kind in ALL}

    def of(self, kind: str) -> list[str]:
        """Return the names of one kind."""
        return [quantity.name for quantity in self.quantities[kind]]

    def symbol(self, name: str) -> Symbol:
        """Return the symbol of a declared name."""
        known = {symbol.label: symbol for symbols in self.symbols.values() for symbol in symbols}
        if name not in known:
            raise DeclarationError(unknown(f"name of mechanism {self.mechanism!r}", name, tuple(known)))
        return known[name]

    def add(
        self,
        kind: str,
        names: str | Sequence[str],
        units: str | Sequence[str],
        nominal: Any,
        low: Any = None,
        high: Any = None,
    ) -> Any:
        """Add names of one kind, separated by blanks; return their symbols, one for one name.

        ``q[3]`` stands for q1 q2 q3.
        """
        labels = _written_out(names)
        if not labels:
            raise DeclarationError(f"mechanism {self.mechanism!r}: at least one name is needed, got {names!r}")
        for k, label in enumerate(labels):
            self.check_free(label, labels[:k])
        given = {"units": _listed(units, len(labels)), "nominal values": nominal, "low": low, "high": high}
        fields = [self._spread(what, value, labels) for what, value in given.items()]
        new = [self._one(kind, *values) for values in zip(labels, *fields, strict=True)]
        return new[0] if len(new) == 1 else tuple(new)

    def check_free(self, name: str, beside: Sequence[str] = ()) -> None:
        """Raise where a name stands for something already."""
        if name in beside or any(name in self.of(kind) for kind in ALL):
            raise DeclarationError(f"mechanism {self.mechanism!r}: the name {name!r} is taken; names must differ")

    def _one(self, kind: str, label: str, unit: str, value: Any, low: Any, high: Any) -> Symbol:
        bounds = (-math.inf if low is None else float(low), math.inf if high is None else float(high))
        symbol = Symbol(self.tape, f"{kind}{len(self.symbols[kind])}", label)
        self.quantities[kind].append(Quantity(label, unit, float(value), *bounds))
        self.symbols[kind].append(symbol)
        return symbol

    def _spread(self, what: str, value: Any, labels: Sequence[str]) -> list[Any]:
        """One value for all, or one for each."""
        if not isinstance(value, (tuple, list, np.ndarray)) or np.ndim(value) == 0:
            return [value] * len(labels)
        if len(value) not in {1, len(labels)}:
            advice = "; units that have blanks go into a list: units=['N m', 'N']" if what == "units" else ""
            raise DeclarationError(
                f"mechanism {self.mechanism!r}: {what} of {', '.join(labels)}: one value or {len(labels)} were "
                f"expected, got {len(value)}: {list(value)}{advice}"
            )
        return list(value) * (len(labels) if len(value) == 1 else 1)

    def add_rates(self, names: str, initial: Any, low: Any, high: Any) -> Any:
        """Add rates of all coordinates that have none yet, in their order."""
        waiting = self.quantities["q"][len(self.quantities["v"]) :]
        labels = _written_out(names) or [f"d_{q.name}" for q in waiting]
        if not waiting or len(labels) != len(waiting):
            raise DeclarationError(
                f"mechanism {self.mechanism!r}: {len(waiting)} coordinates have no rate yet "
                f"({', '.join(q.name for q in waiting) or 'none'}), got {len(labels)} names of rates {labels}; "
                "declare the coordinates first"
            )
        return self.add("v", labels, [f"{q.unit or '1'}/s" for q in waiting], initial, low, high)

    def add_joints(self, names: str, units: str | Sequence[str], initial: Any, rates: Any, low: Any, high: Any) -> Any:
        """Add joint coordinates and, behind them, their rates; return the symbols of the coordinates."""
        first = len(self.quantities["s"])
        symbols = self.add("s", names, units, initial, low, high)
        added = self.quantities["s"][first:]
        self.add("r", " ".join(f"d_{q.name}" for q in added), [f"{q.unit or '1'}/s" for q in added], rates)
        return symbols

    def index(self, kind: str, symbol: Any) -> int:
        """Return the number of a coordinate or rate, given by its symbol or its name."""
        labels, label = self.of(kind), symbol.label if isinstance(symbol, Symbol) else symbol
        if isinstance(symbol, Symbol) and symbol.tape is not self.tape:
            raise DeclarationError(f"mechanism {self.mechanism!r}: {label!r} was declared for another mechanism")
        if label in labels:
            return labels.index(label)
        if label in self.of("s"):
            raise DeclarationError(
                f"mechanism {self.mechanism!r}: {label!r} is a joint; forces act on coordinates "
                f"({', '.join(labels)}): write the force of a joint's drive as forces on the bodies that it joins"
            )
        raise DeclarationError(unknown(f"{_SAY[kind]} of mechanism {self.mechanism!r}", str(label), tuple(labels)))


def _written_out(names: str | Sequence[str]) -> list[str]:
    """Names one by one: ``q[3]`` is q1 q2 q3."""
    labels: list[str] = []
    for name in names.split() if isinstance(names, str) else names:
        array = re.fullmatch(r"(.+)\[(\d+)\]", name)
        labels += [f"{array[1]}{k}" for k in range(1, int(array[2]) + 1)] if array else [name]
    return labels


def _listed(units: str | Sequence[str], count: int) -> list[str]:
    """One name's unit may have blanks (N m); the units of several names are separated by them."""
    if isinstance(units, str):
        return [units] if count == 1 else units.split() or [""]
    return list(units)


class GivenVelocities:
    """What was said of the admissible velocities of one mechanism."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._columns: dict[str, tuple[Any, ...]] = {}
        self._offset: tuple[Any, ...] | None = None
        self._rates: dict[int, Any] = {}

    def add_columns(self, columns: Mapping[str, Sequence[Any]]) -> None:
        """Add basis vectors by the quasi-velocity's name."""
        labels = self._names.of("q")
        for name, column in columns.items():
            if len(column) != len(labels):
                raise self._error(
                    f"basis vector {name!r} needs {len(labels)} entries, one for each coordinate "
                    f"({', '.join(labels)}), got {len(column)}"
                )
            if name in self._columns:
                raise self._error(f"basis vector {name!r} is given twice; names must differ")
            self._columns[name] = tuple(self._names.tape.lift(value) for value in column)

    def set_offset(self, offset: Sequence[Any]) -> None:
        """Say what is added to the basis' velocities."""
        self._offset = tuple(self._names.tape.lift(value) for value in offset)

    def add_rates(self, rates: Mapping[Any, Any]) -> None:
        """Add rates as functions of quasi-velocities."""
        for rate, value in rates.items():
            self._rates[self._names.index("v", rate)] = self._names.tape.lift(value)

    def velocities(self) -> Velocities | None:
        """Return what was given, checked for completeness; none where nothing was."""
        if self._offset and not self._columns:
            raise self._error("mech.basis_offset(...) goes with mech.basis(...), which was not given")
        named = tuple(self._names.of("z"))
        if self._columns and not self._rates:
            return self._by_columns(named)
        return self._by_functions(named) if self._rates or named else None

    def _by_columns(self, named: tuple[str, ...]) -> Velocities:
        n, tape = len(self._names.quantities["q"]), self._names.tape
        if named and set(named) != set(self._columns):
            raise self._error(
                f"mech.quasi_velocities(...) names {', '.join(named)}, mech.basis(...) has vectors for "
                f"{', '.join(self._columns)}; where both are given they name the same"
            )
        names = named or tuple(self._columns)
        for name in () if named else names:
            self._names.check_free(name)
        rates = list(self._offset or (tape.constant(0.0),) * n)
        if len(rates) != n:
            raise self._error(f"basis_offset needs {n} entries, got {len(rates)}")
        columns = tuple(self._columns[name] for name in names)
        for j, column in enumerate(columns):
            w = tape.input(f"z{j}")
            rates = [rate + entry * w for rate, entry in zip(rates, column, strict=True)]
        return Velocities(names, tuple(rates), columns)

    def _by_functions(self, named: tuple[str, ...]) -> Velocities:
        labels = self._names.of("v")
        missing = [label for k, label in enumerate(labels) if k not in self._rates]
        if missing or not named or self._columns:
            raise self._error(
                f"mech.admissible(...) needs all {len(labels)} rates as functions of the quasi-velocities of "
                f"mech.quasi_velocities(...), and no basis beside; missing are {missing}"
            )
        return Velocities(named, tuple(self._rates[k] for k in range(len(labels))))

    def _error(self, message: str) -> DeclarationError:
        return DeclarationError(f"mechanism {self._names.mechanism!r}: {message}")
