"""Write docs/performance/formulations.md with its figure.

Command: ``python -m benchmarks.mechanics.formulations_page [--quick]``.

Every number on the page, those in its sentences included, comes from the one run that writes it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.mechanics import derivation, formulations, lost_by_form
from benchmarks.mechanics.formulations import LAPACK, WIDER
from benchmarks.runner import pages
from benchmarks.runner.pages import listed, median, span
from experiments.reproduce.mechanics import drift
from experiments.reproduce.mechanics import mechanism_forms as kinds
from experiments.reproduce.mechanics.mechanisms import SYSTEMS
from experiments.runtime.tables import markdown_table
from plants.core.kernel.kernel import LANES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from benchmarks.mechanics.formulations import Costs
    from benchmarks.runner.size import Size
    from experiments.reproduce.mechanics.drift import Drift, Passage
    from experiments.runtime.timing import Timing

    AllCosts = Mapping[str, Costs]
    Runs = Mapping[tuple[str, float], Drift | None]
    Drifts = Mapping[str, Runs]

COMPARED = (LAPACK, kinds.PIVOTED, kinds.ROUTH, kinds.FED_BACK, kinds.GAUSS, kinds.MAGGI, kinds.CHAPLYGIN)
WAYS = (kinds.TAPED, kinds.AS_DERIVED, kinds.NORMAL)


@dataclass(frozen=True)
class FormulationFindings:
    """All figures of one run."""

    costs: dict[str, Costs]
    drifts: dict[str, dict[tuple[str, float], Drift | None]]
    passages: dict[tuple[str, float], Passage]
    steps: dict[tuple[str, str], list[float]]
    derived: dict[str, dict[str, Timing]]
    kane: dict[str, Timing]


def measured(size: Size) -> FormulationFindings:
    """Measure everything."""
    costs = formulations.all_costs(size)
    return FormulationFindings(
        costs,
        lost_by_form.all_drifts(size),
        lost_by_form.passages(),
        derivation.first_steps(derivation.LARGEST, size.repeats),
        {name: derivation.blocks(name, size) for name in costs},
        derivation.kane(size),
    )


def page(found: FormulationFindings, about: Mapping[str, object]) -> str:
    """Return the page's text."""
    told = _costs(found.costs) | _drifts(found.drifts) | _passages(found.passages) | _derivations(found)
    constants = {"lanes": LANES, "steps": drift.STEPS, "t_end": drift.T_END, "wrong": 100 * drift.LOST}
    return pages.filled(pages.TEMPLATES / "formulations.md", about, told | constants)


def write(found: FormulationFindings, about: dict[str, Any], folder: Path) -> None:
    """Write the page and its drawing into a folder."""
    (folder / "formulations.md").write_text(page(found, about), encoding="utf-8")
    drawing = drift.figure(found.drifts[lost_by_form.DRAWN], drift.STEPS[0])
    (folder / lost_by_form.FIGURE).write_text(drawing, encoding="utf-8")


# ---------------------------------------------------------------------------------------------------------------- costs


@dataclass(frozen=True)
class FactorSpans:
    """How many times as long as quasi-velocities a form takes on all systems, in one lane and in many, in words."""

    one: str
    one_median: str
    many: str
    many_median: str


def _costs(costs: AllCosts) -> dict[str, Any]:
    """Whether quasi-velocities are faster, like for like."""

    def against(form: str, lanes: int) -> dict[str, float]:
        return {name: found.against_quasi(form, lanes)[0] for name, found in costs.items()}

    def spans(form: str) -> FactorSpans:
        one, many = (against(form, lanes).values() for lanes in (1, LANES))
        return FactorSpans(span(one), median(one), span(many), median(many))

    def faster(slow: tuple[str, int], quick: tuple[str, int]) -> str:
        return span(found.times[slow].best / found.times[quick].best for found in costs.values())

    one, many, fed = against(kinds.ROUTH, 1), against(kinds.ROUTH, LANES), against(kinds.FED_BACK, 1)
    noise = _noise(costs)
    slower = [name for name in one if min(one[name], many[name]) < 1.0 - noise]
    gained = [f"{costs[name].of_lanes(kinds.QUASI)[0]:.1f} for the {name}" for name in WIDER if name in costs]
    return {
        "mostly": "on most systems" if slower else "yes",
        "noise": 100 * noise,
        "slower": f"They are slower for {listed([_reason(name, costs[name]) for name in slower])}." if slower else "",
        "gained": f"{LANES} lanes against one gain a factor of {listed(gained)}." if gained else "",
        "routh": spans(kinds.ROUTH),
        "pivoted": spans(kinds.PIVOTED),
        "lapack": span(against(LAPACK, 1).values()),
        "leaving": faster((LAPACK, 1), (kinds.ROUTH, 1)),
        "normal": faster((kinds.AS_DERIVED, 1), (kinds.NORMAL, 1)),
        "feedback": median(fed[name] / one[name] for name in one),
        "costs_of_one": cost_table(costs, 1),
        "costs_of_many": cost_table(costs, LANES),
        "gains_of_lanes": lane_table(costs),
        "operations": operation_table(costs),
    }


def _noise(costs: AllCosts) -> float:
    """How far the times of one kernel that was built twice lie apart: no difference below it means anything."""
    twins = [c for c in costs.values() if c.operations[kinds.QUASI] == c.operations[kinds.NORMAL]]
    return max((abs(c.against_quasi(kinds.NORMAL, n)[0] - 1.0) for c in twins for n in (1, LANES)), default=0.0)


def _reason(name: str, cost: Costs) -> str:
    """A system on which quasi-velocities are slower, and why where that is known."""
    quasi, routh = (angles(cost.operations[form]) for form in (kinds.NORMAL, kinds.ROUTH))
    why = f" (whose basis takes sines and cosines of {quasi} angles instead of {routh})" if quasi > routh else ""
    return f"the {name}{why}"


def angles(counts: Mapping[str, int]) -> int:
    """Angles whose sine or cosine is taken: a pair costs as much as one of them."""
    return max(counts.get("sin", 0), counts.get("cos", 0))


def cost_table(costs: AllCosts, lanes: int) -> list[str]:
    """Times of quasi-velocities, and how many times as long the others take."""
    forms = [form for form in (*COMPARED, *WAYS) if any((form, lanes) in cost.times for cost in costs.values())]

    def row(name: str, cost: Costs) -> list[str]:
        known = [(form, lanes) in cost.times for form in forms]
        ratios = [f"{cost.against_quasi(f, lanes)[0]:.2f}" if k else "pole" for f, k in zip(forms, known, strict=True)]
        return [name, f"{1e9 * cost.times[kinds.QUASI, lanes].best:.1f} ns", *ratios]

    return markdown_table(["", kinds.QUASI, *forms], (row(name, cost) for name, cost in costs.items()))


def lane_table(costs: AllCosts) -> list[str]:
    """How many times as long one lane takes as sixteen do, for one evaluation."""
    forms = (kinds.QUASI, kinds.ROUTH, kinds.PIVOTED)
    rows = ([name, *(f"{cost.of_lanes(form)[0]:.1f}" for form in forms)] for name, cost in costs.items())
    return markdown_table(["one lane / 16 lanes", *forms], rows)


def operation_table(costs: AllCosts) -> list[str]:
    """Operations of one evaluation, in brackets the angles of which sine and cosine are taken."""
    forms = (*COMPARED[1:], *WAYS)

    def cell(counts: Mapping[str, int]) -> str:
        return f"{sum(counts.values())} ({angles(counts)})"

    rows = ([name, *(cell(cost.operations[form]) for form in forms)] for name, cost in costs.items())
    return markdown_table(["", *forms], rows)


# ---------------------------------------------------------------------------------------------------------------- drift

_ROUNDING = 1e-11  # of a residual or an energy: what is smaller is rounding, not drift
_SPOILT = 1000  # times the error of quasi-velocities
_COARSE, _FINE = drift.STEPS
_SPEED, _POSITION, _ENERGY = range(3)  # levels of what is lost


def _most(runs: Runs, form: str, level: int) -> dict[float, float]:
    """Largest loss at one level for each step; infinite where the run diverged."""
    found = {h: runs[form, h] for h in drift.STEPS}
    return {h: math.inf if run is None else run.most[level] for h, run in found.items()}


def _drifts(drifts: Drifts) -> dict[str, Any]:
    """Whether violations need correcting, what becomes of the energy, and where chosen coordinates fail."""
    held = [name for name in drifts if SYSTEMS[name]().declared().positions and name != drift.SYSTEM]
    gains, orders = [], []
    for name in held:
        quasi, routh = (_most(drifts[name], form, _POSITION) for form in (kinds.QUASI, kinds.ROUTH))
        gains += [routh[h] / quasi[h] for h in drift.STEPS]
        orders.append(math.log10(quasi[_COARSE] / quasi[_FINE]) / math.log10(_COARSE / _FINE))
    fed, plain = ([_most(runs, f, _SPEED)[_COARSE] for runs in drifts.values()] for f in (kinds.FED_BACK, kinds.ROUTH))
    worse = [name for name, with_it, without in zip(drifts, fed, plain, strict=True) if with_it > without]
    quasi, chaplygin = (
        {name: _most(runs, form, _ENERGY)[_FINE] for name, runs in drifts.items()}
        for form in (kinds.QUASI, kinds.CHAPLYGIN)
    )
    rolling = [n for n in drifts if not SYSTEMS[n]().declared().positions and quasi[n] > _ROUNDING]
    spoilt = [name for name in drifts if chaplygin[name] > _SPOILT * (quasi[name] + _ROUNDING)]

    def times(form: str, names: Iterable[str]) -> str:
        return span(_most(drifts[name], form, _ENERGY)[_FINE] / quasi[name] for name in names)

    return {
        "speeds": short(max(_most(runs, kinds.QUASI, _SPEED)[h] for runs in drifts.values() for h in drift.STEPS)),
        "gains": span(gains),
        "orders": span(orders),
        "alike": span(_alike(drifts)),
        "worse": f"Feedback by Baumgarte is no safe cure: at the step {_COARSE:g} s it leaves the speeds of "
        f"{listed(worse)} further off than no feedback does." if worse else [],
        "energy": {
            name: {"held": times(form, held), "rolling": times(form, rolling)}
            for name, form in (("routh", kinds.ROUTH), ("projected", drift.PROJECTED))
        },
        "rounding": _ROUNDING,
        "spoilt": listed(spoilt),
        "spoiling": _SPOILT,
        "diverged": listed([name for name in spoilt if not math.isfinite(chaplygin[name])]),
        "drifts": drift_table(drifts),
    }  # fmt: skip


def _alike(drifts: Drifts) -> list[float]:
    """How far other forms with multipliers drift from the constraints' speeds, in terms of Routh's form."""
    return [
        _most(runs, form, _SPEED)[_FINE] / _most(runs, kinds.ROUTH, _SPEED)[_FINE]
        for name, runs in drifts.items()
        for form in (kinds.GAUSS, kinds.MAGGI)
        if name != drift.SYSTEM and _most(runs, kinds.ROUTH, _SPEED)[_FINE] > _ROUNDING
    ]


def drift_table(runs: Drifts) -> list[str]:
    """Largest losses over the run: speeds; positions; energy."""
    fed, quasi = (kinds.ROUTH, kinds.FED_BACK, drift.PROJECTED), (kinds.QUASI, drift.QUASI_PROJECTED)
    forms = (*fed, *quasi, drift.JOINTS, kinds.CHAPLYGIN)

    def cell(name: str, key: tuple[str, float]) -> str:
        if key not in runs[name]:
            return ""
        run = runs[name][key]
        held = bool(SYSTEMS[name]().declared().positions)
        if run is None:
            return "diverged"
        return " ; ".join("-" if k == _POSITION and not held else short(v) for k, v in enumerate(run.most))

    rows = ([name, f"{h:g}", *(cell(name, (form, h)) for form in forms)] for name in runs for h in drift.STEPS)
    return markdown_table(["", "step [s]", *forms], rows)


def short(value: float) -> str:
    """One digit of a small number."""
    if not math.isfinite(value):
        return "∞"
    return "0" if value == 0.0 else f"{value:.0e}".replace("e-0", "e-").replace("e+00", "").replace("e+0", "e")


# --------------------------------------------------------------------------------------- singular positions, derivation


def _passages(passages: Mapping[tuple[str, float], Passage]) -> dict[str, Any]:
    """What singular positions do."""
    uncorrected = (kinds.PIVOTED, kinds.ROUTH, kinds.GAUSS)
    names = dict.fromkeys(form for form, _ in passages)

    def row(form: str, step: float, seen: Passage) -> list[str]:
        run = "diverged" if seen.run is None else " ; ".join(short(v) for v in seen.run.most[1:])
        return [form, f"{step:g}", run, f"{100 * seen.lost:.0f} %", short(seen.median), short(seen.worst)]

    head = ["", "step [s]", "one motion: positions ; energy [J]", "motions lost", "energy, median", "energy, worst"]
    return {
        "lost": [span(100 * passages[form, h].lost for form in uncorrected) for h in drift.STEPS],
        "safe": listed([form for form in names if all(passages[form, h].lost == 0.0 for h in drift.STEPS)]),
        "rollouts": drift.ROLLOUTS,
        "starts": drift.STARTS,
        "passages": markdown_table(head, (row(form, step, seen) for (form, step), seen in passages.items())),
    }


def _derivations(found: FormulationFindings) -> dict[str, Any]:
    """What deriving costs: M, c, A and gam [ms], and from the declaration to the first compiled step [s]."""
    algebra, tape, sympy = derivation.WAYS
    rows = (
        [name, *(f"{1e3 * times[way].best:.3g}" for way in derivation.WAYS)] for name, times in found.derived.items()
    )
    parts = {"build": "build", "step": "compile and step", "first": "both", "imports": "imports", "process": "process"}
    starts = ([state, *(f"{min(found.steps[state, part]):.2f}" for part in parts)] for state in derivation.AIMS)
    return {
        "sympy": span(times[sympy].best / times[algebra].best for times in found.derived.values()),
        "taped": span(times[tape].best / times[algebra].best for times in found.derived.values()),
        "largest": derivation.LARGEST,
        "kane": found.kane["derivation"].best,
        "evaluation": 1e6 * found.kane["evaluation"].best,
        "derivations": markdown_table(["M, c, A, gam [ms]", *derivation.WAYS], rows),
        "first_steps": markdown_table([f"{derivation.LARGEST} [s]", *parts.values()], starts),
        **{state: min(found.steps[state, "first"]) for state in derivation.AIMS},
    }


if __name__ == "__main__":
    pages.run("mechanics.formulations_page", __doc__, measured, write)
