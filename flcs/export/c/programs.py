"""Programs around an export in C: one that a proof drives, one that tests it on its target, one of hostile inputs.

Hostile is what no sensor should send, in millions of random sequences.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from flcs.export.guard import samples
from flcs.export.statements import template

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from flcs.export.guard import Guard
    from flcs.export.job import Job

    Array = NDArray[np.float64]


_SAMPLES = 50


def driver(job: Job) -> str:
    """Return a program that steps the export on samples from standard input, or times it."""
    machine = job.machine
    inputs, outputs = machine.inputs, machine.outputs
    read = "\n".join(f"        in.{s.name} = ({machine.name}_real)row[{k}];" for k, s in enumerate(inputs))
    write = "\n".join(f"        row[{k}] = (double)out.{s.name};" for k, s in enumerate(outputs))
    return template(
        "flcs.export.c",
        "driver.c",
        name=machine.name,
        n=len(inputs),
        m=len(outputs),
        most=max(len(inputs), len(outputs)),
        read=read,
        write=write,
    )


def self_test(job: Job, bound: float) -> str:
    """A program for the target: the first samples of a recorded situation, with what must come out."""
    machine = job.machine
    first = next(iter(job.sequences))
    rows, expected = job.sequences[first][:_SAMPLES], job.answers[first][:_SAMPLES]
    read = "\n".join(f"        in.{s.name} = ({machine.name}_real)given[k][{j}];" for j, s in enumerate(machine.inputs))
    limits = (bound * job.spans).tolist()
    check = "\n".join(
        f'        failures += differs((double)out.{s.name}, expected[k][{j}], {limits[j]!r}, k, "{s.name}");'
        for j, s in enumerate(machine.outputs)
    )
    return template(
        "flcs.export.c", "self_test.c",
        name=machine.name, rows=len(rows), n=rows.shape[1], m=expected.shape[1], given=_table(rows),
        expected=_table(expected), read=read, check=check, situation=first.replace("*/", ""),
    )  # fmt: skip


def _table(values: Array) -> str:
    return ",\n".join("    {" + ", ".join(map(repr, row)) + "}" for row in values.tolist())


LENGTH = 40
"""Hostile samples of a sequence."""


def hostile_program(job: Job) -> str:
    """Return a C program that takes the number of sequences and a seed; it prints what was seen.

    Its exit code is 0 where all held; else it prints the first sequence, sample and output that did not.
    """
    machine, guard = job.machine, job.guard
    low, high = _ends(job)
    setters = "\n".join(f"    in->{s.name} = ({machine.name}_real)v[{k}];" for k, s in enumerate(machine.inputs))
    getters = "\n".join(f"    v[{k}] = (double)out->{s.name};" for k, s in enumerate(machine.outputs))
    names = ", ".join(f'"{s.name}"' for s in machine.outputs)
    flags = [k for k, s in enumerate(machine.outputs) if s.name in {"fault", "tripped"}]
    return template(
        "flcs.export.c", "hostile.c",
        name=machine.name, n=len(machine.inputs), m=len(machine.outputs), setters=setters,
        getters=getters, names=names, usual_low=_row(low), usual_high=_row(high), length=LENGTH,
        lowest=_row(_bounds(job, "low")), highest=_row(_bounds(job, "high")), fault=flags[0], tripped=flags[1],
        recovery=_recovery(guard, machine.sample_time),
    )  # fmt: skip


def _recovery(guard: Guard, sample_time: float) -> int:
    return int(samples(guard.recovery, sample_time)) + 1


def _ends(job: Job) -> tuple[list[float], list[float]]:
    """What usual inputs lie between: recorded ranges, kept inside those in which signals are trusted."""
    seen = np.concatenate([np.zeros((1, job.width)), *(r.inputs for r in job.recordings)])
    ends = []
    for k, signal in enumerate(job.machine.inputs):
        low, high = float(seen[:, k].min()), float(seen[:, k].max())
        low, high = low - 0.1 * (high - low) - 1e-3, high + 0.1 * (high - low) + 1e-3
        least, most = job.guard.range_of(signal.name)
        middle, half = 0.5 * (least + most), 0.499 * (most - least)
        ends.append((max(low, middle - half), min(high, middle + half)))
    return [low for low, _ in ends], [high for _, high in ends]


def _bounds(job: Job, end: str) -> list[float]:
    """Limits of the outputs; a bound of 3e38 only asks for numbers that are finite in single precision."""
    sign = -1.0 if end == "low" else 1.0
    values = [getattr(signal, end) for signal in job.machine.outputs]
    return [value if math.isfinite(value) else sign * 3e38 for value in values]


def _row(values: list[float]) -> str:
    return ", ".join(map(repr, values))
