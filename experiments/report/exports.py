"""Exports: what was written, and who found it equal to the simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.report.markup import Html, element
from experiments.report.numbers import missing, number
from experiments.report.view import section, table, words_head

if TYPE_CHECKING:
    from experiments.report.exports_data import ExportView
    from experiments.report.view import View

_HEAD = ("Target", "Proof", "Largest error", "Allowed", "Samples", "ROM")


def exports(view: View) -> Html | str:
    """A row for each export; nothing where none was asked for."""
    if not view.data.exports:
        return ""
    lead = (
        "Each file was run by an independent program on the signals of all situations, on random and on edge inputs. "
        "Errors are shares of a signal's range. Hashes and every signal's error: exports/manifest.json."
    )
    rows = [_row(one) for one in view.data.exports]
    return section("exports", "Exports", table((*_HEAD, words_head("checked by")), rows), lead=lead)


def _row(one: ExportView) -> Html:
    name = element("th", one.target, element("small", one.title), scope="row")
    status = one.status if one.status == "ok" else element("span", f"▲ {one.status}", class_="loss")
    known = one.largest == one.largest
    error = element("td", number(one.largest, 2), element("small", one.signal)) if known else element("td", missing())
    cells = [
        element("td", status), error, element("td", number(one.bound, 2)), element("td", str(one.samples)),
        element("td", missing() if one.rom_bytes is None else f"{one.rom_bytes} bytes"),
    ]  # fmt: skip
    return element("tr", name, *cells, element("td", one.reason or one.checker, class_="words"))
