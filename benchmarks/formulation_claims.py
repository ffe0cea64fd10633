"""Sentences of the page on formulations about times: each takes its figures from the run that writes the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import derivation
from benchmarks import mechanism_forms as kinds
from benchmarks.formulation_tables import angles
from benchmarks.formulations import LAPACK, WIDER
from benchmarks.prose import listed, median, paragraph, span
from plants.core.kernel import LANES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.formulations import Costs
    from benchmarks.timing import Timing


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
