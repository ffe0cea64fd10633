"""Velocities that a mechanism is declared to have: a basis of quasi-velocities, or rates as functions of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.mechanics.declaring.declared import DeclarationError, Velocities

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from plants.mechanics.declaring.names import Names


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
