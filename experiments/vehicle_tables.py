"""Tables of the balancing vehicle's comparison: falls by kind of situation, quality; what became of the aim."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.comparison.survival import BASE, difference, fall_ratio, lines_of, quality, survival, wilson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.vehicle_verdict import Verdict

_WORDS = {
    "iae": "error", "speed_error": "true speed error, m", "slip_distance": "slip distance, m",
    "entropy_plant": "entropy production, J",
    "effort": "effort, (N m)² s",
    "total_variation": "travel, N m",
}  # fmt: skip
DRY, SLIPPERY = "dry", "slippery"
_KB = "knowledge_base"


def section(verdict: Verdict) -> list[str]:
    """Return what one design found as Markdown lines."""
    lines = [f"## {verdict.design}", "", *kept(verdict), "", "Falls by kind of situation:", "", *by_kind(verdict), ""]
    for words, chosen in (("slippery ground", verdict.on_slippery), ("all other situations", ~verdict.on_slippery)):
        stood, values = verdict.where(chosen)
        lines += [
            f"### On {words}" if "ground" in words else f"### In {words}",
            "",
            *survival(stood, verdict.titles),
            "",
        ]
        lines += [*quality(values, stood, verdict.titles, _WORDS), ""]
    return lines


def kept(verdict: Verdict) -> list[str]:
    """Return falls on slippery ground beside the error on dry ground when taught, and the limit that held for it."""
    base, limit = verdict.dry[BASE], verdict.limit
    rows = []
    for name, stood in verdict.stood.items():
        falls, dry = int((~stood[verdict.on_slippery]).sum()), verdict.dry[name]
        told = "" if limit is None else f"{100 * (dry / limit - 1):+.1f} %"
        rows.append([verdict.titles[name], str(falls), f"{dry:.3f}", f"{100 * (dry / base - 1):+.1f} %", told])
    words = "none" if limit is None else f"{limit:g}"
    return [
        f"Falls on slippery ground, and the mean error on dry ground when taught; its limit: {words}.", "",
        *lines_of(("controller", "falls", "dry error", "against the fixed PID", "against the limit"), rows),
    ]  # fmt: skip


def by_kind(verdict: Verdict) -> list[str]:
    """Return the falls in each kind of situation."""
    kinds = np.array(verdict.kinds)
    known = list(dict.fromkeys(verdict.kinds))
    rows = [
        [verdict.titles[name], *(f"{int((~stood[kinds == kind]).sum())}" for kind in known)]
        for name, stood in verdict.stood.items()
    ]
    return lines_of(
        ("controller", *(f"{kind.replace('_', ' ')} ({int((kinds == kind).sum())})" for kind in known)), rows
    )


def aim(verdicts: Sequence[Verdict], share: float) -> list[str]:
    """Return what became of the aim: a sentence for each design and knowledge base."""
    lines = []
    for verdict in verdicts:
        stood, _ = verdict.where(verdict.on_slippery)
        for name in (one for one in stood if one.startswith(_KB)):
            value, low, high = fall_ratio(stood[name], stood[BASE])
            falls, others = (int((~stood[one]).sum()) for one in (name, BASE))
            lines.append(
                f"- {verdict.design}, {verdict.titles[name]}: **{_outcome(value, high, share)}** ({falls} falls, "
                f"{_change(value, low, high)} against {others} of the fixed PID taught the same)"
            )
    return lines


def _outcome(value: float, high: float, share: float) -> str:
    if high <= 1.0 - share:
        return "met"
    return "met on the mean, not reliably" if value <= 1.0 - share else "not met"


def _change(value: float, low: float, high: float) -> str:
    return f"{100 * (value - 1):+.0f} % [{100 * (low - 1):+.0f}, {100 * (high - 1):+.0f}]"


def pairs(verdicts: Sequence[Verdict]) -> list[tuple[Verdict, Verdict]]:
    """Return designs taught on slippery ground, each with the one of the same number taught on dry ground."""
    found = {one.design: one for one in verdicts}
    names = [name for name in found if name.startswith(SLIPPERY)]
    return [(found[name], found[name.replace(SLIPPERY, DRY)]) for name in names if name.replace(SLIPPERY, DRY) in found]


def across(verdicts: Sequence[Verdict]) -> list[str]:
    """Return contenders taught on slippery ground against fixed gains that were not: falls there, error elsewhere."""
    rows = []
    for taught, dry in pairs(verdicts):
        chosen = taught.on_slippery
        base = dry.stood[BASE]
        for name, stood in taught.stood.items():
            falls = fall_ratio(stood[chosen], base[chosen])
            low, high = wilson(int((~stood[chosen]).sum()), int(chosen.sum()))
            both = ~chosen & stood & base
            error = taught.quality[name]["iae"][both].mean() / dry.quality[BASE]["iae"][both].mean()
            rows.append(
                [taught.design, taught.titles[name], f"{int((~stood[chosen]).sum())}",
                 f"{100 * low:.1f} to {100 * high:.1f} %", f"{int((~base[chosen]).sum())}", _change(*falls),
                 difference(stood[chosen], base[chosen]), f"{100 * (error - 1):+.1f} %"]
            )  # fmt: skip
    head = ("design", "controller", "falls on slippery ground", "share, Wilson interval",
            "of the fixed PID taught on dry ground", "change", "difference of standing, points",
            "error elsewhere against it")  # fmt: skip
    return lines_of(head, rows)


def conclusion(verdicts: Sequence[Verdict]) -> list[str]:
    """Return whom to use, from the mean over the designs of each kind."""
    told = []
    for kind, ground in ((DRY, "Taught on dry ground alone"), (SLIPPERY, "Taught on slippery ground as well")):
        designs = [one for one in verdicts if one.design.startswith(kind)]
        if designs:
            told += [f"**{ground}: {_best(designs)}**", ""]
    return told[:-1]


_EQUAL = 0.01  # share of situations in which falls count as equal
_ORDER = (BASE, "two_degree", "lqr", _KB, "knowledge_base_free")


def _best(designs: Sequence[Verdict]) -> str:
    """Falls first; among those within a point of the fewest the simplest within 3 % of the least error."""
    names = [name for name in _ORDER if all(name in one.stood for one in designs)]
    slippery = {n: float(np.mean([1 - one.stood[n][one.on_slippery].mean() for one in designs])) for n in names}
    falls = {n: float(np.mean([1 - one.stood[n].mean() for one in designs])) for n in names}
    error = {n: float(np.mean([_mean_error(one, n) for one in designs])) for n in names}
    safe = [n for n in names if falls[n] <= min(falls.values()) + _EQUAL]
    least = min(error[n] for n in safe)
    use = next(n for n in safe if error[n] <= 1.03 * least)
    titles = designs[0].titles
    return (
        "; ".join(
            f"{titles[n]} falls in {100 * slippery[n]:.1f} % of the situations on slippery ground, error {error[n]:.2f}"
            for n in names
        )
        + f". Use: {titles[use]}."
    )


def _mean_error(verdict: Verdict, name: str) -> float:
    alive = np.all(list(verdict.stood.values()), axis=0)
    return float(verdict.quality[name]["iae"][alive].mean())
