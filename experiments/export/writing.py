"""Writing exports, having them run, and what is told of it: the manifest and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.export import vendor_loop
from experiments.export.living_target import TARGETS
from experiments.export.proof import digest
from experiments.export.scheduler import is_scheduler
from experiments.text_table import text_table
from plants.core import atomic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from experiments.export.job import Job
    from experiments.export.proof import Proof
    from experiments.export.vendor_forms import VendorForm

SCHEMA, VERSION = "sscq export", 1


def write(job: Job, names: Sequence[str], root: Path, *, quiet: bool) -> tuple[list[Proof], dict[str, Any]]:
    """Write targets below a folder and have each of them run.

    Returns
    -------
    proofs : list of Proof
        One for each target.
    manifest : dict
        Plain data: signals, situations, files with their hashes, proofs.
    """
    proofs, files = [], []
    for name in names:
        target, place = TARGETS[name], root / name
        place.mkdir(parents=True, exist_ok=True)
        files += _written(root, name, target.files(job))
        if not quiet:
            print(f"{name}: written, being run on {len(job.sequences)} sequences of signals", flush=True)
        proofs.append(target.prove(job, place))
    told = manifest(job, proofs, files)
    if is_scheduler(job.machine):
        told["pid_block"] = _judged_block(job, root)
    return proofs, told


def _judged_block(job: Job, root: Path) -> dict[str, Any]:
    """Simulate the loop with PID blocks that are not ours; write and print the comparison."""
    found = vendor_loop.judged(job.kb, job.plant, job.situations, job.step, job.form, job.integrator)
    text = pid_block_page(found, job.form)
    atomic.write(root / "pid_block.md", text)
    print(f"\n{text}")
    return found


def pid_block_page(found: Mapping[str, Any], form: VendorForm) -> str:
    """Return the comparison as a page of text."""
    lines = [
        "# The scheduler with a PID block that is not ours", "",
        f"Simulated in {len(found['situations'])} situations: {'; '.join(found['situations'])}.", "",
        "Ratios to our own law, over the situations in which both stay inside the plant's region; travel is the",
        f"command's total variation. Ti and Td in {form.unit}, at most {form.longest:g}.", "",
        "```", text_table(vendor_loop.HEAD, vendor_loop.rows(found)), "```", "",
    ]  # fmt: skip
    return "\n".join(lines)


def _written(root: Path, target: str, texts: Mapping[str, str | bytes]) -> list[dict[str, Any]]:
    """Write an export's files; return path, size and SHA-256 of each."""
    found = []
    for name, content in texts.items():
        path = root / target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(path, content)
        found.append({"path": f"{target}/{name}", "bytes": path.stat().st_size, "sha256": digest(path)})
    return found


def manifest(job: Job, proofs: Sequence[Proof], files: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return all that a site needs to know about an export, as plain data."""
    machine = job.machine
    signals = {"inputs": machine.inputs, "outputs": machine.outputs}
    return {
        "schema": SCHEMA, "version": VERSION, "plant": job.plant.name, "knowledge_base": job.kb.content_hash,
        "machine": machine.name, "sample_time": machine.sample_time, **signals,
        "situations": [recording.situation for recording in job.recordings], "seed": job.seed,
        "files": list(files), "proofs": [proof.plain() for proof in proofs],
    }  # fmt: skip


def table(proofs: Sequence[Proof]) -> str:
    """Return the proofs as a table."""
    rows = [[p.target, p.status, _error(p), f"{p.bound:g}", _sizes(p), p.checker or p.reason] for p in proofs]
    reasons = [f"{p.target}: {p.reason}" for p in proofs if p.status == "failed"]
    head = ["target", "status", "largest error", "allowed", "measured", "checked by"]
    return "\n".join([text_table(head, rows), *reasons])


def _error(proof: Proof) -> str:
    return f"{proof.largest:.2g} of range" if proof.errors else "-"


def _sizes(proof: Proof) -> str:
    words = [f"{proof.numbers['rom_bytes']} bytes of ROM"] if "rom_bytes" in proof.numbers else []
    words += [f"{1e9 * proof.seconds:.3g} ns a sample"] if proof.seconds else []
    return ", ".join(words)
