"""Coarse before fine: a gain table as rules, exactly; what its few genes move and what they leave."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from flcs import FuzzyController, Inference, KnowledgeBase, RuleBase, Variable
from flcs.inference.rule_base import full_grid
from flcs.knowledge_base.mirror import mirrored
from flcs.refinement.coarse import OneInput, candidate, inputs_of
from flcs.refinement.genome import Genes, with_reference
from flcs.refinement.genome import candidate as whole_candidate
from flcs.refinement.refinement import refine
from sscq.baselines.objective import Objective, Task
from sscq.baselines.search_plan import SearchPlan
from sscq.fitness import Fitness
from sscq.search.cmaes import CmaEs

LAWS = (PID(sample_time=0.02),)
LOW, REFERENCE, HIGH = (0.0,) * 3, (3.62, 0.59, 3.17), (10.0,) * 3
RNG = np.random.default_rng(11)


def variable(name, low, high, centres, **more):
    return Variable(name, "", low, high, centres, **more)


E = variable("e", -2.5, 2.0, (-1.0, 0.2, 0.9))
RATE = variable("e_rate", -4.0, 4.0, (-3.0, -1.0, 0.0, 1.0, 3.0))
LEVEL = variable("level", 1.0, 5.0, (1.5, 3.0, 4.0))


def base(inputs, order=0, name="position"):
    grid = full_grid([v.n_terms for v in inputs], REFERENCE, order)
    rules = tuple(replace(rule, gains=tuple(RNG.uniform(0.5, 6.0, 3))) for rule in grid)
    return RuleBase(name, inputs, rules, LOW, HIGH, REFERENCE)


def kb(*bases, order=0):
    return KnowledgeBase("van_der_pol", bases, Inference(order=order), 0.04)


BASES = {
    "three and five terms": kb(base((E, RATE))),
    "affine": kb(base((E, RATE), 1), order=1),
    "a level": kb(base((E, LEVEL))),
    "gaussian": kb(base((replace(E, shape="gaussian", widths=()), RATE))),
    "two channels": kb(base((E, RATE)), base((RATE, E), name="other")),
}


def form_of(given, name, *, mirror=False):
    genes = Genes(FuzzyController(given, laws=LAWS * len(given.channels)), mirror)
    return OneInput(genes, name), genes


def gene_of(gain, place):
    """Bent coordinate of a gain, as searches see it."""
    from sscq.search.encoding import GainScale

    return float(GainScale(np.zeros(1), np.full(1, 10.0), np.array([REFERENCE[place]])).genes(np.array([gain]))[0])


# ------------------------------------------------------------------------------------------------------- a gain table


@pytest.mark.parametrize("name", ["three and five terms", "two channels"])
def test_it_is_the_gain_table_over_the_magnitude(name):
    """Three terms at -s, 0, s: gains go straight from those at zero to those at s and stay there, to rounding."""
    given = BASES[name]
    form, genes = form_of(given, "e")
    n = len(given.channels)
    inner, outer, scale = RNG.uniform(1.0, 9.0, (n, 3)), RNG.uniform(1.0, 9.0, (n, 3)), RNG.uniform(0.6, 1.9, n)
    coarse = [
        [*(gene_of(g, k) for k, g in enumerate(outer[i])), *(gene_of(g, k) for k, g in enumerate(inner[i])), scale[i]]
        for i in range(n)
    ]
    genome = form.whole(np.array([np.concatenate(coarse)]), genes.of(with_reference(given)))
    rules = genes.controller.with_theta(genes.decode(genome)[0])
    errors, rates = RNG.uniform(-2.4, 2.0, 200), RNG.uniform(-4.0, 4.0, 200)
    for i, channel in enumerate(rules.channels):
        columns = [errors, rates] if channel.input_names[0] == "e" else [rates, errors]
        share = np.minimum(np.abs(errors) / scale[i], 1.0)[:, None]
        table = inner[i] + share * (outer[i] - inner[i])
        one = KnowledgeBase("p", (channel,), rules.inference, 0.04)
        np.testing.assert_allclose(one.gains(np.stack(columns, axis=1)), table, rtol=0.0, atol=1e-12)


# ------------------------------------------------------------------------------------------------------ what is moved


@pytest.mark.parametrize(
    ("name", "over", "count"),
    [
        ("three and five terms", "e", 2 * 3 + 1),  # outer and middle gains, one distance
        ("three and five terms", "e_rate", 3 * 3 + 2),
        ("affine", "e", 2 * 3 + 1),
        ("gaussian", "e", 2 * 3 + 1),
        ("a level", "level", 3 * 3 + 3),  # its range does not hold zero: every term its own
        ("two channels", "e", 2 * (2 * 3 + 1)),
    ],
)
def test_rules_differ_in_one_input_alone(name, over, count):
    given = BASES[name]
    form, genes = form_of(given, over)
    low, high = form.bounds()
    assert low.shape == high.shape == (count,)
    start = genes.of(with_reference(given))
    coarse = RNG.uniform(low, high)
    genome = form.whole(coarse[None], start)
    rules = genes.controller.with_theta(genes.decode(genome)[0])
    for channel, before in zip(rules.channels, given.channels, strict=True):
        place = channel.input_names.index(over)
        groups = {}
        for rule in channel.rules:
            groups.setdefault(rule.terms[place], set()).add(rule.gains)
        assert all(len(gains) == 1 for gains in groups.values())
        distinct = {next(iter(gains)) for gains in groups.values()}
        n = channel.inputs[place].n_terms
        assert len(distinct) == (n if over == "level" else (n + 1) // 2)
        for k, (one, other) in enumerate(zip(channel.inputs, before.inputs, strict=True)):
            assert k == place or one.centres == pytest.approx(other.centres, abs=1e-12)
        assert all(slope == 0.0 for rule in channel.rules for row in rule.slopes for slope in row)


@pytest.mark.parametrize("name", BASES)
def test_of_finds_the_coarse_genome_again(name):
    given = BASES[name]
    form, genes = form_of(given, "e")
    low, high = form.bounds()
    high = np.where(high == 2.5, 2.0, high)  # a distance beyond the nearer end of the range is cut off there
    coarse = RNG.uniform(low, high)
    again = form.of(form.whole(coarse[None], genes.of(with_reference(given)))[0])
    np.testing.assert_allclose(again, coarse, rtol=0.0, atol=1e-12)


def test_a_mirrored_base_stays_mirrored():
    even = replace(E, low=-2.0, centres=(-1.0, 0.0, 1.0))
    given = mirrored(kb(base((even, RATE))))
    form, genes = form_of(given, "e_rate", mirror=True)
    low, high = form.bounds()
    genome = form.whole(RNG.uniform(low, high)[None], genes.of(with_reference(given)))
    rules = genes.controller.with_theta(genes.decode(genome)[0])
    points = RNG.uniform(-2.0, 2.0, (50, 2))
    np.testing.assert_allclose(rules.gains(points), rules.gains(-points), rtol=0.0, atol=1e-12)


def test_only_inputs_of_all_channels_are_offered():
    assert inputs_of(BASES["three and five terms"]) == ("e", "e_rate")
    assert inputs_of(kb(base((E, RATE)), base((LEVEL, E), name="other"))) == ("e",)


# ---------------------------------------------------------------------------------------------------------- searching


def test_a_coarse_search_gains_and_its_result_is_a_start_of_the_whole():
    """Seven genes, sixty evaluations; what they find is in the whole base's genome, with the same fitness."""
    task = Task(
        plants.get("van_der_pol"), (sscq.Situation("back", 0.0, initial=(2.0, 0.5), t_end=3.0),), Fitness(), 0.01,
        threads=1,
    )  # fmt: skip
    given = with_reference(kb(base((E, replace(RATE, centres=(-3.0, 0.0, 3.0), labels=())))))
    plan = SearchPlan((CmaEs(evaluations=60, sigma=0.1),))
    better, found = refine(task, given, plan, None, laws=LAWS, narrowed=partial(candidate, name="e"))
    whole = whole_candidate(given, (better, given), LAWS, "whole", "whole")
    values = Objective(task, whole.controller, whole.decode)(whole.start)
    assert found.genome.shape == (7,)
    assert found.name.endswith("_over_e")
    assert values[0] == pytest.approx(found.fitness, rel=1e-9)
    assert values[0] < 0.99 * values[1]
