"""t-norms: the axioms on generated memberships."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flcs.inference.norms import T_NORMS, t_norm

memberships = st.floats(0.0, 1.0)
ROUNDING = 4 * np.finfo(float).eps  # three operations on numbers up to 1

every_norm = pytest.mark.parametrize("norm", T_NORMS.values(), ids=lambda f: f.__name__)


@every_norm
@given(a=memberships, b=memberships)
def test_commutative_and_in_unit_interval(norm, a, b):
    assert norm(a, b) == pytest.approx(norm(b, a), abs=ROUNDING)
    assert -ROUNDING <= norm(a, b) <= 1.0 + ROUNDING


@every_norm
@given(a=memberships, b=memberships, c=memberships)
def test_associative(norm, a, b, c):
    assert norm(norm(a, b), c) == pytest.approx(norm(a, norm(b, c)), abs=ROUNDING)


@every_norm
@given(a=memberships, b=memberships, c=memberships)
def test_monotone(norm, a, b, c):
    low, high = sorted((b, c))
    assert norm(a, low) <= norm(a, high) + ROUNDING


@pytest.mark.parametrize("name", T_NORMS)
@given(a=memberships)
def test_identity_and_zero_of_t_norms(name, a):
    assert t_norm(name)(a, 1.0) == a
    assert t_norm(name)(a, 0.0) == 0.0


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="no t-norm 'produkt'; did you mean 'product'"):
        t_norm("produkt")
