"""What the page on formulations says about times and drift: all figures come from the run that writes the page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchmarks.mechanics import derivation, drift
from benchmarks.mechanics import mechanism_forms as kinds
from benchmarks.mechanics.drift import LOST, SYSTEM
from benchmarks.mechanics.formulations import LAPACK, WIDER
from benchmarks.mechanics.mechanisms import SYSTEMS
from benchmarks.mechanics.tables import angles, short
from benchmarks.runner.pages import listed, median, paragraph, span
from plants.core.kernel.kernel import LANES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmarks.mechanics.drift import Drift, Passage
    from benchmarks.mechanics.formulations import Costs
    from benchmarks.runner.timing import Timing

    Drifts = Mapping[str, Mapping[tuple[str, float], Drift | None]]


def cost(costs: Mapping[str, Costs]) -> list[str]:
    """Say whether quasi-velocities are faster, like for like."""

    def against(form: str, lanes: int) -> dict[str, float]:
        return {name: found.against_quasi(form, lanes)[0] for name, found in costs.items()}

    one, many, fed = against(kinds.ROUTH, 1), against(kinds.ROUTH, LANES), against(kinds.FED_BACK, 1)
    noise = _noise(costs)
    slower = [name for name in one if min(one[name], many[name]) < 1.0 - noise]
    general = [found.times[LAPACK, 1].best / found.times[kinds.ROUTH, 1].best for found in costs.values()]
    normal = [found.times[kinds.AS_DERIVED, 1].best / found.times[kinds.NORMAL, 1].best for found in costs.values()]
    return paragraph(
        f"**Faster: {'on most systems' if slower else 'yes'}, and by less than the large factors that are quoted.**",
        "Both forms generated and solved by straight-line L D L', Routh's equations take",
        f"{span(one.values())} times as long as quasi-velocities in one lane (median {median(one.values())}) and",
        f"{span(many.values())} times in {LANES} lanes (median {median(many.values())}); the same kernel measured",
        f"twice differs by up to {100 * noise:.0f} %. {_slower(slower, costs)}",
        "The large factors belong to the general solver: a dense LU elimination with pivots, compiled in the same way,",
        f"takes {span(against(kinds.PIVOTED, 1).values())} times as long as quasi-velocities",
        f"({LANES} lanes: {span(against(kinds.PIVOTED, LANES).values())}), LAPACK's",
        f"{span(found.against_quasi(LAPACK, 1)[0] for found in costs.values())} times. But Routh's form too gains",
        f"{span(general)} times by leaving LAPACK. The trigonometric normal form makes quasi-velocities",
        f"{span(normal)} times as fast as the expressions as derived. Feedback by Baumgarte multiplies the time of",
        f"Routh's form by {median(fed[name] / one[name] for name in one)} (median). {_lanes(costs)}",
    )


def _noise(costs: Mapping[str, Costs]) -> float:
    """How far the times of one kernel that was built twice lie apart: no difference below it means anything."""
    twins = [c for c in costs.values() if c.operations[kinds.QUASI] == c.operations[kinds.NORMAL]]
    return max((abs(c.against_quasi(kinds.NORMAL, n)[0] - 1.0) for c in twins for n in (1, LANES)), default=0.0)


def _slower(names: Sequence[str], costs: Mapping[str, Costs]) -> str:
    if not names:
        return ""
    more = []
    for name in names:
        quasi, routh = (angles(costs[name].operations[form]) for form in (kinds.NORMAL, kinds.ROUTH))
        why = f" (whose basis takes sines and cosines of {quasi} angles instead of {routh})" if quasi > routh else ""
        more.append(f"the {name}{why}")
    return f"They are slower for {listed(more)}."


def _lanes(costs: Mapping[str, Costs]) -> str:
    gained = [f"{costs[name].of_lanes(kinds.QUASI)[0]:.1f} for the {name}" for name in WIDER if name in costs]
    return f"{LANES} lanes against one gain a factor of {listed(gained)}." if gained else ""


def tools(
    derived: Mapping[str, Mapping[str, Timing]],
    kane: Mapping[str, Timing],
    steps: Mapping[tuple[str, str], Sequence[float]],
) -> list[str]:
    """Say what deriving costs."""
    algebra, tape, sympy = derivation.WAYS
    factors, taped = ([t[way].best / t[algebra].best for t in derived.values()] for way in (sympy, tape))
    cold, warm = (min(steps[state, "first"]) for state in derivation.AIMS)
    return paragraph(
        f"**Derivation.** The same expressions take SymPy {span(factors)} times as long as our computer algebra",
        f"(symengine), the tape's own derivatives {span(taped)} times. The {derivation.LARGEST}: from the",
        f"declaration to the first compiled step {cold:.2g} s with an empty cache, {warm:.2g} s with a filled one. For",
        f"the rolling disk SymPy's KanesMethod takes {kane['derivation'].best:.2g} s, and one evaluation by",
        "lambdify and",
        f"NumPy {1e6 * kane['evaluation'].best:.0f} µs.",
    )


_ROUNDING = 1e-11  # of a residual or an energy: what is smaller is rounding, not drift
_SPOILT = 1000  # times the error of quasi-velocities
_COARSE, _FINE = drift.STEPS


def _held(drifts: Drifts) -> list[str]:
    """Systems with constraints on positions, but for the one that passes singular positions."""
    return [name for name in drifts if SYSTEMS[name]().declared().positions and name != SYSTEM]


def _most(runs: Mapping[tuple[str, float], Drift | None], form: str, which: int) -> dict[float, float]:
    """Largest loss at one level for each step; infinite where the run diverged."""
    found = {h: runs[form, h] for h in drift.STEPS}
    return {h: math.inf if run is None else run.most[which] for h, run in found.items()}


def corrections(drifts: Drifts) -> list[str]:
    """Say whether violations need correcting."""
    speeds = [_most(runs, kinds.QUASI, 0)[h] for runs in drifts.values() for h in drift.STEPS]
    gains, orders = [], []
    for name in _held(drifts):
        quasi, routh = (_most(drifts[name], form, 1) for form in (kinds.QUASI, kinds.ROUTH))
        gains += [routh[h] / quasi[h] for h in drift.STEPS]
        orders.append(math.log10(quasi[_COARSE] / quasi[_FINE]) / math.log10(_COARSE / _FINE))
    level = {form: {n: _most(runs, form, 0) for n, runs in drifts.items()} for form in (kinds.FED_BACK, kinds.ROUTH)}
    worse = [n for n in drifts if level[kinds.FED_BACK][n][_COARSE] > level[kinds.ROUTH][n][_COARSE]]
    return paragraph(
        "**No correction needed: exactly so for speeds, not quite for positions.** With quasi-velocities |A v + b|",
        f"stays below {short(max(speeds))} on every system, by construction. A constraint on positions still drifts,",
        f"{span(gains)} times less than with multipliers, and it falls with the power {span(orders)} of the step.",
        "Projection takes the rest away in either form, to rounding; joint coordinates leave nothing to drift.",
        f"Gauss' and Maggi's forms drift as Routh's does ({span(_alike(drifts))} times as far, step {_FINE:g} s):",
        "it is the choice of state that counts, not the algebra.",
        f"Feedback by Baumgarte is no safe cure: at the step {_COARSE:g} s it leaves the speeds of" if worse else "",
        f"{listed(worse)} further off than no feedback does." if worse else "",
    )


def _alike(drifts: Drifts) -> list[float]:
    """How far other forms with multipliers drift from the constraints' speeds, in terms of Routh's form."""
    return [
        _most(runs, form, 0)[_FINE] / _most(runs, kinds.ROUTH, 0)[_FINE]
        for name, runs in drifts.items()
        for form in (kinds.GAUSS, kinds.MAGGI)
        if name != SYSTEM and _most(runs, kinds.ROUTH, 0)[_FINE] > _ROUNDING
    ]


def energies(drifts: Drifts) -> list[str]:
    """Say what becomes of the energy."""

    def times(names: Iterable[str], other: str) -> str:
        return span(_most(drifts[n], other, 2)[_FINE] / _most(drifts[n], kinds.QUASI, 2)[_FINE] for n in names)

    held = _held(drifts)
    rolling = [n for n in drifts if not SYSTEMS[n]().declared().positions]
    rolling = [n for n in rolling if _most(drifts[n], kinds.QUASI, 2)[_FINE] > _ROUNDING]
    return paragraph(
        f"**Energy.** At the step {_FINE:g} s its error with multipliers is {times(held, kinds.ROUTH)} times that of",
        f"quasi-velocities where positions are held, but only {times(rolling, kinds.ROUTH)} times where wheels roll",
        f"(of the systems whose error is above {_ROUNDING:g} J): there it is the integrator's own error. With",
        f"projection it is {times(held, drift.PROJECTED)} and {times(rolling, drift.PROJECTED)} times: no form is",
        "better.",
    )


def poles(drifts: Drifts) -> list[str]:
    """Say where velocities that are rates of real coordinates fail."""
    energy = {
        form: {n: _most(runs, form, 2)[_FINE] for n, runs in drifts.items()} for form in (kinds.CHAPLYGIN, kinds.QUASI)
    }
    spoilt = [n for n in drifts if energy[kinds.CHAPLYGIN][n] > _SPOILT * (energy[kinds.QUASI][n] + _ROUNDING)]
    diverged = [n for n in spoilt if not math.isfinite(energy[kinds.CHAPLYGIN][n])]
    return paragraph(
        "**Chaplygin's form** has no multipliers either, but its velocities are rates of chosen coordinates, and where",
        f"these stop telling the motion it has poles. Its energy is spoilt for {listed(spoilt)} (more than",
        f"{_SPOILT:,} times the error of quasi-velocities, step {_FINE:g} s; diverged: {listed(diverged)}),",
        "and as good as theirs for the others.",
    )


def singular(passages: Mapping[tuple[str, float], Passage]) -> list[str]:
    """Say what singular positions do."""
    uncorrected = (kinds.PIVOTED, kinds.ROUTH, kinds.GAUSS)
    lost = {h: [100 * passages[form, h].lost for form in uncorrected] for h in drift.STEPS}
    names = dict.fromkeys(form for form, _ in passages)
    kept = [form for form in names if all(passages[form, h].lost == 0.0 for h in drift.STEPS)]
    return paragraph(
        "**Singular positions: confirmed, with an addition.** Where the constraints come to depend on one another,",
        f"multipliers without correction lose {span(lost[_COARSE])} % of the motions (energy wrong by more than",
        f"{100 * LOST:g} %) at the step {_COARSE:g} s and {span(lost[_FINE])} % at {_FINE:g} s: the nearer the",
        "singular position, the more a violation of the speeds is amplified. A single run may get through by",
        "luck, so many",
        f"were run. None is lost by {listed(kept)}. The basis itself selects the branch; what is corrected stays on it",
        "because its steps pass over the singular point.",
    )
