"""Units as a functional mock-up unit declares them: exponents of the seven base units and the radian, and a factor."""

from __future__ import annotations

import re

BASE = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")
_FORCE = {"kg": 1, "m": 1, "s": -2}
_ENERGY = {"kg": 1, "m": 2, "s": -2}
_POWER = {"kg": 1, "m": 2, "s": -3}
_VOLTAGE = {**_POWER, "A": -1}
_DERIVED: dict[str, dict[str, int]] = {
    "1": {}, "N": _FORCE, "J": _ENERGY, "W": _POWER, "V": _VOLTAGE, "ohm": {**_POWER, "A": -2},
    "H": {**_ENERGY, "A": -2}, "Pa": {"kg": 1, "m": -1, "s": -2}, "Hz": {"s": -1}, "C": {"A": 1, "s": 1},
    **{name: {name: 1} for name in BASE},
}  # fmt: skip


def exponents(unit: str) -> dict[str, int] | None:
    """Return the exponents of the base units in a unit such as ``N s/m^2`` or ``W/(m^2 K)``; None: not understood."""
    top, slash, bottom = unit.partition("/")
    if not top or (slash and not bottom):
        return None
    total: dict[str, int] = {}
    for text, sign in ((top, 1), (bottom, -1)):
        inner = text.strip()
        inner = inner[1:-1] if inner.startswith("(") and inner.endswith(")") else inner
        for factor in inner.split():
            found = re.fullmatch(r"([A-Za-z]+|1)(?:\^(\d+))?", factor)
            if found is None or found[1] not in _DERIVED:
                return None
            for base, power in _DERIVED[found[1]].items():
                total[base] = total.get(base, 0) + sign * power * int(found[2] or 1)
    return {base: total[base] for base in BASE if total.get(base)}
