"""The main job: from control situations to a proven controller, a report and exports.

python -m experiments.design plant=van_der_pol
sscq design plant=van_der_pol budget=small
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import plants
from experiments.runtime import formats
from experiments.runtime.errors import UserError, tell
from experiments.starting.launch import command
from sscq.loop.trial import checked

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from configs.schema import DesignConfig
    from experiments.pipeline.planned import Listener
    from experiments.runtime.run_folder import RunFolder


def design(
    config: DesignConfig,
    folder: RunFolder,
    *,
    show: bool = True,
    listener: Listener | None = None,
) -> None:
    """Run or resume a design: searches, verdict, report; `show`: print what came out."""
    from experiments.pipeline.planned import followed
    from experiments.pipeline.search_stages import searched
    from experiments.report import outputs
    from experiments.settings import begun

    job = begun(config, None if config.start is None else folder.readable(config.start))
    outputs.announce(job, folder, quiet=config.quiet)
    found = searched(followed(job, folder, quiet=config.quiet, listener=listener))
    bench, judgement = found.judged()
    outputs.write(
        bench,
        found.reference,
        found.group,
        judgement,
        found.signal,
        found.refined,
        config,
        found.fronts,
        found.further,
        show=show,
    )


def check(config: DesignConfig) -> None:
    """Refuse what cannot be designed before there is a folder, and settle the step."""
    from experiments.pipeline.assurance import authority
    from experiments.report import exports
    from experiments.settings import begun, settle_step, situations

    advice = _refuse_broken(config) if config.plant_file else 0  # the project's own plants are checked by its tests
    settle_step(config)
    job = begun(config)
    exports.check(config, job.plant)
    authority.check(config, job.plant)
    situations.check(config, job.plant, job.laws, [s for several in job.sets.values() for s in several])
    if advice and not config.quiet:
        tell(f"plant {job.plant.name!r} keeps its contract; {advice} advice: `sscq check {config.plant_file}`")


def _refuse_broken(config: DesignConfig) -> int:
    """Refuse a plant that breaks its contract before anything is searched on it; return how much else is advised."""
    report = checked(plants.find(config.plant_name))
    if report.ok:
        return len(report.advice)
    told = "; ".join(report.problems)
    raise UserError(f"plant {report.plant!r} breaks its contract: {told}. All of it: `sscq check {config.plant_file}`")


def _summary(runs: Sequence[Path]) -> None:
    from experiments.report.sweep_summary import summarise

    summarise(runs)


def value(run: Path) -> float:
    """Fitness of the recommended controller where the verdict judged: what a sweeper makes small."""
    metrics = formats.read_json(run / "metrics.json")
    fitness = metrics["controllers"][metrics["recommended"]]["fitness"]
    return float(fitness.get("drawn", fitness["unforeseen"]))


main = command("design", design, check, _summary, value)

if __name__ == "__main__":
    main()
