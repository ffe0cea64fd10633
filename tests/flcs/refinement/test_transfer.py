"""A stored knowledge base on another design's grid: the same gains where the terms agree, else at the terms' centres."""

from dataclasses import replace

import numpy as np
import pytest

from flcs import Inference, KnowledgeBase, RuleBase, Variable
from flcs.inference.rule_base import full_grid
from flcs.refinement.genome import Genes, candidate, with_reference
from flcs.refinement.transfer import all_on, transferred

LOW, HIGH = (0.0, 0.0, 0.0), (10.0, 5.0, 3.0)
STORED, OTHER = (4.0, 1.0, 0.5), (3.0, 2.0, 0.2)


def variables(shape="triangular", wider=0.0, centres=((-1.0, 0.1, 0.9), (-2.0, 0.5))):
    e, rate = centres
    return (
        Variable("e", "m", -1.2 - wider, 1.0 + wider, e, shape=shape),
        Variable("e_rate", "m/s", -2.5 - wider, 2.0 + wider, rate, shape=shape),
    )


def stored(shape="triangular", off=(), high=HIGH, **how):
    """Random rules; those with the numbers `off` are off."""
    rows = np.random.default_rng(1).uniform(LOW, high, (6, 3)).tolist()
    rules = [
        replace(rule, gains=tuple(row), on=number not in off)
        for number, (rule, row) in enumerate(zip(full_grid([3, 2], STORED), rows, strict=True))
    ]
    return KnowledgeBase("p", (RuleBase("y", variables(shape), rules, LOW, high, STORED),), Inference(**how), 0.04)


def grid(shape="triangular", centres=((-1.0, 0.0, 1.0), (-1.0, 1.0))):
    """Another design's grid: wider ranges, terms elsewhere, other reference gains."""
    inputs = variables(shape, 0.5, centres)
    counts = [variable.n_terms for variable in inputs]
    return KnowledgeBase("p", (RuleBase("y", inputs, full_grid(counts, OTHER), LOW, HIGH, OTHER),), Inference(), 0.04)


def inside(n=2_000):
    return np.random.default_rng(2).uniform((-1.2, -2.5), (1.0, 2.0), (n, 2))


@pytest.mark.parametrize("shape", ["triangular", "trapezoid", "gaussian", "bell"])
@pytest.mark.parametrize(("off", "authority"), [((), 1.0), ((0, 4), 1.0), ((2,), 0.6)])
def test_the_gains_are_the_same_where_the_terms_agree(shape, off, authority):
    old = stored(shape, off, authority=authority, fallback=0.4)
    new = transferred(old, grid(shape))
    np.testing.assert_allclose(new.gains(inside()), old.gains(inside()), rtol=0, atol=1e-12)
    assert (new.channels[0].inputs[0].low, len(new.channels[0].rules)) == (-1.7, 6)


def test_with_every_rule_on_the_gains_are_the_same_at_full_authority():
    old = stored(authority=0.6)
    new = all_on(transferred(old, grid()))
    assert new.inference.authority == 1.0
    np.testing.assert_allclose(new.gains(inside()), old.gains(inside()), rtol=0, atol=1e-12)


def test_rules_that_were_off_are_at_the_reference_gains_when_all_are_on():
    new = all_on(transferred(stored(off=(3,)), grid()))
    assert new.channels[0].rules[3].gains == STORED
    assert new.n_rules == 6


def test_as_a_start_it_is_that_point_of_the_search():
    """The search has its own reference gains and terms; of a start only rules and places of terms count."""
    old, structure = stored(), grid()
    start = candidate(structure, (all_on(transferred(old, structure)), with_reference(structure)), (), "kb", "kb")
    found = start.controller.with_theta(Genes(start.controller).decode(start.start)[0])
    np.testing.assert_allclose(found.gains(inside()), old.gains(inside()), rtol=0, atol=1e-9)


@pytest.mark.parametrize("form", [{"t_norm": "minimum"}, {"form": "mamdani"}, {"form": "tsukamoto"}])
def test_where_rules_mean_something_else_the_gains_are_read_off_at_full_terms(form):
    old = stored(authority=0.5, **form)
    structure = grid()
    new = transferred(old, structure)
    points = [[v.centres[t] for v, t in zip(structure.channels[0].inputs, rule.terms, strict=True)]
              for rule in structure.channels[0].rules]  # fmt: skip
    np.testing.assert_allclose(new.gains(points), old.gains(points), atol=1e-12)
    assert new.channels[0].inputs == structure.channels[0].inputs


@pytest.mark.parametrize(
    "structure",
    [
        grid(centres=((-1.0, 0.0, 0.5, 1.0), (-1.0, 1.0))),
        grid("trapezoid"),
        replace(grid(), channels=(replace(grid().channels[0], inputs=(Variable("e", "m", -0.5, 0.5, (-0.5, 0.0, 0.5)), grid().channels[0].inputs[1])),)),
    ],
    ids=["more terms", "another shape", "no room for the stored terms"],
)  # fmt: skip
def test_other_terms_get_the_stored_gains_at_their_centres(structure):
    old, new = stored(), transferred(stored(), structure)
    points = [[v.centres[t] for v, t in zip(new.channels[0].inputs, rule.terms, strict=True)]
              for rule in new.channels[0].rules]  # fmt: skip
    np.testing.assert_allclose([rule.gains for rule in new.channels[0].rules], old.gains(points), atol=1e-12)
    assert new.channels[0].inputs == structure.channels[0].inputs


def test_gains_stay_in_the_box_of_the_design():
    new = transferred(stored(high=(20.0, 5.0, 3.0)), grid())
    kp = [rule.gains[0] for rule in new.channels[0].rules]
    assert max(kp) == HIGH[0]


def test_an_input_of_one_channel_alone_is_found_among_all():
    """A design gives every channel all inputs; what a stored channel does not read makes no difference to it."""
    base = stored().channels[0]
    one = replace(base, name="a")
    z = Variable("x", "m", -1.0, 1.0, (-1.0, 1.0))
    rules = [replace(rule, gains=(1.0 + number, 0.0, 0.0)) for number, rule in enumerate(full_grid([2], STORED))]
    other = RuleBase("b", (z,), rules, LOW, HIGH, STORED)
    old = KnowledgeBase("p", (one, other), tick=0.04)
    inputs = (*variables(), z)
    channels = tuple(RuleBase(name, inputs, full_grid([3, 2, 2], OTHER), LOW, HIGH, OTHER) for name in "ab")
    new = transferred(old, KnowledgeBase("p", channels, tick=0.04))
    for rule in new.channels[0].rules:
        assert rule.gains == pytest.approx(one.rules[2 * rule.terms[0] + rule.terms[1]].gains)
    assert {(rule.terms[2], rule.gains[0]) for rule in new.channels[1].rules} == {(0, 1.0), (1, 2.0)}
