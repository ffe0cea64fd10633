"""Terms: memberships in [0, 1], strong partitions, order of centres, names."""

from itertools import pairwise

import numpy as np
import pytest
import skfuzzy
from hypothesis import given
from hypothesis import strategies as st

from flcs import Variable
from flcs.inference.membership import SHAPES, Bell, Gaussian, Trapezoid, Triangular, shape_of, spread_apart
from flcs.inference.variable import term_labels, term_words
from plants.core.tracing.trace import names, trace

CENTRES = (-2.0, -0.3, 0.1, 2.5)
X = np.linspace(-5.0, 5.0, 2_001)
PARTITIONS = [Triangular(), Trapezoid(), Trapezoid(0.0), Trapezoid(0.45)]
ROUNDING = 1e-14  # a few roundings of numbers up to 1, slopes up to 1 / 0.4

numbers = st.floats(-50.0, 50.0)


def variable(shape, n_terms=5):
    return Variable("e", "m", -2.0, 3.0, tuple(np.linspace(-1.5, 3.0, n_terms)), shape=shape)


@pytest.mark.parametrize("name", SHAPES)
@given(x=st.floats(allow_nan=False), n_terms=st.integers(2, 9))
def test_memberships_are_in_unit_interval(name, x, n_terms):
    terms = variable(name, n_terms).memberships(x)
    assert len(terms) == n_terms
    assert all(0.0 <= m <= 1.0 for m in terms)


@pytest.mark.parametrize("shape", PARTITIONS, ids=str)
@given(x=st.floats(allow_nan=False), n_terms=st.integers(2, 9))
def test_strong_partitions_sum_to_one(shape, x, n_terms):
    terms = variable(shape, n_terms).memberships(x)
    assert sum(terms) == pytest.approx(1.0, abs=ROUNDING)
    assert sum(m > 0.0 for m in terms) <= 2


@pytest.mark.parametrize("name", SHAPES)
def test_every_term_is_one_at_its_centre(name):
    v = variable(name)
    for j, centre in enumerate(v.centres):
        assert v.memberships(centre)[j] == pytest.approx(1.0, abs=ROUNDING)


def test_triangles_are_those_of_scikit_fuzzy():
    terms = np.array(Triangular().memberships(X, CENTRES, ()))
    inner = [skfuzzy.trimf(X, CENTRES[j - 1 : j + 2]) for j in (1, 2)]
    outer = [skfuzzy.trapmf(X, [-9.0, -9.0, *CENTRES[:2]]), skfuzzy.trapmf(X, [*CENTRES[2:], 9.0, 9.0])]
    np.testing.assert_allclose(terms, [outer[0], *inner, outer[1]], atol=1e-13)


def test_smooth_terms_are_those_of_scikit_fuzzy():
    widths = (0.3, 0.5, 1.0, 2.0)
    gaussian = Gaussian().memberships(X, CENTRES, widths)
    bell = Bell(3).memberships(X, CENTRES, widths)
    for j in range(4):
        np.testing.assert_allclose(gaussian[j], skfuzzy.gaussmf(X, CENTRES[j], widths[j]), rtol=1e-13)
        np.testing.assert_allclose(bell[j], skfuzzy.gbellmf(X, widths[j], 3, CENTRES[j]), rtol=1e-13)


@pytest.mark.parametrize("name", SHAPES)
def test_neighbours_cross_at_one_half(name):
    v = Variable("e", "", -1.0, 1.0, (-1.0, 0.0, 1.0), shape=name)
    left, middle, _ = v.memberships(-0.5)
    assert left == pytest.approx(0.5, abs=ROUNDING)
    assert middle == pytest.approx(0.5, abs=ROUNDING)


@pytest.mark.parametrize("name", SHAPES)
def test_outside_the_range_the_edge_holds(name):
    v = variable(name)
    assert v.memberships(-99.0) == v.memberships(v.low)
    assert v.memberships(np.inf) == v.memberships(v.high)


@pytest.mark.parametrize("name", SHAPES)
def test_floats_arrays_and_tape_agree(name):
    v = variable(name, 4)
    program = trace(v.memberships, "x", names("c", 4), names("w", len(v.widths)))
    on_arrays = np.array(v.memberships(X))
    for k in range(0, len(X), 50):
        on_tape = program(float(X[k]), *v.centres, *v.widths)
        on_floats = v.memberships(float(X[k]))
        # exp of the C library and NumPy's may differ in the last bit
        np.testing.assert_allclose(on_tape, on_floats, rtol=1e-15, atol=0.0)
        np.testing.assert_allclose(on_arrays[:, k], on_floats, rtol=1e-14, atol=1e-300)


@given(st.lists(numbers, min_size=2, max_size=9), st.floats(0.01, 5.0))
def test_spread_apart_orders_and_then_changes_nothing(centres, gap):
    apart = spread_apart(centres, gap)
    assert all(b >= a + gap for a, b in pairwise(apart))
    assert spread_apart(apart, gap) == apart


def test_a_search_may_propose_any_terms():
    v = variable("gaussian", 3)
    terms = v.memberships(0.0, (5.0, -5.0, 0.0), (0.0, -1.0, 1.0))
    assert np.isfinite(terms).all()


def test_names_of_terms():
    for n in range(2, 10):
        for signed in (True, False):
            labels = term_labels(n, signed=signed)
            assert len(set(labels)) == len({term_words(label) for label in labels}) == n
    assert term_labels(7) == ("NB", "NM", "NS", "Z", "PS", "PM", "PB")
    assert [term_words(label) for label in ("NB", "Z", "P", "VS", "own")] == [
        "negative big", "zero", "positive", "very small", "own",
    ]  # fmt: skip
    assert Variable("speed", "m/s", 0.0, 8.0, (0.0, 8.0)).labels == ("S", "B")
    with pytest.raises(ValueError, match="2 to 9 terms, got 10"):
        term_labels(10)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"low": 3.0}, "low < high"),
        ({"high": np.nan}, "high of variable 'e' must be finite"),
        ({"centres": (0.0,)}, "2 to 9 terms, got 1"),
        ({"centres": (0.0, 0.001, 1.0)}, "increase by at least 0.03"),
        ({"centres": (1.0, 0.0)}, "increase by at least"),
        ({"labels": ("A", "A", "B")}, "as many different labels"),
        ({"widths": (1.0, 1.0, 1.0)}, "needs no widths, got 3"),
        ({"shape": "gaussian", "widths": (1.0, 1.0)}, "needs 3 widths, got 2"),
        ({"shape": "gaussian", "widths": (1.0, 1e-9, 1.0)}, "widths of variable 'e' must be at least"),
        ({"shape": "gausian"}, "did you mean 'gaussian'"),
        ({"shape": {"name": "bell", "slop": 2}}, "did you mean 'slope'"),
        ({"shape": {"name": "bell", "slope": 0}}, "integer in 1 .. 8"),
        ({"shape": {"name": "trapezoid", "plateau": 0.5}}, "plateau must be in"),
    ],
)
def test_wrong_variables_are_refused(change, message):
    right = {"name": "e", "unit": "m", "low": -1.0, "high": 2.0, "centres": (-1.0, 0.0, 1.0)}
    with pytest.raises(ValueError, match=message):
        Variable(**(right | change))


def test_shapes_from_documents():
    for shape in (*PARTITIONS, Gaussian(), Bell(4)):
        assert shape_of(shape.document()) == shape
    assert variable("triangular").index("VB") == 4  # 0 is nearest to the second of five terms, so none is "zero"
    with pytest.raises(ValueError, match=r"no term of 'e' 'PM'; did you mean 'M'"):
        variable("triangular").index("PM")
