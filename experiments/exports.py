"""Exports at the end of a design: those that its settings ask for, below ``exports`` in the run's folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments import formats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from configs.schema import DesignConfig
    from experiments.export.proof import Proof
    from experiments.ladder import Bench
    from flcs import KnowledgeBase
    from plants import Plant


def written(bench: Bench, kb: KnowledgeBase, config: DesignConfig) -> Sequence[Proof]:
    """Write and prove what the settings ask for, print the table; nothing where they ask for nothing."""
    if not config.exports.to:
        return ()
    from experiments.export.command import wanted
    from experiments.export.preparation import job_for
    from experiments.export.writing import table, write

    setup = bench.setup
    several = [situation for block in setup.sets.values() for situation in block]
    job = job_for(kb, setup.plant, several, setup.step, setup.options["integrator"], config.exports, setup.seed)
    root = bench.folder.path / "exports"
    proofs, manifest = write(job, wanted(config.exports.to), root, quiet=config.quiet)
    formats.write_json(root / "manifest.json", manifest)
    for proof in proofs:
        if proof.seconds:
            bench.folder.note_time(f"{proof.target}, one sample", proof.seconds)
    print("\n".join(["", table(proofs), ""]))
    return proofs


def check(config: DesignConfig, plant: Plant) -> None:
    """Raise before anything is searched where a target is not known or the guard does not fit the plant."""
    if not config.exports.to:
        return
    from experiments.export import preparation
    from experiments.export.command import wanted

    wanted(config.exports.to)
    preparation.check(config.exports, plant)
