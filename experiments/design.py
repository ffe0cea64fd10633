"""The main job: from control situations to a proven controller, a report and exports.

python -m experiments.design plant=van_der_pol
sscq design plant=van_der_pol budget=small
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from experiments.report.sweep_summary import summarise
from experiments.runtime.launch import command

if TYPE_CHECKING:
    from configs.schema import DesignConfig
    from experiments.runtime.run_folder import RunFolder


def design(config: DesignConfig, folder: RunFolder) -> None:
    """Run or resume a design: ladder of baselines, teacher, knowledge base, refinement, verdict, report."""
    from experiments.pipeline import aggregation, front, judging, knowledge, ladder, rungs
    from experiments.report import outputs
    from experiments.settings import setup

    job = setup(config)
    bench = ladder.Bench(job, folder, quiet=config.quiet)
    outputs.announce(job, folder, quiet=config.quiet)
    reference = ladder.reference(bench)
    fixed = ladder.fixed_gains(bench, reference)
    equal = replace(reference.fitness, travel_limit=ladder.travel(bench, reference, fixed))
    others = judging.choose_table(bench, reference, ladder.richer(bench, reference, fixed, equal))
    oracle = ladder.oracle(bench, reference, fixed)
    lessons = aggregation.taught(bench, reference, fixed)
    signal, imitated = lessons.signal, lessons.kb
    refined = {
        "equal": knowledge.refined(bench, equal, imitated, fixed, "equal"),
        "free": knowledge.refined(bench, reference.fitness, imitated, fixed, "free"),
    }
    further = rungs.further(bench, fixed, equal, imitated)
    group = judging.contenders(bench, reference, fixed, others, oracle, imitated, refined, further.contenders)
    fronts = front.search(bench, reference, fixed, refined, further.contenders)
    fronts = front.decided(bench, reference, fronts, group)
    group += front.contenders(bench, fronts)
    judgement = judging.judge(bench, reference.fitness, group)
    outputs.write(bench, reference, group, judgement, signal, refined, config, fronts, further)


def _check(config: DesignConfig) -> None:
    from experiments.report import exports
    from experiments.settings import settle_step, setup, situations

    settle_step(config)
    job = setup(config)
    exports.check(config, job.plant)
    situations.check(config, job.plant, job.laws, [s for several in job.sets.values() for s in several])


main = command("design", design, _check, summarise)

if __name__ == "__main__":
    main()
