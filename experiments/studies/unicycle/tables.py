"""Tables of the unicycle's comparison: survival, quality, regions of survived pushes; what became of the aim."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from experiments.studies.engine.outcomes import BASE, lines_of
from experiments.studies.unicycle.pushes import area_ratio, areas
from experiments.studies.unicycle.verdict import TRIED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from experiments.studies.unicycle.verdict import Verdict

    Array = NDArray[np.float64]


_DRAWS = 4000
TITLES = {
    "iae": "error, s", "entropy_plant": "heat of all frictions, J", "effort": "effort, (N m)² s",
    "total_variation": "travel, N m", "saturated_time": "time at a limit, s",
}  # fmt: skip


def regions(verdict: Verdict, largest: float, grip: float) -> list[str]:
    """Return areas of the regions of survived pushes, and their ratio to that of the fixed gains."""
    disc, rows = math.pi * largest**2, []
    for name, sizes in verdict.sizes.items():
        ours = areas(sizes)
        told = ["", ""] if name == BASE else [_ratio(sizes, verdict.sizes[BASE], end) for end in (math.inf, grip)]
        rows.append(
            [verdict.titles[name], f"{100 * ours.mean() / disc:.1f} %", told[0],
             f"{100 * areas(sizes, grip).mean() / (math.pi * grip**2):.1f} %", told[1],
             *(f"{sizes[:, rows_].mean():.0f}" for rows_ in _sectors(sizes.shape[1]))]
        )  # fmt: skip
    head = ("controller", f"area, of {largest:g} N all around", "against the fixed PID",
            f"area, of {grip:g} N (the tyre's grip)", "against the fixed PID", "mean largest push forward, N",
            "to a side, N", "backward, N")  # fmt: skip
    return lines_of(head, rows)


def _sectors(n: int) -> list[NDArray[np.intp]]:
    """Directions within 45 degrees of forward, of either side, of backward."""
    away = np.abs((np.arange(n) * 360.0 / n + 180.0) % 360.0 - 180.0)
    return [np.flatnonzero(away <= 45.0), np.flatnonzero((away > 45.0) & (away < 135.0)), np.flatnonzero(away >= 135.0)]


def ratio(ours: Array, base: Array, largest: float = math.inf) -> tuple[float, float, float]:
    """Return the ratio of two regions' areas and its interval; whole rides are resampled."""
    return area_ratio(areas(ours, largest), areas(base, largest), _DRAWS, 0)


def _ratio(ours: Array, base: Array, largest: float) -> str:
    value, low, high = ratio(ours, base, largest)
    return f"{100 * (value - 1):+.1f} % [{100 * (low - 1):+.1f}, {100 * (high - 1):+.1f}]"


def by_speed(verdict: Verdict, speeds: Sequence[float], largest: float) -> list[str]:
    """Return areas in thirds of the rides' speeds."""
    parts = np.array_split(np.argsort(speeds), 3)
    head = ["controller", *(f"{min(speeds[i] for i in p):.2g} to {max(speeds[i] for i in p):.2g} m/s" for p in parts)]
    rows = [
        [verdict.titles[name], *(f"{100 * areas(sizes[p]).mean() / (math.pi * largest**2):.1f} %" for p in parts)]
        for name, sizes in verdict.sizes.items()
    ]
    return lines_of(head, rows)


def aim(verdicts: Sequence[Verdict], share: float) -> list[str]:
    """Return what became of the aim, a sentence for each design and knowledge base, and whom to use."""
    lines = []
    for verdict in verdicts:
        for name in (one for one in verdict.sizes if one.startswith("knowledge_base")):
            value, low, high = ratio(verdict.sizes[name], verdict.sizes[BASE])
            met = "met on the mean, not reliably" if value >= 1.0 + share else "not met"
            met = "met" if low >= 1.0 + share else met
            lines.append(
                f"- {verdict.design}, {verdict.titles[name]}: **{met}** (region {100 * (value - 1):+.1f} % "
                f"[{100 * (low - 1):+.1f}, {100 * (high - 1):+.1f}] against the fixed PID)"
            )
    return lines


def conclusion(verdicts: Sequence[Verdict]) -> list[str]:
    """Return whom to use: the largest mean region, and the largest survival; the simplest within 1 point."""
    names = list(verdicts[0].sizes)
    region = {n: float(np.mean([ratio(v.sizes[n], v.sizes[BASE])[0] for v in verdicts])) for n in names}
    stands = {n: float(np.mean([v.stood[n].mean() for v in verdicts])) for n in names}
    titles = verdicts[0].titles
    best, safest = max(names, key=region.__getitem__), max(names, key=stands.__getitem__)
    told = (
        f"Largest region of survived pushes: {titles[best]}, {100 * (region[best] - 1):+.1f} % against the fixed PID; "
        f"most often upright in the drawn situations: {titles[safest]}, {100 * stands[safest]:.1f} % (the fixed PID "
        f"{100 * stands[BASE]:.1f} %). {_advice(region, stands, titles)}"
    )
    return [f"**{told}**"]


_EQUAL = 0.01  # share of situations that counts as equal


def _advice(region: Mapping[str, float], stands: Mapping[str, float], titles: Mapping[str, str]) -> str:
    """The simplest that nobody beats by more than 1 % in survival and in region; else what each is best for."""
    order = ("fixed", "two_degree", "lqr", "lqr_scheduled", "knowledge_base", "knowledge_base_free")
    good = [n for n in order if n in region and stands[n] >= max(stands.values()) - _EQUAL
            and region[n] >= max(region.values()) - _EQUAL]  # fmt: skip
    if good:
        return f"Use: {titles[good[0]]}."
    stand, area = (max(v, key=lambda n: v[n]) for v in (stands, region))
    return f"Use {titles[stand]} where all kinds of disturbance come, {titles[area]} against single pushes."


def notes(verdict: Verdict) -> list[str]:
    """Return what fixed gains chosen for each ride could win, and whether finer steps change the regions."""
    return [*_room(verdict), finer(verdict)]


def _room(verdict: Verdict) -> list[str]:
    if verdict.head_room is None:
        return []
    same, each = verdict.head_room
    return [
        f"Head room: of {TRIED} sets of fixed gains around the best ones, those best for each single ride have a",
        f"region {100 * (each / same - 1):+.1f} % larger than the set that is best for all rides: about what gains",
        "that know the ride, but stay constant in it, could win.", "",
    ]  # fmt: skip


def finer(verdict: Verdict) -> str:
    """Return whether finer steps change the regions."""
    value, _, _ = ratio(verdict.finer, verdict.sizes[BASE])
    return f"With steps a fifth as long the fixed PID's region changes by {100 * (value - 1):+.1f} %."


_PARTS = {
    "fixed PID": ("fixed_genetic", "fixed_cmaes"), "two degrees of freedom": ("two_degree",),
    "teaching and imitation": ("teaching_signal", "imitation"),
    "knowledge bases": ("knowledge_base_equal", "knowledge_base_free"), "LQR": ("lqr", "lqr_scheduled"),
}  # fmt: skip
_NO_DESIGN = ("lqr", "lqr_scheduled", "pushes")  # done after the design
TIMED = (*(f"{part}, s" for part in _PARTS), "design without LQR, s")


def times(seconds: Mapping[str, float]) -> list[str]:
    """Return the times of a design's parts, and of all of it, as cells."""
    parts = [sum(seconds.get(stage, 0.0) for stage in stages) for stages in _PARTS.values()]
    whole = sum(value for stage, value in seconds.items() if stage not in _NO_DESIGN)
    return [f"{value:.0f}" for value in (*parts, whole)]
