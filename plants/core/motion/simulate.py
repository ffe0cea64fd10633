"""Simulate one plant without a controller, and record everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.algebraic_loop.report import state_in_words
from plants.core.blocks import as_tuple
from plants.core.elementary import where
from plants.core.kernel import kernel as kernels
from plants.core.kernel.kernel import ALIVE, KernelDesign
from plants.core.kernel.lanes import Lane, LaneLoop
from plants.core.kernel.run import RolloutJob, grid, run
from plants.core.kernel.signal_bank import SignalBank, stream_arrays
from plants.core.motion.loop_account import AlgebraicLoopError, loop_report, points_of, refuse_raw, warn_of_gain
from plants.core.motion.modes import scheme
from plants.core.motion.step import Motion
from plants.core.motion.trajectory import DivergedError, Trajectory
from plants.core.plant import Plant
from plants.core.quantities import Quantity
from plants.core.signals.recorded import Recorded
from plants.core.signals.signal import Signal, as_signal

if TYPE_CHECKING:
    from plants.core.algebraic_loop.gain import EvaluationPoints
    from plants.core.algebraic_loop.report import LoopReport


def simulate(
    plant: Plant,
    t_end: float,
    step: float = 0.01,
    initial: Mapping[str, float] | Sequence[float] | None = None,
    parameters: Mapping[str, float] | Sequence[float] | None = None,
    inputs: Mapping[str, Any] | Sequence[Any] | np.ndarray | None = None,
    disturbances: Mapping[str, Any] | Sequence[Any] | np.ndarray | None = None,
    integrator: str = "rk4",
    algebraic_loop: str = "solved",
    seed: int = 0,
    name: str = "simulate",
) -> Trajectory:
    """Simulate `plant` from 0 to `t_end` [s] with fixed `step` [s].

    Parameters
    ----------
    initial, parameters : mapping by name or full sequence, optional
        Replace nominal values.
    inputs, disturbances : mapping by name, sequence of signals, or array [n, n_channels], optional
        Numbers, signals of :mod:`plants.excitation`, or arrays that give a value for each step (held over it).
    integrator : {"euler", "heun", "rk2", "rk4", "rosenbrock"}
        The last for stiff plants: its step is set by accuracy alone.
    algebraic_loop : str
        How mutually dependent accelerations are treated: "solved"; "iterated" (Newton with difference quotients),
        "iterated_exact" (Newton with the tape's derivative), "gauss_seidel"; "loop_free", "loop_free_relaxed",
        "loop_free_filtered".
    seed : int
        Of the random signals, together with `name`.

    Returns
    -------
    Trajectory
        With states, outputs, inputs, disturbances, entropy [J] and supplied energy [J]; the integrals are weighted as
        the integrator weighs the rates. ``evaluations`` counts the right-hand side's, ``loop`` reports on the algebraic
        loop; a relaxed or filtered form that met a gain it need not bear warns (LoopGainWarning).

    Raises
    ------
    DivergedError
        Naming time and state, when the plant leaves its region. As AlgebraicLoopError, when an iteration does not
        converge (naming the equation, its residual, time and state) or a raw loop-free run met a gain of 1 (naming it).
    ValueError
        For unknown names (with the near miss), wrong lengths, or a step that does not divide the time.
    """
    n_steps = count_steps(t_end, step)
    signals_u = as_signals(plant, "inputs", inputs, step)
    signals_w = as_signals(plant, "disturbances", disturbances, step)
    x, p = plant.start(initial, parameters)
    delay = _delay(plant, p)
    signals_u, delay = _held_back(plant, signals_u, delay, n_steps, step, name, seed)
    bank_u = SignalBank("u", [q.name for q in plant.inputs], [signals_u], step)
    bank_w = SignalBank("w", [q.name for q in plant.disturbances], [signals_w], step)
    design, motion = _design(plant, bank_u, bank_w, integrator, algebraic_loop)
    kernel = kernels.build(design)
    start = np.zeros((1, design.rows.count))
    rows = {"x": x, "p": p, ALIVE: (1.0,)} | motion.start(x)
    for bank in (bank_u, bank_w):
        rows |= bank.start(0, name, seed)
    fill_rows(start[0], design, rows)
    codes, keys, series = stream_arrays(
        [[*bank_u.streams(0), *bank_w.streams(0)]], [s.name for s in design.streams], [(name, seed)]
    )
    integers = bank_u.every(0) | bank_w.every(0)
    job = RolloutJob(start, np.zeros((1, 0)), codes, keys, series, n_steps, step, 0, integers, {"input_delay": delay})
    groups = [group for group in _RECORDED if group in design.rows]
    wanted = [r for group in groups for r in range(*design.rows.span(group).indices(design.rows.count))]
    results, finals, record = run(kernel, job, grid(1, 1, design.lanes), threads=1, finals=True, record=wanted)
    trajectory = _trajectory(plant, record[:, :, 0], n_steps, step)
    reached = int(results[0, 0])
    points = points_of(trajectory, rows["p"], reached)
    evaluations, report = loop_report(motion, design.rows, finals[0], step, points)
    _check_alive(plant, points, report, reached, n_steps, step)
    refuse_raw(report)
    warn_of_gain(report)
    return replace(trajectory, evaluations=evaluations, loop=report)


_ROUNDING = 1e-9  # of a step: a delay that is a whole number of steps must not be rounded up to one more


def _held_back(
    plant: Plant, signals: list[Signal], delay: float, n_steps: int, step: float, name: str, seed: int
) -> tuple[list[Signal], float]:
    """Return signals as they reach a plant after its dead time, and what is left of the delay.

    Smooth signals and steps are delayed by their time argument (the delay is handed on). Those that are held between
    samples are run through a plant without states first; a delay between steps mixes the two neighbours, which keeps
    the integral over each step.
    """
    if delay == 0.0 or not any(part.random for signal in signals for part in signal.parts):
        return signals, delay

    carrier = Plant(name="carrier", states=(Quantity("rest", "1"),), inputs=plant.inputs, derivative=lambda *_: (0.0,))
    sent = simulate(carrier, n_steps * step, step, inputs=signals, name=name, seed=seed).group("inputs")
    whole = int(delay / step + _ROUNDING)
    share = max(0.0, delay / step - whole)
    rest = np.array([q.nominal for q in plant.inputs])
    line = np.vstack([np.tile(rest, (whole + 1, 1)), sent])
    older, newer = line[: len(sent)], line[1 : len(sent) + 1]
    return _from_array(plant, "inputs", share * older + (1.0 - share) * newer, step, len(plant.inputs)), 0.0


_RECORDED = ("x", "y", "u", "w", "integrals")


def _design(
    plant: Plant, bank_u: SignalBank, bank_w: SignalBank, integrator: str, mode: str
) -> tuple[KernelDesign, Motion]:
    design = KernelDesign(f"simulate {plant.name}: {scheme(plant, integrator)}, algebraic loop {mode}", observed=True)
    design.numbers = ["input_delay"]

    def extra(t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, Any]:
        rate = plant.entropy_rate(t, x, u, w, p) if plant.entropy_rate else 0.0
        power = plant.supplied_power(t, x, u, w, p) if plant.supplied_power else 0.0
        return rate, power

    def inputs(lane: Lane, t: Any, start: Any) -> tuple[Any, ...]:
        if plant.input_delay is None:
            return bank_u.values(lane, t, start)
        delay, h = lane.uniform("input_delay"), lane.uniform("h")
        arrived = start - delay + _ROUNDING * h
        moved = bank_u.values(lane, t - delay, start - delay)
        rest = (q.nominal for q in plant.inputs)
        return tuple(where(arrived, value, at_rest) for value, at_rest in zip(moved, rest, strict=True))

    motion = Motion(plant, integrator, mode, disturbances=bank_w.values, inputs=inputs, extra=extra, n_extra=2)
    motion.add_rows(design)
    rows = design.rows
    rows.add("y", len(plant.measurements))
    for group, quantities in (("u", plant.inputs), ("w", plant.disturbances)):
        if quantities:
            rows.add(group, len(quantities))
    bank_u.add_to(design)
    bank_w.add_to(design)
    look = LaneLoop("look", (_look(plant, motion),))
    design.before.append(look)
    design.after += motion.items()
    design.last = design.before
    rows.add("end")
    design.results = ("steps",)
    return design, motion


def _look(plant: Plant, motion: Motion) -> Any:
    def body(lane: Lane) -> None:
        t, x = lane.uniform("t"), lane["x"]
        u, w, p = motion.block(lane, t, t)
        lane["y"] = as_tuple(plant.outputs(t, x, u, w, p), len(plant.measurements), plant.name)
        if u:
            lane["u"] = u
        if w:
            lane["w"] = w

    return body


def _trajectory(plant: Plant, record: np.ndarray, n_steps: int, step: float) -> Trajectory:
    groups: dict[str, slice] = {}
    names: list[str] = []
    units: list[str] = []
    parts: list[tuple[str, Sequence[Quantity]]] = [
        ("states", plant.states),
        ("outputs", plant.measurements),
        ("inputs", plant.inputs),
        ("disturbances", plant.disturbances),
    ]
    for group, quantities in parts:
        groups[group] = slice(len(names), len(names) + len(quantities))
        names += [q.name for q in quantities]
        units += [q.unit for q in quantities]
    for group in ("entropy", "supplied"):
        groups[group] = slice(len(names), len(names) + 1)
        names.append(group)
        units.append("J")
    return Trajectory(np.arange(n_steps + 1) * step, record, tuple(names), tuple(units), groups)


def _check_alive(
    plant: Plant, points: EvaluationPoints, report: LoopReport | None, reached: int, n_steps: int, step: float
) -> None:
    if reached == n_steps:
        return
    if report is not None and report.iterations is not None and report.iterations.failure:
        raise AlgebraicLoopError(report.iterations.failure)
    caution = report.caution() if report is not None else ""
    message = (
        f"plant {plant.name!r} left the region where its model holds (or became infinite) after "
        f"t = {reached * step:.6g} s at {state_in_words(plant, points.x, -1)}; check the inputs, or use a smaller step "
        f"than {step:g} s"
    )
    cautions = [text for text in (caution, _lost_inertia(plant, points)) if text]
    raise DivergedError("; ".join([message, *cautions]))


_LOST = 1e-2  # of the least eigenvalue at the start: below that a mass matrix is about to become singular
_LOOKED_AT = 50  # states before the end


def _lost_inertia(plant: Plant, points: EvaluationPoints) -> str:
    """Whether the mass matrix became nearly singular before the end, as where a basis becomes dependent."""
    if plant.mass_matrix is None:
        return ""
    states, p = np.array(points.x, float), tuple(float(np.ravel(value)[0]) for value in points.p)
    u, w = tuple(q.nominal for q in plant.inputs), plant.calm()

    def least(x: np.ndarray) -> float:
        mass = np.array(plant.mass_matrix(0.0, tuple(x.tolist()), u, w, p), dtype=np.float64)  # type: ignore[misc]
        return float(np.linalg.eigvalsh(mass)[0]) if np.isfinite(mass).all() else 0.0

    first, last = least(states[:, 0]), min(map(least, states[:, -_LOOKED_AT:].T))
    if last > _LOST * first:
        return ""
    basis = (
        " A basis of quasi-velocities is (nearly) dependent there: build(form='routh', stabilise='project') has none"
        if plant.constraints is not None
        else ""
    )
    return f"its mass matrix is nearly singular there (least eigenvalue {last:.2g}, {first:.2g} at the start).{basis}"


def count_steps(t_end: float, step: float) -> int:
    """Return t_end / step as an integer, or raise."""
    if not (np.isfinite(step) and step > 0.0 and np.isfinite(t_end) and t_end > 0.0):
        raise ValueError(f"t_end and step must be positive and finite, got {t_end} s and {step} s")
    n_steps = round(t_end / step)
    if n_steps < 1 or abs(n_steps * step - t_end) > 1e-6 * t_end:
        raise ValueError(f"t_end = {t_end:g} s must be a multiple of step = {step:g} s")
    return n_steps


def as_signals(plant: Plant, kind: str, given: Any, step: float) -> list[Signal]:
    """Return one signal per channel of `kind` from a mapping, a sequence, or an array [n, n_channels]."""
    quantities: Sequence[Quantity] = getattr(plant, kind)
    if given is None:
        given = {}
    if isinstance(given, np.ndarray):
        return _from_array(plant, kind, given, step, len(quantities))
    default = [q.nominal if kind == "inputs" else q.rest for q in quantities]
    signals = [as_signal(value) for value in default]
    if isinstance(given, Mapping):
        for label, value in given.items():
            signals[plant.index(kind, label)] = as_signal(value)
        return signals
    if not isinstance(given, Sequence):
        message = f"{kind} of plant {plant.name!r} must be a mapping by name, a sequence or an array, got {given!r}"
        raise TypeError(message)
    if len(given) != len(quantities):
        raise ValueError(f"plant {plant.name!r} has {len(quantities)} {kind}, got {len(given)}")
    return [as_signal(value) for value in given]


def _from_array(plant: Plant, kind: str, given: np.ndarray, step: float, count: int) -> list[Signal]:
    table = np.asarray(given, float)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or table.shape[1] != count:
        raise ValueError(f"{kind} of plant {plant.name!r} as an array must have shape (n, {count}), got {given.shape}")
    return [Signal((Recorded.held(tuple(column), step),)) for column in table.T]


def fill_rows(target: np.ndarray, design: KernelDesign, rows: Mapping[str, Sequence[float]]) -> None:
    """Write groups of initial values into a workspace column [rows]; groups the kernel lacks are left out."""
    for group, values in rows.items():
        if group in design.rows and len(values):
            target[design.rows.span(group)] = values


def _delay(plant: Plant, parameters: Sequence[float]) -> float:
    return 0.0 if plant.input_delay is None else parameters[plant.index("parameters", plant.input_delay)]
