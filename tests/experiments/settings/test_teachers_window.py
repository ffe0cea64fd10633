"""The teacher's window and horizon: whole steps, whatever a sweeper asks for."""

import pytest

from experiments.settings import begun
from experiments.starting.opening import configured

QUICK = ("draws={taught: 0, validation: 0, verdict: 0}",)


def times(*words):
    """Window and horizon of a design at a step of 0.01 s."""
    teacher = begun(configured("design", ["plant=van_der_pol", *QUICK, *words])).teacher
    return teacher.window, teacher.horizon


@pytest.mark.parametrize(
    ("words", "window", "horizon"),
    [
        (("teacher.window=0.07",), 0.07, 0.28),  # as it stands, though 7 * 0.01 is another number
        (("teacher.window=0.3378963315613953",), 0.33, 1.32),
        (("teacher.window=0.004",), 0.01, 0.04),
        (("teacher.window=0.1149", "teacher.horizon=0.2299"), 0.11, 0.23),
        (("teacher.horizon=0.2299",), 0.11, 0.23),
    ],
)
def test_times_between_steps_become_whole_ones_that_fit(words, window, horizon):
    assert times(*words) == pytest.approx((window, horizon), rel=1e-12)


def test_whole_steps_stand_to_the_bit():
    assert times("teacher.window=0.07", "teacher.horizon=0.56") == (0.07, 0.56)
