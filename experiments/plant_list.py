"""Plants in words: a table of all, a description of one."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from sscq.worst.envelope import usual_envelope
from sscq.worst.genome import EnvelopeGenes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from plants import Plant, Quantity
    from plants.core.registry import InstalledPlants

_HEADER = ("plant", "states", "controlled", "what it is")
_CONTROLLED = 28
_WIDTH = 74  # of what it is, in characters: a line should fit a terminal


def packages(installed: Iterable[InstalledPlants]) -> dict[str, str]:
    """Return the package of each plant that another one brings."""
    return {name: one.package for one in installed for name in one.plants}


def problems(installed: Iterable[InstalledPlants]) -> list[str]:
    """Return a line for each entry point that gave no plant."""
    return [f"plants {one.entry!r} of {one.package} cannot be used: {one.problem}" for one in installed if one.problem]


def table(found: Iterable[Plant], packages: Mapping[str, str] | None = None) -> str:
    """Return a table with a line for each plant; where other packages bring some, with a column that names them."""
    given = packages or {}
    several = list(found)
    rows = [
        (
            plant.name,
            *([given.get(plant.name, "-")] if given else []),
            str(len(plant.states)),
            textwrap.shorten(", ".join(c.output for c in plant.channels), _CONTROLLED, placeholder=" ...") or "-",
            textwrap.shorten(" ".join(plant.text.split()), _WIDTH, placeholder=" ...") or "-",
        )
        for plant in several
    ]
    header = (_HEADER[0], "package", *_HEADER[1:]) if given else _HEADER
    return _columns([header, *rows])


def tasks(further: Mapping[str, Sequence[str]]) -> str:
    """Return a table of the further tasks of plants, those that have any."""
    rows = [(f"  {name}", ", ".join(several)) for name, several in further.items() if several]
    return f"further tasks, as plant=PLANT:TASK\n{_columns(rows)}"


def description(plant: Plant) -> str:
    """Return all that a plant declares: its text, and each quantity with unit, nominal value and range."""
    parts = [plant.name, *([_indented(plant.text)] if plant.text else [])]
    for kind in ("states", "parameters", "inputs", "disturbances", "measurements"):
        quantities: Sequence[Quantity] = getattr(plant, kind)
        if quantities:
            parts.append(f"\n{kind}\n{_columns([_quantity(item) for item in quantities])}")
    channels = [("  " + channel.output, f"limits {channel.low:g} .. {channel.high:g}") for channel in plant.channels]
    if channels:
        parts.append(f"\ncontrol channels\n{_columns(channels)}")
    ranges = range_rows(plant) if channels else []
    if ranges:
        parts.append(f"\nsituations are drawn from\n{_columns([(f'  {row[0]}', *row[1:]) for row in ranges])}")
    measures = [(f"  {one.name}", one.unit or "-", f"large: {one.scale:g}", one.text) for one in plant.measures]
    if measures:
        parts.append(f"\nown measures\n{_columns(measures)}")
    if plant.trade_off:
        parts.append(f"\ntraded off  {', '.join(plant.trade_off)} (the first is limited)")
    parts.append(f"\nintegration step  {plant.step:g} s")
    if plant.scene is not None:
        parts.append(f"seen moving       {', '.join(view.name for view in plant.scene.views)}")
    if plant.shown:
        parts.append(f"shown in reports  {', '.join(one.signal for one in plant.shown)}")
    if plant.loses_at_rest:
        parts.append("loses at rest     measures count the entropy production beyond that of the present set point")
    return "\n".join(parts)


def range_rows(plant: Plant) -> list[tuple[str, str, str, str]]:
    """Return what situations are drawn from: name, range, unit and who says so; what stands still is left out."""
    ranges, declared = usual_envelope(plant), plant.ranges.given()
    rows = []
    for axis in EnvelopeGenes(plant, ranges).ranges:
        origin = "declared" if axis.name.partition(".")[0] in declared else "of its situations, or usual"
        rows.append((axis.name, f"{axis.low:g} .. {axis.high:g}", axis.unit or "-", origin))
    if ranges.together:
        names = ", ".join(ranges.together[0])
        rows.append(("parameters together", f"{len(ranges.together)} sets of {names}", "", "declared"))
    if ranges.excitations_of:
        names = textwrap.shorten(", ".join(ranges.excitations_of), _WIDTH, placeholder=" ...")
        rows.append(("disturbances of", names, "", "declared"))
    return rows


def _quantity(item: Quantity) -> tuple[str, ...]:
    inside = math.isfinite(item.low) or math.isfinite(item.high)
    region = f"{item.low:g} .. {item.high:g}" if inside else ""
    return (f"  {item.name}", f"{item.nominal:g}", item.unit or "-", region, item.text)


def _indented(text: str) -> str:
    return "\n".join(f"  {line.strip()}" for line in text.strip().splitlines())


def _columns(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
