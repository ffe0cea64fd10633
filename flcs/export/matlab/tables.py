"""Look-up tables as functions of MATLAB's language, for a PID block that takes its gains from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flcs.export.matlab import octave
from flcs.export.matlab.functions import MStraight
from flcs.export.statements import template
from flcs.export.tables import ScheduleTable, tables_of
from plants.core.names import comment

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from flcs import KnowledgeBase
    from flcs.export.pid_block import VendorForm

BOUND = 1e-12  # of the box: Octave's interpolation against ours of the same nodes
_PROBES = 1000


def texts(kb: KnowledgeBase, name: str, form: VendorForm) -> dict[str, str]:
    """Return ``NAME_tables.m`` (the tables) and ``NAME_lookup.m`` (gains of one channel from them)."""
    head = [
        f"function t = {name}_tables()",
        f"%{name.upper()}_TABLES  Gains of each channel on a grid of its inputs.",
        "%   t(i).inputs: names; t(i).axes{k}: nodes of input k; t(i).gains{k}: kp, ki, kd on the grid (parallel form,",
        "%   u = kp e + int(ki e) + kd e'); t(i).K, .Ti, .Td: standard (ISA) form, u = K (e + int(e)/Ti + Td e');",
        "%   t(i).Ks, .Tis, .Tds: series form, Ks (1 + 1/(Tis s)) (1 + Tds s); times in " + form.unit + ".",
        f"%   Ti = {form.longest:g}: no integral action. t(i).error: largest error of interpolated gains, of the box;",
        "%   t(i).standard_error, .series_error: of interpolated K, Ti, Td (NaN: the form cannot say all gains).",
        "t = struct([]);",
    ]
    lines = [line for k, one in enumerate(tables_of(kb, form), 1) for line in _channel(k, one)]
    lookup = template("flcs.export.matlab", "lookup.m", name=name)
    return {f"{name}_tables.m": "\n".join([*head, *lines, "end", ""]), f"{name}_lookup.m": lookup}


def _channel(k: int, one: ScheduleTable) -> Iterable[str]:
    table, n = one.table, len(one.table.axes)
    yield f"t({k}).name = {_text(table.name)};"
    yield f"t({k}).inputs = {{{', '.join(_text(a.name) for a in table.axes)}}};"
    yield f"t({k}).axes = {{{', '.join(_row(a.nodes) for a in table.axes)}}};"
    yield f"t({k}).gain_names = {{{', '.join(map(_text, table.gain_names))}}};"
    grids = [_grid(table.values[..., j], n) for j in range(len(table.gain_names))]
    yield f"t({k}).gains = {{{', '.join(grids)}}};"
    for word in ("low", "high", "reference"):
        yield f"t({k}).{word} = {_row(getattr(table, word))};"
    yield f"t({k}).fade = {table.fade!r};"
    yield f"t({k}).error = {table.error!r};"
    for kind in ("standard", "series"):
        yield f"t({k}).{kind}_error = {MStraight.literal(one.errors.get(kind, float('nan')))};"
    for name, values in one.forms.items():
        if name not in {"standard", "series"}:
            yield f"t({k}).{name} = {_grid(values, n)};"


def _text(name: str) -> str:
    """A name as a text of the language: on one line, its quotes doubled."""
    return "'" + comment(name).replace("'", "''") + "'"


def _row(values: Iterable[float]) -> str:
    return "[" + " ".join(MStraight.literal(float(value)) for value in values) + "]"


def _grid(values: np.ndarray, n: int) -> str:
    """An array of n axes; the language runs through the first axis first."""
    flat = _row(values.ravel(order="F"))
    sizes = " ".join(map(str, values.shape))
    return f"{flat}'" if n == 1 else f"reshape({flat}, [{sizes}])"


def checked(kb: KnowledgeBase, name: str, form: VendorForm, program: str, folder: Path) -> float:
    """Return the largest difference of Octave's interpolated gains to ours, as a share of the box."""
    rng, worst = np.random.default_rng(0), 0.0
    for k, one in enumerate(tables_of(kb, form), 1):
        table = one.table
        x = np.stack(
            [rng.uniform(1.5 * a.low - 0.5 * a.high, 1.5 * a.high - 0.5 * a.low, _PROBES) for a in table.axes], 1
        )
        script = f"t = {name}_tables(); found = {name}_lookup(t({k}), given);"
        found = octave.run(program, folder, script, {"probe": x}, len(table.gain_names))["probe"]
        span = np.array(table.high) - np.array(table.low)
        worst = max(worst, float(np.max(np.abs(found - table.gains(x)) / np.where(span > 0.0, span, 1.0))))
    return worst
