"""The same loop in JAX: the kernel's tape carried out by jax.numpy, scanned over the steps and mapped over candidates.

Measured in a process of its own that may use one core, where the kernel is measured in turns with it.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.engine import case
from benchmarks.runner.own_process import result_of
from benchmarks.runner.report import FigureSection, at_least
from experiments.runtime.timing import Timing, alternate, ratio
from plants.core.kernel.lanes import Lane, LaneLoop, fuse
from plants.core.tracing.trace import Program

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.runner.size import Size
    from sscq.loop.closed_loop import ClosedLoop

_AGREEMENT = 1e-9  # relative, as for the loop in C: XLA fuses in other places
_FLAGS = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false", "JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"}
_BATCHES = (1, 4)  # the candidates at once, as shares 1 and 1/4: the faster one counts


def jax_loop(size: Size) -> FigureSection:
    """Compare both on one core, for plants of 2, 6 and 14 states."""
    section = FigureSection("jax", "The same loop in JAX (vmap + scan) on one core")
    if importlib.util.find_spec("jax") is None:
        section.notes.append("JAX is not installed (pip install jax): skipped.")
        return section
    for n_x in case.SIZES:
        found = result_of("benchmarks.engine.jax_peer", n_x, size.steps, size.slice, size.rounds, environment=_FLAGS)
        times = {name: Timing(tuple(seconds)) for name, seconds in found["times"].items()}
        for name, timing in times.items():
            section.time(f"{n_x} states: one step, {name}", timing, "ns", 1e9)
        fastest = min((name for name in times if name != "kernel"), key=lambda name: times[name].best)
        factor = ratio(times[fastest], times["kernel"])
        section.ratio(f"{n_x} states: {fastest} / kernel", factor, at_least(factor, 5.0))
        section.figure(f"{n_x} states: largest relative difference", found["difference"], "")
        section.counts["jax"] = found["version"]
    return section


def step_program(loop: ClosedLoop) -> tuple[Program, tuple[str, ...], tuple[str, ...]]:
    """Return one step as a program, with the rows (or uniform numbers) it reads and the rows it stores."""
    design = loop.design
    item, *others = fuse([*design.before, *design.after])
    if others or not isinstance(item, LaneLoop) or item.when:
        message = f"{design.title}: JAX takes a loop whose steps are all alike; leave out noise and sample times"
        raise ValueError(message)
    lane = Lane(design.rows)
    for body in item.bodies:
        body(lane)
    kept = {str(row) for name in design.results for row in range(*design.rows.span(name).indices(10**6))}
    while not lane.loaded(kept) <= kept:
        kept |= lane.loaded(kept)
    read, stored = lane.flow(kept)
    names = tuple(lane.tape.input_names[node] for node in read.values())
    return Program(lane.tape, names, tuple(stored.values())), tuple(read), tuple(stored)


def compiled(loop: ClosedLoop, n_steps: int) -> Callable[[np.ndarray], Any]:
    """Return the loop as a JAX function: gains [n, n_theta] to steps and measures [n, 1 + n_measures]."""
    import jax

    program, reads, stores = step_program(loop)
    start, rows = loop.start_rows(0), loop.design.rows
    first, count = rows.first["theta"], rows.size["theta"]
    wanted = [str(r) for name in loop.design.results for r in range(*rows.span(name).indices(rows.count))]

    def rollout(theta: Any) -> Any:
        given = {str(row): value for row, value in enumerate(start)}
        given |= {str(first + k): theta[k] for k in range(count)} | {"h": loop.step}

        def step(carried: tuple[Any, ...], number: Any) -> tuple[Any, None]:
            values = given | dict(zip(stores, carried, strict=True)) | {"t": number * loop.step}
            return tuple(_evaluate(program, [values[name] for name in reads])), None

        begin = tuple(jax.numpy.asarray(given[row], float) for row in stores)
        ends, _ = jax.lax.scan(step, begin, jax.numpy.arange(n_steps))
        final = given | dict(zip(stores, ends, strict=True))
        return jax.numpy.stack([final[row] for row in wanted])

    return jax.jit(jax.vmap(rollout))


def _evaluate(program: Program, values: list[Any]) -> list[Any]:
    """Carry out a tape with jax.numpy."""
    from jax import numpy as jnp

    special = {
        "where": lambda c, a, b: jnp.where(c > 0.0, a, b),
        "minimum": lambda a, b: jnp.where(a < b, a, b),
        "maximum": lambda a, b: jnp.where(a > b, a, b),
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
        "quotient": lambda a, b: a / b,
        "neg": lambda a: -a,
        "keep": lambda a: a,
    }
    given, tape, results = dict(zip(program.inputs, values, strict=True)), program.tape, {}
    for node in tape.needed(program.outputs):
        name = tape.operations[node]
        if name == "input":
            results[node] = given[tape.input_names[node]]
        elif name == "const":
            results[node] = tape.constants[node]
        else:
            operation = special.get(name) or getattr(jnp, name)
            results[node] = operation(*(results[a] for a in tape.arguments[node]))
    return [jnp.asarray(results[node], float) for node in program.outputs]


def measure(n_x: int, n_steps: int, n: int, rounds: int) -> dict[str, Any]:
    """Return times [s] of a step of one rollout, and the largest relative difference of the measures."""
    import jax

    loop = case.loop_of(case.SIZES[n_x], n_steps)
    theta = case.gains(max(32, 2 * n // n_x // 16 * 16)) * np.array([1.0, 0.25, 1.0])
    run = compiled(loop, n_steps)
    theirs, ours = np.asarray(run(theta))[:, 1:], case.table(loop.evaluate(theta, 1))
    difference = float(np.max(np.abs(theirs - ours) / np.abs(ours)))
    if not difference <= _AGREEMENT:
        message = f"JAX differs from the kernel by {difference:.1e}, expected at most {_AGREEMENT:g}"
        raise RuntimeError(message)
    calls, work = {"kernel": lambda: loop.evaluate(theta, 1)}, {"kernel": len(theta)}
    for share in _BATCHES:
        few = theta[: max(16, len(theta) // share)]
        name = f"JAX, {len(few)} candidates at once"
        calls[name], work[name] = (lambda few=few: run(few).block_until_ready()), len(few)
    times = alternate(calls, max(2, rounds // 4))
    seconds = {name: [s / (work[name] * n_steps) for s in timing.seconds] for name, timing in times.items()}
    return {"times": seconds, "difference": difference, "version": jax.__version__}


if __name__ == "__main__":
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print(json.dumps(measure(*map(int, sys.argv[1:]))))
