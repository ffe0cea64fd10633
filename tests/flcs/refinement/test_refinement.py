"""Closed-loop refinement: genes of a knowledge base, gains that it may give, what the search and pruning may do."""

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
from flcs.refinement.genome import Genes, candidate, gain_sets, with_reference
from flcs.refinement.refinement import certified, hull_of, refine
from sscq.baselines import search_plan
from sscq.baselines.candidates import fixed
from sscq.baselines.objective import Objective, Task
from sscq.baselines.search_plan import SearchPlan
from sscq.fitness import Fitness
from sscq.margins.margins import MarginLimits
from sscq.margins.operating import SLACK, OperatingMargins
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


# ------------------------------------------------------------------------------------------------------- gain sets


def given_gains(kb, n=400, seed=0, reach=1.5):
    """What the knowledge base does give, also outside its ranges."""
    inputs = np.random.default_rng(seed).uniform(-reach, reach, (n, 2))
    return kb.gains(inputs * [2.0, 4.0])


def within_hull(points, sets, tolerance=1e-9):
    """Whether points lie in the convex hull of sets, by the widths in many directions."""
    directions = np.random.default_rng(1).normal(size=(200, sets.shape[1]))
    top = (sets @ directions.T).max(axis=0)
    return bool(((points @ directions.T) <= top + tolerance).all())


@pytest.mark.parametrize("name", ["triangular", "gaussian", "some off"])
def test_gain_sets_span_what_is_given(name):
    kb = BASES[name]
    controller = FuzzyController(kb)
    sets = gain_sets(controller)(controller.theta[None])[0]
    rules = np.where([[rule.on] for rule in kb.channels[0].rules], RANDOM, REFERENCE)
    np.testing.assert_allclose(sets[:9], rules, rtol=1e-12)
    np.testing.assert_array_equal(sets[9], REFERENCE)
    assert len(sets) == 9 + 1 + 16
    assert within_hull(sets, sets[:10])
    assert within_hull(given_gains(kb), sets[:10])


def test_rules_that_are_off_do_not_count():
    wild = RANDOM.copy()
    wild[4] = (0.0, 10.0, 0.0)
    controller = FuzzyController(kb_of(wild, on=[k != 4 for k in range(9)]))
    sets = gain_sets(controller)(controller.theta[None])[0]
    np.testing.assert_allclose(sets[4], REFERENCE)
    assert sets[:, 1].max() < 2.1


def test_affine_rules_count_at_all_ends_of_their_inputs():
    """Gains that fall along one input while others rise: corners that only move together would miss them."""
    rng = np.random.default_rng(2)
    kb = kb_of(RANDOM, order=1)
    slopes = [tuple(map(tuple, rng.uniform(-3.0, 3.0, (3, 2)))) for _ in range(9)]
    rules = tuple(replace(rule, slopes=rows) for rule, rows in zip(kb.channels[0].rules, slopes, strict=True))
    kb = kb.with_channel(0, replace(kb.channels[0], rules=rules))
    controller = FuzzyController(kb)
    sets = gain_sets(controller)(controller.theta[None])[0]
    assert len(sets) == 4 * 9 + 1 + 16
    rule, (a, b) = kb.channels[0].rules[3], np.array(kb.channels[0].rules[3].slopes).T
    np.testing.assert_allclose(sets[3], np.clip(np.array(rule.gains) - a - b, 0.0, 10.0), atol=1e-12)
    np.testing.assert_allclose(sets[12], np.clip(np.array(rule.gains) - a + b, 0.0, 10.0), atol=1e-12)
    inside = given_gains(kb, reach=1.0)
    free = (inside > 1e-9).all(axis=1) & (inside < 10.0 - 1e-9).all(axis=1)  # the box cuts the hull
    assert free.sum() > 100
    corners = np.concatenate([np.array(r.gains) + np.array(r.slopes) @ s for r in rules for s in SIGNS]).reshape(-1, 3)
    assert within_hull(inside[free], np.vstack([corners, REFERENCE]))


SIGNS = np.array([(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)])


def test_authority_draws_gain_sets_to_the_reference():
    half = kb_of(RANDOM, authority=0.5)
    controller = FuzzyController(half)
    sets = gain_sets(controller)(controller.theta[None])[0]
    np.testing.assert_allclose(sets[:9], 0.5 * (RANDOM + REFERENCE), rtol=1e-12)
    assert within_hull(given_gains(half), sets[:10])


def test_each_channel_has_its_gains():
    """All references, every rule beside the others' references, rules and mixtures beside one another."""
    controller = FuzzyController(BASES["two channels"])
    sets = gain_sets(controller)(controller.theta[None])[0]
    assert sets.shape == (1 + 9 + 9 + 16 + 16, 6)
    np.testing.assert_allclose(sets[0], [*REFERENCE, *REFERENCE], rtol=1e-12)
    np.testing.assert_allclose(sets[1:10], np.hstack([RANDOM, np.tile(REFERENCE, (9, 1))]), rtol=1e-12)
    np.testing.assert_allclose(sets[10:19], np.hstack([np.tile(REFERENCE, (9, 1)), RANDOM[::-1]]), rtol=1e-12)
    for part in (sets[:, :3], sets[:, 3:]):
        assert within_hull(part, np.vstack([RANDOM, REFERENCE]))
    same = np.abs(sets[35:, :3] - sets[35:, 3:]).max(axis=1)
    assert (same > 0.0).all()  # each channel draws its own mixtures


def test_channels_of_different_size():
    small = replace(base(RANDOM, name="other"), rules=base(RANDOM, name="other").rules[:4])
    controller = FuzzyController(KnowledgeBase("p", (base(RANDOM), small), tick=0.04))
    sets = gain_sets(controller)(np.vstack([controller.theta, controller.theta]))
    assert sets.shape == (2, 1 + 9 + 4 + 16 + 16, 6)
    np.testing.assert_array_equal(sets[0], sets[1])
    assert within_hull(sets[0, :, 3:], np.vstack([RANDOM[:4], REFERENCE]))


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
    objective = Objective(TASK, start.controller, start.decode, None, start.gain_sets)
    assert objective(start.start)[0] == pytest.approx(found.fitness, rel=1e-9)


@pytest.fixture(scope="module")
def margins():
    """Limits that the reference gains keep and that some of the random rules break."""
    limits = MarginLimits(1.6, 0.05)
    return OperatingMargins(VDP, LAWS, SITUATIONS, STEP, [0.0] * 3, [10.0] * 3, limits)


def fresh(kb, seed, n=300):
    controller = FuzzyController(kb, laws=LAWS)
    return gain_sets(controller, n, seed)(controller.theta[None])[0]


def nearly_kept(margins, sets):
    """Limits on another sample of the hull: its worst point may lie between those of the sample that was certified."""
    return margins.tightened(-2.0 * SLACK).violation(sets[None])[0] <= 0.0


def test_margins_are_kept_by_the_refined_rules(margins, reference_value):
    kb = kb_of(RANDOM)
    assert margins.keeps(np.array(REFERENCE))
    assert not margins.keeps(fresh(kb, 5))
    better, _ = refine(TASK, kb, plan(300), margins, laws=LAWS)
    assert margins.keeps(hull_of(better, LAWS))
    assert nearly_kept(margins, fresh(better, 5))
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
    gains[2] = (8.0, 9.0, 1.2)  # unstable at rest
    kb = kb_of(gains)
    assert not margins.margins(fresh(kb, 7))[0].stable.all()
    kept = certified(kb, margins, LAWS)
    authority = kept.inference.authority
    assert 0.05 < authority < 0.95
    assert kept == replace(kb, inference=replace(kb.inference, authority=authority))
    assert margins.keeps(hull_of(kept, LAWS))
    assert nearly_kept(margins, fresh(kept, 7))
    assert not margins.keeps(hull_of(kb, LAWS, authority + 1e-3))


def test_reference_gains_that_break_the_margins_are_left_alone(margins):
    """Nothing can be kept then; the knowledge base gets no say."""
    lost = KnowledgeBase("van_der_pol", (base(RANDOM, reference=(1.0, 9.0, 1.2)),), tick=0.04)
    assert not margins.keeps(np.array([1.0, 9.0, 1.2]))
    assert certified(lost, margins, LAWS).inference.authority == 0.0


def test_what_is_left_is_no_worse_than_the_reference(reference_value):
    """Half the way to bad rules may be worse than none of it: then the reference gains stay."""
    bad, good = (kb_of(np.tile(gains, (9, 1)), authority=0.5) for gains in ((0.2, 6.0, 0.5), (2.0, 0.03, 2.5)))
    silent = module._not_worse(TASK, bad, LAWS)
    assert value_of(bad) > reference_value
    assert silent == replace(bad, inference=replace(bad.inference, authority=0.0))
    assert value_of(silent) == pytest.approx(reference_value, rel=1e-9)
    assert value_of(good) < reference_value
    assert module._not_worse(TASK, good, LAWS) is good
