"""Export a stored knowledge base, and prove every export against the simulator.

As in::

    sscq export kb=runs/design/20250101-120000/knowledge_base.json
    sscq export kb=knowledge_base.json to=[c,c_float] guard.patience=0.05 guard.safe=[0]
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from experiments.starting.launch import command

if TYPE_CHECKING:
    from configs.schema import ExportConfig
    from experiments.runtime.run_folder import RunFolder
    from flcs.export.job import Job


def export(config: ExportConfig, folder: RunFolder) -> None:
    """Write all targets, run each of them, write manifest.json; exit code 1 where one is wrong."""
    from experiments.cases.kb_case import other_recommended
    from experiments.report.exports import table, wanted, write

    job = prepared(config)
    for warning in other_recommended(Path(str(config.kb))):
        print(f"warning: {warning}")
    proofs = write(job, wanted(config.to), folder, quiet=config.quiet)
    print("\n".join(["", table(proofs), f"proofs, sizes and hashes: {folder.path / 'manifest.json'}"]))
    wrong = [proof.target for proof in proofs if proof.status == "failed"]
    if wrong:
        raise SystemExit(f"error: {', '.join(wrong)} does not do what was simulated; do not install it")


def prepared(config: ExportConfig) -> Job:
    """Return the job that a configuration describes: simulated once in all declared situations.

    Raises
    ------
    ValueError
        If the knowledge base cannot be read, was made for another plant, or the guard does not fit it.
    """
    from experiments.cases.kb_case import loaded
    from experiments.report.exports import job_for
    from experiments.settings import situations

    kb, plant = loaded(config)
    sets, _ = situations.declared_sets(config, plant)
    several = tuple(situation for block in sets.values() for situation in block)
    return job_for(kb, plant, several, config.integration_step, config.integrator, config, config.seed)


def check(config: ExportConfig) -> None:
    """Raise UserError or ValueError where targets or the guard do not fit."""
    from experiments.cases.kb_case import loaded
    from experiments.report import exports
    from experiments.runtime.errors import UserError

    if not exports.wanted(config.to):
        raise UserError("give a target, such as to=[c]; to=[all] writes every one there is")
    exports.check_settings(config, loaded(config)[1])


main = command("export", export, check)

if __name__ == "__main__":
    main()
