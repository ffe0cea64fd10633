"""The page on how much a schedule could win: tables of the regions found, and what they leave.

python -m experiments.unicycle_head_room_page          # writes docs/unicycle_head_room.md; ten minutes on one core
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.comparison.survival import lines_of
from experiments.unicycle_head_room import BEARABLE, JUDGED, NODES, WIDER, all_found
from experiments.unicycle_pushes import area_ratio
from plants.core import atomic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.unicycle_head_room import Found

PAGE = Path("docs/unicycle_head_room.md")
_DRAWS = 4000  # of the bootstrap


def cells(one: Found, base: Found) -> list[str]:
    """Return one structure's row of the table; changes are against the base's region."""
    told = [one.structure.title]
    for ours, theirs, grid in ((one.areas, base.areas, JUDGED), (one.wider, base.wider, WIDER)):
        value, low, high = area_ratio(ours, theirs, _DRAWS, 0)
        change = "" if one is base else _change(value, low, high)
        told += [f"{100 * ours.mean() / (math.pi * grid.largest**2):.1f} %", change]
    return [*told, f"{one.load:.2f}"]


def conclusion(found: dict[float | None, list[Found]]) -> str:
    """Return what the largest region found is against that of constant gains, and what the range of pushes leaves."""
    parts = []
    for bearable, (constant, *others) in found.items():
        best = max(others, key=lambda one: float(one.areas.sum()))
        value, low, high = area_ratio(best.areas, constant.areas, _DRAWS, 0)
        left = math.pi * JUDGED.largest**2 / constant.areas.mean()
        parts.append(
            f"{_title(bearable)}: {best.structure.title}, {_change(value, low, high)} of constant gains' region up to "
            f"{JUDGED.largest:g} N, of {100 * (left - 1):+.1f} % that are left to the edge"
        )
    return f"**{'. '.join(parts)}.**"


def _title(bearable: float | None) -> str:
    return "Motors that bear anything" if bearable is None else f"Motor load of at most {bearable:.2f}"


def _change(value: float, low: float, high: float) -> str:
    return f"{100 * (value - 1):+.1f} % [{100 * (low - 1):+.1f}, {100 * (high - 1):+.1f}]"


def page(found: dict[float | None, list[Found]], evaluations: int, rides: int) -> str:
    """Return the page: a table for each condition."""
    nodes, spent = ", ".join(f"{speed:g}" for speed in NODES), f"{evaluations} evaluations of CMA-ES"
    lines = [
        "# How much a schedule could win", "",
        "Written by `python -m experiments.unicycle_head_room_page`.", "",
        conclusion(found), "",
        f"The region of survived pushes itself was searched on {rides} rides, {spent}. Gains",
        f"over the measured speed, at {nodes} m/s and linear between, had twice as many, and began at what the",
        f"others had found. Judged on {2 * rides} other rides, with 95 % intervals of resampled rides;",
        "none are those of [the comparison](unicycle_study.md). What a search finds is a lower bound of what there is.",
        "Motor load: root mean square of the more loaded motor's torque over its largest, mean of the survived pushes.",
        "",
    ]  # fmt: skip
    for bearable, several in found.items():
        rows = [cells(one, several[0]) for one in several]
        lines += [f"## {_title(bearable)}", "", *lines_of(_HEAD, rows), ""]
    return "\n".join([*lines, *_TRIED]).rstrip() + "\n"


_TRIED = """
## Designs with these channels

On 2026-11-22 a comparison with these five channels was declared and run once: two designs of 1500 evaluations,
motors with at most a third of the largest torque as a root mean square over the taught situations, drawn seed 7301,
rides of seed 7302, all else as in the comparison. It was no better for knowledge bases and is not kept:

- Fixed gains, best in the taught situations: region 34.6 and 34.4 % of the disc. Those situations roll backwards so
  often that roll gains below 0 are best there. The gains of an LQR at 1.5 m/s, rounded, at which all searches could
  begin: 81.2 %, and 5 of 18 taught situations lost. No constant gains with both were found.
- Knowledge bases: 21.4 and 77.4 % at equal travel, 80.1 and 48.6 % at free travel; begun at the gains of scheduled
  LQR and kept near them, 66.6 and 61.4 %, with a lower error than LQR's. Scheduled LQR: 87.3 % in both.
- So what is taught does not ask for a large region, and a search with many free numbers gives it away for a smaller
  error. LQR's five weights cannot.
""".splitlines()[1:]


_HEAD = (
    "searched", f"area, of {JUDGED.largest:g} N all around", "change", f"area, of {WIDER.largest:g} N all around",
    "change", "motor load",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Search and write the page; words: evaluations=N, rides=N."""
    words = dict(word.split("=", 1) for word in (sys.argv[1:] if arguments is None else arguments))
    evaluations, rides = int(words.get("evaluations", "300")), int(words.get("rides", "4"))
    found = {bearable: all_found(bearable, evaluations, rides) for bearable in (None, BEARABLE)}
    atomic.write(PAGE, page(found, evaluations, rides))
    print(f"written: {PAGE}")


if __name__ == "__main__":
    main()
