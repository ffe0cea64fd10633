"""The main job: from control situations to a proven controller, a report and exports.

python -m experiments.design plant=van_der_pol
sscq design plant=van_der_pol budget=small
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.runtime.launch import command

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from configs.schema import DesignConfig
    from experiments.runtime.run_folder import RunFolder


def design(config: DesignConfig, folder: RunFolder) -> None:
    """Run or resume a design: searches, verdict, report."""
    from experiments.pipeline.ladder import Bench
    from experiments.pipeline.search_stages import searched
    from experiments.report import outputs
    from experiments.settings import setup

    job = setup(config)
    outputs.announce(job, folder, quiet=config.quiet)
    found = searched(Bench(job, folder, quiet=config.quiet))
    outputs.write(
        found.bench,
        found.reference,
        found.group,
        found.judged(),
        found.signal,
        found.refined,
        config,
        found.fronts,
        found.further,
    )


def _check(config: DesignConfig) -> None:
    from experiments.report import exports
    from experiments.settings import settle_step, setup, situations

    settle_step(config)
    job = setup(config)
    exports.check(config, job.plant)
    situations.check(config, job.plant, job.laws, [s for several in job.sets.values() for s in several])


def _summary(runs: Sequence[Path]) -> None:
    from experiments.report.sweep_summary import summarise

    summarise(runs)


main = command("design", design, _check, _summary)

if __name__ == "__main__":
    main()
