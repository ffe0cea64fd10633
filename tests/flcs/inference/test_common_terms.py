"""Common terms: the gains of all channels are one mean of whole rules, in searches, training, pruning and files."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from controllers.probes import gains_at
from flcs import FuzzyController, Inference, KnowledgeBase, NetworkConfig, RuleBase, Variable
from flcs.inference.rule_base import full_grid, terms_agree
from flcs.knowledge_base.complaints import KnowledgeBaseError
from flcs.knowledge_base.gain_hull import gain_hull
from flcs.knowledge_base.mirror import mirrored
from flcs.learning.imitation import imitate
from flcs.learning.rows import TeachingRows
from flcs.refinement.genome import Genes
from flcs.refinement.refinement import certified
from flcs.refinement.rule_count import prune
from tests.flcs.rule_bases import in_hull, probed_gains

REFERENCE, LOW, HIGH = (5.0, 4.0, 3.0), (0.0,) * 3, (10.0,) * 3
SPEED = Variable("speed", "m/s", -2.0, 2.0, (-1.5, 0.1, 1.2))
SLIP = Variable("slip", "", 0.0, 1.0, (0.2, 0.7))
X = np.random.default_rng(2).uniform((-4.0, -1.0), (4.0, 2.0), (80, 2))  # also outside what was taught


def base(name, seed, inputs=(SPEED, SLIP), order=0, on=None):
    rng, grid = np.random.default_rng(seed), full_grid([v.n_terms for v in inputs], REFERENCE, order)
    tilt = [tuple(map(tuple, rng.uniform(-0.9, 0.9, (3, len(inputs))))) if order else () for _ in grid]  # in the box
    rules = tuple(
        replace(rule, gains=tuple(rng.uniform(2.0, 8.0, 3)), slopes=slopes, on=on is None or on[k])
        for k, (rule, slopes) in enumerate(zip(grid, tilt, strict=True))
    )
    return RuleBase(name, inputs, rules, LOW, HIGH, REFERENCE)


def two(inputs=(SPEED, SLIP), *, common=True, order=0, on=None, **how):
    channels = (base("pitch", 1, inputs, order, on), base("yaw", 2, inputs, order, on))
    return KnowledgeBase("p", channels, Inference(order=order, **how), 0.04, common_terms=common)


def vertices_of(kb):
    """Gains of whole rules, affine ones at both ends of every input, and of the reference."""
    reference, rows = np.array(REFERENCE * 2), [REFERENCE * 2]
    for pair in zip(*(base.rules for base in kb.channels), strict=True):
        gains = np.concatenate([rule.gains for rule in pair])
        slopes = np.concatenate([np.reshape(rule.slopes, (3, -1)) for rule in pair])
        ends = list(product((-1.0, 1.0), repeat=slopes.shape[1])) if pair[0].on else []
        rows += [reference + kb.inference.authority * (gains + slopes @ np.array(end) - reference) for end in ends]
    return np.array(rows)


GAUSSIAN = (replace(SPEED, shape="gaussian", widths=()), SLIP)
SOME = [True, False, True, True, False, True]


@pytest.mark.parametrize(
    "settings",
    [{}, {"order": 1}, {"inputs": GAUSSIAN}, {"on": SOME}, {"t_norm": "minimum"}, {"authority": 0.4},
     {"form": "tsukamoto"}, {"inputs": GAUSSIAN, "on": SOME}],
    ids=lambda s: ", ".join(s) or "plain",
)  # fmt: skip
def test_all_gains_are_in_the_hull_of_whole_rules(settings):
    """Six numbers in the hull of 7 points (25 with slopes): with rules of its own a channel leaves it."""
    kb = two(**settings)
    assert kb.in_step
    hull = vertices_of(kb)
    assert len(hull) == (24 if settings.get("order") else sum(settings.get("on", [True] * 6))) + 1
    assert all(in_hull(hull, row) for row in kb.gains(X))
    assert all(in_hull(hull, row) for row in probed_gains(kb)[0])  # what margins are asked of
    moved = replace(SPEED, centres=(-1.0, 0.6, 1.5)), SLIP
    apart = replace(kb, channels=(kb.channels[0], replace(kb.channels[1], inputs=moved)))
    assert not apart.in_step
    assert not all(in_hull(hull, row) for row in apart.gains(X))
    assert not all(in_hull(hull, row) for row in probed_gains(apart)[0])


def test_the_certificate_is_of_whole_rules():
    kb = two(on=SOME)
    hull = gain_hull(kb)
    assert hull.names == (
        "reference gains", "rule [speed N, slip S]", "rule [speed Z, slip S]", "rule [speed Z, slip B]",
        "rule [speed P, slip B]",
    )  # fmt: skip
    assert all(in_hull(hull.gains, row) for row in kb.gains(X))
    assert len(gain_hull(replace(kb, common_terms=False)).gains) > 20
    assert len(gain_hull(replace(kb, slew=1.0)).gains) > 20  # gains take ways of their own


@pytest.mark.parametrize("why", ["slew", "apart"])
def test_gains_that_go_ways_of_their_own_are_not_in_step(why):
    from flcs.inference.output_sets import OutputSets

    sets = Inference(form="mamdani", output=OutputSets(aggregation="maximum"))
    kb = replace(two(), slew=1.0) if why == "slew" else replace(two(), inference=sets)
    assert not kb.in_step
    assert terms_agree(kb.channels)


@pytest.mark.parametrize("mirror", [False, True])
@pytest.mark.parametrize("inputs", [(SPEED,), (GAUSSIAN[0],), (SPEED, SLIP)], ids=["one", "widths", "two"])
def test_whatever_a_search_proposes_is_in_step(inputs, mirror):
    inputs = tuple(replace(v, low=-2.0, high=2.0) for v in inputs)
    kb = mirrored(two(inputs)) if mirror else two(inputs)
    controller = FuzzyController(kb)
    genes = Genes(controller, mirrored=mirror)
    low, high = genes.bounds()
    for theta in genes.decode(np.random.default_rng(3).uniform(low, high, (10, len(low)))):
        found = controller.with_theta(theta)
        assert found.in_step
        assert found.channels[0].inputs != kb.channels[0].inputs
        assert found.channels[0].rules != found.channels[1].rules
    np.testing.assert_allclose(genes.decode(genes.of(kb)[None])[0], controller.theta, atol=1e-9)
    own = Genes(FuzzyController(replace(kb, common_terms=False)), mirrored=mirror)
    numbers = sum(v.n_terms + len(v.widths) for v in inputs)
    assert len(own.searched) - len(genes.searched) == (sum(v.n_terms // 2 + (len(v.widths) + 1) // 2 for v in inputs)
                                                       if mirror else numbers)  # fmt: skip


class FarApart:
    """Margins that are kept where kp of pitch and yaw move alike."""

    def keeps_of(self, controller, theta):
        schedule, row = controller.schedule, theta[None]
        (gains,) = gains_at(schedule, row, schedule.probes(row, {}, 500))
        return bool((np.abs(gains[:, 0] - gains[:, 3]) < 0.5).all())


def test_margins_are_demanded_of_what_happens_alone():
    """Both kp go from 5 to 9 together; 9 with 5 breaks the margin, and happens where one channel's terms lie elsewhere."""
    rules = (replace(full_grid([2], REFERENCE)[0], gains=(9.0, 4.0, 3.0)), full_grid([2], REFERENCE)[1])
    channels = tuple(RuleBase(name, (SLIP,), rules, LOW, HIGH, REFERENCE) for name in ("pitch", "yaw"))
    together = KnowledgeBase("p", channels, tick=0.04)
    for common in (False, True):
        one = replace(together, common_terms=common)
        assert certified(one, FarApart()) == one
    later = replace(channels[1], inputs=(replace(SLIP, centres=(0.75, 0.95)),))
    apart = replace(together, channels=(channels[0], later))
    assert certified(apart, FarApart()).inference.authority == pytest.approx(0.5 / 4.0, rel=1e-4)


def taught(kb, n=600):
    """Rows of a knowledge base whose terms lie elsewhere."""
    rng = np.random.default_rng(5)
    x = rng.uniform((-2.0, 0.0), (2.0, 1.0), (n, 2))
    moved = (replace(SPEED, centres=(-1.2, -0.4, 1.5)), SLIP)
    gains = replace(kb, channels=tuple(replace(b, inputs=moved) for b in kb.channels)).gains(x)
    return TeachingRows(x, gains, np.ones(n), np.arange(n) % 8, kb.input_names, kb.gain_names)


def test_training_moves_the_terms_of_all_channels_together():
    kb = two()
    found = imitate(kb, taught(kb), NetworkConfig(inputs=("speed", "slip"), common_terms=True, rounds=12))
    assert found.in_step
    before, after = np.array(SPEED.centres), np.array(found.channels[0].inputs[0].centres)
    assert abs(after[1] + 0.4) < 0.6 * abs(before[1] + 0.4)  # on its way from 0.1 to -0.4
    own = imitate(replace(kb, common_terms=False), taught(kb), NetworkConfig(inputs=("speed", "slip"), rounds=12))
    assert not terms_agree(own.channels)


def test_rules_go_from_all_channels_together(monkeypatch):
    """A fitness that counts the gain sum of rules that are on: the smallest pair goes first, as long as it may."""
    kb = two()
    worth = [sum(a.gains) + sum(b.gains) for a, b in zip(kb.channels[0].rules, kb.channels[1].rules, strict=True)]

    class Counted:
        def __init__(self, task, controller, margins=None):
            self.places = controller.schedule.layout.presence_places()

        def __call__(self, theta):
            on = np.array([[row[list(p)] for p in self.places] for row in theta])
            assert (on[:, 0] == on[:, 1]).all()
            return 1000.0 - on[:, 0] @ np.array(worth)

    monkeypatch.setattr("flcs.refinement.rule_count.Objective", Counted)
    found, curve = prune(None, kb, loss=1.2 * min(worth) / (1000.0 - sum(worth)))
    assert found.in_step
    assert [p.rules for p in curve.points] == [12, 10, 8, 6, 4, 2]
    gone = int(np.argmin(worth))
    assert [r.on for r in found.channels[1].rules] == [k != gone for k in range(6)]
    assert len(curve.importance) == 12


def test_files_keep_it(tmp_path):
    kb = two()
    kb.save(tmp_path / "kb.json")
    assert KnowledgeBase.load(tmp_path / "kb.json") == kb
    assert kb.document()["schema"] == 3
    assert replace(kb, common_terms=False).document()["schema"] == 1
    assert kb.content_hash != replace(kb, common_terms=False).content_hash
    spoiled = kb.document()
    spoiled["channels"][1]["inputs"][1]["name"] = "grip"
    from flcs.knowledge_base import knowledge_base

    with pytest.raises(KnowledgeBaseError, match="the same inputs with as many terms in all channels, got speed"):
        knowledge_base.from_document(spoiled)


def test_what_cannot_be_common_is_refused():
    error = Variable("e", "rad", -1.0, 1.0, (-0.5, 0.5))
    with pytest.raises(ValueError, match="'e' of channel 'pitch' is its own"):
        two((error,))
    with pytest.raises(ValueError, match=r"speed \(3\), slip \(2\) in 'pitch' and slip \(2\) in 'yaw'"):
        KnowledgeBase("p", (base("pitch", 1), base("yaw", 2, (SLIP,))), tick=0.04, common_terms=True)
    for wrong in ({"terms": None}, {"shape": "search"}, {"choose_inputs": True}, {"max_inputs": 1}):
        with pytest.raises(
            ValueError, match="chooses by each channel's own gains, common_terms need the same terms in all"
        ):
            NetworkConfig(inputs=("speed",), common_terms=True, **wrong)
    NetworkConfig(inputs=("speed",), common_terms=True, terms=None, centres={"speed": (0.0, 1.0)})
