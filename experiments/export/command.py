"""Export a stored knowledge base, and prove every export against the simulator.

As in::

    sscq export kb=runs/design/20250101-120000/knowledge_base.json
    sscq export kb=knowledge_base.json to=[c,c_float] guard.patience=0.05 guard.safe=[0]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.launch import command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from configs.schema import ExportConfig
    from experiments.export.job import Job
    from experiments.export.proof import Proof
    from experiments.run_folder import RunFolder

SCHEMA, VERSION = "sscq export", 1


def export(config: ExportConfig, folder: RunFolder) -> None:
    """Write all targets, run each of them, write manifest.json; exit code 1 where one is wrong."""
    from experiments.export.targets import TARGETS

    job = prepared(config)
    proofs, files = [], []
    for name in wanted(config):
        target = TARGETS[name]
        place = folder.path / name
        place.mkdir(exist_ok=True)
        files += _written(folder, target.name, target.files(job))
        if not config.quiet:
            print(f"{name}: written, being run on {len(job.sequences)} sequences of signals", flush=True)
        proofs.append(target.prove(job, place))
        if proofs[-1].seconds:
            folder.note_time(f"{name}, one sample", proofs[-1].seconds)
    folder.write_json("manifest.json", manifest(job, proofs, files))
    print("\n".join(["", table(proofs), f"proofs, sizes and hashes: {folder.path / 'manifest.json'}"]))
    wrong = [proof.target for proof in proofs if proof.status == "failed"]
    if wrong:
        raise SystemExit(f"error: {', '.join(wrong)} does not do what was simulated; do not install it")


def wanted(config: ExportConfig) -> list[str]:
    """Return the names of the targets; "all" stands for every one there is.

    Raises
    ------
    UserError
        For an unknown one, with the near miss.
    """
    from experiments.errors import UserError
    from experiments.export.targets import TARGETS
    from plants.core.naming import unknown

    for name in config.to:
        if name != "all" and name not in TARGETS:
            raise UserError(unknown("export target", name, ("all", *TARGETS)))
    return list(TARGETS) if "all" in config.to else list(dict.fromkeys(config.to))


def prepared(config: ExportConfig) -> Job:
    """Return the job that a configuration describes: simulated once in all declared situations.

    Raises
    ------
    ValueError
        If the knowledge base cannot be read, was made for another plant, or the guard does not fit it.
    """
    from experiments import situations
    from experiments.export.installed import installed
    from experiments.export.job import Job
    from experiments.export.recording import recordings
    from experiments.kb_case import loaded

    kb, plant = loaded(config)
    sets, _ = situations.declared_sets(config, plant)
    several = [situation for block in sets.values() for situation in block]
    guard = guard_of(config)
    machine = installed(kb, plant, config.integration_step, guard)
    seen = recordings(kb, plant, several, config.integration_step, machine, config.integrator)
    return Job(
        kb,
        plant,
        config.integration_step,
        machine,
        tuple(seen),
        tuple(several),
        config.integrator,
        guard,
        config.seed,
        config.hostile,
    )


def guard_of(config: ExportConfig) -> Any:
    """Return the guard that a configuration describes."""
    from experiments.export.guard import Guard

    given = config.guard
    ranges = {name: (float(ends[0]), float(ends[1])) for name, ends in given.ranges.items()}
    safe = None if given.safe is None else tuple(given.safe)
    ramp = float("inf") if given.ramp is None else given.ramp
    return Guard(ranges, given.patience, given.recovery, given.frozen_after, ramp, safe)


def _written(folder: RunFolder, target: str, texts: Any) -> list[dict[str, Any]]:
    """Write an export's files; return path, size and SHA-256 of each."""
    from experiments.export.proof import digest
    from plants.core import atomic

    found = []
    for name, content in texts.items():
        path = folder.path / target / name
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
    from experiments.text_table import text_table

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


def _check(config: ExportConfig) -> None:
    from experiments.kb_case import loaded

    wanted(config)
    loaded(config)


main = command("export", export, _check)

if __name__ == "__main__":
    main()
