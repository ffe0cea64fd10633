"""t-norms and s-norms: the axioms on generated memberships, and their duality."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flcs.inference.norms import S_NORMS, T_NORMS, s_norm, t_norm

memberships = st.floats(0.0, 1.0)
ROUNDING = 4 * np.finfo(float).eps  # three operations on numbers up to 1

every_norm = pytest.mark.parametrize("norm", [*T_NORMS.values(), *S_NORMS.values()], ids=lambda f: f.__name__)


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


@pytest.mark.parametrize("name", S_NORMS)
@given(a=memberships)
def test_identity_and_one_of_s_norms(name, a):
    assert s_norm(name)(a, 0.0) == a
    assert s_norm(name)(a, 1.0) == pytest.approx(1.0, abs=ROUNDING)


@pytest.mark.parametrize(("t", "s"), list(zip(T_NORMS, S_NORMS, strict=True)))
@given(a=memberships, b=memberships)
def test_dual_pairs(t, s, a, b):
    assert s_norm(s)(a, b) == pytest.approx(1.0 - t_norm(t)(1.0 - a, 1.0 - b), abs=ROUNDING)


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="no t-norm 'produkt'; did you mean 'product'"):
        t_norm("produkt")
    with pytest.raises(ValueError, match="no s-norm"):
        s_norm("product")
