"""Tables of the reactors' comparison: the ladder of finished designs, and steps beside published values.

Ladder: J with its interval, error, overshoot, settling, travel. Dimensionless reactor: also what full coolant would do.
Source of the published values: G.-B. So and G.-G. Jin, Fuzzy-based nonlinear PID controller and its application to
CSTR, Korean J. Chem. Eng. 35(3), 2018, doi 10.1007/s11814-017-0329-1: the abstract gives them as upper ends over its
set-point changes. It does not give the plant's numbers, the set points, the coolant's range or the sample time, so
they are for orientation.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import plants
from experiments.pipeline.judging import MEASURES
from experiments.runtime import formats
from experiments.runtime.tables import loss, number
from experiments.studies.engine.pooling import DECIDING, pool
from plants.core.analysis.equilibrium import Equilibria
from sscq.verdict.verdict import Sample, compare

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.studies.engine.pooling import Pooled
    from sscq.verdict.verdict import Comparison


ROWS = (
    "open_loop", "fixed", "two_degree", "table", "imitation", "knowledge_base", "knowledge_base_free", "oracle",
)  # fmt: skip
_KINDS = ("taught", "unforeseen")
_HEAD = ("controller", "J taught", "J unforeseen", "change of the mean", "worst 5 %", "where neither is lost", "IAE",
         "overshoot", "settling", "travel", "lost")  # fmt: skip


def ladder(folders: Sequence[Path], *, steps: bool) -> list[str]:
    """Return the table of one task's designs and their verdicts as Markdown lines.

    Parameters
    ----------
    folders : sequence of Path
        Of finished runs of `sscq design` that see the same rollouts.
    steps : bool
        Whether overshoot and settling mean anything: references that stand still.
    """
    pooled = pool(folders)
    metrics = [formats.read_json(folder / "metrics.json") for folder in folders]
    lines = ["| " + " | ".join(_HEAD) + " |", "|---" * len(_HEAD) + "|"]
    for name in ROWS:
        several = [one["controllers"][name] for one in metrics if name in one["controllers"]]
        if len(several) == len(metrics):
            title = "best gain table" if name == "table" else several[0]["title"]
            cells = (title, *_cells(several, pooled.comparisons.get(name), _alive(pooled, name), steps=steps))
            lines.append("| " + " | ".join(cells) + " |")
    return [*lines, "", *(f"- Design {k}: {one['sentence']}{_rules(one)}" for k, one in enumerate(metrics)),
            f"- Recommended: {pooled.recommended()}."]  # fmt: skip


def _rules(metrics: dict[str, Any]) -> str:
    """Rules of the knowledge bases: one alone is no schedule, but other fixed gains."""
    counts = metrics.get("rules")
    if not counts:
        return ""
    return f" Rules left: {counts['equal']} at equal travel, {counts['free']} at free travel."


def _alive(pooled: Pooled, name: str) -> str:
    """Change of the mean in the situations that neither a controller nor the fixed PID loses with any seed.

    A lost rollout costs hundreds of times what a surviving one does, so beside one no other difference is seen. Empty
    where nothing is lost.
    """
    judged = pooled.kinds[DECIDING]
    if name not in judged.comparisons:
        return ""
    one, base = judged.samples[name], judged.samples[pooled.baseline]
    alive = ~(one.failed | base.failed).any(axis=0)
    if alive.all():
        return ""
    if not alive.any():
        return "-"
    left, right = (Sample(s.fitness[:, alive], s.travel[:, alive], s.failed[:, alive]) for s in (one, base))
    change = compare(left, right).mean
    return f"{change}" + loss(change.value, "**loss**")


def _cells(
    several: Sequence[dict[str, Any]], compared: Comparison | None, alive: str, *, steps: bool
) -> tuple[str, ...]:
    taught, unforeseen = (float(np.mean([one["fitness"][kind] for one in several])) for kind in _KINDS)
    lost = sum(one["failures"]["unforeseen"] for one in several)
    change = tail = ""
    if compared is not None:
        change = f"{compared.mean}" + loss(compared.mean.value, "**loss**")
        tail = f"{100 * compared.tail.value:+.1f} %"
    return (
        number(taught), number(unforeseen), change, tail, alive, _both(several, "iae"),
        _both(several, "overshoot", 100.0, " %") if steps else "-", _both(several, "settling_time") if steps else "-",
        _both(several, "total_variation"), str(lost),
    )  # fmt: skip


def _both(several: Sequence[dict[str, Any]], measure: str, factor: float = 1.0, unit: str = "") -> str:
    """A measure's mean over the designs, taught and unforeseen; a design that lost every loop has none."""
    found = []
    for kind in _KINDS:
        values = [value for one in several if (value := one["measures"][kind][measure]) is not None]
        known = [float(value) for value in values if not math.isnan(float(value))]
        found.append(f"{factor * np.mean(known):.3g}{unit}" if known else "-")
    return " / ".join(found)


PUBLISHED = {"overshoot": 0.0125, "settling_time": 1.71, "iae": 1.26}
LIMITS = (3.0, 4.0, 6.0)
STEPS = {"cold to middle": (0.886, 2.752), "hot to middle": (4.705, 2.752), "middle to hot": (2.752, 4.705)}
_KEYS = ("overshoot", "settling_time", "iae")
_HORIZON, _STEP = 10.0, 0.002


def full_coolant(start: float, goal: float, limit: float) -> tuple[float, float]:
    """Return when the coolant held at its limit brings the temperature to the goal, and the IAE up to then.

    Parameters
    ----------
    start, goal : float
        Dimensionless temperatures; it starts at rest.
    limit : float
        Coolant either way, dimensionless.

    Returns
    -------
    time, iae : float
        In residence times; infinite where the goal is not reached.
    """
    plant = plants.get("cstr_dimensionless")
    coolant = limit if goal > start else -limit
    run = plants.simulate(plant, _HORIZON, _STEP, initial=tuple(Equilibria(plant).at([start]).state), inputs=(coolant,))
    away = (goal - run["temperature"]) / (goal - start)
    there = np.flatnonzero(away <= 0.0)
    if not there.size:
        return np.inf, np.inf
    error = np.abs(goal - run["temperature"][: there[0]])
    return float(run.time[there[0]]), float(_STEP * error.sum())


def lines(folders: Sequence[Path]) -> list[str]:
    """Return two Markdown tables: our controllers' taught steps beside the published values; full coolant."""
    from experiments.runtime.launch import stored_settings
    from experiments.runtime.run_folder import read_record

    names = list(stored_settings("design", read_record(folders[0])["config"]).situations.taught)
    several = [formats.read_npz(folder / "stages" / "judgement" / "quality.npz") for folder in folders]
    titles = {n: c["title"] for n, c in formats.read_json(folders[0] / "metrics.json")["controllers"].items()}
    head = ["controller", *names, "largest"]
    rows = [f"| published, largest of its steps | {'- | ' * len(names)}{_said([PUBLISHED[k] for k in _KEYS])} |"]
    for name in ROWS:
        tables = [arrays[f"{name}.taught"] for arrays in several if f"{name}.taught" in arrays]
        if name != "open_loop" and len(tables) == len(several):
            title = "best gain table" if name == "table" else titles[name]
            rows.append("| " + " | ".join([title, *_row(np.mean([_taught(t) for t in tables], axis=0))]) + " |")
    return [
        "### Beside published values", "",
        "Overshoot, settling time to 2 % and IAE of each taught step (nominal plant, no load, no noise), in residence",
        "times, mean of the designs; the last column holds the largest of each, bold where it is above the published.",
        "",
        "| " + " | ".join(head) + " |", "|---" * len(head) + "|", *rows, "",
        "The published values are the upper ends in the abstract of So and Jin, Fuzzy-based nonlinear PID",
        "controller and its application to CSTR (Korean J. Chem. Eng. 35(3), 2018, doi 10.1007/s11814-017-0329-1).",
        "What is comparable: a stirred-tank reactor in one loop, three measures of a set-point step, settling",
        "within 2 %. What is not: the abstract says neither plant numbers nor set points, coolant range, sample",
        "time and weight of the command, and its times are called seconds. So the figures are for orientation and",
        "nobody has won here. Which of our steps can come near them at all, and with how much coolant, shows the",
        "coolant held at its limit until the set point is reached (time; IAE up to then):", "",
        *_floor(),
    ]  # fmt: skip


def _taught(table: np.ndarray) -> np.ndarray:
    """Measures of the taught situations [measure, situation], in the order of the published ones."""
    return np.array([table[MEASURES.index(key)][0] for key in _KEYS])


def _row(values: np.ndarray) -> list[str]:
    return [*(_said(column) for column in values.T), _said(values.max(axis=1), marked=True)]


def _said(values: Sequence[float] | np.ndarray, *, marked: bool = False) -> str:
    """Overshoot, settling time and IAE; with `marked`, what is more than the published value stands out."""
    overshoot, settling, iae = values
    words = (f"{100 * overshoot:.2f} %", f"{settling:.2f}", f"{iae:.2f}")
    worse = [marked and value > PUBLISHED[key] for value, key in zip(values, _KEYS, strict=True)]
    return "; ".join(f"**{word}**" if more else word for word, more in zip(words, worse, strict=True))


def _floor() -> list[str]:
    head = ["step", *(f"coolant within {limit:g}" for limit in LIMITS)]
    found = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for name, (start, goal) in STEPS.items():
        cells = [f"{time:.2f}; {iae:.2f}" for time, iae in (full_coolant(start, goal, limit) for limit in LIMITS)]
        found.append(f"| {name}, {start:g} to {goal:g} | " + " | ".join(cells) + " |")
    return found
