"""Both oscillators with and without their algebraic loop: run times in turns, motions, and where leaving it out fails.

Van der Pol's has no algebraic loop as it is written: it is posed implicitly, with a loop gain of one half.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import plants
from experiments.report.drawing.svg import Bars, Chart, SvgLine
from experiments.reproduce.motions import IMPLICIT_VAN_DER_POL, movement
from experiments.reproduce.results import ClaimTable, ClaimVerdict, Compared, Reproduction, judged, spanned
from experiments.runtime.timing import Timing, alternate, ratio
from plants import DivergedError

if TYPE_CHECKING:
    from experiments.reproduce.registry import PublishedClaim
    from plants import Plant, Trajectory

LOOP_FREE, SOLVED = "loop_free", "solved"
ITERATED = {"iterated": "fixed point", "iterated_exact": "Newton", "gauss_seidel": "Gauss-Seidel"}
NEAR = 0.15  # of a published ratio: beyond what one machine gives from one day to the next
_ROLLOUTS, _STEPS, _TURNS = 320, 250, 9


def van_der_pol_run_time(claim: PublishedClaim) -> Reproduction:
    """Time the loop in all ways to iterate it, and without."""
    return run_times(claim, IMPLICIT_VAN_DER_POL)


def inertia_run_time(claim: PublishedClaim) -> Reproduction:
    """Time the loop in all ways to iterate it, and without."""
    return run_times(claim, plants.get("nonlinear_inertia"))


def run_times(claim: PublishedClaim, plant: Plant) -> Reproduction:
    """Run times of each kind of motion that has a published ratio, measured in turns."""
    times = {kind: _timed(plant, kind) for kind in claim.values}
    ratios = {
        kind: {f"{words} / loop-free": ratio(found[mode], found[LOOP_FREE])[0] for mode, words in ITERATED.items()}
        for kind, found in times.items()
    }
    bars = {kind: {**found, "published": claim.values[kind]} for kind, found in ratios.items()}
    each = {kind: {m: 1e9 * t.best / (_ROLLOUTS * _STEPS) for m, t in found.items()} for kind, found in times.items()}
    rows = [(kind, mode, f"{ns:.2f}") for kind, found in each.items() for mode, ns in found.items()]
    solved = max(ratio(found[SOLVED], found[LOOP_FREE])[0] for found in times.values())
    verdict, reason = of_ratios(ratios, claim.values)
    return Reproduction(
        ours="; ".join(f"{kind} {spanned(list(found.values()))}" for kind, found in ratios.items()),
        verdict=verdict,
        reason=f"{reason} Solving the loop instead costs {solved:.2f} of the loop-free time at most.",
        panels=(
            Bars("Ratios", "run time / loop-free", bars, width=620.0),
            Bars("Run time", "ns per step and rollout", each, width=620.0),
        ),
        columns=2,
        tables=(ClaimTable("times", "Run time by motion and way", ("motion", "way", "ns per step and rollout"), rows),),
    )


def _timed(plant: Plant, kind: str) -> dict[str, Timing]:
    runs = {mode: movement(plant, kind, mode, _STEPS) for mode in (*ITERATED, SOLVED, LOOP_FREE)}
    return alternate({mode: partial(run.run, _ROLLOUTS, _STEPS) for mode, run in runs.items()}, _TURNS)


def of_ratios(ratios: dict[str, dict[str, float]], published: Any) -> tuple[ClaimVerdict, str]:
    """Judge published ratios by the range over the ways to iterate, widened by :data:`NEAR`."""
    outside = []
    for kind, found in ratios.items():
        low, high = min(found.values()) * (1.0 - NEAR), max(found.values()) * (1.0 + NEAR)
        if not low <= published[kind] <= high:
            outside.append(f"{kind} {spanned(list(found.values()))} times, published {published[kind]:g}")
    if not outside:
        return ClaimVerdict.AGREES, "The published ratios lie among those of the ways to iterate."
    return ClaimVerdict.DIFFERS, (
        f"Iterated until the slowest of 16 rollouts agrees, it takes {'; '.join(outside)}; the published ratios are of "
        "one rollout at a time in a block-diagram program that is not described further."
    )


_T_END, _COARSE = 10.0, 0.04  # s
_INITIAL = {"position": 0.8, "velocity": 0.0}


def inertia_motion(claim: PublishedClaim) -> Reproduction:
    """Free motion with the loop iterated and left out, and their distance over the step."""
    plant = plants.get("nonlinear_inertia")

    def run(mode: str, step: float) -> Any:
        return plants.simulate(plant, _T_END, step, initial=_INITIAL, algebraic_loop=mode)

    steps = [_COARSE / 2**k for k in range(6)]
    gaps = [float(np.abs(run(LOOP_FREE, h).states - run("iterated", h).states).max()) for h in steps]
    order = float(np.polyfit(np.log(steps[2:]), np.log(gaps[2:]), 1)[0])
    shown = {"with the loop": run("iterated", steps[2]), "without": run(LOOP_FREE, steps[2])}
    charts = [
        Chart(
            f"{name}, step {steps[2]:g} s",
            "time, s",
            f"{name}, {unit}",
            tuple(SvgLine(w, one.time, one[name], dashed=w == "without") for w, one in shown.items()),
        )
        for name, unit in (("position", "m"), ("velocity", "m/s"))
    ]
    charts.append(
        Chart(
            "Distance",
            "step, s",
            "largest distance of a state",
            (SvgLine("ours", steps, gaps, dots=True),),
            log_x=True,
            log_y=True,
        )
    )
    agrees = abs(order - claim.values["order"]) < 0.1
    reason = (
        f"The distance falls with the power {order:.2f} of the step, {gaps[2]:.1e} at {steps[2]:g} s: the same motion "
        "in the limit, an error of first order before it."
    )
    return Reproduction(
        ours=f"order {order:.2f}; distance {gaps[-1]:.1e} at a step of {steps[-1]:g} s",
        verdict=ClaimVerdict.AGREES if agrees else ClaimVerdict.DIFFERS,
        reason=reason,
        panels=tuple(charts),
        columns=3,
    )


def inertia_limit(claim: PublishedClaim) -> Reproduction:
    """Start where the loop's gain exceeds 1: raw and filtered loop-free forms beside the solved loop."""
    given, plant = claim.values, plants.get("nonlinear_inertia")
    parameters = {"a3": given["a3"]}

    def run(mode: str, q: float) -> Trajectory:
        start = {"position": q, "velocity": 0.0}
        return plants.simulate(
            plant, given["t_end"], given["step"], initial=start, parameters=parameters, algebraic_loop=mode
        )

    try:
        run(LOOP_FREE, given["lost_from"])
        lost = False
    except DivergedError:
        lost = True
    far, exact = run("loop_free_filtered", given["filtered_from"]), run(SOLVED, given["filtered_from"])
    error = float(np.abs(far["position"] - exact["position"]).max())
    verdict, reason, table = judged(
        [
            Compared("|q| at a gain of 1, m", given["limit"], given["a3"] ** -0.5, 0.005),
            Compared("error of the filtered position, m", given["error"], error, 0.1 * given["error"]),
        ],
        "limit",
        "Limit and error",
    )
    curves = (
        SvgLine("solved", exact.time, exact["position"]),
        SvgLine("filtered", far.time, far["position"], dashed=True),
    )
    apart = SvgLine("filtered less solved", far.time, far["position"] - exact["position"], colour=2)
    how = "diverges" if lost else "does not diverge"
    return Reproduction(
        ours=f"gain 1 at {given['a3'] ** -0.5:.3f} m; raw form {how} from {given['lost_from']:g} m; error {error:.1e}",
        verdict=verdict if lost else ClaimVerdict.DIFFERS,
        reason=f"{reason} The raw form {how} from {given['lost_from']:g} m at {given['step']:g} s.",
        panels=(
            Chart(f"Motion from {given['filtered_from']:g} m", "time, s", "position, m", curves),
            Chart("Error of the filtered form", "time, s", "m", (apart,)),
        ),
        tables=(table,),
    )
