"""Words of terms and their centres: what contradicts, and how centres are kept to what they are called."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flcs import FuzzyController, Inference, KnowledgeBase, RuleBase, Variable
from flcs.inference.meaning import kept_true, room_for_signs, untrue
from flcs.inference.membership import spread_apart
from flcs.inference.rule_base import full_grid
from flcs.inference.variable import SMALLEST_GAP, term_labels, term_words
from flcs.learning.network import TermLayer
from flcs.learning.terms import Population
from flcs.refinement.genome import Genes


def words(n_terms):
    return [term_words(label) for label in term_labels(n_terms)]


@pytest.mark.parametrize(
    ("centres", "places"),
    [
        ((-1.0, 0.0, 1.0), ()),
        ((-1.0, 0.9, 2.0), ()),
        ((-1.0, 1.1, 2.0), (1,)),  # 0 is nearer to "negative"
        ((-1.0, -0.7, 0.5), (1,)),
        ((0.1, 0.5, 1.0), (0, 1)),
        ((-0.01, 2.04, 6.0), (1,)),  # as a design gave it: zero at 2 m/s, and 0 negative through and through
        ((-3.0, -2.0, -1.0), (1, 2)),
    ],
)
def test_what_contradicts_is_found(centres, places):
    assert untrue(words(3), centres) == places
    assert untrue(["small", "medium", "about zero"], centres) == ()  # says nothing about signs


@given(
    st.integers(2, 9), st.floats(-5.0, -0.2), st.floats(0.2, 5.0), st.lists(st.floats(0.0, 1.0), min_size=9, max_size=9)
)
def test_kept_centres_are_true_apart_and_inside(n, low, high, shares):
    gap = SMALLEST_GAP * (high - low)
    if not room_for_signs(low, high, n, gap):
        return
    drawn = low + (high - low - gap * n) * np.sort(shares[:n])
    centres = np.array([spread_apart(drawn.tolist(), gap)])
    found = kept_true(centres, gap)
    assert untrue(words(n), found[0]) == ()
    assert np.diff(found[0]).min() >= gap * (1.0 - 1e-12)
    assert low - 1e-12 <= found[0, 0]
    assert found[0, -1] <= high + 1e-12
    np.testing.assert_array_equal(kept_true(found, gap), found)
    if n % 2:
        member = Variable("e", "m", low, high, tuple(found[0].tolist())).memberships(0.0)
        assert member[n // 2] > 0.5
        assert max(m for k, m in enumerate(member) if k != n // 2) < 0.5


def test_whatever_a_search_proposes_its_terms_are_what_they_are_called():
    """The gene of "zero" at 2.04 m/s: before, 0 was "negative" with full membership."""
    variable = Variable("e_rate", "m/s", -8.0, 8.0, (-4.0, 0.0, 4.0))
    base = RuleBase("position", (variable,), full_grid([3], (5.0,) * 3), (0.0,) * 3, (10.0,) * 3, (5.0,) * 3)
    controller = FuzzyController(KnowledgeBase("van_der_pol", (base,), Inference()))
    genes = Genes(controller)
    start = genes.of(controller.kb)
    for centres in ((-0.01, 2.04, 6.0), (-7.0, -6.0, -5.0), (1.0, 2.0, 3.0)):
        start[-3:] = centres
        (found,) = controller.with_theta(genes.decode(start[None])[0]).channels[0].inputs
        assert untrue(words(3), found.centres) == ()
        assert found.labels == ("N", "Z", "P")


def test_training_keeps_terms_what_they_are_called():
    layer = TermLayer(Variable("e_rate", "m/s", -6.0, 10.0, (-4.0, 0.0, 4.0)))
    layer.first.data.add_(0.45)  # 3.6 m/s up: zero at 3.6, negative at -0.4
    layer.keep_inside()
    found = layer.trained()
    assert untrue(words(3), found.centres) == ()
    assert found.centres == pytest.approx((-0.4, 0.36, 7.6), abs=1e-6)


def test_terms_from_data_are_called_by_signs_where_both_sides_have_room():
    one_sided = Population(np.linspace(0.0, 5.0, 400), np.ones(400)).variable("level", 3)
    assert one_sided.low < 0.0  # the widened range reaches below 0
    assert untrue(words(3), one_sided.centres) == ()
    far = Population(np.linspace(2.0, 5.0, 400), np.ones(400)).variable("level", 3)
    assert far.labels == ("S", "M", "B")
    assert Variable("level", "m", -0.02, 5.0, (0.0, 2.5, 5.0)).labels == ("S", "M", "B")
    assert Variable("e", "m", -1.0, 5.0, (-1.0, 2.0, 5.0)).labels == (
        "S",
        "M",
        "B",
    )  # given so: 0 is nearer to the first


@pytest.mark.parametrize(
    ("centres", "words"),
    [
        ((-1.0, 0.0, 1.0), "zero"), ((-1.0, 0.2, 1.0), "zero"), ((-1.0, 0.3, 5.0), "about 0.3 K"),
        ((-42.358, -14.21, 27.798), "about -14.2 K"), ((-0.2, -0.04, 0.17), "zero"), ((-0.2, -0.05, 0.17), "about -0.05 K"),
    ],
)  # fmt: skip
def test_a_term_that_is_not_nearly_zero_is_named_by_its_centre(centres, words):
    """Triangles: 0 belongs to the middle term by 1 / (1 + |centre| / |neighbour|), and to it alone by 0.8."""
    variable = Variable("e", "K", -50.0, 50.0, tuple(40.0 * c / max(map(abs, centres)) for c in centres))
    middle = variable.memberships(0.0)[1]
    assert (variable.term_words(1) == "zero") is (middle >= 0.8 - 1e-12)
    scaled = Variable("e", "K", -50.0, 50.0, centres) if max(map(abs, centres)) > 10.0 else None
    assert scaled is None or scaled.term_words(1) == words
    assert [variable.term_words(k) for k in (0, 2)] == ["negative", "positive"]
    assert Variable("e", "1", -1.0, 1.0, (-0.9, -0.4, 0.9)).term_words(1) == "about -0.4"
