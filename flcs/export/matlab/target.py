"""The MATLAB export: the machine, the scheduler alone with look-up tables for a PID block, and the proof by Octave."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from flcs.export.matlab import functions, octave, tables
from flcs.export.proof import Proof, compared, unchecked, version
from flcs.export.scheduler import scheduler_job

if TYPE_CHECKING:
    from pathlib import Path

    from flcs.export.job import Job

TARGET, BOUND = "matlab", 1e-12
"""Share of a signal's range: sums of products are rounded twice, elementary functions are the library's."""


def files(job: Job) -> dict[str, str]:
    """Return the export's files by name."""
    alone = scheduler_job(job)
    found: dict[str, str] = {}
    for one in dict.fromkeys((job, alone)):
        found |= functions.texts(one.machine)
        found[f"{one.machine.name}_selftest.m"] = functions.self_test(one, BOUND)
    return {**found, **tables.texts(job.kb, alone.machine.name, job.form)}


def prove(job: Job, folder: Path) -> Proof:
    """Run controller, scheduler, self-tests and tables in Octave."""
    program = octave.program()
    if program is None:
        return unchecked(TARGET, octave.MISSING)
    checker = version(program)
    try:
        table_error = tables.checked(job.kb, scheduler_job(job).machine.name, job.form, program, folder)
        proofs = [_compared(one, program, checker, folder) for one in dict.fromkeys((scheduler_job(job), job))]
    except subprocess.SubprocessError as error:
        return Proof(TARGET, checker, "failed", str(error)[:2000], BOUND)
    if table_error > tables.BOUND:
        reason = f"gains between the tables' nodes differ by {table_error:.3g} of the box from the tables' own error"
        return Proof(TARGET, checker, "failed", reason, BOUND)
    return next((proof for proof in proofs if proof.status != "ok"), proofs[-1])


def _compared(job: Job, program: str, checker: str, folder: Path) -> Proof:
    name, inputs, outputs = job.machine.name, job.machine.inputs, job.machine.outputs
    put = " ".join(f"in.{s.name} = given(k, {j});" for j, s in enumerate(inputs, 1))
    taken = ", ".join(f"out.{s.name}" for s in outputs)
    script = (
        f"{name}_selftest(); state = {name}_reset(); found = zeros(rows(given), {len(outputs)}); in = struct();\n"
        f"for k = 1:rows(given), {put} [out, state] = {name}_step(in, state); found(k, :) = [{taken}]; end"
    )
    found = octave.run(program, folder, script, job.sequences, len(outputs))
    return compared(job, TARGET, checker, BOUND, found)
