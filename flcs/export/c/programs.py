"""Programs around an export in C: one that a proof drives, one that tests it on its target, one of hostile inputs.

Hostile is what no sensor should send, in millions of random sequences.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from flcs.export.guard import samples

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
    return _DRIVER.format(
        name=machine.name, n=len(inputs), m=len(outputs), most=max(len(inputs), len(outputs)), read=read, write=write
    )


_DRIVER = """#include <stdio.h>
#include <string.h>
#include <time.h>
#include "{name}.h"

static double rows[1000][{n}];

static int timed(void)
{{
    {name}_state state;
    {name}_inputs in;
    {name}_outputs out;
    volatile double kept = 0.0;
    const size_t n = fread(rows, sizeof rows[0], 1000, stdin);
    long k, samples = 1000000;
    clock_t begin;
    {name}_reset(&state);
    begin = clock();
    for (k = 0; k < samples; k++) {{
        const double *row = rows[(size_t)k % (n ? n : 1)];
{read}
        {name}_step(&state, &in, &out);
        kept = (double)out.fault;
    }}
    (void)kept;
    printf("%.17g", 1e9 * (double)(clock() - begin) / (double)CLOCKS_PER_SEC / (double)samples);
    return 0;
}}

int main(int argc, char **argv)
{{
    {name}_state state;
    {name}_inputs in;
    {name}_outputs out;
    double row[{most}];
    if (argc > 1 && strcmp(argv[1], "time") == 0)
        return timed();
    {name}_reset(&state);
    while (fread(row, sizeof(double), {n}, stdin) == {n}) {{
{read}
        {name}_step(&state, &in, &out);
{write}
        if (fwrite(row, sizeof(double), {m}, stdout) != {m})
            return 2;
    }}
    return 0;
}}
"""


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
    return _SELF_TEST.format(
        name=machine.name, rows=len(rows), n=rows.shape[1], m=expected.shape[1], given=_table(rows),
        expected=_table(expected), read=read, check=check, situation=first.replace("*/", ""),
    )  # fmt: skip


def _table(values: Array) -> str:
    return ",\n".join("    {" + ", ".join(map(repr, row)) + "}" for row in values.tolist())


_SELF_TEST = """/* Runs {rows} samples of the situation "{situation}" and compares; exit code 0 where all agree. */
#include <stdio.h>
#include "{name}.h"

static const double given[{rows}][{n}] = {{
{given}
}};
static const double expected[{rows}][{m}] = {{
{expected}
}};

static int differs(double came, double wanted, double tolerance, int sample, const char *signal)
{{
    const double difference = came > wanted ? came - wanted : wanted - came;
    if (difference <= tolerance)
        return 0;
    printf("sample %d: %s is %.17g, expected %.17g\\n", sample, signal, came, wanted);
    return 1;
}}

int main(void)
{{
    {name}_state state;
    {name}_inputs in;
    {name}_outputs out;
    int k, failures = 0;
    {name}_reset(&state);
    for (k = 0; k < {rows}; k++) {{
{read}
        {name}_step(&state, &in, &out);
{check}
    }}
    printf(failures ? "FAILED: %d differences\\n" : "ok\\n", failures);
    return failures ? 1 : 0;
}}
"""


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
    return _PROGRAM.format(
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


_PROGRAM = """#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "{name}.h"

static const double usual_low[{n}] = {{{usual_low}}};
static const double usual_high[{n}] = {{{usual_high}}};
static const double lowest[{m}] = {{{lowest}}};
static const double highest[{m}] = {{{highest}}};
static const char *const names[{m}] = {{{names}}};
static const double strange[] = {{0.0, -0.0, 1e-300, 1e3, -1e3, 1e9, -1e9, 1e14, -1e14, 1e30, -1e30, 1e300, -1e300}};

static uint64_t state_of_chance;

static uint64_t next(void)
{{ /* SplitMix64 */
    uint64_t z = (state_of_chance += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}}

static double unit(void)
{{
    return (double)(next() >> 11) * 0x1p-53;
}}

static double usual(int k)
{{
    return usual_low[k] + (usual_high[k] - usual_low[k]) * unit();
}}

static double hostile(int k, double before)
{{
    const unsigned kind = (unsigned)(next() % 16u);
    if (kind < 6u)
        return usual(k);
    if (kind < 9u)
        return before;
    if (kind == 9u)
        return NAN;
    if (kind == 10u)
        return INFINITY;
    if (kind == 11u)
        return -INFINITY;
    return strange[next() % (sizeof strange / sizeof strange[0])];
}}

static void set({name}_inputs *in, const double *v)
{{
{setters}
}}

static void get(const {name}_outputs *out, double *v)
{{
{getters}
}}

static int sampled({name}_state *state, const double *row, double *result)
{{ /* place of the first output that is not as it must be, else -1 */
    {name}_inputs in;
    {name}_outputs out;
    int k;
    set(&in, row);
    {name}_step(state, &in, &out);
    get(&out, result);
    for (k = 0; k < {m}; k++)
        if (!(result[k] >= (double)({name}_real)lowest[k] && result[k] <= (double)({name}_real)highest[k]))
            return k;
    return -1;
}}

static int told(long sequence, int sample, int output, double value)
{{
    printf("sequence %ld, sample %d: %s is %g\\n", sequence, sample, names[output], value);
    return 1;
}}

int main(int argc, char **argv)
{{
    const long count = argc > 1 ? atol(argv[1]) : 1000;
    const uint64_t seed = argc > 2 ? (uint64_t)atoll(argv[2]) : 0u;
    long sequence, trips = 0, faults = 0;
    for (sequence = 0; sequence < count; sequence++) {{
        {name}_state state;
        double row[{n}], result[{m}];
        int k, sample, wrong;
        state_of_chance = seed * UINT64_C(0x2545f4914f6cdd1d) + (uint64_t)sequence;
        {name}_reset(&state);
        for (k = 0; k < {n}; k++)
            row[k] = usual(k);
        for (sample = 0; sample < {length}; sample++) {{
            for (k = 0; k < {n}; k++)
                row[k] = hostile(k, row[k]);
            wrong = sampled(&state, row, result);
            if (wrong >= 0)
                return told(sequence, sample, wrong, result[wrong]);
            faults += result[{fault}] > 0.5;
            trips += result[{tripped}] > 0.5;
        }}
        for (; sample < {length} + {recovery}; sample++) {{
            for (k = 0; k < {n}; k++)
                row[k] = usual(k);
            wrong = sampled(&state, row, result);
            if (wrong >= 0)
                return told(sequence, sample, wrong, result[wrong]);
            if (result[{fault}] > 0.5)
                return told(sequence, sample, {fault}, result[{fault}]);
        }}
        if (result[{tripped}] > 0.5)
            return told(sequence, sample, {tripped}, result[{tripped}]);
    }}
    printf("%ld sequences, %ld samples distrusted, %ld tripped\\n", count, faults, trips);
    return 0;
}}
"""
