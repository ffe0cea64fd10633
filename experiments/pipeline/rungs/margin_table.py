"""The schedule of the text books: a margin design at every operating point, linear in between; nothing is searched."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.pipeline.rungs.rung import Rungs
from experiments.runtime import formats
from sscq.baselines.margin_schedule import MarginSchedule, NoScheduleError, margin_schedule
from sscq.baselines.tuned import Tuned
from sscq.margins.margins import MarginLimits
from sscq.margins.operating import SLACK

if TYPE_CHECKING:
    from pathlib import Path

    from experiments.pipeline.bench import Bench

USUAL = MarginLimits(1.6)  # where the design asks for no margins
_FORMS = {"margin_table": False, "margin_table_fine": True}  # with nodes between the operating points?
_TITLES = {
    "margin_table": "margin-design gain table",
    "margin_table_fine": "margin-design gain table, nodes in between",
}


def rungs(bench: Bench) -> Rungs:
    """Return the table over the operating points, and the one with nodes between them where it is another."""

    def compute(_: Path) -> dict[str, Any]:
        return {name: designed(bench, midpoints=between) for name, between in _FORMS.items()}

    found = bench.stage("margin_tables", compute, *formats.as_json("tables.json"))
    if "reason" in found["margin_table"]:
        return Rungs(notes=(f"margin-design gain table: none, {found['margin_table']['reason']}",))
    tables = {name: read(stored) for name, stored in found.items()}
    first = tables["margin_table"]
    if tables["margin_table_fine"].nodes == first.nodes:
        del tables["margin_table_fine"]
    contenders = tuple(_contender(bench, name, table) for name, table in tables.items())
    return Rungs(contenders, (f"margin-design gain table: {_words(bench, first)}",))


def designed(bench: Bench, *, midpoints: bool) -> dict[str, Any]:
    """Return a margin design as plain data for a stage; where there is none, the ``reason``."""
    setup = bench.setup
    try:
        table = margin_schedule(
            setup.plant, setup.laws, setup.sets["taught"], setup.step, list(setup.low), list(setup.high),
            _limits(bench), midpoints=midpoints,
        )  # fmt: skip
    except NoScheduleError as error:
        return {"reason": str(error)}
    plain = asdict(table)
    return plain | {name: plain[name].tolist() for name in ("gains", "sensitivity")}


def _limits(bench: Bench) -> MarginLimits:
    """The limits that every other search of the design has."""
    return USUAL if bench.margins is None else bench.margins.tightened(SLACK).limits


def read(stored: dict[str, Any]) -> MarginSchedule:
    """Return a margin design from what :func:`designed` gave."""
    arrays = {name: np.array(stored[name], dtype=float) for name in ("gains", "sensitivity")}
    return MarginSchedule(**{**stored, **arrays, "nodes": tuple(stored["nodes"])})


def _contender(bench: Bench, name: str, table: MarginSchedule) -> Tuned:
    setup = bench.setup
    return Tuned(
        name, _TITLES[name], _words(bench, table), table.controller(setup.laws, setup.tick), table.gains.ravel(), 0,
        table.gains.size, margins_asked=True,
    )  # fmt: skip


def _words(bench: Bench, table: MarginSchedule) -> str:
    limit = (bench.setup.limits or USUAL).sensitivity
    over = f"|{table.signal}|" if table.transform == "magnitude" else table.signal
    n = len(table.nodes)
    where = f"{n} nodes over {over}" if n > 1 else "one operating point, so constant gains"
    kept = "" if table.kept else ", which no gains of the box keep everywhere"
    return f"largest ki with Ms at most {limit:g}{kept}; {where}; no closed-loop search"
