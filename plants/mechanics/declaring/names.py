"""Names and symbols of a mechanism: what is declared under a name, by kind, on one tape."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from plants.core.naming import unknown
from plants.core.plant import Quantity
from plants.core.tape import Tape
from plants.mechanics.declaring.declared import DeclarationError, Symbol

if TYPE_CHECKING:
    from collections.abc import Sequence

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
        self, kind: str, names: str, units: str | Sequence[str], nominal: Any, low: Any = None, high: Any = None
    ) -> Any:
        """Add names of one kind, separated by blanks; return their symbols, one for one name."""
        labels = names.split()
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
        if not isinstance(value, (tuple, list)):
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
        labels = names.split() or [f"d_{q.name}" for q in waiting]
        if not waiting or len(labels) != len(waiting):
            raise DeclarationError(
                f"mechanism {self.mechanism!r}: {len(waiting)} coordinates have no rate yet "
                f"({', '.join(q.name for q in waiting) or 'none'}), got {len(labels)} names of rates {labels}; "
                "declare the coordinates first"
            )
        return self.add("v", " ".join(labels), [f"{q.unit or '1'}/s" for q in waiting], initial, low, high)

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


def _listed(units: str | Sequence[str], count: int) -> list[str]:
    """One name's unit may have blanks (N m); the units of several names are separated by them."""
    if isinstance(units, str):
        return [units] if count == 1 else units.split() or [""]
    return list(units)
