"""Exports at the end of a design: those that its settings ask for, below ``exports`` in the run's folder.

Which targets are asked for is read here for `sscq export`, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.runtime import formats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from configs.schema import DesignConfig
    from experiments.pipeline.ladder import Bench
    from flcs import KnowledgeBase
    from flcs.export.proof import Proof
    from plants import Plant


def wanted(names: Sequence[str]) -> list[str]:
    """Return the names of the targets; "all" stands for every one there is.

    Raises
    ------
    UserError
        For an unknown one, with the near miss.
    """
    from experiments.report.living.target import TARGETS
    from experiments.runtime.errors import UserError
    from plants.core.names import unknown

    for name in names:
        if name != "all" and name not in TARGETS:
            raise UserError(unknown("export target", name, ("all", *TARGETS)))
    return list(TARGETS) if "all" in names else list(dict.fromkeys(names))


def written(bench: Bench, kb: KnowledgeBase, config: DesignConfig) -> Sequence[Proof]:
    """Write and prove what the settings ask for, print the table; nothing where they ask for nothing."""
    if not config.exports.to:
        return ()
    from experiments.report.export_files import job_for, table, write

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
    from experiments.report import export_files

    wanted(config.exports.to)
    export_files.check_settings(config.exports, plant)
