"""Tables of the page on formulations: costs, operations, drift, singular positions, derivation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchmarks.mechanics import derivation, drift
from benchmarks.mechanics import mechanism_forms as kinds
from benchmarks.mechanics.formulations import LAPACK
from benchmarks.mechanics.mechanisms import SYSTEMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmarks.mechanics.drift import Drift, Passage
    from benchmarks.mechanics.formulations import Costs
    from benchmarks.runner.timing import Timing

COMPARED = (LAPACK, kinds.PIVOTED, kinds.ROUTH, kinds.FED_BACK, kinds.GAUSS, kinds.MAGGI, kinds.CHAPLYGIN)
WAYS = (kinds.TAPED, kinds.AS_DERIVED, kinds.NORMAL)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table in Markdown."""
    return ["", *("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)), ""]


def cost_table(costs: Mapping[str, Costs], lanes: int) -> list[str]:
    """Times of quasi-velocities, and how many times as long the others take."""
    forms = [form for form in (*COMPARED, *WAYS) if any((form, lanes) in cost.times for cost in costs.values())]

    def row(name: str, cost: Costs) -> list[str]:
        known = [(form, lanes) in cost.times for form in forms]
        ratios = [f"{cost.against_quasi(f, lanes)[0]:.2f}" if k else "pole" for f, k in zip(forms, known, strict=True)]
        return [name, f"{1e9 * cost.times[kinds.QUASI, lanes].best:.1f} ns", *ratios]

    return table(["", kinds.QUASI, *forms], (row(name, cost) for name, cost in costs.items()))


def operation_table(costs: Mapping[str, Costs]) -> list[str]:
    """Operations of one evaluation, in brackets the angles of which sine and cosine are taken."""
    forms = (kinds.PIVOTED, kinds.ROUTH, kinds.FED_BACK, kinds.GAUSS, kinds.MAGGI, kinds.CHAPLYGIN, *WAYS)

    def cell(counts: Mapping[str, int]) -> str:
        return f"{sum(counts.values())} ({angles(counts)})"

    return table(["", *forms], ([name, *(cell(cost.operations[f]) for f in forms)] for name, cost in costs.items()))


def angles(counts: Mapping[str, int]) -> int:
    """Angles whose sine or cosine is taken: a pair costs as much as one of them."""
    return max(counts.get("sin", 0), counts.get("cos", 0))


def lane_table(costs: Mapping[str, Costs]) -> list[str]:
    """How many times as long one lane takes as sixteen do, for one evaluation."""
    forms = (kinds.QUASI, kinds.ROUTH, kinds.PIVOTED)
    rows = ([name, *(f"{cost.of_lanes(form)[0]:.1f}" for form in forms)] for name, cost in costs.items())
    return table(["one lane / 16 lanes", *forms], rows)


def drift_table(runs: Mapping[str, Mapping[tuple[str, float], Drift | None]]) -> list[str]:
    """Largest losses over the run: speeds; positions; energy."""
    forms = (
        kinds.ROUTH,
        kinds.FED_BACK,
        drift.PROJECTED,
        kinds.QUASI,
        drift.QUASI_PROJECTED,
        drift.JOINTS,
        kinds.CHAPLYGIN,
    )

    def cell(name: str, key: tuple[str, float]) -> str:
        if key not in runs[name]:
            return ""
        run = runs[name][key]
        held = bool(SYSTEMS[name]().declared().positions)
        return "diverged" if run is None else " ; ".join(short(v, shown=k != 1 or held) for k, v in enumerate(run.most))

    rows = ([name, f"{h:g}", *(cell(name, (form, h)) for form in forms)] for name in runs for h in drift.STEPS)
    return table(["", "step [s]", *forms], rows)


def short(value: float, *, shown: bool = True) -> str:
    """One digit of a small number; a dash where it means nothing."""
    if not shown:
        return "-"
    if not math.isfinite(value):
        return "∞"
    return "0" if value == 0.0 else f"{value:.0e}".replace("e-0", "e-").replace("e+00", "").replace("e+0", "e")


def singular_table(passages: Mapping[tuple[str, float], Passage]) -> list[str]:
    """What becomes of the motion through singular positions."""

    def row(form: str, step: float, seen: Passage) -> list[str]:
        run = "diverged" if seen.run is None else " ; ".join(short(v) for v in seen.run.most[1:])
        return [form, f"{step:g}", run, f"{100 * seen.lost:.0f} %", short(seen.median), short(seen.worst)]

    head = ["", "step [s]", "one motion: positions ; energy [J]", "motions lost", "energy, median", "energy, worst"]
    return table(head, (row(form, step, seen) for (form, step), seen in passages.items()))


def derivation_table(derived: Mapping[str, Mapping[str, Timing]]) -> list[str]:
    """Times of deriving M, c, A and gam [ms]."""
    rows = ([name, *(f"{1e3 * times[way].best:.3g}" for way in derivation.WAYS)] for name, times in derived.items())
    return table(["M, c, A, gam [ms]", *derivation.WAYS], rows)


def start_table(steps: Mapping[tuple[str, str], Sequence[float]]) -> list[str]:
    """Times from the declaration to the first compiled step [s]."""
    parts = {"build": "build", "step": "compile and step", "first": "both", "imports": "imports", "process": "process"}
    rows = ([state, *(f"{min(steps[state, part]):.2f}" for part in parts)] for state in derivation.AIMS)
    return table([f"{derivation.LARGEST} [s]", *parts.values()], rows)


def starting_note() -> str:
    """Say how the motions of the singular table begin."""
    low, high = drift.STARTS
    return f"cranks at {low:g} to {high:g} rad, 1.5 rad/s"
