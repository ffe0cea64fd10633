"""One region before all: which genes are searched, and that nothing else moves."""

from dataclasses import replace

import numpy as np
import pytest

from flcs import FuzzyController, Inference, KnowledgeBase, RuleBase, Variable
from flcs.inference.rule_base import full_grid
from flcs.knowledge_base.mirror import mirrored
from flcs.refinement import genome
from flcs.refinement.genome import Genes
from flcs.refinement.regions import candidate, genes_of, regions, regions_with_genes

REFERENCE, LOW, HIGH = (5.0, 4.0, 3.0), (0.0,) * 3, (10.0,) * 3
SPEED = Variable("speed", "m/s", -2.0, 2.0, (-1.5, 0.0, 1.5))
SLIP = Variable("slip", "", 0.0, 1.0, (0.2, 0.7), shape="gaussian")


def base(name, inputs, order=0):
    rng, grid = np.random.default_rng(len(name)), full_grid([v.n_terms for v in inputs], REFERENCE, order)
    return RuleBase(
        name, inputs, tuple(replace(r, gains=tuple(rng.uniform(1.0, 9.0, 3))) for r in grid), LOW, HIGH, REFERENCE
    )


def kb(*inputs, order=0, common=False):
    bases = (base("pitch", inputs, order), base("yaw", inputs, order))
    return KnowledgeBase("p", bases, Inference(order=order), 0.04, common_terms=common)


CASES = {
    "one input": kb(SPEED), "two inputs": kb(SPEED, SLIP), "affine": kb(SPEED, order=1),
    "common": kb(SPEED, SLIP, common=True),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_gains_of_its_rules_are_searched_and_nothing_else_moves(name):
    given = CASES[name]
    genes = Genes(FuzzyController(given))
    whole = genome.candidate(given, (given,), (), "kb", "kb")
    for region in regions(given):
        few = candidate(whole, genes, region)
        per_channel = 3 * (1 + len(region[0]) * given.inference.order)
        assert few.low.shape == few.high.shape == (2 * per_channel,)
        assert few.start.shape == (1, 2 * per_channel)
        found = whole.controller.with_theta(few.decode(0.3 * few.low[None] + 0.7 * few.high[None])[0])
        for old, new in zip(given.channels, found.channels, strict=True):
            assert new.inputs == old.inputs
            changed = [r.terms for r, o in zip(new.rules, old.rules, strict=True) if not np.allclose(r.gains, o.gains)]
            assert changed == [region[1]]
        np.testing.assert_allclose(few.decode(few.start)[0], whole.controller.theta, atol=1e-9)


def test_what_follows_a_region_of_a_mirrored_base_follows_it():
    given = mirrored(CASES["one input"])
    genes = Genes(FuzzyController(given), mirrored=True)
    whole = genome.candidate(given, (given,), (), "kb", "kb", mirrored=True)
    region = regions(given)[0]
    few = candidate(whole, genes, region)
    found = whole.controller.with_theta(few.decode(0.5 * (few.low + few.high)[None])[0])
    for old, new in zip(given.channels, found.channels, strict=True):
        assert new.rules[0].gains == new.rules[2].gains != old.rules[0].gains
        assert new.rules[1].gains == pytest.approx(old.rules[1].gains)
    assert len(genes_of(genes, regions(given)[2])) == 0  # it follows the first
    assert regions_with_genes(given, mirrored=True) == regions(given)[:2]
    assert regions_with_genes(given) == regions(given)


def test_channels_of_other_inputs_stay():
    apart = replace(CASES["one input"], channels=(base("pitch", (SPEED,)), base("yaw", (SLIP,))))
    genes = Genes(FuzzyController(apart))
    names = np.array(FuzzyController(apart).theta_names)[genes.searched]
    assert list(names[genes_of(genes, (("slip",), (1,)))]) == ["kp_2[B]", "ki_2[B]", "kd_2[B]"]
