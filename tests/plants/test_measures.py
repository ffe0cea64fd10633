"""Measures to declare with a plant: what they count, by hand, and what a declaration may be."""

from dataclasses import replace

import numpy as np
import pytest

import plants
from plants import Measure
from plants.core.elementary import sqrt
from plants.measures import output_of, peak, rate_of, rms, share_beyond

SIGNAL = (0.5, -2.0, 1.0, -1.0)  # at the beginnings of four steps of 0.25 s
STEP = 0.25
DRAWN = np.random.default_rng(1)


def after(measure, signal=SIGNAL, step=STEP):
    """The measure's value with x[0] as its signal."""
    m = measure.initial
    for k, value in enumerate(signal):
        m = measure.updated(k * step, (value,), (), (), (), m, step)
    return measure.value(m, len(signal) * step)


def first(t, x, u, w, p):
    return x[0]


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (rms("a", "m", first), np.sqrt((0.25 + 4.0 + 1.0 + 1.0) / 4.0)),
        (peak("a", "m", first), 2.0),
        (share_beyond("a", first, 0.75), 0.75),
        (share_beyond("a", first, 1.0), 0.25),  # at the limit is not beyond it
    ],
)
def test_they_count_what_they_say(measure, expected):
    assert after(measure) == pytest.approx(expected, rel=1e-15)


def test_all_of_the_signal_is_given_to_the_block():
    """Time, input, disturbance and parameters too: each of them moves the value by itself."""
    seen = []
    measure = rms("a", "1", lambda *given: seen.append(given) or 0.0)
    measure.updated(1.0, (2.0,), (3.0,), (4.0,), (5.0,), (0.0,), STEP)
    assert seen == [(1.0, (2.0,), (3.0,), (4.0,), (5.0,))]


def test_rates_and_outputs_are_signals():
    """Of a plant whose accelerations are solved for, too."""
    plant = plants.get("cart_pole")
    given = (0.0, (0.1, 0.2, 0.3, 0.4), (1.5,), (0.0,) * len(plant.disturbances), plant.nominal())
    for place, state in enumerate(plant.states):
        assert rate_of(plant, state.name)(*given) == plant.derivative(*given)[place]
    for place, output in enumerate(plant.measurements):
        assert output_of(plant, output.name)(*given) == plant.outputs(*given)[place]
    with pytest.raises(ValueError, match="angel"):
        rate_of(plant, "angel")


def test_states_may_be_counted_or_named():
    def update(t, x, u, w, p, m, h):
        return m

    counted = Measure("a", "1", update, max, states=2)
    assert (counted.states, counted.initial, counted.remembered) == (("m0", "m1"), (0.0, 0.0), (False, False))
    named = Measure("a", "1", update, max, states=("filter", "sum"), initial=(1.0, 0.0), memory=("filter",))
    assert (named.n_states, named.remembered) == (2, (True, False))


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"name": "ride comfort"}, "Python name"),
        ({"states": 0}, "at least one state"),
        ({"states": ("a", "a")}, "names that differ"),
        ({"states": 2, "initial": (1.0,)}, "2 finite numbers"),
        ({"initial": (float("nan"),)}, "finite"),
        ({"memory": ("other",)}, "'other', which is none of its states"),
        ({"scale": 0.0}, "scale must be positive"),
    ],
)
def test_a_declaration_that_contradicts_itself_is_refused(changed, words):
    given = {"name": "a", "unit": "1", "update": lambda *a: (0.0,), "value": lambda m, time: m[0]}
    with pytest.raises(ValueError, match=words):
        Measure(**{**given, **changed})


def test_an_update_of_another_size_is_told():
    measure = Measure("a", "1", lambda *a: (0.0, 0.0), lambda m, time: m[0])
    with pytest.raises(ValueError, match="must return 1 states, got 2"):
        after(measure)


def test_a_plants_measures_have_names_that_differ():
    measure = rms("a", "m", first)
    with pytest.raises(ValueError, match="names of measures must differ"):
        replace(plants.get("van_der_pol"), measures=(measure, measure))


@pytest.mark.parametrize("limit", [-1.0, float("inf"), float("nan")])
def test_a_limit_is_a_number(limit):
    with pytest.raises(ValueError, match="limit must be finite"):
        share_beyond("a", first, limit)


# ------------------------------------------------------------------------------------------------- what `check` says


def told(measure):
    """Problems of a plant with this measure; `check` of the plant itself finds none."""
    return plants.check(replace(plants.get("van_der_pol"), measures=(measure,)), points=8)


def test_check_gives_references_to_those_that_ask():
    off = Measure("off", "m", lambda t, x, u, w, p, m, h, r: (m[0] + h * (r[0] - x[0]),), lambda m, time: m[0],
                  references=True)  # fmt: skip
    assert told(off).ok
    silent = replace(off, references=False)
    assert any("measure 'off': TypeError" in line for line in told(silent).problems)


def test_check_tells_that_measures_hold():
    report = told(rms("large", "m", first))
    assert report.ok
    assert any("own measures can be compiled and give finite numbers: large" in line for line in report.passed)


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        (rms("a", "m", lambda t, x, u, w, p: max(0.0, x[0])), "use maximum(0.0, x[0])"),
        (rms("a", "m", lambda t, x, u, w, p: x[2]), "IndexError"),
        (rms("a", "m", lambda t, x, u, w, p: sqrt(-1.0 - x[0] * x[0])), "not finite"),
        (rms("a", "m", lambda t, x, u, w, p: DRAWN.normal()), "arguments alone"),
        (Measure("a", "1", lambda *given: (0.0, 1.0), lambda m, time: m[0]), "must return 1 states, got 2"),
        (Measure("a", "1", lambda t, x, u, w, p, m, h: m, lambda m, time: time / m[0]), "its value is inf"),
    ],
)
def test_check_tells_what_is_wrong_with_a_measure(measure, words):
    problems = told(measure).problems
    assert any(line.startswith("measure 'a': ") and words in line for line in problems), problems
