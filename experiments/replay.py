"""Run a stored counter-example again and compare what is found now with what was found then."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.cases import counter_example
from experiments.report.builders import words
from experiments.runtime.errors import tell
from experiments.runtime.tables import text_table
from experiments.starting.plant_choice import load, stored_plant_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROUNDING = 1e-6
"""Relative: the same program on the same processor gives the same bits, another compiler or processor rounds otherwise,
and a loop near its stability limit magnifies that."""


def replay(file: str, kb: str | None = None, plant_file: str | None = None) -> bool:
    """Print a table of what was found then and now; return whether they agree to rounding.

    The plant file is that of the search, unless another one is given; it is executed.

    Raises
    ------
    ValueError
        If the file is damaged, or belongs to another knowledge base or plant.
    """
    stored = None if plant_file else stored_plant_file(file)
    if executed := plant_file or stored:
        load(executed, quiet=stored is not None)
    example, content = counter_example.load(Path(file), Path(kb) if kb else None)
    if example.simulation() != content["simulation"]:
        tell("warning: the compiled simulation is another one (the plant, the integrator or the program has changed)")
    then, now = content["found"], example.found()
    situation = example.genes.situation(example.genes.genome(example.values))
    print(words.situation(example.plant, situation))
    rows = list(compared(then, now))
    print(text_table(("measure", "then", "now", ""), [(n, _cell(a), _cell(b), _mark(a, b)) for n, a, b in rows]))
    same = all(agree(a, b) for _, a, b in rows)
    bits = all(a == b for _, a, b in rows)
    print("the same to the last bit" if bits else "the same to rounding" if same else "NOT what was found then")
    return same


def compared(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield name, value then and value now of all that is found now; None where there is no such value."""
    for name, value in now.items():
        old = then.get(name) if isinstance(then, dict) else None
        if isinstance(value, dict):
            for inner, *pair in compared(old or {}, value):
                yield f"{name} {inner}".replace(" measures", ""), *pair
        else:
            yield name, old, value


def agree(then: Any, now: Any) -> bool:
    """Whether two values are equal to rounding."""
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in (then, now)):
        return bool(then == now)
    return math.isclose(then, now, rel_tol=ROUNDING, abs_tol=1e-12)


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return repr(value) if isinstance(value, float) else str(value)


def _mark(then: Any, now: Any) -> str:
    return "" if then == now else "rounding" if agree(then, now) else "DIFFERS"
