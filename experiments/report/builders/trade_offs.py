"""What the headline's one number hides, in sentences: who tracks better, and what travel is without sensor noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.pipeline.judging import keeps_margins
from experiments.report.builders.case import BASELINE, FinishedDesign
from experiments.report.drawing.numbers import percent
from experiments.report.records.verdict import LOSS
from sscq.verdict.comparison import TRAVEL_SLACK

if TYPE_CHECKING:
    from sscq.situations.situation import Situation

_NOISE_MATTERS = 0.05  # change of the travel that noise hides, as a share


def trade_offs(case: FinishedDesign) -> tuple[str, ...]:
    """Return the sentences; none where the fixed gains are recommended."""
    if case.verdict.recommended == BASELINE:
        return ()
    return tuple(text for text in (_better_tracking(case), _travel_without_noise(case)) if text)


def _better_tracking(case: FinishedDesign) -> str:
    """Another controller with a smaller tracking error that keeps travel, loops and margins, if there is one."""
    comparisons, recommended = case.verdict.comparisons, case.verdict.recommended
    own = comparisons[recommended].error
    if own is None:
        return ""
    errors = {
        name: found.error.value
        for name, found in comparisons.items()
        if name in case.ladder
        and case.kind_for(name) == case.judged
        and found.error is not None
        and found.travel.value <= TRAVEL_SLACK
        and not found.new_failures
        and keeps_margins(case.bench, case.contenders[name]) is not False
    }
    best = min(errors, key=lambda name: errors[name], default=recommended)
    if best == recommended or not errors[best] < own.value - LOSS:
        return ""
    measure, travel = case.setup.fitness.error.upper(), comparisons[best].travel.value
    return (
        f"Better {measure}: {case.the(best)}, {percent(errors[best])} with {percent(travel)} travel "
        f"({percent(own.value)} here)"
    )


def _travel_without_noise(case: FinishedDesign) -> str:
    """The travel in named situations without sensor noise, where noise hides a difference."""
    noisy = [_is_noisy(case, one) for one in case.setup.sets[case.judged]]
    quiet = np.array([not _is_noisy(case, one) for one in case.setup.sets["unforeseen"]])
    if not any(noisy) or not quiet.any():
        return ""
    pair = (case.verdict.recommended, BASELINE)
    lost = np.logical_or(*(case.failed(key, "unforeseen") for key in pair))
    kept = quiet & ~lost.any(axis=0)
    own, other = (float(case.measure(key, "unforeseen", "total_variation")[:, kept].sum()) for key in pair)
    if not other > 0.0:
        return ""
    change, told = own / other - 1.0, case.verdict.comparisons[pair[0]].travel.value
    if abs(change - told) <= _NOISE_MATTERS:
        return ""
    return f"Travel in the unforeseen named situations without sensor noise ({int(kept.sum())}): {percent(change)}"


def _is_noisy(case: FinishedDesign, given: Situation) -> bool:
    return any(given.noise_levels(case.plant))
