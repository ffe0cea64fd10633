"""The lexicographic fitness: what it compares first, exactly, and that no failure ever pays."""

import functools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sscq.fitness import Fitness, lexicographic
from tests.sscq.fitness.test_fitness import quality

FITNESS = Fitness("lexicographic", tolerance=0.05)
HORIZON = 10.0


def of(errors, entropies, lost_at=None, fitness=FITNESS, violation=0.0):
    """Fitness of candidates in one situation."""
    row = None if lost_at is None else [lost_at]
    return fitness(quality({"iae": [errors], "entropy_difference_abs": [entropies]}, row), violation)


# ------------------------------------------------------------------------------------------------------- by hand


def test_within_a_cell_less_entropy_wins_and_outside_it_never_does():
    one, two, three = of([1.01, 1.04, 1.06], [9.0, 1.0, 0.0])  # cells [1, 1.05) and [1.05, 1.1025)
    assert two < one < three


def test_the_number_by_hand():
    # 1.2 lies in cell 3: 1.05^3 = 1.157625 <= 1.2 < 1.2155; entropy 3 of a reference of 1: 3 / 4 of the cell.
    assert of([1.2], [3.0])[0] == pytest.approx(1.05**3 * (1.0 + 0.05 * 0.75), rel=1e-8)
    relative = replace(FITNESS, reference={"iae": 2.0, "entropy_difference_abs": 3.0})
    assert of([2.4], [3.0], fitness=relative)[0] == pytest.approx(1.05**3 * (1.0 + 0.05 * 0.5), rel=1e-8)


@given(st.floats(1e-6, 200.0), st.floats(0.0, 1e6), st.sampled_from((0.001, 0.05, 0.3, 1.0)))
def test_it_is_the_error_up_to_the_tolerance(error, entropy, tolerance):
    value = of([error], [entropy], fitness=replace(FITNESS, tolerance=tolerance))[0]
    assert error / (1.0 + tolerance) * (1.0 - 1e-9) <= value <= error * (1.0 + tolerance) * (1.0 + 1e-9)


def test_situations_are_combined_before_levels_are_compared():
    """Of means 2 and 2.01 in one cell the second has less entropy, though its rollouts lie in other cells."""
    both = quality({"iae": [[1.0, 0.4], [3.0, 3.62]], "entropy_difference_abs": [[5.0, 1.0], [5.0, 1.0]]})
    assert np.diff(FITNESS(both)) < 0.0
    assert np.diff(replace(FITNESS, aggregate="worst")(both)) > 0.0  # the worst are 3 and 3.62


# ------------------------------------------------------------------------------------------- the order, at random


def level(candidate, tolerance):
    """What is compared, as a tuple that Python compares: the plain definition."""
    error, entropy, violation, lost_at = candidate
    cell = math.floor(math.log(max(error, 1e-12)) / math.log1p(tolerance))
    if lost_at is not None:
        return (2, -lost_at, 0.0)
    return (1, violation, 0.0) if violation > 0.0 else (0, cell, entropy)


CANDIDATES = st.tuples(
    st.floats(1e-3, 1e5).map(lambda v: float(f"{v:.3g}") * math.pi),  # never within rounding of a cell's edge
    st.floats(0.0, 1e4).map(lambda v: float(f"{v:.3g}")),
    st.sampled_from((0.0, 0.0, 0.0, 1e-9, 0.1, 2.5, 40.0)),
    st.sampled_from((None, None, None, 0.0, 4.0, 9.5)),
)


@given(st.lists(CANDIDATES, min_size=3, max_size=3), st.sampled_from((0.02, 0.05, 0.5)))
def test_random_triples_are_ordered_as_their_levels(three, tolerance):
    errors, entropies, violations, times = zip(*three, strict=True)
    lost = [math.nan if t is None else t for t in times]
    fitness = replace(FITNESS, tolerance=tolerance, diverged=1e6)
    values = of(errors, entropies, lost, fitness, np.array(violations))
    for i, j in ((0, 1), (0, 2), (1, 2)):
        one, two = level(three[i], tolerance), level(three[j], tolerance)
        assert np.sign(values[i] - values[j]) == (one > two) - (one < two), (three, values)


@given(st.lists(CANDIDATES, min_size=5, max_size=5))
def test_a_sort_by_the_number_is_a_sort_by_levels(several):
    errors, entropies, violations, times = zip(*several, strict=True)
    lost = [math.nan if t is None else t for t in times]
    values = of(errors, entropies, lost, replace(FITNESS, diverged=1e6), np.array(violations))
    ordered = [several[k] for k in np.argsort(values, kind="stable")]

    def compare(one, two):
        a, b = level(one, 0.05), level(two, 0.05)
        return (a > b) - (a < b)

    assert ordered == sorted(several, key=functools.cmp_to_key(compare))


# --------------------------------------------------------------------------------------- failing never pays


@given(st.floats(0.0, 1e300), st.floats(0.0, 1e300), st.floats(1e-15, 1e300), st.floats(0.0, HORIZON))
def test_infeasible_never_beats_feasible_and_divergence_is_worst(error, entropy, violation, lost_at):
    """Whatever the sizes, also with the usual penalty, and where errors overflow the axis."""
    feasible, violated, diverged = of(
        [error, 0.0, 0.0], [entropy, 0.0, 0.0], [np.nan, np.nan, lost_at], violation=np.array([0.0, violation, 0.0])
    )
    assert 0.0 <= feasible < 0.5 * FITNESS.diverged <= violated < FITNESS.diverged <= diverged <= 2 * FITNESS.diverged


def test_limits_of_travel_and_saturation_are_constraints():
    fitness = replace(FITNESS, travel_limit=10.0, saturation_limit=0.1)
    values = {"iae": [[1.0, 0.1, 0.1, 0.1]], "total_variation": [[10.0, 10.1, 0.0, 11.0]],
              "saturated_time": [[1.0, 0.0, 1.01, 2.0]]}  # fmt: skip
    kept, travels, saturates, both = fitness(quality(values))
    rounded = {name: np.array(row) * (1.0 + 1e-13 * (name == "total_variation")) for name, row in values.items()}
    assert fitness(quality(rounded))[0] == kept  # at its own travel but for the last digits
    assert kept < travels == pytest.approx(saturates)
    assert both > saturates
    np.testing.assert_allclose(fitness.severity(quality(values)), [0.0, 0.01 / 1.01, 0.01 / 1.01, 1.1 / 2.1], rtol=1e-6)


def test_each_further_failure_and_each_earlier_one_is_worse():
    n = np.nan
    several = quality({"iae": np.ones((3, 5))}, [[n, 9.0, 9.0, 9.0, 0.0], [n, n, n, 5.0, 0.0], [n, n, 9.0, 9.0, 0.0]])
    values = FITNESS(several)
    assert (np.diff(values) > 0.0).all()
    assert values[0] < 0.5 * FITNESS.diverged < FITNESS.diverged <= values[1]
    assert values[-1] == 2.0 * FITNESS.diverged


def test_nothing_is_lost_on_the_axis_however_long():
    """Order is kept where the axis is bent: a thousand errors over eight decades above the ceiling's quarter."""
    errors = np.geomspace(250.0, 1e8, 200)
    assert (np.diff(of(errors, np.zeros(200))) > 0.0).all()


def test_penalties_rise_above_what_survives():
    raised = FITNESS.above(quality({"iae": [[3e6, 1.0]], "entropy_difference_abs": [[1.0, 1.0]]}))
    assert raised.diverged > 8.0 * 3e6 / 1.05
    assert raised(quality({"iae": [[3e6]]}))[0] == pytest.approx(3e6, rel=0.05)  # on the straight part
    assert FITNESS.above(quality({"iae": [[1.0]]})).diverged == FITNESS.diverged


def test_a_rollout_alone_is_judged_by_the_same_formula():
    both = quality({"iae": [[1.2, 1.0]], "entropy_difference_abs": [[3.0, 1.0]]}, [[np.nan, 5.0]])
    np.testing.assert_array_equal(FITNESS.per_situation(both)[0], FITNESS(both))


def test_severity_is_zero_without_failure_or_excess():
    np.testing.assert_array_equal(lexicographic.of_violation([0.0, 1.0]), [0.0, 0.5 * (1.0 - 1e-9)])
    np.testing.assert_array_equal(lexicographic.of_divergence(np.array([[np.nan, 0.0]]), [2.0]), [0.0, 2.0])


@pytest.mark.parametrize("fitness", [Fitness(), FITNESS, Fitness(saturation_limit=0.1, travel_limit=2.0)])
def test_plain_settings_make_the_same_fitness_again(fitness):
    plain = fitness.plain()
    assert Fitness(**plain) == fitness
    assert ("tolerance" in plain) == fitness.lexicographic
    assert ("saturation_limit" in plain) == (fitness.saturation_limit is not None)
