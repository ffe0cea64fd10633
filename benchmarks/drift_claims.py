"""Sentences of the page on formulations about drift: each takes its figures from the run that writes the page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchmarks import drift
from benchmarks import mechanism_forms as kinds
from benchmarks.formulation_tables import short
from benchmarks.mechanisms import SYSTEMS
from benchmarks.prose import listed, paragraph, span
from benchmarks.singular_position import LOST, SYSTEM

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchmarks.drift import Drift
    from benchmarks.singular_position import Passage

    Drifts = Mapping[str, Mapping[tuple[str, float], Drift | None]]

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
