"""Mirrored rule bases: what follows what, and that gains are the same for mirror images."""

from dataclasses import replace

import numpy as np
import pytest

from flcs import FuzzyController, Inference, KnowledgeBase, RuleBase, Variable
from flcs.inference.rule_base import full_grid
from flcs.knowledge_base.mirror import mirror_map, mirrored
from flcs.learning.rows import TeachingRows, mirrored_rows
from flcs.refinement.genome import Genes, candidate, number_of_genes


def knowledge_base(order=0, shape="triangular", counts=(3, 2), seed=1):
    """Random gains, slopes and places of terms."""
    rng = np.random.default_rng(seed)
    inputs = tuple(
        Variable(name, "", -2.0, 1.5, tuple(np.linspace(-1.7, 1.3, n) + rng.uniform(-0.1, 0.1, n)), shape=shape)
        for name, n in zip(("e", "e_rate"), counts, strict=True)
    )
    rules = tuple(
        replace(rule, gains=tuple(rng.uniform(1.0, 9.0, 3)), slopes=tuple(map(tuple, rng.normal(size=(3, 2)))) * order)
        for rule in full_grid(counts, (5.0,) * 3, order)
    )
    base = RuleBase("position", inputs, rules, (0.0,) * 3, (10.0,) * 3, (5.0, 4.0, 3.0))
    return KnowledgeBase("van_der_pol", (base,), Inference(order=order), 0.04)


X = np.random.default_rng(2).uniform(-3.0, 3.0, (200, 2))


@pytest.mark.parametrize("counts", [(3, 2), (2, 5), (4, 4)])
@pytest.mark.parametrize(("order", "shape"), [(0, "triangular"), (1, "triangular"), (0, "gaussian")])
def test_gains_of_mirror_images_are_the_same(order, shape, counts):
    kb = knowledge_base(order, shape, counts)
    both = mirrored(kb)
    np.testing.assert_allclose(both.gains(X), both.gains(-X), rtol=0.0, atol=1e-12)
    assert np.abs(kb.gains(X) - kb.gains(-X)).max() > 0.1
    assert both.channels[0].rules[0].gains == kb.channels[0].rules[0].gains  # the first of two counts
    assert mirrored(both) == both


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("shape", ["triangular", "bell"])
def test_whatever_a_search_proposes_is_its_own_mirror_image(order, shape):
    controller = FuzzyController(mirrored(knowledge_base(order, shape)))
    genes = Genes(controller, mirrored=True)
    low, high = genes.bounds()
    genomes = np.random.default_rng(3).uniform(low, high, (20, len(low)))
    for theta in genes.decode(genomes):
        kb = controller.with_theta(theta)
        np.testing.assert_allclose(kb.gains(X), kb.gains(-X), rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(genes.decode(genes.of(controller.kb)[None])[0], controller.theta, atol=1e-9)


def test_half_the_numbers_are_searched():
    """3 x 2 rules are three pairs with three gains each; of 3 + 2 places of terms one each is free."""
    kb = mirrored(knowledge_base())
    assert number_of_genes(kb, mirrored=True) == 3 * 3 + 2
    assert number_of_genes(kb) == 6 * 3 + 5
    assert mirror_map(kb).free.sum() == 3 * 3 + 6 + 2  # masks are all free


@pytest.mark.parametrize(("order", "shape", "more"), [(0, "gaussian", 5), (1, "triangular", 6 * 3 * 2)])
def test_widths_of_terms_and_slopes_of_rules_are_searched_too(order, shape, more):
    kb = knowledge_base(order, shape)
    assert number_of_genes(kb) == 6 * 3 + 5 + more
    assert number_of_genes(kb) == len(candidate(kb, (kb,), (), "", "").low)


def test_a_rule_without_a_mirror_image_is_told():
    kb = knowledge_base()
    base = kb.channels[0]
    with pytest.raises(ValueError, match="no mirror image"):
        mirrored(kb.with_channel(0, replace(base, rules=base.rules[:-1])))


def test_ranges_that_lean_are_refused_by_a_search():
    with pytest.raises(ValueError, match="ranges from -a to a"):
        mirror_map(knowledge_base())


def test_rows_and_their_mirror_images():
    rows = TeachingRows(
        X[:3], X[:3] ** 2, np.array([1.0, 0.5, 0.0]), np.array([0, 0, 4]), ("e", "e_rate"), ("kp", "ki")
    )
    both = mirrored_rows(rows)
    np.testing.assert_array_equal(both.inputs[3:], -X[:3])
    np.testing.assert_array_equal(both.gains[3:], rows.gains)
    np.testing.assert_array_equal(both.weight, [1.0, 0.5, 0.0, 1.0, 0.5, 0.0])
    np.testing.assert_array_equal(both.situation, [0, 0, 4, 5, 5, 9])
