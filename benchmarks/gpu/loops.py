"""Closed loops on a GPU: against the CPU's lanes, JAX and CUDA C in one run, and a robustness map of 10^8 loops."""

from __future__ import annotations

import importlib.util
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.engine import case
from benchmarks.engine.compilation import rules
from benchmarks.gpu import cuda_c, jax_loop
from benchmarks.runner.own_process import result_of
from benchmarks.runner.report import FigureSection
from controllers import PID
from experiments.runtime.timing import Timing, clock, ratio
from flcs import FuzzyController
from plants.core.gpu import driver
from plants.core.gpu.run import Prepared
from plants.core.kernel.run import RolloutJob, thread_count
from plants.excitation import WhiteNoise
from sscq import Situation
from sscq.loop.closed_loop import ClosedLoop

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.runner.size import Size

_ROUNDS = 5
_LANES = 20_000  # rollouts of the CPU for each of its threads
_MAP = (10, 1_000)  # of the candidates of the size: plants, and gains
_UNITS = {(7, 0): 32, (8, 0): 32, (9, 0): 64, (10, 0): 64}
"""Fused multiply-adds of doubles that a multiprocessor ends in a cycle, by compute capability; elsewhere 2."""


def gpu_loops(size: Size) -> FigureSection:
    """Time all that is there; where there is no GPU, say so."""
    section = FigureSection("gpu", "Closed loops on a GPU")
    try:
        device = driver.gpu()
    except driver.NoGpuError as error:
        section.notes.append(f"Skipped: {error}.")
        return section
    section.counts["GPU"] = f"{device.name}, {device.processors} multiprocessors"
    gains = case.gains(size.candidates)
    loop = _loop(PID(), case.situation(size.steps))
    ours, prepared = _timed(loop, gains, size.steps)
    work = len(gains) * size.steps
    section.time("GPU, one step of a rollout", ours, "ns", 1e9 / work, _shape(prepared))
    _exact(section, gains, prepared)
    lanes = _lanes(section, gains, size.steps)
    section.ratio("CPU lanes / GPU", ratio(lanes, ours.per(work)))
    _roofline(section, device, work / ours.best)
    _peers(section, size, device, gains, ours, prepared)
    _others(section, size)
    _map(section, size, lanes)
    return section


def _loop(controller: object, situation: Situation, device: str = "cuda") -> ClosedLoop:
    return ClosedLoop(case.PLANT, controller, (situation,), case.STEP, measures=case.MEASURES, device=device)


def job_of(loop: ClosedLoop, theta: np.ndarray, n_steps: int, mu: Sequence[float] = ()) -> RolloutJob:
    """Return the rollouts of candidates in the loop's situation, or in as many as there are plants with their mu."""
    call = loop.call((0,))
    start, streams = call.start, call.streams
    if len(mu):
        start = np.repeat(start, len(mu), axis=0)
        start[:, loop.design.rows.span("p")] = np.asarray(mu)[:, None]
        streams = (np.repeat(streams[0], len(mu), axis=0), np.repeat(streams[1], len(mu), axis=0), streams[2])
    return RolloutJob(start, theta, *streams, n_steps, loop.step, 0, call.integers, call.numbers)


def _timed(loop: ClosedLoop, theta: np.ndarray, n_steps: int, mu: Sequence[float] = ()) -> tuple[Timing, Prepared]:
    prepared = Prepared(loop.device_text, job_of(loop, theta, n_steps, mu))
    prepared.run()
    return Timing(tuple(clock(prepared.run) for _ in range(_ROUNDS))), prepared


def _shape(prepared: Prepared) -> str:
    function = prepared.function
    return f"{function.registers} registers, {function.local} bytes beside them, {function.resident(128)} blocks of 128"


def _exact(section: FigureSection, gains: np.ndarray, prepared: Prepared) -> None:
    """Whether the GPU has the CPU's bits, of the first rollouts."""
    few = min(len(gains), 4096)
    on_cpu = case.closed_loop(prepared.n_steps).run(gains[:few], (0,))
    found = prepared.results.fetched()[:few]
    same = found[:, 0].tobytes() == on_cpu.steps.tobytes() and found[:, 1:].tobytes() == on_cpu.measures.tobytes()
    section.notes.append(f"The GPU gives {'the same bits as' if same else 'OTHER BITS than'} the CPU ({few} rollouts).")


def _lanes(section: FigureSection, gains: np.ndarray, n_steps: int) -> Timing:
    """The CPU on all its threads: time of one step of one rollout."""
    threads = thread_count(None)
    few, loop = gains[: _LANES * threads], case.closed_loop(n_steps)
    loop.evaluate(few[:64])
    timing = Timing(tuple(clock(lambda: loop.evaluate(few)) for _ in range(_ROUNDS))).per(len(few) * n_steps)
    section.time(f"CPU lanes on {threads} threads, one step of a rollout", timing, "ns", 1e9)
    return timing


def _roofline(section: FigureSection, device: driver.Gpu, rate: float) -> None:
    """Which share of the arithmetic units' cycles the loop's operations fill: nothing else holds it up."""
    counts = case.operations(case.closed_loop())
    issued = sum(n for kind, n in counts.items() if kind in {"fused multiply-add", "sum", "product", "select"})
    limit = device.processors * _UNITS.get(device.capability, 2) * device.clock
    section.figure("operations of doubles in a step", issued, "", "fused multiply-adds, sums, products, selects")
    section.figure("share of the units' cycles (roofline: arithmetic of doubles)", rate * issued / limit, "")


def _peers(
    section: FigureSection, size: Size, device: driver.Gpu, gains: np.ndarray, ours: Timing, prepared: Prepared
) -> None:
    found = prepared.results.fetched()
    if cuda_c.available():
        with tempfile.TemporaryDirectory() as folder:
            theirs, seconds = cuda_c.CudaLoop(Path(folder), device.capability).run(gains, size.steps, _ROUNDS + 1)
        timing = Timing(seconds[1:])
        section.time("CUDA C by hand, one step of a rollout", timing, "ns", 1e9 / (len(gains) * size.steps))
        section.ratio("CUDA C / GPU", ratio(timing, ours))
        difference = np.max(np.abs(theirs[:, 1:] - found[:, 1:]) / np.abs(found[:, 1:]))
        section.figure("largest relative difference from CUDA C", float(difference), "")
    else:
        section.notes.append("nvcc is not here: CUDA C is not timed.")
    if importlib.util.find_spec("jax") is None:
        section.notes.append("JAX is not installed: it is not timed.")
        return
    got = result_of("benchmarks.gpu.jax_loop", len(gains), size.steps, _ROUNDS, environment=jax_loop.FLAGS)
    timing = Timing(tuple(got["seconds"]))
    section.time("JAX on the GPU, one step of a rollout", timing, "ns", 1e9 / (len(gains) * size.steps))
    section.ratio("JAX / GPU", ratio(timing, ours))
    section.figure("JAX's first call, with its compilation", got["first"], "s")
    section.figure("largest relative difference of JAX", got["difference"], "")
    section.counts["jax"] = got["version"]


def _others(section: FigureSection, size: Size) -> None:
    """Loops with more in them: noise and delay, schedules of 9 and 49 rules over many plants."""
    noisy = Situation(
        "noisy",
        reference=1.0,
        t_end=size.steps * case.STEP,
        noise=0.02,
        delay=0.05,
        excitation=WhiteNoise(0.3, hold=0.1),
    )
    rng = np.random.default_rng(1)
    cases = {"PID, noise and delay": (PID(), noisy, case.gains(size.candidates), ())}
    for n in (3, 7):
        controller = FuzzyController(rules(n))
        several = np.asarray(controller.theta) * rng.uniform(0.9, 1.1, (16, len(controller.theta)))
        mu = rng.uniform(0.5, 2.0, max(64, size.candidates // 16))
        cases[f"{n * n} rules, many plants"] = (controller, case.situation(size.steps), several, mu)
    for name, (controller, situation, theta, mu) in cases.items():
        timing, prepared = _timed(_loop(controller, situation), theta, size.steps, mu)
        work = len(theta) * max(1, len(mu)) * size.steps
        section.time(f"{name}: one step of a rollout", timing, "ns", 1e9 / work, _shape(prepared))


def _map(section: FigureSection, size: Size, lanes: Timing) -> None:
    """A robustness map: every gain for every plant."""
    n_plants, n_gains = size.candidates // _MAP[0], min(_MAP[1], size.candidates)
    mu = np.random.default_rng(2).uniform(0.5, 2.0, n_plants)
    timing, prepared = _timed(_loop(PID(), case.situation(size.steps)), case.gains(n_gains), size.steps, mu)
    name = f"map of {n_plants:,} plants x {n_gains:,} gains x {size.steps:,} steps"
    section.time(f"{name}, on the GPU", timing, "s")
    section.figure(f"{name}, on the CPU (from its time for a step)", lanes.best * n_plants * n_gains * size.steps, "s")
    section.figure("fetching its results", clock(prepared.results.fetched), "s", "four doubles a rollout")
