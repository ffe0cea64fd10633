"""Elementary functions on floats and arrays: IEEE results where `math` raises, tables, and their refusals."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plants.core import elementary
from plants.core.elementary import clip, table1d, table2d, where
from plants.core.tracing.trace import trace

NODES, VALUES = (-1.0, 0.0, 0.5, 3.0), (2.0, -1.0, 4.0, 0.0)
ONE = ("sin", "cos", "tan", "asin", "acos", "exp", "log", "sqrt", "tanh", "abs", "sign", "floor")
TWO = ("atan2", "pow", "minimum", "maximum")
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.3, -2.5, 1e3, -1e3, 1e308, 5e-324, math.inf, -math.inf, math.nan)


@pytest.mark.parametrize("name", ONE)
def test_functions_of_one_number_give_ieee_results_on_floats_as_on_arrays(name):
    function = getattr(elementary, name)
    on_array = function(np.array(SPECIAL))
    on_floats = [function(value) for value in SPECIAL]
    assert all(type(value) is float for value in on_floats)
    # NumPy's and math's routines may differ in the last place.
    np.testing.assert_allclose(on_floats, on_array, rtol=3e-16, atol=0.0)


@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_numbers_give_ieee_results_on_floats_as_on_arrays(name):
    function = getattr(elementary, name)
    a, b = (grid.ravel() for grid in np.meshgrid(SPECIAL, SPECIAL))
    on_floats = [function(float(x), float(y)) for x, y in zip(a, b, strict=True)]
    np.testing.assert_allclose(on_floats, function(a, b), rtol=3e-16, atol=0.0)


def test_every_public_function_is_for_blocks_and_documented():
    for name in elementary.__all__:
        assert getattr(elementary, name).__doc__


@given(st.floats(-5.0, 5.0))
def test_table1d_is_linear_interpolation_held_outside(x):
    expected = np.interp(x, NODES, VALUES)
    assert table1d(x, NODES, VALUES) == pytest.approx(expected, rel=1e-14, abs=1e-14)
    assert trace(lambda s: table1d(s, NODES, VALUES), "x")(x)[0] == pytest.approx(expected, rel=1e-14, abs=1e-14)


def test_table1d_meets_its_nodes_on_arrays_and_gives_the_first_value_for_nan():
    np.testing.assert_allclose(table1d(np.array(NODES), NODES, VALUES), VALUES, atol=1e-15)
    assert table1d(math.nan, NODES, VALUES) == VALUES[0]
    assert table1d(3.0, (1.0,), (7.0,)) == 7.0


@given(st.floats(-2.0, 3.0), st.floats(-2.0, 3.0))
def test_table2d_is_bilinear_and_held_outside(x, y):
    x_nodes, y_nodes = (-1.0, 1.0), (0.0, 0.5, 2.0)
    values = ((1.0, 2.0, -1.0), (0.0, 4.0, 3.0))
    rows = [np.interp(y, y_nodes, row) for row in values]
    assert table2d(x, y, x_nodes, y_nodes, values) == pytest.approx(np.interp(x, x_nodes, rows), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize(
    ("nodes", "values", "told"),
    [
        ((0.0, 1.0), (1.0,), "as many values as nodes, got 2 nodes and 1 values"),
        ((), (), "as many values as nodes"),
        ((0.0, 0.0), (1.0, 2.0), "must increase strictly"),
        ((1.0, 0.0), (1.0, 2.0), "must increase strictly"),
    ],
)
def test_tables_that_are_none_are_refused(nodes, values, told):
    with pytest.raises(ValueError, match=told):
        table1d(0.5, nodes, values)


@given(st.floats(allow_nan=True, allow_infinity=True), st.floats(-1e3, 1e3), st.floats(0.0, 1e3))
def test_clip_stays_inside_whatever_comes(x, low, width):
    high = low + width
    assert low <= clip(x, low, high) <= high


def test_both_branches_of_where_are_evaluated_without_warnings():
    x = np.array([-1.0, 0.0, 4.0])
    np.testing.assert_array_equal(where(x, elementary.sqrt(x), 0.0), [0.0, 0.0, 2.0])
