"""Closed-loop refinement: genes of a knowledge base, what the search may do, what the margins leave of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import plants
import sscq
from controllers import PID
from flcs import FuzzyController, Inference, KnowledgeBase
from flcs.refinement import refinement as module
from flcs.refinement.genome import Genes, candidate, with_reference
from flcs.refinement.refinement import certified, refine
from sscq.baselines import search_plan
from sscq.baselines.candidates import fixed
from sscq.baselines.objective import Objective, Task
from sscq.baselines.search_plan import SearchPlan
from sscq.fitness import Fitness
from sscq.margins.margins import MarginLimits
from sscq.margins.operating import SLACK, OperatingMargins
from sscq.margins.scheduled_gains import ScheduledGains
from sscq.search.genetic import GeneticAlgorithm
from tests.flcs.rule_bases import nine_rules, value_in_loop

VDP = plants.get("van_der_pol")
LAWS = (PID(sample_time=0.02),)
STEP = 0.01
REFERENCE = (3.62, 0.59, 3.17)
SITUATIONS = (
    sscq.Situation("up", 1.5, initial=(0.1, 0.0), t_end=4.0), sscq.Situation("back", 0.0, initial=(2.0, 0.5), t_end=4.0)
)  # fmt: skip
TASK = Task(VDP, SITUATIONS, Fitness(), STEP, threads=1)


def base(gains, reference=REFERENCE, **settings):
    return nine_rules(gains, reference, **settings)


def kb_of(gains, order=0, tick=0.04, authority=1.0, **settings):
    return KnowledgeBase(
        "van_der_pol", (base(gains, order=order, **settings),), Inference(order=order, authority=authority), tick
    )


RANDOM = np.random.default_rng(4).uniform((1.0, 0.1, 1.0), (8.0, 2.0, 6.0), (9, 3))
BASES = {
    "triangular": kb_of(RANDOM), "gaussian": kb_of(RANDOM, shape="gaussian"),
    "affine": kb_of(RANDOM, order=1),
    "some off": kb_of(RANDOM, on=[k not in {0, 4} for k in range(9)]),
    "two channels": KnowledgeBase("p", (base(RANDOM), base(RANDOM[::-1], name="other", shape="bell")), tick=0.04),
}  # fmt: skip


def genes_of(name):
    return Genes(FuzzyController(BASES[name]))


# ------------------------------------------------------------------------------------------------------------- genes


@pytest.mark.parametrize("name", BASES)
def test_genes_are_everything_but_the_masks(name):
    genes, names = genes_of(name), FuzzyController(BASES[name]).theta_names
    searched = [names[k] for k in genes.searched]
    assert not [n for n in searched if n.startswith("on")]
    assert [n for n in names if n not in searched] == [n for n in names if n.startswith("on")]
    has_widths = name in {"gaussian", "two channels"}
    assert set(genes.kinds) == {"gain", "mask", "centre", *(["width"] if has_widths else [])}
    low, high = genes.bounds()
    assert low.shape == high.shape == genes.searched.shape
    assert (low < high).all()


@pytest.mark.parametrize("name", BASES)
def test_a_knowledge_base_is_found_again(name):
    """To rounding of the bent coordinates, and again after it was written back."""
    kb, genes = BASES[name], genes_of(name)
    theta = genes.decode(genes.of(kb)[None])[0]
    np.testing.assert_allclose(theta, FuzzyController(kb).theta, rtol=1e-12, atol=1e-12)
    again = genes.controller.with_theta(theta)
    np.testing.assert_allclose(genes.of(again), genes.of(kb), rtol=1e-9, atol=1e-12)


def centres_of(kb, theta):
    """Centres of each input of each channel in theta."""
    written = FuzzyController(kb).with_theta(theta)
    return [(v, np.array(v.centres)) for b in written.channels for v in b.inputs]


@given(st.data(), st.sampled_from(list(BASES)))
def test_any_genome_is_a_knowledge_base(data, name):
    """Gains in their box, masks as they were, terms in order, apart and in their range; and it is a fixed point."""
    kb, genes = BASES[name], genes_of(name)
    low, high = genes.bounds()
    corner = data.draw(st.sampled_from((0.0, 0.5, 1.0)))  # all terms in one place as well
    share = np.array(data.draw(st.lists(st.floats(0.0, 1.0), min_size=len(low), max_size=len(low))))
    mixed = np.where(data.draw(st.booleans()), corner, share)
    theta = genes.decode((low + mixed * (high - low))[None])[0]
    names = FuzzyController(kb).theta_names
    np.testing.assert_array_equal(theta[genes.kinds == "mask"], FuzzyController(kb).theta[genes.kinds == "mask"])
    constants = [k for k, n in enumerate(names) if genes.kinds[k] == "gain" and "." not in n]
    assert (theta[constants] >= 0.0).all()
    assert (theta[constants] <= 10.0).all()
    for variable, centres in centres_of(kb, theta):
        assert (np.diff(centres) >= variable.smallest_gap * (1.0 - 1e-9)).all()
        assert centres[0] >= variable.low - 1e-9
        assert centres[-1] <= variable.high + 1e-9
    kept = genes.kinds != "width"  # too small widths are raised when they are written
    written = FuzzyController(FuzzyController(kb).with_theta(theta)).theta
    np.testing.assert_allclose(written[kept], theta[kept], rtol=0.0, atol=1e-12)
    again = genes.decode(np.clip(genes.of(FuzzyController(kb).with_theta(theta)), low, high)[None])[0]
    np.testing.assert_allclose(again[kept], theta[kept], rtol=1e-9, atol=1e-9)


def test_terms_may_change_places():
    """A genome whose centres are out of order is the same controller as the ordered one."""
    genes = genes_of("triangular")
    genome = genes.of(BASES["triangular"])
    centres = np.flatnonzero(genes.kinds[genes.searched] == "centre")[:3]
    swapped = genome.copy()
    swapped[centres] = genome[centres][[2, 0, 1]]
    np.testing.assert_array_equal(genes.decode(np.array([genome]))[0], genes.decode(np.array([swapped]))[0])


# --------------------------------------------------------------------------------------------------------- refinement


def value_of(kb):
    return value_in_loop(kb, TASK, LAWS)


@pytest.fixture(scope="module")
def reference_value():
    """Fitness of the fixed PID with the reference gains."""
    one = fixed(LAWS, np.zeros(3), np.full(3, 10.0), np.array([REFERENCE]))
    return float(Objective(TASK, one.controller)(np.array([REFERENCE]))[0])


def plan(evaluations, seed=0):
    return SearchPlan((GeneticAlgorithm(evaluations=evaluations, population=30, generations=None),), seed)


def test_with_all_rules_at_the_reference_it_is_the_fixed_pid(reference_value):
    for name in ("triangular", "some off"):
        flat = with_reference(BASES[name])
        assert all(rule.on and rule.gains == REFERENCE for rule in flat.channels[0].rules)
        # Where all rules say the same, weights drop out to rounding, which a stable loop does not amplify.
        assert value_of(flat) == pytest.approx(reference_value, rel=1e-9)


@pytest.mark.parametrize("gains", [RANDOM, np.full((9, 3), (0.2, 6.0, 0.5))], ids=["random", "bad"])
def test_refining_is_never_worse_than_what_it_starts_from(gains, reference_value):
    kb = kb_of(gains)
    before = value_of(kb)
    better, found = refine(TASK, kb, plan(240), None, laws=LAWS)
    after = value_of(better)
    assert after == pytest.approx(found.fitness, rel=1e-9)
    assert after <= before * (1.0 + 1e-9)
    assert after <= reference_value * (1.0 + 1e-9)
    assert after < 0.97 * min(before, reference_value)  # and 240 evaluations do gain something
    assert found.evaluations <= 240
    assert better.channels[0].low == kb.channels[0].low
    assert better.inference == kb.inference


def test_without_budget_the_better_start_is_returned(reference_value):
    bad = kb_of(np.full((9, 3), (0.2, 6.0, 0.5)))
    assert value_of(bad) > 1.5 * reference_value
    starts_only = SearchPlan((GeneticAlgorithm(evaluations=2, population=8, generations=None),))
    same, _ = refine(TASK, bad, starts_only, None, laws=LAWS)
    assert value_of(same) == pytest.approx(reference_value, rel=1e-9)


def test_refining_again_begins_where_it_ended():
    """Also with terms that the search moved to the end of their range."""
    first, found = refine(TASK, BASES["triangular"], plan(120), None, laws=LAWS)
    start = candidate(first, (first, with_reference(first)), LAWS, "again", "again")
    assert start.start.shape == (2, 27 + 6)
    objective = Objective(TASK, start.controller, start.decode)
    assert objective(start.start)[0] == pytest.approx(found.fitness, rel=1e-9)


@pytest.fixture(scope="module")
def margins():
    """Limits that the reference gains keep and that some of the random rules break."""
    limits = MarginLimits(1.6, 0.05)
    return OperatingMargins(VDP, LAWS, SITUATIONS, STEP, [0.0] * 3, [10.0] * 3, limits)


def kept(kb, margins, authority=None):
    controller = FuzzyController(kb, authority=authority, laws=LAWS)
    return margins.keeps_of(controller, controller.theta)


def peaks(kb, margins, seed=5, n=2000):
    """Largest Ms at rest, and in passing at places of another, denser draw; infinite where a loop is unstable."""
    controller = FuzzyController(kb, laws=LAWS)
    given, theta = ScheduledGains(controller, margins.channels.outputs), controller.theta[None]
    ((_, passing),) = given.passing(theta, n, seed)
    return tuple(margins.worst(gains)[0].sensitivity.value for gains in (given.at_rest(theta)[0, 0], passing[0]))


NEARLY = 1.0 + 1.6 * (1.0 + 2.0 * SLACK)
"""The limit in passing on another draw: the worst place may lie between those at which a knowledge base was certified."""


def test_margins_are_kept_by_the_refined_rules(margins, reference_value):
    kb = kb_of(RANDOM)
    assert margins.keeps(np.array(REFERENCE))
    assert not kept(kb, margins)
    assert peaks(kb, margins)[1] > NEARLY
    better, _ = refine(TASK, kb, plan(300), margins, laws=LAWS)
    assert kept(better, margins)
    at_rest, passing = peaks(better, margins)
    assert at_rest <= 1.6
    assert passing <= NEARLY
    assert better.inference.authority > 0.0
    assert value_of(better) <= reference_value * (1.0 + 1e-9)


def test_the_search_itself_keeps_off_the_limits(margins, monkeypatch):
    """As every search does, and by no more than others: it is given the same limits."""
    seen = []

    def spy(task, one, how, given, validation):
        seen.append(given)
        return search(task, one, how, given, validation)

    search = search_plan.search
    monkeypatch.setattr(module, "search", spy)
    refine(TASK, kb_of(RANDOM), plan(8), margins, laws=LAWS)
    assert seen == [margins]
    gains = np.array(REFERENCE)
    peak, delay = margins.worst(gains)[0].sensitivity.value, margins.worst(gains)[0].delay_margin.value
    on = margins.with_limits(MarginLimits(peak * (1.0 + 1e-9), delay * (1.0 - 1e-9)))
    assert on.keeps(gains)
    assert on.violation(gains[None, None])[0] > 0.0


# ------------------------------------------------------------------------------------------------------ certification


def test_a_knowledge_base_that_keeps_the_margins_stays_as_it_is(margins):
    calm = kb_of(np.array(REFERENCE) * np.linspace(0.97, 1.03, 9)[:, None])
    assert certified(calm, margins, LAWS) is calm
    wild = kb_of(np.full((9, 3), (1.0, 9.0, 1.5)))
    assert certified(wild, None, LAWS) is wild


def test_authority_is_taken_back_as_far_as_needed_and_no_further(margins):
    gains = np.tile(REFERENCE, (9, 1))
    gains[2] = (8.0, 9.0, 1.2)  # unstable about rest, and passed through there
    kb = kb_of(gains)
    assert peaks(kb, margins)[1] == np.inf
    less = certified(kb, margins, LAWS)
    authority = less.inference.authority
    assert 0.05 < authority < 0.95
    assert less == replace(kb, inference=replace(kb.inference, authority=authority))
    assert kept(less, margins)
    at_rest, passing = peaks(less, margins)
    assert at_rest <= 1.6
    assert 2.5 < passing <= NEARLY
    assert not kept(kb, margins, authority + 1e-3)


def test_the_rule_at_rest_keeps_the_narrower_limit(margins):
    """Gains that may be passed through may not stand: the same rule costs authority at rest alone."""
    between = np.array([3.62, 0.59, 2.2])
    assert 1.6 < margins.worst(between)[0].sensitivity.value < 2.4
    rows = np.tile(REFERENCE, (9, 1))
    rows[8] = between
    passed = kb_of(rows)
    assert certified(passed, margins, LAWS) is passed
    rows[[4, 8]] = rows[[8, 4]]
    less = certified(kb_of(rows), margins, LAWS)
    assert 0.05 < less.inference.authority < 0.95
    assert peaks(less, margins)[0] == pytest.approx(1.6, rel=1e-4)


def test_reference_gains_that_break_the_margins_are_left_alone(margins):
    """Nothing can be kept then; the knowledge base gets no say."""
    lost = KnowledgeBase("van_der_pol", (base(RANDOM, reference=(1.0, 9.0, 1.2)),), tick=0.04)
    assert not margins.keeps(np.array([1.0, 9.0, 1.2]))
    assert certified(lost, margins, LAWS).inference.authority == 0.0


def test_what_is_left_is_no_worse_than_the_reference(reference_value):
    """Half the way to bad rules may be worse than none of it: then the reference gains stay."""
    bad, good = (kb_of(np.tile(gains, (9, 1)), authority=0.5) for gains in ((0.2, 6.0, 0.5), (2.0, 0.03, 2.5)))
    silent = module.not_worse(TASK, bad, LAWS)
    assert value_of(bad) > reference_value
    assert silent == replace(bad, inference=replace(bad.inference, authority=0.0))
    assert value_of(silent) == pytest.approx(reference_value, rel=1e-9)
    assert value_of(good) < reference_value
    assert module.not_worse(TASK, good, LAWS) is good
