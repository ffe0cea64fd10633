"""Programs around an export in C: one that a proof drives, one that tests it on its target."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from experiments.export.job import Job

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
