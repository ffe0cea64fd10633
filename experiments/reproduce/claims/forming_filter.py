"""The forming filter with its algebraic loop and without: signals, phase portraits, cross-plot, run time, density."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

import plants
from experiments.report.drawing.svg import Chart, SvgLine
from experiments.reproduce.forming_filter import (
    COEFFICIENTS,
    FILTER,
    NOISE,
    STEP,
    T_END,
    WITH,
    WITHOUT,
    over_time,
    portrait,
    run,
    signal,
)
from experiments.reproduce.motions import OpenLoop
from experiments.reproduce.results import ClaimTable, ClaimVerdict, Compared, Reproduction, judged
from experiments.runtime.timing import alternate, ratio
from plants import DivergedError
from plants.excitation import WhiteNoise

if TYPE_CHECKING:
    from experiments.reproduce.registry import PublishedClaim
    from plants import Trajectory

_MISSING = (
    "What is missing: the curves, the noise's intensity and the step (ours: variance "
    f"{NOISE.variance:g} N², held {NOISE.hold:g} s, step {STEP:g} s, {T_END:g} s)."
)


@cache
def both() -> dict[str, Trajectory]:
    """Return the runs with the loop iterated and left out."""
    return {"with the loop": run(WITH), "without": run(WITHOUT)}


def _same(name: str) -> Reproduction:
    """One signal of both runs."""
    one, other = (signal(each, name) for each in both().values())
    gap = float(np.abs(one - other).max() / np.abs(one).max())
    return Reproduction(
        ours=f"largest distance of the two curves {100 * gap:.2g} % of the largest {name}",
        verdict=ClaimVerdict.NOT_REPRODUCIBLE,
        reason=f"{_MISSING} Ours lie within {100 * gap:.2g} % of one another.",
        panels=(over_time(both(), name), _apart(name, one - other)),
    )


def _apart(name: str, gap: np.ndarray) -> Chart:
    time = next(iter(both().values())).time
    return Chart(f"{name}: with less without", "time, s", "difference", (SvgLine("difference", time, gap, colour=2),))


def forming_filter_position(_: PublishedClaim) -> Reproduction:
    """Draw the position with the loop and without."""
    return _same("position")


def forming_filter_velocity(_: PublishedClaim) -> Reproduction:
    """Draw the velocity with the loop and without."""
    return _same("velocity")


def forming_filter_acceleration(_: PublishedClaim) -> Reproduction:
    """Draw the acceleration with the loop and without."""
    return _same("acceleration")


def _portrayed(words: str, number: int, told: str) -> Reproduction:
    one = both()[words]
    ends = [f"{name} {one[name].min():.3f} to {one[name].max():.3f}" for name in ("position", "velocity")]
    return Reproduction(
        ours="; ".join(ends),
        verdict=ClaimVerdict.NOT_REPRODUCIBLE,
        reason=f"{_MISSING} {told}",
        panels=(portrait(words, one, number),),
    )


def forming_filter_portrait_with(_: PublishedClaim) -> Reproduction:
    """Draw velocity over position, with the loop."""
    return _portrayed("with the loop", 0, "Ours is drawn.")


def forming_filter_portrait_without(_: PublishedClaim) -> Reproduction:
    """Draw velocity over position, without the loop."""
    one, other = both().values()
    sizes = np.abs(one.states).max(axis=0)
    gap = float(np.hypot(*((one.states - other.states) / sizes).T).max())
    return _portrayed("without", 1, f"Ours lies within {100 * gap:.2g} % of that with the loop.")


def forming_filter_cross_plot(_: PublishedClaim) -> Reproduction:
    """Draw the position without the loop over that with it."""
    one, other = (each["position"] for each in both().values())
    found = float(np.corrcoef(one, other)[0, 1])
    slope = float(np.polyfit(one, other, 1)[0])
    line = SvgLine("without over with", one, other)
    return Reproduction(
        ours=f"correlation {found:.6f}, slope {slope:.4f}",
        verdict=ClaimVerdict.NOT_REPRODUCIBLE,
        reason=f"{_MISSING} With ours the cross-plot has the slope {slope:.4f} and the correlation {found:.6f}.",
        panels=(Chart("Cross-plot of the position", "with the loop, m", "without, m", (line,), height=440.0),),
    )


_COUNTS = (500, 1000, 2000, 4000)
_ROLLOUTS, _TURNS = 256, 9


def forming_filter_time_complexity(_: PublishedClaim) -> Reproduction:
    """Time runs of more and more steps, with the loop and without, in turns."""
    moved = {mode: OpenLoop(FILTER, mode, {"noise": NOISE}) for mode in (WITH, WITHOUT)}
    start = np.zeros((_ROLLOUTS, 2))
    calls = {f"{mode} {n}": partial(one.run, _ROLLOUTS, n, STEP, start) for mode, one in moved.items() for n in _COUNTS}
    found = alternate(calls, _TURNS)
    powers = {
        mode: float(np.polyfit(np.log(_COUNTS), np.log([found[f"{mode} {n}"].best for n in _COUNTS]), 1)[0])
        for mode in moved
    }
    over = ratio(found[f"{WITH} {_COUNTS[-1]}"], found[f"{WITHOUT} {_COUNTS[-1]}"])[0]
    curves = tuple(
        SvgLine(words, _COUNTS, [1e3 * found[f"{mode} {n}"].best for n in _COUNTS], dots=True)
        for mode, words in ((WITH, "with the loop"), (WITHOUT, "without"))
    )
    return Reproduction(
        ours=f"powers of the steps {powers[WITH]:.2f} and {powers[WITHOUT]:.2f}; with the loop {over:.2g} times",
        verdict=ClaimVerdict.NOT_REPRODUCIBLE,
        reason=(
            "What is missing: the published run times, and the machine and program that they are of. Ours grow with "
            f"the powers {powers[WITH]:.2f} and {powers[WITHOUT]:.2f} of the steps; the iterated loop takes {over:.2g} "
            "times as long."
        ),
        panels=(Chart("Time complexity", "steps", f"ms, {_ROLLOUTS} rollouts", curves),),
    )


def forming_filter_limit(claim: PublishedClaim) -> Reproduction:
    """Draw the loop's gain, and try the raw loop-free form with noise that drives it beyond."""
    limit = math.sqrt(COEFFICIENTS["a0"] / COEFFICIENTS["a3"])
    verdict, reason, table = judged(
        [Compared("|x| at a gain of 1, m", claim.values["limit"], limit, 0.005)], "limit", "Loop gain of 1"
    )
    strong = WhiteNoise(claim.values["variance"], hold=NOISE.hold)
    try:
        run(WITHOUT, noise=strong)
        verdict, told = ClaimVerdict.DIFFERS, "runs to its end"
    except DivergedError:
        told = "diverges"
    solved = run("solved", noise=strong)
    x = np.linspace(0.0, 0.4, 81)
    gain = SvgLine("a3 x² / a0", x, COEFFICIENTS["a3"] * x**2 / COEFFICIENTS["a0"])
    motion = SvgLine("loop solved", solved.time, solved["position"])
    return Reproduction(
        ours=f"gain 1 at {limit:.4f} m; beyond, the raw form {told}",
        verdict=verdict,
        reason=f"{reason} With noise of variance {strong.variance:g} N² the motion reaches "
        f"{np.abs(solved['position']).max():.2f} m; the raw loop-free form {told}, the solved loop does not.",
        panels=(
            Chart("Loop gain", "|x|, m", "gain", (gain, SvgLine("1", x[[0, -1]], (1.0, 1.0), dashed=True))),
            Chart("Motion beyond the limit", "time, s", "position, m", (motion,)),
        ),
        tables=(table,),
    )


_LONG, _BEFORE = 2000.0, 50.0  # s; what comes before is the start's
_VARIANCES = (0.004, 0.02, 0.05, 0.1, 0.2)  # N^2
_PARTS, _BINS = 20, 61


def forming_filter_density(_: PublishedClaim) -> Reproduction:
    """Estimate kurtosis and correlation of long runs, by the variance of the noise."""
    found = {variance: _long(variance) for variance in _VARIANCES}
    kurtosis = {variance: _kurtosis(x) for variance, x in found.items()}
    x = found[_VARIANCES[-1]]
    lags, correlation = _correlation(x)
    height, edges = np.histogram(x, _BINS, density=True)
    middle = 0.5 * (edges[1:] + edges[:-1])
    gaussian = SvgLine("Gaussian", middle, stats.norm.pdf(middle, x.mean(), x.std()), dashed=True)
    fades = float(lags[np.abs(correlation) > math.exp(-1.0)].max())
    excess, spread = kurtosis[_VARIANCES[-1]]
    other = abs(excess) > 4.0 * spread
    rows = [
        (f"{variance:g}", f"{found[variance].std():.4f}", *(f"{v:.3f}" for v in kurtosis[variance]))
        for variance in found
    ]
    title = f"Density, noise of {_VARIANCES[-1]:g} N²"
    return Reproduction(
        ours=f"excess kurtosis {excess:.2f} ± {spread:.2f} at {_VARIANCES[-1]:g} N²; 1/e after {fades:.2f} s",
        verdict=ClaimVerdict.AGREES if other and fades > 10.0 * STEP else ClaimVerdict.DIFFERS,
        reason=(
            f"Its excess kurtosis is {'not ' if other else ''}that of a Gaussian (0), and its correlation fades over "
            f"{fades:.2f} s. How far from Gaussian it is depends on the noise, whose intensity is not printed."
        ),
        panels=(
            Chart(title, "position, m", "1/m", (SvgLine("filter", middle, height), gaussian)),
            Chart("Correlation", "lag, s", "share of the variance", (SvgLine("filter", lags, correlation),)),
            Chart(
                "Excess kurtosis",
                "variance of the noise, N²",
                "0 where Gaussian",
                (SvgLine("filter", _VARIANCES, [k for k, _ in kurtosis.values()], dots=True),),
                log_x=True,
            ),
        ),
        columns=3,
        tables=(ClaimTable("moments", "Moments", ("noise, N²", "deviation, m", "excess kurtosis", "its error"), rows),),
    )


def _long(variance: float) -> np.ndarray:
    noise = {"noise": WhiteNoise(variance, hold=NOISE.hold)}
    return np.asarray(
        plants.simulate(FILTER, _LONG, STEP, disturbances=noise, seed=11)["position"][round(_BEFORE / STEP) :]
    )


def _kurtosis(x: np.ndarray) -> tuple[float, float]:
    """Excess kurtosis, and its standard error over parts of the run."""
    parts = [float(stats.kurtosis(part)) for part in np.array_split(x, _PARTS)]
    return float(stats.kurtosis(x)), float(np.std(parts) / math.sqrt(_PARTS))


def _correlation(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lags [s] and the correlation there."""
    centred, lags = x - x.mean(), np.arange(0, round(6.0 / STEP), 10)
    return lags * STEP, np.array([np.mean(centred[: len(x) - lag] * centred[lag:]) for lag in lags]) / x.var()
