"""Conversions between the forms of a PID controller."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controllers import forms
from controllers.forms import Gains, SeriesForm, StandardForm

positive = st.floats(1e-3, 1e3)


def frequency_response(form, s):
    if isinstance(form, Gains):
        return form.kp + form.ki / s + form.kd * s
    if isinstance(form, StandardForm):
        return form.gain * (1.0 + 1.0 / (form.integral_time * s) + form.derivative_time * s)
    return form.gain * (1.0 + 1.0 / (form.integral_time * s)) * (1.0 + form.derivative_time * s)


S = 1j * np.array([0.01, 0.3, 1.0, 7.0, 200.0])


@given(gain=positive, slow=positive, ratio=st.floats(0.0, 1.0), sign=st.sampled_from((-1.0, 1.0)))
def test_all_forms_are_the_same_controller(gain, slow, ratio, sign):
    series = SeriesForm(sign * gain, slow, ratio * slow)
    expected = frequency_response(series, S)
    # A few roundings of products and quotients of numbers of one sign: 1e-12 relative is far above them.
    for form in (series.to_standard(), series.to_parallel(), series.to_parallel().to_standard()):
        np.testing.assert_allclose(frequency_response(form, S), expected, rtol=1e-12)


@given(gain=positive, slow=positive, ratio=st.floats(0.0, 0.9))
def test_series_form_survives_the_way_through_the_others(gain, slow, ratio):
    # The square root of 1 - 4 Td / Ti has condition (1 + ratio) / (1 - ratio) < 20 here.
    series = SeriesForm(gain, slow, ratio * slow)
    for back in (series.to_standard().to_series(), series.to_parallel().to_series()):
        assert back.gain == pytest.approx(gain, rel=1e-12)
        assert back.integral_time == pytest.approx(slow, rel=1e-12)
        assert back.derivative_time == pytest.approx(ratio * slow, rel=1e-12)


@given(kp=positive, ki=st.floats(0.0, 1e3), kd=st.floats(0.0, 1e3), b=st.floats(0.0, 1.0))
def test_parallel_and_standard_form_round_trip(kp, ki, kd, b):
    back = Gains(kp, ki, kd, b).to_standard().to_parallel()
    assert back.vector == pytest.approx((kp, ki, kd), rel=1e-14)
    assert back.b == b


def test_series_form_with_two_equal_times_survives():
    # Ti = 4 Td exactly. For 3.0 and 0.1 rounding makes the discriminant -2e-16, which is not "complex zeros".
    series = SeriesForm(3.0, 0.1, 0.1)
    back = series.to_parallel().to_series()
    # A double zero: rounding of 1e-16 in the discriminant becomes 1e-8 in its root.
    assert (back.gain, back.integral_time, back.derivative_time) == pytest.approx((3.0, 0.1, 0.1), rel=1e-7)


def test_known_series_example():
    # K' = 1, Ti' = 3, Td' = 1: (1 + 1/(3 s)) (1 + s) = 4/3 + 1/(3 s) + s by hand.
    assert SeriesForm(1.0, 3.0, 1.0).to_parallel().vector == pytest.approx((4.0 / 3.0, 1.0 / 3.0, 1.0), rel=1e-15)


def test_controllers_without_integral_or_derivative_action():
    assert Gains(2.0, 0.0, 3.0).to_standard() == StandardForm(2.0, math.inf, 1.5)
    assert Gains(2.0, 0.0, 3.0).to_series() == SeriesForm(2.0, math.inf, 1.5)
    assert Gains(2.0, 0.5, 0.0).to_series() == SeriesForm(2.0, 4.0, 0.0)
    assert StandardForm(2.0, math.inf, 1.5).to_parallel() == Gains(2.0, 0.0, 3.0)
    assert SeriesForm(2.0, math.inf, 1.5).to_parallel() == Gains(2.0, 0.0, 3.0)


def test_filter_time_and_ratio():
    assert StandardForm(1.0, 4.0, 0.5, filter_ratio=10.0).derivative_filter_time == 0.05
    assert StandardForm(1.0, 4.0, 0.5).derivative_filter_time == 0.0
    assert Gains(2.0, 1.0, 1.0).to_standard(derivative_filter_time=0.1).filter_ratio == 5.0
    assert forms.filter_ratio(0.0, 0.1) == math.inf
    assert forms.filter_time(0.5, forms.filter_ratio(0.5, 0.02)) == pytest.approx(0.02, rel=1e-15)


def test_gain_vectors():
    assert Gains(1, 2, 3, 0.5).vector == (1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Gains(math.nan, 1.0, 1.0), "kp must be a finite number"),
        (lambda: StandardForm(1.0, 0.0, 1.0), "integral_time must be positive"),
        (lambda: StandardForm(1.0, 1.0, -1.0), "derivative_time must be 0 or positive"),
        (lambda: StandardForm(1.0, 1.0, math.inf), "derivative_time must be"),
        (lambda: StandardForm(1.0, 1.0, 1.0, filter_ratio=0.0), "N must be positive"),
        (lambda: SeriesForm(1.0, math.nan, 1.0), "integral_time"),
        (lambda: forms.filter_time(1.0, -2.0), "N must be positive"),
        (lambda: forms.filter_ratio(1.0, -2.0), "derivative_filter_time"),
        (lambda: StandardForm(1.0, 1.0, 0.5).to_series(), r"Ti >= 4 Td .*got Ti=1\.0, Td=0\.5"),
        (lambda: Gains(1.0, 1.0, 0.1, b=0.0).to_series(), "no set-point weight"),
        (lambda: Gains(0.0, 1.0, 0.0).to_standard(), r"standard form .* keep the parallel form"),
        (lambda: Gains(1.0, -1.0, 0.0).to_standard(), r"standard form .* keep the parallel form"),
        (lambda: Gains(1.0, 1.0, -1.0).to_standard(), r"standard form .* keep the parallel form"),
    ],
)
def test_values_and_forms_that_do_not_exist_are_refused(build, says):
    with pytest.raises(ValueError, match=says):
        build()
