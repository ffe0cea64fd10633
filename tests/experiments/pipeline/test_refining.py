"""How a knowledge base's searches share its budget, where they start, and how validation chooses."""

from dataclasses import replace

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from configs import FOLDER, store
from experiments.pipeline import refining, search_results
from experiments.pipeline.bench import Bench
from experiments.pipeline.refining import Refining, completed
from experiments.settings import setup
from flcs import FuzzyController, Inference, KnowledgeBase, RuleBase, Variable
from flcs.inference.rule_base import full_grid
from flcs.knowledge_base.mirror import mirrored
from flcs.refinement.genome import with_reference
from flcs.refinement.refinement import refine
from sscq.baselines.objective import Objective
from sscq.baselines.tuned import Tuned

TITLE = "knowledge base"
EVALUATIONS = 120


def job_of(*words):
    store.register()
    # The plant that is quickest to compile; margins are computed from its operating points.
    none = "draws={taught: 0, validation: 0, verdict: 0}"
    fixed = (
        "plant=fopdt",
        none,
        f"budget.evaluations={EVALUATIONS}",
        "fitness.relative=false",
        "fitness.entropy_weight=0",
        "network.mirrored=false",  # structures of both sides by themselves
    )
    with initialize_config_dir(version_base="1.3", config_dir=str(FOLDER)):
        return setup(OmegaConf.to_object(compose("design", overrides=[*fixed, *words])))


class Folder:
    """A run folder is not needed here."""


def bench_of(job):
    return Bench(job, Folder(), quiet=True)


@pytest.fixture(scope="module")
def job():
    return replace(job_of(), threads=1)


@pytest.fixture(scope="module")
def edge(job):
    """Fixed gains on the limit of the margins, where the best ones of a search are."""
    margins, gentle = job.margins(), np.array([0.8, 0.7, 0.1])
    low, high = 0.1, 20.0
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if margins.keeps(middle * gentle) else (low, middle)
    return low * gentle


def kb_of(job, reference, gains=None):
    inputs = (Variable("e", "", -0.5, 1.2, (-0.3, 0.1, 0.8)), Variable("e_rate", "", -3.0, 1.0, (-2.0, -0.5, 0.3)))
    grid = full_grid([3, 3], tuple(reference.tolist()))
    rows = np.broadcast_to(reference if gains is None else gains, (9, 3))
    rules = tuple(replace(rule, gains=tuple(map(float, row))) for rule, row in zip(grid, rows, strict=True))
    base = RuleBase("output", inputs, rules, tuple(job.low), tuple(job.high), tuple(reference.tolist()))
    return KnowledgeBase("fopdt", (base,), Inference(), job.tick)


def searches(job, share=1.0, known=(), **changes):
    job = replace(job, config=replace(job.config, search=replace(job.config.search, **changes)))
    task, validation = job.task(), job.task("validation")
    return Refining(bench_of(job), task, validation, "kb", TITLE, None, known, share)


def value(job, kb, kind="taught"):
    controller = FuzzyController(kb, laws=job.laws)
    return float(Objective(job.task(kind), controller)(controller.theta[None])[0])


def test_two_tries_are_searches_from_the_imitated_rules_and_from_the_reference_gains(job, edge):
    """The same as by hand, each with half of the budget; validation chooses."""
    start = kb_of(job, 0.6 * edge, np.random.default_rng(0).uniform(0.3, 0.7, (9, 1)) * edge)
    kb, entry = searches(job, tries=2).best(start)
    bench, margins, found = bench_of(job), job.margins(), []
    for number, (name, one) in enumerate((("imitation", start), ("reference", with_reference(start)))):
        plan, _ = bench.plan(33, None, "", number, 0.5, far=number > 0)
        better, result = refine(
            job.task(), one, plan, margins, laws=job.laws, name=f"kb_{name}_{number}", validation=job.task("validation")
        )
        found.append((value(job, better, "validation"), better, result))
    assert kb == min(found, key=lambda one: one[0])[1]
    assert entry.evaluations == sum(result.evaluations for _, _, result in found)
    labels = list(dict.fromkeys(search_results.parted(name)[0] for name, _ in entry.histories))
    assert labels == ["from the imitated rules", "from the reference gains"]


def test_all_starts_are_in_every_search_and_each_try_has_its_share(job, edge, monkeypatch):
    """Half of 240 evaluations for each of two tries, the second with steps over much of the box."""
    calls = []

    def spy(task, kb, plan, margins, **given):
        calls.append((kb, plan.methods, given))
        return kb, Tuned(given["name"], TITLE, theta=np.zeros(1), fitness=1.0, evaluations=7)

    monkeypatch.setattr(refining, "refine", spy)
    known = (kb_of(job, 0.5 * edge),)
    one = searches(job, 2.0, known, tries=2)
    start = kb_of(job, 0.6 * edge, np.linspace(0.3, 0.7, 9)[:, None] * edge)
    _, entry = one.best(start)
    assert entry.evaluations == 2 * 7
    assert [kb for kb, _, _ in calls] == [start, with_reference(start)]
    assert all(given["starts"] == known for _, _, given in calls)
    assert [given["name"] for _, _, given in calls] == ["kb_imitation_0", "kb_reference_1"]
    assert [sum(m.evaluations for m in methods) for _, methods, _ in calls] == [EVALUATIONS, EVALUATIONS]
    assert calls[0][1][-1].spread < calls[1][1][-1].spread


def test_one_search_is_the_usual_and_has_no_label(job, edge):
    one = searches(job)
    kb, entry = one.best(kb_of(job, 0.6 * edge))
    assert len(one.tried) == 1
    assert [search_results.parted(name) for name, _ in entry.histories] == [
        ("", "GeneticAlgorithm"), ("", "GradientDescent")
    ]  # fmt: skip
    spent = sum(int(history.evaluations[-1]) for _, history in entry.histories)
    assert 0.9 * EVALUATIONS <= spent <= EVALUATIONS
    assert spent < entry.evaluations <= spent + 60  # and those judged by validation
    controller = FuzzyController(kb, laws=job.laws)
    assert job.margins().keeps_of(controller, controller.theta)
    assert value(job, kb) < value(job, kb_of(job, 0.6 * edge))


def test_validation_may_choose_the_fixed_pid_itself(job, edge, monkeypatch):
    start = kb_of(job, edge)
    one = searches(job)
    unmoved = with_reference(start)
    monkeypatch.setattr(one, "judged", lambda kb: 1.0)
    monkeypatch.setattr(one, "judged_free", lambda kb: 0.0 if kb == unmoved else 2.0)
    assert one.best(start)[0] == unmoved
    other = searches(job)
    monkeypatch.setattr(other, "judged", lambda kb: 1.0)
    monkeypatch.setattr(other, "judged_free", lambda kb: 2.0)
    assert other.best(start)[0] == other.tried[0].kb


def test_the_fixed_pid_has_all_of_its_own_travel(job, edge):
    """Rules that must move less than it does and so do worse are not taken."""
    one, start, limit = searches(job), kb_of(job, 0.6 * edge), 1e-3
    unmoved = with_reference(start)
    task = replace(one.task, fitness=replace(one.task.fitness, travel_limit=limit))
    narrow = replace(one.validation, fitness=replace(one.validation.fitness, travel_limit=limit))
    free = Refining(one.bench, task, narrow, one.name, one.title, one.checkpoints)
    assert free.judged_free(unmoved) == pytest.approx(one.judged_free(unmoved))
    assert free.judged(unmoved) > 2.0 * free.judged_free(unmoved)
    assert free.best(start)[0] == unmoved


def test_mirrored_bases_are_completed_and_mirrored(job, edge):
    even = (Variable("e", "", -1.0, 1.0, (-0.5, 0.0, 0.5)), Variable("e_rate", "", -2.0, 2.0, (-1.0, 0.0, 1.0)))
    kb = kb_of(job, edge)
    kb = replace(kb, channels=(replace(kb.channels[0], inputs=even, rules=kb.channels[0].rules[:5]),))
    one = searches(replace(job, network=replace(job.network, mirrored=True)))
    assert one._whole(kb) == mirrored(completed(kb))
    assert len(completed(kb).channels[0].rules) == 9
