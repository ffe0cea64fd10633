"""What became of a claim: ours beside what is published, a verdict in one of four words, a reason, picture and data."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from experiments.report.drawing.svg import Bars, Chart, figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class ClaimVerdict(StrEnum):
    """The four words; nothing else is said of a claim."""

    AGREES = "agrees"
    DIFFERS = "differs"
    WRONG_IN_PRINT = "wrong in print"
    NOT_REPRODUCIBLE = "not reproducible"


@dataclass(frozen=True)
class ClaimTable:
    """A table beside a claim's picture.

    Attributes
    ----------
    name : str
        Of its file, behind the claim's.
    title : str
    head : sequence of str
    rows : sequence of rows of str
    """

    name: str
    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, eq=False)
class Reproduction:
    """What a claim's function found.

    Attributes
    ----------
    ours : str
        Our value, as it stands beside the published one.
    verdict : ClaimVerdict
    reason : str
        A sentence: how it differs, why it is wrong in print, what is missing.
    panels : tuple of Chart or Bars
        The picture.
    columns : int
        Panels side by side.
    tables : tuple of ClaimTable
    drawing : str
        An SVG file that stands instead of the panels.
    page : str
        A Markdown page of the claim's own.
    """

    ours: str
    verdict: ClaimVerdict
    reason: str
    panels: tuple[Chart | Bars, ...] = ()
    columns: int = 2
    tables: tuple[ClaimTable, ...] = ()
    drawing: str = ""
    page: str = ""

    @property
    def svg(self) -> str:
        """The picture as an SVG file; empty where there is none."""
        return self.drawing or (figure(self.panels, self.columns) if self.panels else "")

    def data(self) -> dict[str, str]:
        """Return CSV files by what stands behind the claim's name in theirs: the picture's data, then the tables."""
        found = {"": _csv(("panel", "curve", "x", "y"), _points(self.panels))} if self.panels else {}
        return found | {f"_{table.name}": _csv(table.head, table.rows) for table in self.tables}


def _points(panels: Iterable[Chart | Bars]) -> Iterator[tuple[str, str, str, str]]:
    for panel in panels:
        if isinstance(panel, Bars):
            for group, values in panel.groups.items():
                yield from ((f"{panel.title} [{panel.y_label}]", name, group, f"{v!r}") for name, v in values.items())
            continue
        title = f"{panel.title}: {panel.y_label} over {panel.x_label}"
        for curve in panel.curves:
            pairs = zip(np.asarray(curve.x, float).tolist(), np.asarray(curve.y, float).tolist(), strict=True)
            yield from ((title, curve.name, f"{x!r}", f"{y!r}") for x, y in pairs)


def _csv(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()


@dataclass(frozen=True)
class Compared:
    """One published number beside ours.

    Attributes
    ----------
    what : str
    published, ours : float
    tolerance : float
        Largest distance that agrees, in the number's unit.
    """

    what: str
    published: float
    ours: float
    tolerance: float

    @property
    def agrees(self) -> bool:
        """Whether ours is within the tolerance; NaN is not."""
        return abs(self.ours - self.published) <= self.tolerance


def judged(compared: Sequence[Compared], name: str, title: str) -> tuple[ClaimVerdict, str, ClaimTable]:
    """Return verdict, reason and table of published numbers beside ours: one that differs makes the claim differ."""
    rows = [(one.what, f"{one.published:.10g}", f"{one.ours:.10g}", "yes" if one.agrees else "no") for one in compared]
    table = ClaimTable(name, title, ("what", "published", "ours", "within its digits"), rows)
    off = [one for one in compared if not one.agrees]
    if not off:
        return ClaimVerdict.AGREES, f"All numbers compared ({len(compared)}) agree to the digits given.", table
    worst = max(off, key=lambda one: abs(one.ours - one.published) / max(abs(one.published), 1e-300))
    said = f"{worst.what}: {worst.published:.6g} published, {worst.ours:.6g} ours"
    return ClaimVerdict.DIFFERS, f"{len(off)} of {len(compared)} numbers differ; {said}.", table


def spanned(values: Iterable[float]) -> str:
    """Say from where to where numbers lie."""
    found = list(values)
    low, high = (f"{value:.2g}" if value < 100.0 else f"{value:,.0f}" for value in (min(found), max(found)))
    return low if low == high else f"{low} to {high}"
