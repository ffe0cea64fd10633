"""Terms found by search: a structure that was planted into noisy rows comes out again."""

import numpy as np
import pytest

from flcs import NetworkConfig, TeachingRows, design
from flcs.learning import term_search
from flcs.learning.term_search import MOST_RULES, GridMeasure, bounds, choose_terms, decoded, genetic, search_terms
from flcs.learning.terms import Population


def planted(counts=(5, 2), evenness=0.5, shape="triangular", n=240, noise=0.5, seed=0):
    """Rows that crowd in the middle; their gains, 0 .. 10, come from random rules on a grid of terms, and noise."""
    rng = np.random.default_rng(seed)
    inputs = np.sin(0.5 * np.pi * rng.uniform(-1.0, 1.0, (n, len(counts))) ** 3) * (2.0, 3.0)[: len(counts)]
    terms = []
    for x, count in zip(inputs.T, counts, strict=True):
        variable = Population(x, np.ones(n)).variable("e", count, shape=shape, evenness=evenness)
        terms.append(np.stack(variable.memberships(x), axis=1))
    rules = terms[0] if len(terms) == 1 else np.einsum("ni,nj->nij", *terms).reshape(n, -1)
    consequents = 5.0 + rng.uniform(3.0, 5.0, (rules.shape[1], 3)) * rng.choice([-1.0, 1.0], (rules.shape[1], 3))
    gains = (rules / rules.sum(axis=1, keepdims=True)) @ consequents
    return inputs, gains + noise * rng.standard_normal(gains.shape), np.ones(n)


@pytest.mark.parametrize(("counts", "evenness"), [((5, 2), 0.5), ((4, 3), 1.0), ((4,), 1.0)])
def test_planted_numbers_and_places_of_terms_are_found(counts, evenness):
    """Of other draws 95 of 95 were found for each of the three: an error probability below 3.2 % (95 %)."""
    found = search_terms(*planted(counts, evenness), genetic(0, generations=8), shapes=("triangular",))
    assert tuple(n for n, _, _ in found.terms) == counts
    assert found.terms[0][1] == pytest.approx(evenness, abs=0.1)


def test_other_numbers_are_tried_where_a_search_stays():
    """A search that never moves: numbers and evenness are found one input after the other, then it is asked again."""
    asked = []

    def lazy(_, low, high):
        asked.append((low.tolist(), high.tolist()))
        return low

    found = search_terms(*planted((4, 3), 1.0), lazy, shapes=("triangular",))
    assert [(n, evenness) for n, evenness, _ in found.terms] == [(4, 1.0), (3, 1.0)]
    (again, ceiling) = asked[1]
    assert (again[::3], ceiling[::3]) == ([4, 3], [4, 3])


@pytest.mark.parametrize("shape", ["triangular", "trapezoid"])
def test_the_planted_shape_is_found(shape):
    """Of other draws 32 of 32 were found, Gaussian terms too: below 9 % (95 %). Bells pass for Gaussian terms."""
    shapes = ("triangular", "trapezoid", "gaussian", "bell")
    rows = planted(shape=shape)
    found = search_terms(*rows, genetic(0, generations=6), shapes=shapes, counts=(5, 2))
    assert found.shape == shape
    assert [n for n, _, _ in found.terms] == [5, 2]
    assert found.phi == min(found.tried.values())
    assert set(found.tried) == set(shapes)


def test_the_information_of_each_input_alone_finds_no_number(monkeypatch):
    """Why the search looks at the grid: one by one, the same rows ask for more terms than there are."""
    monkeypatch.setattr(term_search, "WEIGHTS", (1.0, 1.0, 0.0))
    alone = choose_terms(*planted())
    assert alone[0][0] > 5


def test_gains_that_depend_on_the_product_of_two_inputs():
    """Each alone tells nothing; together they need two terms each, not more."""
    rng = np.random.default_rng(1)
    x = rng.uniform(-1.0, 1.0, (300, 2))
    gains = (x[:, :1] * x[:, 1:]) + 0.1 * rng.standard_normal((300, 1))
    found = search_terms(x, gains, np.ones(300), genetic(0, generations=8), shapes=("triangular",), prior=0.0)
    assert [n for n, _, _ in found.terms] == [2, 2]
    # Variance 1/9 of the product over 0.01 of the noise, less what 4 rules tell by chance. Two standard errors: the
    # variances of 300 products and 300 residuals are known to 8 and 8 %, so half the logarithm of their ratio to 0.06.
    assert found.information == pytest.approx(0.5 * np.log1p(100.0 / 9.0) - 1.5 * np.log(300) / 300, abs=0.12)


def test_gains_without_information_get_as_few_terms_as_there_can_be():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(200, 2))
    found = search_terms(x, rng.normal(size=(200, 3)), np.ones(200), genetic(0, generations=8), shapes=("triangular",))
    assert [n for n, _, _ in found.terms] == [2, 2]
    assert found.information < 0.0
    still = GridMeasure(x, np.ones((200, 3)), np.ones(200))
    assert still.information(still.variables(((3, 0.5, 1.0),) * 2)) == 0.0


def test_information_is_that_of_the_plain_formula():
    """Least squares by NumPy's own solver, the penalty written out."""
    x, gains, _ = planted(n=80)
    w = np.random.default_rng(3).uniform(0.0, 1.0, 80)
    measure = GridMeasure(x, gains, w, "gaussian", prior=2.0)
    variables = measure.variables(((4, 0.3, 1.2), (3, 0.8, 0.7)))
    a, b = (np.stack(v.memberships(c), axis=1) for v, c in zip(variables, x.T, strict=True))
    rules = np.stack([a[:, i] * b[:, j] for i in range(4) for j in range(3)], axis=1)
    rules /= rules.sum(axis=1, keepdims=True)
    wanted = gains - np.average(gains, axis=0, weights=w)
    gram = rules.T @ np.diag(w) @ rules
    theta = np.linalg.solve(gram + (2.0 + 1e-9) * np.eye(12), rules.T @ np.diag(w) @ wanted)
    left, total = (w @ (wanted - rules @ theta) ** 2), w @ wanted**2
    rows = (np.diag(gram) / (np.diag(gram) + 2.0 + 1e-9)).sum()
    expected = -0.5 * np.log(left / total).mean() - 0.5 * (rows - 1.0) * np.log(w.sum()) / w.sum()
    assert measure.information(variables) == pytest.approx(expected, rel=1e-9)


def test_grids_that_are_too_large_are_the_worst():
    x = np.random.default_rng(0).normal(size=(50, 3))
    measure = GridMeasure(x, x, np.ones(50))
    some, many, more = ((n, 0.5, 1.0, n, 0.5, 1.0, 9, 0.5, 1.0) for n in (3, 4, 9))
    values = measure(np.array([some, many, more]))
    assert values[0] < 10.0 < MOST_RULES < values[1] < values[2]


def test_genes_are_rounded_and_given_numbers_stay():
    low, high = bounds(2, (5, 3))
    assert decoded(low) == ((5, 0.0, 0.5), (3, 0.0, 0.5))
    assert decoded(high) == ((5, 1.0, 1.5), (3, 1.0, 1.5))
    low, high = bounds(1)
    assert decoded(low)[0][0] == 2
    assert decoded(high)[0][0] == 9


def test_a_design_searches_terms_and_shape_and_says_so():
    x, gains, w = planted()
    rows = TeachingRows(x, gains.clip(0.0, 10.0), w, np.arange(240) // 60, ("e", "e_rate"), ("kp", "ki", "kd"))
    config = NetworkConfig(terms=None, rounds=0, max_rules=None)
    kb = design(rows, 0.0, 10.0, 5.0, config=config, search_terms=genetic(0, generations=12))
    assert kb.channels[0].counts == (5, 2)
    told = kb.training["structure"]["channel 1"]["terms"]
    assert told["shape"] == "triangular"
    assert {name: one["terms"] for name, one in told["inputs"].items()} == {"e": 5, "e_rate": 2}
    fixed = design(
        rows, 0.0, 10.0, 5.0, config=NetworkConfig(terms=3, shape="search", rounds=0),
        search_terms=genetic(0, generations=2),
    )  # fmt: skip
    assert fixed.channels[0].counts == (3, 3)
    assert fixed.training["structure"]["channel 1"]["terms"]["shape"] == fixed.channels[0].inputs[0].shape.name
    assert "structure" not in design(rows, 0.0, 10.0, 5.0, config=NetworkConfig(rounds=0)).training
