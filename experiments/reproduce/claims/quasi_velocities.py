"""Quasi-velocities against Routh's equations: run time, what constraints lose, singular positions."""

from __future__ import annotations

import math
import statistics
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from experiments.report.drawing.svg import Bars, Chart, SvgLine
from experiments.reproduce.mechanics import drift, mechanism_forms, mechanisms
from experiments.reproduce.motions import OpenLoop
from experiments.reproduce.results import ClaimTable, ClaimVerdict, Reproduction, spanned
from experiments.runtime.timing import alternate, ratio

if TYPE_CHECKING:
    from experiments.reproduce.mechanics.drift import Drift
    from experiments.reproduce.registry import PublishedClaim

QUASI, ROUTH, DENSE, FED_BACK = (
    mechanism_forms.QUASI,
    mechanism_forms.ROUTH,
    mechanism_forms.PIVOTED,
    mechanism_forms.FED_BACK,
)
_TIMED = ("sleigh", "rolling disk", "cart (1 link)", "snakeboard", "Cartesian pendulum")
_ROLLOUTS, _STEPS, _STEP, _TURNS = 64, 500, 1e-3, 15
_EQUAL = 0.05  # by which equal kernels differ from turn to turn


def quasi_run_time(claim: PublishedClaim) -> Reproduction:
    """Time one step of each form in turns, in lanes."""
    over: dict[str, dict[str, float]] = {}
    for name in _TIMED:
        made = mechanism_forms.forms(name, QUASI, ROUTH, DENSE)
        calls = {}
        for form in (QUASI, ROUTH, DENSE):
            first = np.tile(mechanisms.start(name, made[form]), (_ROLLOUTS, 1))
            calls[form] = partial(OpenLoop(made[form], "solved").run, _ROLLOUTS, _STEPS, _STEP, first)
        times = alternate(calls, _TURNS)
        over[name] = {form: ratio(times[form], times[QUASI])[0] for form in (ROUTH, DENSE)}
    alike, dense = ([found[form] for found in over.values()] for form in (ROUTH, DENSE))
    slower = [name for name, found in over.items() if found[ROUTH] < 1.0 - _EQUAL]
    low, high = claim.values["range_space"]
    told = f"slower for {' and '.join(slower)}" if slower else "on all of them"
    return Reproduction(
        ours=f"{spanned(alike)} times (generated range space), {spanned(dense)} times (dense LU)",
        verdict=ClaimVerdict.DIFFERS if slower else ClaimVerdict.AGREES,
        reason=(
            f"Like for like Routh's equations take {spanned(alike)} times as long (median "
            f"{statistics.median(alike):.2g}; published {low:g} to {high:g}): faster on "
            f"{len(over) - len(slower)} of {len(over)} systems, {told}. The larger factors belong to a general solver."
        ),
        panels=(Bars("Time over that of quasi-velocities", "times", over, width=1100.0),),
        tables=(
            ClaimTable(
                "ratios",
                "Ratios",
                ("system", ROUTH, DENSE),
                [(name, *(f"{v:.2f}" for v in found.values())) for name, found in over.items()],
            ),
        ),
    )


def _runs(name: str, step: float) -> dict[str, Drift | None]:
    """Return what a system's free motion loses, in the forms that are compared."""
    made = mechanism_forms.forms(name, ROUTH, FED_BACK, QUASI)
    return {form: drift.drift(name, made[form], step) for form in (ROUTH, FED_BACK, QUASI)}


def _lost(run: Drift | None, which: int) -> float:
    return run.most[which] if run else math.inf


_POINTS = 300


def _so_far(runs: dict[str, Drift | None], which: int, title: str) -> Chart:
    """Largest value up to each time."""
    curves = []
    for form, run in runs.items():
        if run is not None:
            values = np.maximum.accumulate(np.abs((run.speed, run.position, run.energy)[which]))
            every = max(1, len(values) // _POINTS)
            curves.append(SvgLine(form, run.time[1::every], np.maximum(values[1::every], 1e-18)))
    return Chart(title, "time, s", "largest so far", tuple(curves), log_y=True)


def quasi_speeds(claim: PublishedClaim) -> Reproduction:
    """Run rolling systems for 20 s and say by how much their constraints on speeds are violated."""
    runs = {name: _runs(name, 0.01) for name in ("cart (1 link)", "rolling disk", "snakeboard")}
    rows = [(name, *(f"{_lost(run, 0):.0e}" for run in found.values())) for name, found in runs.items()]
    quasi = max(_lost(found[QUASI], 0) for found in runs.values())
    routh = [_lost(found[ROUTH], 0) for found in runs.values()]
    return Reproduction(
        ours=f"at most {quasi:.0e} with quasi-velocities, {min(routh):.0e} to {max(routh):.0e} with Routh's equations",
        verdict=ClaimVerdict.AGREES if quasi < claim.values["rounding"] else ClaimVerdict.DIFFERS,
        reason="Rates are a basis times quasi-velocities: only rounding is left; with multipliers the violation grows.",
        panels=tuple(_so_far(found, 0, f"{name}: |A v + b|") for name, found in runs.items()),
        columns=3,
        tables=(ClaimTable("speeds", "Largest |A v + b|, h = 0.01 s", ("system", ROUTH, FED_BACK, QUASI), rows),),
    )


_NEAR = 3.0  # one digit is given, of the largest value of a run that is not the same to the last bit


def quasi_positions(claim: PublishedClaim) -> Reproduction:
    """Run the Cartesian double pendulum for 20 s and say by how much its constraints on positions are violated."""
    runs = _runs("Cartesian double pendulum", 0.01)
    found = {
        "Routh": _lost(runs[ROUTH], 1),
        "Routh + Baumgarte": _lost(runs[FED_BACK], 1),
        QUASI: _lost(runs[QUASI], 1),
    }
    rows, near = [], True
    for name, given in claim.values.items():
        inside = given / _NEAR <= found[name] <= given * _NEAR
        near = near and inside
        rows.append((name, f"{given:.0e}", f"{found[name]:.0e}", "yes" if inside else "no"))
    told = "as published" if near else "not all as published"
    return Reproduction(
        ours=f"{found[QUASI]:.0e} m² with quasi-velocities, {found['Routh']:.0e} m² with Routh's equations",
        verdict=ClaimVerdict.DIFFERS,
        reason=(
            f"A drift of {found[QUASI]:.0e} m² is left, {found['Routh'] / found[QUASI]:,.0f} times less than with "
            f"multipliers ({told} within a factor of {_NEAR:g}): practically true, not strictly."
        ),
        panels=(_so_far(runs, 1, "Cartesian double pendulum: |phi|, m²"), _so_far(runs, 2, "Error of the energy, J")),
        tables=(
            ClaimTable("positions", "Largest |phi|, h = 0.01 s", ("form", "published", "ours", "within 3 times"), rows),
        ),
    )


def quasi_singular(claim: PublishedClaim) -> Reproduction:
    """Run the slider-crank with equal links through its singular positions, once and 256 times."""
    made = drift.singular_forms()
    step = 0.01
    forms = (ROUTH, FED_BACK, QUASI, drift.PROJECTED)
    seen = {form: drift.passage(made[form], step) for form in forms}
    rows, near = [], True
    for h, (position, energy) in claim.values.items():
        run = drift.drift(drift.SYSTEM, made[QUASI], float(h))
        found = (_lost(run, 1), _lost(run, 2))
        inside = all(ours <= _NEAR * given for ours, given in zip(found, (position, energy), strict=True))
        near = near and inside
        rows.append((f"{h} s", f"{position:.0e}; {energy:.0e}", f"{found[0]:.0e}; {found[1]:.0e}"))
    lost = {form: 100.0 * one.lost for form, one in seen.items()}
    passed = lost[QUASI] == 0.0 and lost[ROUTH] > 0.0 and near
    runs = {form: one.run for form, one in seen.items()}
    others = [form for form in (FED_BACK, drift.PROJECTED) if lost[form] == 0.0]
    return Reproduction(
        ours=f"lost of {drift.ROLLOUTS} motions: {lost[ROUTH]:.0f} % (Routh), {lost[QUASI]:.0f} % (quasi-velocities)",
        verdict=ClaimVerdict.AGREES if passed else ClaimVerdict.DIFFERS,
        reason=(
            f"Quasi-velocities lose none at a step of {step:g} s. Nor do {' and '.join(others)}. "
            "The basis selects the branch."
        ),
        panels=(
            Bars("Motions lost", "%", {"slider-crank, 20 s": lost}, width=480.0, height=320.0),
            _so_far(runs, 1, "One motion: positions"),
            _so_far(runs, 2, "One motion: error of the energy, J"),
        ),
        columns=3,
        tables=(ClaimTable("numbers", "Positions and energy", ("step", "published", "ours"), rows),),
    )
