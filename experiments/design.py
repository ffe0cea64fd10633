"""The main job: from control situations to a proven controller, a report and exports.

python -m experiments.design plant=van_der_pol
sscq design plant=van_der_pol budget=small
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from experiments.report.sweep_summary import summarise
from experiments.runtime.launch import command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from configs.schema import DesignConfig
    from experiments.pipeline.front import Front
    from experiments.pipeline.judging import Judgement
    from experiments.pipeline.knowledge import Refined
    from experiments.pipeline.ladder import Bench, Reference
    from experiments.pipeline.rungs import Rungs
    from experiments.runtime.run_folder import RunFolder
    from sscq.baselines.tuned import Tuned
    from sscq.teaching.teaching_signal import TeachingSignal


@dataclass(frozen=True)
class SearchedDesign:
    """What the searches of a design found, before it is judged.

    Attributes
    ----------
    bench : Bench
        With the box of gains in which was searched.
    group : list of Tuned
        All that is judged, simplest first.
    signal : TeachingSignal
    refined : mapping of "equal", "free" to Refined
        At the fixed PID's travel, and at free travel.
    """

    bench: Bench
    reference: Reference
    fixed: Tuned
    group: list[Tuned]
    signal: TeachingSignal
    refined: dict[str, Refined]
    fronts: Sequence[Front]
    further: Rungs

    def judged(self) -> Judgement:
        """Return how all do in the same rollouts, and what is recommended."""
        from experiments.pipeline import judging, ladder

        on_wall = ladder.on_wall(self.bench.setup, self.fixed)
        return judging.judge(self.bench, self.reference.fitness, self.group, on_wall)


def searched(bench: Bench) -> SearchedDesign:
    """Search, or read what has been: ladder of baselines, teacher, knowledge base, refinement."""
    from experiments.pipeline import aggregation, front, judging, knowledge, ladder, rungs

    bench = ladder.widened_box(bench)
    reference = ladder.reference(bench)
    fixed = ladder.fixed_gains(bench, reference)
    equal = replace(reference.fitness, travel_limit=ladder.travel(bench, reference, fixed))
    others = judging.choose_table(bench, reference, ladder.richer(bench, reference, fixed, equal))
    oracle = ladder.oracle(bench, reference, fixed)
    lessons = aggregation.taught(bench, reference, fixed)
    refined = {
        "equal": knowledge.refined(bench, equal, lessons.kb, fixed, "equal"),
        "free": knowledge.refined(bench, reference.fitness, lessons.kb, fixed, "free"),
    }
    further = rungs.further(bench, fixed, equal, lessons.kb)
    group = judging.contenders(bench, reference, fixed, others, oracle, lessons.kb, refined, further.contenders)
    fronts = front.search(bench, reference, fixed, refined, further.contenders)
    fronts = front.decided(bench, reference, fronts, group)
    group += front.contenders(bench, fronts)
    return SearchedDesign(bench, reference, fixed, group, lessons.signal, refined, fronts, further)


def design(config: DesignConfig, folder: RunFolder) -> None:
    """Run or resume a design: searches, verdict, report."""
    from experiments.pipeline.ladder import Bench
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


main = command("design", design, _check, summarise)

if __name__ == "__main__":
    main()
