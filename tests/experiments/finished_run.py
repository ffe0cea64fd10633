"""A finished design run without its searches: gains, rules and teaching signal are made up, all else is the pipeline's."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from configs.schema import (
    AssuranceConfig,
    BudgetConfig,
    ControllerConfig,
    DesignConfig,
    DrawsConfig,
    ExcitationConfig,
    LadderConfig,
    NetworkSettings,
    SearchConfig,
    SituationConfig,
    SituationsConfig,
)
from experiments.pipeline import front, judged_rollouts, judging, rungs, search_results
from experiments.pipeline.bench import Bench
from experiments.pipeline.knowledge import Refined
from experiments.pipeline.ladder import Reference
from experiments.report import outputs
from experiments.report.builders.case import FinishedDesign
from experiments.runtime.run_folder import RunFolder
from experiments.settings import setup
from flcs import FuzzyController, KnowledgeBase, RuleBase, Variable
from flcs.inference.rule_base import Rule
from flcs.refinement.rule_count import TradeOff, TradeOffPoint
from sscq.baselines.tuned import Tuned
from sscq.search.history import GenerationHistory
from sscq.teaching.teaching_signal import TeachingSignal

STARTS = ("from the imitated rules", "from the reference gains")
FIXED = np.array([5.0, 1.0, 4.0])
SEEDS = 3


class Run(NamedTuple):
    """All that a report is made of."""

    bench: Bench
    reference: Reference
    group: list
    judgement: object
    signal: TeachingSignal
    refined: dict
    config: DesignConfig
    fronts: list = []  # noqa: RUF012  (a tuple's default; nobody writes to it)

    @property
    def case(self):
        """The run as the report's parts see it."""
        return FinishedDesign(self.bench, self.reference, tuple(self.group), self.judgement, self.signal, self.refined,
                    tuple(self.fronts))  # fmt: skip


def situation(reference, t_end=4.0, variance=0.3, **more):
    """A step from rest in white noise."""
    noise = ExcitationConfig(kind="white", variance=variance)
    return SituationConfig(reference=reference, excitation=noise, t_end=t_end, **more)


def configuration(**changes):
    """A small design of the Van der Pol oscillator, in named situations alone."""
    situations = SituationsConfig(
        taught={"up": situation(1.0, seed=1), "down": situation(-1.0, seed=2)},
        validation={"half": situation(0.5, seed=3)},
        unforeseen={"far": situation(1.5, seed=4), "louder": situation(-1.0, variance=0.6, delay=0.02, seed=5)},
    )
    given = {
        "plant": "van_der_pol",
        "situations": situations,
        "draws": DrawsConfig(taught=0, validation=0, verdict=0),
        "controller": ControllerConfig(own_gains=[2.0, 0.5, 1.0]),
        "budget": BudgetConfig(evaluations=60, verdict_seeds=SEEDS),
        "assurance": AssuranceConfig(worst_evaluations=20, map_points=4),
        "ladder": LadderConfig(further=[]),  # nothing is searched here
        "search": SearchConfig(method="both", tries=2),
        "network": NetworkSettings(mirrored=False),  # the made-up rules are not
        "quiet": True,
        "threads": 1,
    }
    return DesignConfig(**(given | changes))


def run(folder, config=None):
    """Judge made-up controllers in the run folder `folder`."""
    config = config or configuration()
    bench = Bench(setup(config), folder, quiet=True)
    reference = Reference(bench.setup.fitness, FIXED[None], None)
    fixed = entry("fixed", "fixed PID", FIXED, "GeneticAlgorithm", "CmaEs")
    search_results.save(_stage(folder, "fixed_cmaes"), [fixed])
    kbs = {kind: knowledge_base(bench.setup, shift) for kind, shift in (("equal", 0.4), ("free", 0.8))}
    signal = teaching_signal(bench.setup)
    refined = {
        kind: Refined(
            kb,
            entry(f"knowledge_base_{kind}", "knowledge base", FIXED, *(f"{start}|CmaEs" for start in STARTS)),
            trade_off(kb),
        )
        for kind, kb in kbs.items()
    }
    for kind, result in refined.items():
        search_results.save(_stage(folder, f"knowledge_base_{kind}"), [result.entry])
    oracle = np.tile(FIXED, (5, 1)) + np.arange(5)[:, None]
    imitated = knowledge_base(bench.setup, 0.6)
    imitated.save(_stage(folder, "imitation") / "knowledge_base.json")
    further = rungs.further(bench, fixed, reference.fitness, imitated).contenders
    group = judging.contenders(bench, reference, fixed, [], imitated, refined, further)
    spread = bench.setup.config.situations.unforeseen_spread > 0.0
    group = judging.with_oracle(bench, group, fixed, None if spread else oracle)
    fronts = front.search(bench, reference, fixed, refined, further)
    fronts = front.decided(bench, reference, fronts, group)
    group += front.contenders(bench, fronts)
    bench, judgement = judging.judge(bench, reference.fitness, group)
    return Run(bench, reference, group, judgement, signal, refined, config, fronts)


def written(folder, config=None):
    """The same with all its files and its page."""
    found = run(folder, config)
    outputs.write(found.bench, found.reference, found.group, found.judgement, found.signal, found.refined, found.config,
                  found.fronts)  # fmt: skip
    return found


def stored(path, config=None, overrides=()):
    """The same in a new run folder."""
    with RunFolder.create(
        path, command="design", config={"plant": "van_der_pol", "seed": 0}, overrides=list(overrides)
    ) as folder:
        return written(folder, config)


def altered(run, name, kind, situation, **measures):
    """The case with measures of one contender changed in one situation, for all seeds."""
    quality = {key: table.copy() for key, table in run.judgement.quality.items()}
    for measure, value in measures.items():
        quality[name, kind][judged_rollouts.MEASURES.index(measure), :, situation] = value
    judgement = replace(run.judgement, quality=quality)
    return replace(run.case, judgement=judgement)


def _stage(folder, name):
    path = folder.path / "stages" / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def entry(name, title, theta, *methods):
    """A search result whose methods each made 30 evaluations."""
    counts = np.array([10, 20, 30])
    histories = tuple(
        (method, GenerationHistory(np.arange(3), counts, b, b + 1.0))
        for method, b in zip(methods, ([3.0, 2.0, 2.0], [1.9, 1.6, 1.5]), strict=False)
        for b in [np.array(b)]
    )
    return Tuned(name, title, theta=theta, evaluations=30 * len(methods), fitness=1.5, histories=histories)


def knowledge_base(job, shift):
    """Nine rules on error and error rate around the fixed gains, one of them off."""
    e = Variable("e", "m", -1.5, 1.5, (-1.0, 0.0, 1.0))
    rate = Variable("e_rate", "m/s", -3.0, 3.0, (-2.0, 0.0, 2.0))
    rules = tuple(
        Rule((i, j), tuple(FIXED * (1.0 + shift * (i - 1) * 0.3 - 0.1 * shift * j)), on=(i, j) != (2, 2))
        for i in range(3)
        for j in range(3)
    )
    base = RuleBase("position", (e, rate), rules, tuple(job.low), tuple(job.high), tuple(FIXED))
    ranges = {"delay": [0.0, 0.0], "output_delay": [0.0, 0.0], "noise": [0.0, 0.0]}
    return KnowledgeBase("van_der_pol", (base,), tick=job.tick, valid_range=ranges, fitness=job.fitness.plain())


def trade_off(kb):
    """Eight of the nine rules are kept; each is worth a hundredth of its number."""
    on = FuzzyController(kb).theta_names
    names = [name for name in on if name.startswith("on")]
    points = [
        TradeOffPoint(9 - k, name, 0.6 + 0.002 * k * k, 0.7 + 0.003 * k * k)
        for k, name in enumerate(["", *names[:0:-1]])
    ]
    worth = {name: 0.006 * (k + 1) for k, name in enumerate(names)}
    return TradeOff(tuple(points), 1, 0.005, worth)


def teaching_signal(job):
    """Eight windows in each of the two taught situations."""
    n, time = 16, np.tile(0.5 * np.arange(8), 2)
    inputs = np.column_stack([np.cos(time), -np.sin(time), np.sin(time)])
    return TeachingSignal(
        situation=np.repeat([0, 1], 8),
        time=time,
        inputs=inputs,
        gains=np.tile(FIXED, (n, 1)) * (1.0 + 0.1 * np.sin(time))[:, None],
        weight=np.linspace(1.0, 0.0, n),
        fitness=np.ones(n),
        input_names=("error", "error_rate", "error_integral"),
        gain_names=("kp", "ki", "kd"),
        situation_names=tuple(s.name for s in job.sets["taught"]),
    )
