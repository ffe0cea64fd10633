"""How a knowledge base's searches share its budget: reference gains inside the margins, coarse, then all rules."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from configs import FOLDER, store
from experiments.pipeline import refining, search_results
from experiments.pipeline.ladder import Bench
from experiments.pipeline.refining import Refining, completed
from experiments.settings import setup
from flcs import FuzzyController, Inference, KnowledgeBase, RuleBase, Variable
from flcs.inference.rule_base import full_grid
from flcs.knowledge_base.mirror import mirrored
from flcs.refinement.genome import with_reference
from flcs.refinement.refinement import refine
from sscq.baselines import candidates
from sscq.baselines.objective import Objective
from sscq.baselines.tuned import Tuned
from sscq.search.cmaes import CmaEs

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


def searches(job, gains, **changes):
    entry = Tuned("fixed", "fixed PID", theta=np.asarray(gains, float), evaluations=100)
    job = replace(job, config=replace(job.config, search=replace(job.config.search, **changes)))
    task, validation = job.task(), job.task("validation")
    return Refining(bench_of(job), task, validation, entry, "kb", TITLE, None)


def value(job, kb, kind="taught"):
    controller = FuzzyController(kb, laws=job.laws)
    return float(Objective(job.task(kind), controller)(controller.theta[None])[0])


# ------------------------------------------------------------------------------------------------------ switched off


def test_with_both_shares_at_zero_there_are_the_tries_alone(job, edge):
    """The same searches as by hand: from the imitated rules, then from the reference gains, chosen by validation."""
    start = kb_of(job, 0.6 * edge, np.random.default_rng(0).uniform(0.3, 0.7, (9, 1)) * edge)
    shares = {"anchor_share": 0.0, "coarse_share": 0.0}
    kb, entry = searches(job, 0.6 * edge, **shares).best(start)
    bench, margins, found = bench_of(job), job.margins(), []
    for number, (name, one) in enumerate((("imitation", start), ("reference", with_reference(start)))):
        plan, _ = bench.plan(33, None, "", number, 0.5, far=number > 0)
        better, result = refine(
            job.task(), one, plan, margins, laws=job.laws, name=f"kb_{name}_{number}", validation=job.task("validation")
        )
        found.append((value(job, better, "validation"), better, result))
    assert kb == min(found, key=lambda one: one[0])[1]
    assert entry.evaluations == sum(result.evaluations for _, _, result in found)
    assert [search_results.parted(name)[0] for name, _ in entry.histories] == [""] * 4


def test_what_a_design_starts_from_is_chosen_where_no_search_is_better(job, edge):
    """Searches that have no evaluations to speak of, from bad rules; the stored ones were searched for long."""
    bad, good = 0.2 * edge, 0.6 * edge * np.linspace(1.5, 0.9, 9)[:, None]
    stored = kb_of(job, 0.6 * edge, good)
    shares = {"anchor_share": 0.0, "coarse_share": 0.0}
    without, _ = searches(replace(job, evaluations=12), bad, **shares).best(kb_of(job, bad))
    kb, entry = searches(replace(job, evaluations=12, start=stored), bad, **shares).best(kb_of(job, bad))
    assert value(job, kb, "validation") < value(job, without, "validation")
    assert [rule.gains for rule in kb.channels[0].rules] == [rule.gains for rule in stored.channels[0].rules]
    assert entry.spent > 0


# ------------------------------------------------------------------------------------------------------- on the limit


@pytest.fixture(scope="module")
def moved(job, edge):
    """A refinement whose fixed PID lies on the limit, and what it tried."""
    one = searches(job, edge, anchor_share=0.2, coarse_share=0.3)
    return one, *one.best(kb_of(job, edge, np.linspace(0.6, 1.6, 9)[:, None] * edge))


def test_reference_gains_are_moved_inside_the_margins(job, edge, moved):
    one, _, entry = moved
    tight = job.margins()
    assert tight.violation(edge[None, None])[0] > 0.0
    references = {tried.kb.channels[0].reference for tried in one.tried}
    assert len(references) == 1
    reference = np.array(references.pop())
    assert tight.violation(reference[None, None])[0] <= 0.0
    fixed = candidates.fixed(job.laws, job.low, job.high, reference)
    gentler = Objective(job.task(), fixed.controller)(np.array([reference, 0.75 * edge]))
    assert gentler[0] <= gentler[1]  # it was searched, not only drawn back
    labels = list(dict.fromkeys(search_results.parted(name)[0] for name, _ in entry.histories))
    assert labels == [
        "its reference gains", "over e alone", "over e_rate alone", "from the imitated rules", "from the reference gains"
    ]  # fmt: skip


def test_the_searches_see_the_loop_and_no_floor(job, moved):
    """What they found costs what the loop costs: no share of the margins is in it."""
    one, kb, _ = moved
    for tried in one.tried:
        assert tried.entry.fitness == pytest.approx(value(job, tried.kb), rel=1e-9)
    controller = FuzzyController(kb, laws=job.laws)
    assert job.margins().keeps_of(controller, controller.theta)


def test_searches_of_all_rules_start_from_what_the_coarse_ones_found(job, edge, monkeypatch):
    """And each gets its share: 0.4 of 120 for two inputs, the rest for three tries, the first of them near."""
    calls = []

    def spy(task, kb, plan, margins, **given):
        calls.append((plan.methods, given))
        value = float(len(calls))
        rule = replace(kb.channels[0].rules[0], gains=(value, value, value))
        kb = replace(kb, channels=(replace(kb.channels[0], rules=(rule, *kb.channels[0].rules[1:])),))
        return kb, Tuned(given["name"], TITLE, theta=np.zeros(1), fitness=value, evaluations=7)

    monkeypatch.setattr(refining, "refine", spy)
    one = searches(job, 0.6 * edge, coarse_share=0.4, tries=3)
    monkeypatch.setattr(one, "judged", lambda kb: -kb.channels[0].rules[0].gains[0])
    kb, entry = one.best(kb_of(job, 0.6 * edge))
    assert kb == one.tried[-1].kb
    assert entry.evaluations == 5 * 7
    coarse, fine = calls[:2], calls[2:]
    assert [given["narrowed"].keywords["name"] for _, given in coarse] == ["e", "e_rate"]
    assert [sum(m.evaluations for m in methods) for methods, _ in calls] == [24, 24, 24, 24, 24]
    assert all(given["narrowed"] is None for _, given in fine)
    assert all(given["starts"] == tuple(tried.kb for tried in one.tried[:2]) for _, given in fine)
    assert [given["name"] for _, given in fine] == ["kb_imitation_0", "kb_reference_1", "kb_imitation_2"]
    assert fine[0][0][-1].sigma < 0.1 < fine[1][0][-1].sigma


def test_all_searches_are_paid_from_one_budget(moved):
    one, _, entry = moved
    parts = [*one.before, *(tried.entry for tried in one.tried)]
    assert entry.evaluations == sum(part.evaluations for part in parts)
    # Beside the searches only the best genomes on the way are valued once more, by validation.
    on_the_way = entry.evaluations - sum(_spent(part) for part in parts)
    assert sum(_spent(part) for part in parts) <= EVALUATIONS + len(parts)  # shares are rounded
    assert 0 <= on_the_way <= 60


def _spent(entry):
    """Evaluations of an entry's methods, which count from one another's end."""
    return sum(int(history.evaluations[-1]) for _, history in entry.histories)


def test_small_searches_take_no_more_than_they_can_use(job, edge):
    """Of a large budget nearly all is left for the rules, which then begin with their usual steps."""
    large = replace(job, evaluations=100_000)
    one = searches(large, 0.6 * edge, anchor_share=0.1, coarse_share=0.3, tries=1)
    whole = one._whole(kb_of(large, 0.6 * edge))
    spent = []
    one._refined = lambda name, label, kb, plan, starts=(), narrowed=None: spent.append((starts, plan))
    one._coarse(whole)
    assert one.left > 0.95
    one._fine(0, "imitation", whole, (whole,))
    far = replace(one.setup, evaluations=1500)
    other = searches(far, 0.6 * edge, anchor_share=0.1, coarse_share=0.3, tries=1)
    other._refined = one._refined
    other._fine(0, "imitation", whole, (whole,))
    steps = [[m.sigma for m in plan.methods if isinstance(m, CmaEs)] for _, plan in spent[-2:]]
    assert steps[0] == [0.1]
    assert steps[1] == [refining._NEARER]
    assert [starts for starts, _ in spent[-2:]] == [(), (whole,)]


def test_validation_may_choose_the_fixed_pid_itself(job, edge, monkeypatch):
    """Searches start from other gains or keep off its travel by a share; it is compared all the same."""
    start = kb_of(job, edge)
    one = searches(job, edge, anchor_share=0.2, coarse_share=0.0, tries=1)
    unmoved = with_reference(start)
    monkeypatch.setattr(one, "judged", lambda kb: 1.0)
    monkeypatch.setattr(one, "judged_free", lambda kb: 0.0 if kb == unmoved else 2.0)
    assert one.best(start)[0] == unmoved
    other = searches(job, edge, anchor_share=0.2, coarse_share=0.0, tries=1)
    monkeypatch.setattr(other, "judged", lambda kb: 1.0)
    monkeypatch.setattr(other, "judged_free", lambda kb: 2.0)
    assert other.best(start)[0] == other.tried[0].kb


def test_the_fixed_pid_has_all_of_its_own_travel(job, edge):
    """Rules that must move less than it does and so do worse are not taken."""
    one = searches(job, 0.6 * edge, anchor_share=0.0, coarse_share=0.0, tries=1)
    start = kb_of(job, 0.6 * edge)
    unmoved = with_reference(start)
    limit = 1e-3
    one.task = replace(one.task, fitness=replace(one.task.fitness, travel_limit=limit))
    narrow = replace(one.validation, fitness=replace(one.validation.fitness, travel_limit=limit))
    free = Refining(one.bench, one.task, narrow, one.fixed, one.name, one.title, one.checkpoints)
    assert free.judged_free(unmoved) == pytest.approx(one.judged_free(unmoved))
    assert free.judged(unmoved) > 2.0 * free.judged_free(unmoved)
    assert free.best(start)[0] == unmoved


def test_gains_well_inside_stay_the_reference(job, edge):
    one = searches(job, 0.6 * edge, anchor_share=0.3, coarse_share=0.0, tries=1)
    kb, _ = one.best(kb_of(job, 0.6 * edge))
    assert not one.moved
    assert one.before == []
    assert kb.channels[0].reference == tuple((0.6 * edge).tolist())


# --------------------------------------------------------------------------------------------------------------- more


def test_only_cma_es_takes_nearer_steps(job, edge):
    one = searches(job, edge)
    methods = bench_of(job).plan(33, None, "")[0].methods
    nearer = [one._nearer(method, 33) for method in methods]
    assert nearer[0] is methods[0]
    assert isinstance(methods[1], CmaEs)
    assert nearer[1].sigma < methods[1].sigma
    assert nearer[1].evaluations == methods[1].evaluations


def test_mirrored_bases_are_completed_and_mirrored(job, edge):
    even = (Variable("e", "", -1.0, 1.0, (-0.5, 0.0, 0.5)), Variable("e_rate", "", -2.0, 2.0, (-1.0, 0.0, 1.0)))
    kb = kb_of(job, edge)
    kb = replace(kb, channels=(replace(kb.channels[0], inputs=even, rules=kb.channels[0].rules[:5]),))
    one = searches(replace(job, network=replace(job.network, mirrored=True)), edge)
    assert one._whole(kb) == mirrored(completed(kb))
    assert len(completed(kb).channels[0].rules) == 9


def test_settings_reach_the_searches():
    job = job_of("search.anchor_share=0.2", "search.coarse_share=0.15")
    assert (job.config.search.anchor_share, job.config.search.coarse_share) == (0.2, 0.15)


# ---------------------------------------------------------------------------------------------- random gains in regions


def test_the_best_random_gains_of_the_regions_are_starts(job, edge):
    """Nine regions, each twice: of 60 evaluations three each, and one of the start; the best four are told, in order."""
    shares = {"anchor_share": 0.0, "coarse_share": 0.0, "scatter_share": 0.46, "tries": 1}
    one, start = searches(job, 0.6 * edge, **shares), with_reference(kb_of(job, 0.6 * edge))
    found = one._scattered(start)
    values = [value(job, kb) for kb in found]
    assert len(found) == 4
    assert values == sorted(values)
    assert values[0] <= value(job, start)
    (entry,) = one.before
    assert entry.evaluations == 55
    assert entry.fitness == pytest.approx(values[0], rel=1e-9)
    assert one.left == pytest.approx(1.0 - 55 / EVALUATIONS)
    for kb in found:  # inside the tighter margins, as what a search starts from must be
        assert job.margins().violation(np.array([r.gains for r in kb.channels[0].rules])[None])[0] <= 0.0
    other = searches(job, 0.6 * edge, **shares)
    kb, whole = other.best(start)
    assert [search_results.parted(name)[0] for name, _ in whole.histories] == [""] * 2
    assert min(tried.entry.fitness for tried in other.tried) <= values[0] * (1.0 + 1e-9)  # it did start from them
    assert value(job, kb, "validation") <= value(job, start, "validation") * (1.0 + 1e-9)
    assert EVALUATIONS - 12 <= whole.evaluations <= EVALUATIONS + 60  # and those judged by validation


def test_no_random_gains_are_drawn_unless_asked_for(job, edge):
    one = searches(job, 0.6 * edge, anchor_share=0.0, coarse_share=0.0)
    assert one._scattered(with_reference(kb_of(job, edge))) == ()
    assert one.before == []
    assert job_of("search.scatter_share=0.2").config.search.scatter_share == 0.2


def test_regions_are_searched_one_after_the_other_from_the_best_so_far(job, edge):
    """Nine regions, six evaluations each; nothing but a region's gains differs from the one before, and none is worse."""
    shares = {"anchor_share": 0.0, "coarse_share": 0.0, "region_share": 0.45, "tries": 1}
    one, start = searches(job, 0.6 * edge, **shares), with_reference(kb_of(job, 0.6 * edge))
    found = one._by_region((start,))
    assert one.left == pytest.approx(0.55)
    assert len(one.tried) == 9
    assert found == (*(tried.kb for tried in reversed(one.tried)), start)
    values = [value(job, kb) for kb in reversed(found)]
    assert all(b <= a * (1.0 + 1e-9) for a, b in pairwise(values))
    assert values[-1] < values[0]
    for number, (before, after) in enumerate(pairwise(reversed(found))):
        assert before.channels[0].inputs == after.channels[0].inputs
        pairs = zip(before.channels[0].rules, after.channels[0].rules, strict=True)
        assert {k for k, (a, b) in enumerate(pairs) if a.gains != pytest.approx(b.gains)} <= {number}
    labels = [search_results.parted(name)[0] for tried in one.tried for name, _ in tried.entry.histories]
    assert labels[0] == "in e N, e_rate S alone"  # 0 is nearest to the third of its terms: none is called zero
    assert searches(job, 0.6 * edge, anchor_share=0.0, coarse_share=0.0)._by_region((start,)) == ()
    assert job_of("search.region_share=0.2").config.search.region_share == 0.2
