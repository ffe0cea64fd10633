"""Exports of a run: from settings to a job, its targets written and run, the manifest and the tables that tell of it.

The machine with its guard is simulated once in every situation. A design writes those that its settings ask for below
``exports`` in its folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from configs.parts import built
from experiments.report.living.page import TARGETS
from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.runtime.tables import text_table
from flcs.export import pid_block
from flcs.export.controller import installed
from flcs.export.guard import Guard
from flcs.export.job import Job
from flcs.export.machine import MachineSignal  # noqa: TC001  (the schema is made of it)
from flcs.export.pid_block import VendorForm
from flcs.export.proof import Proof, digest, unchecked
from flcs.export.recording import recordings
from flcs.export.scheduler import is_scheduler, scheduler
from plants.core import atomic_files
from plants.core.names import comment, identifier, unknown
from sscq.situations.situation_sets import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from configs.schema import DesignConfig
    from configs.schema.commands import ExportSettings, GuardConfig
    from experiments.pipeline.bench import Bench
    from experiments.runtime.run_folder import RunFolder
    from flcs import KnowledgeBase
    from plants import Plant
    from sscq.situations.situation import Situation


_ENDINGS = {"m": "matlab", "py": "python"}  # of files, where that is not the target's name


def wanted(names: Sequence[str]) -> list[str]:
    """Return the names of the targets; "all" stands for every one there is, the ending of a file for its target.

    Raises
    ------
    UserError
        For an unknown one, with the near miss.
    """
    meant = [_ENDINGS.get(name.removeprefix(".").lower(), name) for name in names]
    for name in meant:
        if name != "all" and name not in TARGETS:
            raise UserError(unknown("export target", name, ("all", *TARGETS)))
    return list(TARGETS) if "all" in meant else list(dict.fromkeys(meant))


def of_design(bench: Bench, kb: KnowledgeBase, config: DesignConfig) -> None:
    """Write and prove what the settings ask for, print the table; nothing where they ask for nothing."""
    if not config.exports.to:
        return
    setup = bench.setup
    several = [situation for kind in KINDS for situation in setup.sets[kind]]
    job = job_for(kb, setup.plant, several, setup.step, setup.options["integrator"], config.exports, setup.seed)
    proofs = write(job, wanted(config.exports.to), bench.folder, "exports", quiet=config.quiet)
    print("\n".join(["", table(proofs), ""]))


def check(config: DesignConfig, plant: Plant) -> None:
    """Raise before anything is searched where a target is not known or the guard does not fit the plant."""
    if config.exports.to:
        wanted(config.exports.to)
        check_names(plant)
        check_settings(config.exports, plant)


def check_names(plant: Plant) -> None:
    """Raise ValueError where two signals of a plant have one name in every language."""
    signals = dict.fromkeys(q.name for q in (*plant.measurements, *plant.inputs))
    by_identifier: dict[str, str] = {}
    for name in signals:
        other = by_identifier.setdefault(identifier(name), name)
        if other != name:
            raise ValueError(
                f"signals {other!r} and {name!r} of plant {plant.name!r} have one name in exports; rename one"
            )


def job_for(
    kb: KnowledgeBase, plant: Plant, situations: Sequence[Situation], step: float, integrator: str,
    settings: ExportSettings, seed: int,
) -> Job:  # fmt: skip
    """Return the job of a knowledge base.

    Raises
    ------
    ValueError
        If the guard does not fit the plant or the controller.
    """
    check_settings(settings, plant)
    guard = guard_of(settings.guard)
    form = built(VendorForm, settings.vendor)
    alone = settings.shape == "scheduler"
    machine = scheduler(kb, plant, step, guard, form) if alone else installed(kb, plant, step, guard)
    seen = recordings(kb, plant, situations, step, machine, integrator)
    return Job(
        kb, plant, step, machine, tuple(seen), tuple(situations), integrator, guard, seed, settings.hostile, form
    )  # fmt: skip


def check_settings(settings: ExportSettings, plant: Plant) -> None:
    """Raise ValueError where the guard does not fit a plant's signals: in a design, before anything is searched.

    A range may belong to any measurement, since which of them a controller takes is not known before it is designed.
    """
    words = ("e", "e_rate") if settings.shape == "scheduler" else ("r", "track")
    known = [f"{word}_{channel.output}" for channel in plant.channels for word in words]
    known += [q.name for q in plant.measurements]
    for name in settings.guard.ranges:
        if name not in known:
            raise ValueError(f"guard.ranges: {unknown('input', name, known)}")
    safe = settings.guard.safe
    if safe is None:
        return
    if len(safe) != len(plant.channels):
        wanted = ", ".join(channel.output for channel in plant.channels)
        raise ValueError(f"guard.safe must have a command for each channel ({wanted}), got {list(safe)}")
    for value, channel in zip(safe, plant.channels, strict=True):
        low, high = channel.low, channel.high
        if not low <= value <= high:
            raise ValueError(f"guard.safe: of {channel.output!r} must be in {low:g} .. {high:g}, got {value:g}")


def guard_of(given: GuardConfig) -> Guard:
    """Return the guard that settings describe."""
    ranges = {name: (float(ends[0]), float(ends[1])) for name, ends in given.ranges.items()}
    return built(Guard, given, ranges=ranges, ramp=float("inf") if given.ramp is None else given.ramp)


SCHEMA, VERSION = "sscq export", 1


class ExportedFile(TypedDict):
    """A file of an export: its path beside the manifest, size [byte] and SHA-256."""

    path: str
    bytes: int
    sha256: str


class Manifest(TypedDict):
    """All that a site needs to know about an export.

    Attributes
    ----------
    schema : str
        Says that it is one.
    version : int
        Of this format.
    plant : str
        Its name.
    knowledge_base : str
        Hash of its content.
    machine : str
        Name of the controller in the files.
    sample_time : float
        Between two calls [s].
    inputs, outputs : tuple of MachineSignal
        In the order of the files; a range without an end has null there.
    situations : list of str
        In which it was recorded what the files have to give.
    seed : int
        Of the random signals.
    files : list of ExportedFile
        What was written.
    proofs : list of mapping
        Of each target: who checked it ("checker"), "status", allowed "bound", largest "errors" by signal, "reason".
    pid_block : mapping
        What PID blocks that are not ours make of the gains; of `shape=scheduler` alone.
    """

    schema: str
    version: int
    plant: str
    knowledge_base: str
    machine: str
    sample_time: float
    inputs: tuple[MachineSignal, ...]
    outputs: tuple[MachineSignal, ...]
    situations: list[str]
    seed: int
    files: list[ExportedFile]
    proofs: list[dict[str, Any]]
    pid_block: NotRequired[dict[str, Any]]


def write(job: Job, names: Sequence[str], folder: RunFolder, below: str = "", *, quiet: bool) -> list[Proof]:
    """Write targets below a folder of a run, have each of them run, and write manifest.json beside them."""
    proofs, files, root = [], [], folder.path / below
    for name in names:
        target, place = TARGETS[name], root / name
        place.mkdir(parents=True, exist_ok=True)
        try:
            files += _written(root, name, target.files(job))
        except Exception as error:  # noqa: BLE001  (one that cannot be written costs no other, and no report)
            proofs.append(unchecked(name, f"not written: {_reason(error)}"))
            continue
        if not quiet:
            print(f"{name}: written, being run on {len(job.sequences)} sequences of signals", flush=True)
        try:
            proofs.append(target.prove(job, place))
        except Exception as error:  # noqa: BLE001  (as above)
            proofs.append(Proof(name, "", "failed", _reason(error), 0.0))
        if proofs[-1].seconds:
            folder.note_time(f"{name}, one sample", proofs[-1].seconds)
    told = manifest(job, proofs, files)
    if is_scheduler(job.machine):
        told["pid_block"] = _judged_block(job, root, quiet=quiet)
    formats.write_json(root / "manifest.json", told)
    return proofs


def _reason(error: Exception) -> str:
    """What went wrong, in a line; of what is no complaint its kind, too."""
    kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
    return comment(f"{kind}{error}")[:500]


def _judged_block(job: Job, root: Path, *, quiet: bool) -> dict[str, Any]:
    """Simulate the loop with PID blocks that are not ours; write and print the comparison."""
    found = pid_block.judged(job.kb, job.plant, job.situations, job.step, job.form, job.integrator)
    text = pid_block_page(found, job.form)
    atomic_files.write(root / "pid_block.md", text)
    if not quiet:
        print(f"\n{text}")
    return found


def pid_block_page(found: Mapping[str, Any], form: VendorForm) -> str:
    """Return the comparison as a page of text."""
    lines = [
        "# The scheduler with a PID block that is not ours", "",
        f"Simulated in {len(found['situations'])} situations: {'; '.join(found['situations'])}.", "",
        "Ratios to our own law, over the situations in which both stay inside the plant's region; travel is the",
        f"command's total variation. Ti and Td in {form.unit}, at most {form.longest:g}.", "",
        "```", text_table(pid_block.HEAD, pid_block.rows(found)), "```", "",
    ]  # fmt: skip
    return "\n".join(lines)


def _written(root: Path, target: str, texts: Mapping[str, str | bytes]) -> list[ExportedFile]:
    """Write an export's files; return path, size and SHA-256 of each."""
    found: list[ExportedFile] = []
    for name, content in texts.items():
        path = root / target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_files.write(path, content)
        found.append({"path": f"{target}/{name}", "bytes": path.stat().st_size, "sha256": digest(path)})
    return found


def manifest(job: Job, proofs: Sequence[Proof], files: Sequence[ExportedFile]) -> Manifest:
    """Return all that a site needs to know about an export, as plain data."""
    machine = job.machine
    return {
        "schema": SCHEMA, "version": VERSION, "plant": job.plant.name, "knowledge_base": job.kb.content_hash,
        "machine": machine.name, "sample_time": machine.sample_time, "inputs": machine.inputs,
        "outputs": machine.outputs,
        "situations": [recording.situation for recording in job.recordings], "seed": job.seed,
        "files": list(files), "proofs": [proof.plain() for proof in proofs],
    }  # fmt: skip


def table(proofs: Sequence[Proof]) -> str:
    """Return the proofs as a table."""
    rows = [[p.target, p.status, _error(p), f"{p.bound:g}", _sizes(p), p.checker or p.reason] for p in proofs]
    reasons = [f"{p.target}: {p.reason}" for p in proofs if p.status == "failed"]
    reasons += [text for p in proofs for text in _not_closed(p)]
    head = ["target", "status", "largest error", "allowed", "measured", "checked by"]
    return "\n".join([text_table(head, rows), *reasons])


def _error(proof: Proof) -> str:
    return f"{proof.largest:.2g} of range" if proof.errors else "-"


def _not_closed(proof: Proof) -> list[str]:
    """Say where no loop of exported plant and controller was closed, and why, if the target has them."""
    left = proof.numbers.get("closed_loop_left_out", {})
    if not left or proof.numbers.get("closed_loop"):
        return []
    why = ", ".join(dict.fromkeys(left.values()))
    return [f"{proof.target}: the controller was proved along recorded signals; no loop was closed with it, as {why}"]


def _sizes(proof: Proof) -> str:
    words = [f"{proof.numbers['rom_bytes']} bytes of ROM"] if "rom_bytes" in proof.numbers else []
    words += [f"{1e9 * proof.seconds:.3g} ns a sample"] if proof.seconds else []
    return ", ".join(words)
