"""Programmes: taught situations in turn, window after window."""

import pytest

import plants
from plants.excitation import Sine, Step, WhiteNoise
from sscq.operation.programme import Programme, check_taught
from sscq.situations.situation import Situation

PLANT = plants.get("van_der_pol")
TAUGHT = (
    Situation(name="up", reference=1.0, excitation=Step(0.5, at=4.0) + WhiteNoise(0.1, hold=0.1), t_end=10.0),
    Situation(name="down", reference=-0.5, excitation=WhiteNoise(0.1, hold=0.1), t_end=10.0),
    Situation(name="rest", reference=0.0 + Step(0.2, at=5.0), t_end=10.0),
)


def test_every_window_asks_for_its_moves_and_takes_over_from_the_one_before():
    programme = Programme(PLANT, TAUGHT, windows=3, moves=2, step=0.01)
    asked = [(0, 3.0, 1.0), (0, 13.0, -0.5), (1, 23.0, 0.0), (1, 26.0, 0.2), (1, 33.0, 1.0), (2, 43.0, -0.5)]
    for window, time, level in asked:
        (reference,) = programme.situations[window].references(PLANT)
        assert reference.at(time) == pytest.approx(level), (window, time)
    (before,) = programme.situations[1].references(PLANT)
    assert before.at(19.9) == pytest.approx(-0.5)


def test_loads_end_with_their_move():
    programme = Programme(PLANT, TAUGHT, windows=2, moves=3, step=0.01)
    (load,) = programme.situations[1].excitations(PLANT)
    assert [load.at(t) for t in (33.9, 34.1, 39.9, 40.1)] == [0.0, 0.5, 0.5, 0.0]
    assert sum(part.random for part in load.parts) == 1


def test_the_period_has_every_move_once():
    programme = Programme(PLANT, TAUGHT, windows=2, moves=1, step=0.01)
    (reference,) = programme.period.references(PLANT)
    assert programme.period.t_end == 30.0
    assert [reference.at(t) for t in (5.0, 15.0, 22.0, 28.0)] == pytest.approx([1.0, -0.5, 0.0, 0.2])


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (Situation(name="wave", reference=Sine(1.0, 0.1), t_end=10.0), "has a Sine"),
        (Situation(name="longer", t_end=11.0), "one horizon"),
    ],
)
def test_what_cannot_be_repeated_is_refused(other, message):
    with pytest.raises(ValueError, match=message):
        check_taught((TAUGHT[0], other), PLANT)
