"""A plant in motion: region, energy balance, order of convergence, and the step that suits it.

Its `after_step` runs, and what that does to the energy is told, not judged; its own step map `advance` is held
against what it approximates, the derivative, and runs.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from plants.core.analysis.slopes import Slopes
from plants.core.blocks import shape
from plants.core.checks.constraints import check_drift
from plants.core.checks.report import CheckReport
from plants.core.checks.runs import HalvedRuns, check_stiffness, drive, fastest, fastest_in_passing, rounded
from plants.core.motion.simulate import simulate
from plants.core.motion.trajectory import DivergedError
from plants.core.replay import replay
from plants.core.tracing.tape import Tape
from plants.core.tracing.trace import Program, differentiate, flat, symbols

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from plants.core.blocks import BlockSample
    from plants.core.checks.runs import TestedMotion
    from plants.core.motion.trajectory import Trajectory
    from plants.core.plant import Plant
    from plants.core.quantities import Quantity


BALANCE = 1e-6  # relative error to which the energy balance must close
ACCURATE, USABLE, STABLE = 0.1, 0.5, 2.78  # step times largest |eigenvalue|: rk4 accurate, usable, stable
_COARSE, _HALVINGS = 0.4, 5
_LONGEST = 400.0  # length of the tested run in times of the fastest mode
_ATTEMPTS = 10
_PARTED = 1e-2  # of a state's size: runs that are further apart at the finest step say nothing of the order
_STEPS = 4000


def check_motion(report: CheckReport, plant: Plant, sample: BlockSample) -> None:
    """Simulate the plant from a moved initial state with smooth inputs, and test what the run must fulfil.

    An `after_step` is left out of all but its own test: impacts and projections change the energy and break the order.
    So is an `advance`: it is tested by what it approximates. A dead time is left out altogether: it makes the smooth
    inputs begin with a jump, between two steps, which tells nothing of the equations.
    """
    slopes, flow = Slopes(plant), replace(plant, after_step=None, advance=None, input_delay=None)
    try:
        runs = _find_runs(report, flow, slopes)
    except Exception as error:  # noqa: BLE001  (a plant that cannot be compiled or run is reported)
        report.problems.append(f"it cannot be simulated: {type(error).__name__}: {error}{_where_not_finite(slopes)}")
        return
    if runs is None:
        return
    fast = fastest_in_passing(slopes, runs.at(1), plant)
    _advise_step(report, fast, plant.step if plant.advance is None else 0.0)
    if plant.advance is None:
        check_stiffness(report, slopes, runs)
    _check_order(report, runs)
    check_drift(report, plant, runs.at(_HALVINGS - 1))
    if plant.energy is not None and plant.entropy_rate is not None and _supply_is_known(plant):
        _check_balance(report, flow, runs, sample)
    if plant.after_step is not None:
        check_after_step(report, plant, runs.drive)
    if plant.advance is not None:
        check_advance(report, plant, runs)


def _where_not_finite(slopes: Slopes) -> str:
    """Which state's slopes are not finite at its nominal value, at 0 or at an end of its range, as of a root at 0."""
    plant, found = slopes.plant, []
    rest = (slopes.nominal_input(), np.array(plant.calm()), np.array(plant.nominal()))
    for k, q in enumerate(plant.states):
        for value in dict.fromkeys(v for v in (q.nominal, 0.0, q.low, q.high) if math.isfinite(v)):
            state = np.array(plant.initial())
            state[k] = value
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                finite = np.isfinite(slopes.at(0.0, state, *rest).A).all()
            if not finite:
                found.append(f"{q.name} = {value:g}")
    if not found:
        return ""
    return (
        f"; the derivative's slope is not finite at {', '.join(found)}, as that of a root at 0 is: write a straight "
        "line there, such as where(level - 0.01, sqrt(where(level - 0.01, level, 0.01)), 10.0 * level)"
    )


def advised_steps(plant: Plant) -> tuple[float, float] | None:
    """Return the accurate and the largest usable step of explicit integrators [s], as `check_motion` advises them.

    Only what that takes is done: a run at two steps and the modes along it. None where nothing is known: the plant has
    no mode of its own, steps by its own map (`advance`), or could not be tested.
    """
    if plant.advance is not None:
        return None
    slopes = Slopes(plant)
    try:
        runs = _find_runs(CheckReport(plant.name), replace(plant, after_step=None, input_delay=None), slopes)
        fast = 0.0 if runs is None else fastest_in_passing(slopes, runs.at(1), plant)
    except Exception:  # noqa: BLE001  (a plant that cannot be run is `check_motion`'s to report)
        return None
    return _steps(fast) if fast > 0.0 else None


def _steps(fast: float) -> tuple[float, float]:
    return rounded(ACCURATE / fast), rounded(USABLE / fast)


def _supply_is_known(plant: Plant) -> bool:
    return plant.supplied_power is not None or not (plant.inputs or plant.disturbances)


def _find_runs(report: CheckReport, plant: Plant, slopes: Slopes) -> HalvedRuns | None:
    """A run inside the plant's region: shorter and more gently driven until it stays there."""
    initial = tuple(_moved(q, 1.0 if k % 2 == 0 else -1.0) for k, q in enumerate(plant.states))
    if plant.admissible is not None:
        initial = plant.admissible(initial, plant.nominal())
    u, w, p = slopes.nominal_input(), np.array(plant.calm()), np.array(plant.nominal())
    values = np.abs(np.linalg.eigvals(slopes.at(0.0, np.array(initial), u, w, p).A))
    fast = float(values.max(initial=0.0)) or 1.0
    slow = float(values[values > 1e-3 * fast].min(initial=fast))
    t_end, size, left = min(20.0 / slow, _LONGEST / fast), 1.0, ""
    for _ in range(_ATTEMPTS):
        runs = HalvedRuns(plant, drive(plant, initial, math.sqrt(fast * slow), size, t_end), _COARSE / fast)
        try:
            largest = fastest(slopes, runs.at(0), plant)
            if largest > 2.0 * fast and runs.count * largest / fast < _STEPS:
                fast = largest  # the run meets faster modes than its start: begin with a smaller step
                continue
            runs.at(1)
        except DivergedError as error:
            left, t_end, size = str(error), 0.5 * t_end, 0.5 * size
            continue
        if left:
            report.advice.append(f"without control: {left}. The run tested here lasts {t_end:.3g} s")
        return runs
    report.advice.append(f"its motion was not tested: {left or 'its modes become ever faster along the run'}")
    return None


def _moved(quantity: Quantity, sign: float) -> float:
    """The nominal value moved by a little of the region, inside it."""
    size = 0.1 * (1.0 + abs(quantity.nominal))
    low, high = quantity.low, quantity.high
    room = min(high - quantity.nominal if sign > 0.0 else quantity.nominal - low, 1e300)
    return quantity.nominal + sign * min(size, 0.2 * room)


def _advise_step(report: CheckReport, fast: float, own: float) -> None:
    if fast <= 0.0:
        report.advice.append(
            "its linearisation has no mode of its own: the step follows from the controller and signals"
        )
        return
    report.step, usable = _steps(fast)
    report.advice.append(
        f"step: {report.step:g} s is accurate with rk4, up to {usable:g} s usable, unstable beyond "
        f"{STABLE / fast:.3g} s (fastest mode {fast:.3g} 1/s on the tested run; a control loop may be faster)"
    )
    if own > usable:
        report.advice.append(f"its own step of {own:g} s is too coarse for rk4: declare another, Plant(step=...)")


def _check_order(report: CheckReport, runs: HalvedRuns) -> None:
    """Order of rk4 from the differences between runs at halved steps."""
    states = [runs.at(k).states[:: 2**k] for k in range(_HALVINGS)]
    scale = np.abs(states[-1]).max(axis=0) + 1e-300
    gaps = _gaps([(np.abs(a - b) / scale).max(axis=1) for a, b in pairwise(states)])
    orders = [math.log2(a / b) for a, b in pairwise(gaps) if a > 1e-9 and b > 1e-11]
    if not orders:
        report.passed.append("rk4 converges within rounding already at the coarse step")
        return
    order = orders[-1]
    if order >= 3.5:
        report.passed.append(f"rk4 converges with order {order:.2f}")
    else:
        report.advice.append(
            f"rk4 converges with order {order:.2f} only: the equations are not smooth along the run (where, abs, sign, "
            "limits, tables). Results are right, but accuracy costs smaller steps"
        )


def _gaps(apart: list[NDArray[np.float64]]) -> list[float]:
    """Largest differences between runs; where motion is so sensitive that they part, before the coarsest ones do."""
    if apart[-1].max() > _PARTED and (first := int((apart[0] > _PARTED).argmax())) > 1:
        apart = [values[:first] for values in apart]
    return [float(values.max()) for values in apart]


def _check_balance(report: CheckReport, plant: Plant, runs: HalvedRuns, sample: BlockSample) -> None:
    """Energy gained = energy supplied - energy dissipated, along the run."""
    error = math.inf
    for k in range(_HALVINGS + 1):
        error, exchanged = _imbalance(plant, runs.at(k))
        if error <= BALANCE:
            step = runs.step(k)
            report.passed.append(f"the energy balance closes to {error:.1e} of {exchanged:.3g} J at step {step:.3g} s")
            return
    report.problems.append(
        f"the energy balance does not close: energy gained differs from supplied minus dissipated by {error:.2e} of "
        f"what is exchanged, even at step {runs.step(_HALVINGS):.2g} s. {_diagnosis(plant, sample)}"
    )


def _imbalance(plant: Plant, run: Trajectory) -> tuple[float, float]:
    arguments = [tuple(run.group(kind).T) for kind in ("states", "inputs", "disturbances")]
    p = plant.nominal()
    energy = np.broadcast_to(flat(plant.energy(run.time, *arguments, p))[0], len(run.time))  # type: ignore[misc]
    gained = energy - energy[0]
    exchanged = max(float(np.abs(values).max()) for values in (gained, run.supplied, run.entropy))
    if not run.supplied.any() and not run.entropy.any():
        exchanged = float(np.abs(energy).max())  # a conservative plant keeps what it has
    missing = float(np.abs(gained - run.supplied + run.entropy).max())
    return missing / exchanged if exchanged > 0.0 else 0.0, exchanged


def _diagnosis(plant: Plant, sample: BlockSample) -> str:
    """Where it fails at single states, and which factor on a block would mend it."""
    values = replay(_powers(plant), sample.t, *sample.x, *sample.u, *sample.w, *sample.p)
    table = np.array([np.broadcast_to(v, len(sample.t)) for v in values], float)
    gained, supplied, entropy = table
    missing = np.abs(gained - supplied + entropy)
    if missing.max() <= 1e-9 * np.abs(table).max():
        return "At single states it does: the equations are too rough for the step, or change their form along the run"
    keep = np.abs(table).max(axis=0) > 0.0
    weights = 1.0 / np.abs(table[:, keep]).max(axis=0)
    matrix = (np.array([supplied[keep], -entropy[keep]]) * weights).T
    factors, *_ = np.linalg.lstsq(matrix, gained[keep] * weights, rcond=None)
    rest = np.abs(matrix @ factors - gained[keep] * weights).max()
    if rest < 1e-6:
        return f"It would close with supplied_power times {factors[0]:.4g} and entropy_rate times {factors[1]:.4g}"
    point = int(np.argmax(missing))
    state = ", ".join(f"{q.name} = {v:.4g}" for q, v in zip(plant.states, sample.x[:, point], strict=True))
    return (
        f"At {state}: energy grows by {gained[point]:.6g} W, supplied_power {supplied[point]:.6g} W, entropy_rate "
        f"{entropy[point]:.6g} W. Look for a force that is missing from, or counted twice in, one of the three blocks"
    )


def _powers(plant: Plant) -> Program:
    """Rate of energy along the derivative, supplied power and entropy rate [W] as a program of (t, x, u, w, p)."""
    tape = Tape()
    shapes = tuple(shape(plant, group) for group in "txuwp")
    t, x, u, w, p = (symbols(tape, one) for one in shapes)
    energy = tape.lift(flat(plant.energy(t, x, u, w, p))[0])  # type: ignore[misc]
    rates = plant.derivative(t, x, u, w, p)  # type: ignore[misc]
    ((by_time, *by_state),) = differentiate([energy], [t, *x])
    gained = sum((slope * rate for slope, rate in zip(by_state, flat(rates), strict=True)), by_time)
    supplied = 0.0 if plant.supplied_power is None else flat(plant.supplied_power(t, x, u, w, p))[0]
    entropy = flat(plant.entropy_rate(t, x, u, w, p))[0]  # type: ignore[misc]
    outputs = tuple(tape.lift(value).index for value in (gained, supplied, entropy))
    return Program(tape, tuple(flat(shapes)), outputs)


LENGTHS = (16.0, 4.0, 1.0)  # of the tested run in times of the flow's: a flow that falls through its floor ends early
STEPS = 20_000  # at most


def check_after_step(report: CheckReport, plant: Plant, drive: TestedMotion) -> None:
    """Simulate with `after_step` at the plant's own step, as long as the plant stays in its region."""
    report.advice.append(
        "step, order of convergence, stiffness and energy balance are those of the equations alone, without after_step"
    )
    left = ""
    for length in LENGTHS:
        count = min(STEPS, max(1, math.ceil(length * drive.t_end / plant.step)))
        t_end = count * plant.step
        try:
            run = simulate(plant, t_end, plant.step, drive.initial, None, drive.inputs, drive.disturbances)
        except DivergedError as error:
            left = str(error)
            continue
        report.passed.append(f"with after_step it stays in its region for {t_end:.3g} s{_energy(plant, run)}")
        return
    report.advice.append(f"with after_step and without control: {left}")


def _energy(plant: Plant, run: Trajectory) -> str:
    """What the energy balance misses at the end of the run: the work of `after_step`."""
    if plant.energy is None or plant.entropy_rate is None:
        return ""
    if plant.supplied_power is None and (plant.inputs or plant.disturbances):
        return ""
    arguments = [tuple(run.group(kind).T) for kind in ("states", "inputs", "disturbances")]
    energy = np.broadcast_to(flat(plant.energy(run.time, *arguments, plant.nominal()))[0], len(run.time))
    work = float(energy[-1] - energy[0] - run.supplied[-1] + run.entropy[-1])
    return f"; it adds {work:.3g} J to the energy there"


TINY = 1e-3  # first tried step in times of the fastest mode's
FALL = 0.25  # a step of a tenth must miss the derivative's move by less than this share of what the whole one misses
ROUNDING = 1e-6  # of the move
_POINTS = 12


def check_advance(report: CheckReport, plant: Plant, runs: HalvedRuns) -> None:
    """Compare short steps with the derivative along the tested run, and simulate with the plant's own step."""
    report.advice.append(
        "step, order of convergence, stiffness and energy balance are those of the equations alone, without advance"
    )
    coarse = TINY * runs.step(0)
    misses = [_miss(plant, runs, coarse * share) for share in (1.0, 0.1)]
    if not misses[1] <= max(FALL * misses[0], ROUNDING):
        report.problems.append(
            f"advance does not approximate derivative: over {coarse:.2g} s its move differs from h * derivative by "
            f"{misses[0]:.2g} of it, over a tenth of that by {misses[1]:.2g}; the second must be smaller"
        )
        return
    report.passed.append("advance goes to derivative as the step goes to 0")
    _run(report, plant, runs)


def _miss(plant: Plant, runs: HalvedRuns, h: float) -> float:
    """Median over points of the run of the relative difference between a step and h times the rates."""
    run, found = runs.at(1), []
    for k in np.unique(np.linspace(0, len(run.time) - 1, _POINTS).astype(int)):
        t, x, u, w = float(run.time[k]), run.states[k], run.group("inputs")[k], run.group("disturbances")[k]
        block = (t, tuple(x.tolist()), tuple(u.tolist()), tuple(w.tolist()), plant.nominal())
        move = (np.array(plant.advance(*block, h), dtype=np.float64) - x) / h  # type: ignore[misc]
        rates = np.array(plant.derivative(*block), dtype=np.float64)  # type: ignore[misc]
        found.append(float(np.abs(move - rates).max() / (np.abs(rates).max() + 1e-300)))
    return float(np.median(found))


def _run(report: CheckReport, plant: Plant, runs: HalvedRuns) -> None:
    drive = runs.drive
    count = min(STEPS, max(1, math.ceil(drive.t_end / plant.step)))
    t_end = count * plant.step
    try:
        simulate(plant, t_end, plant.step, drive.initial, None, drive.inputs, drive.disturbances)
    except DivergedError as error:
        report.advice.append(f"with advance and without control: {error}")
    else:
        report.passed.append(f"with advance it stays in its region for {t_end:.3g} s")
