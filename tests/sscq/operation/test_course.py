"""Courses of drift: what is declared, and what of a plant they may move."""

import pytest

import plants
from sscq.operation.course import read_course


def test_values_lie_on_straight_lines_between_knots_and_stay_outside():
    course = read_course("mu:[10=1,20=3]")
    assert [course.at(t)["mu"] for t in (0.0, 10.0, 15.0, 20.0, 99.0)] == [1.0, 1.0, 2.0, 3.0, 3.0]


def test_two_values_at_one_time_are_a_jump():
    course = read_course("mu:[0=1,20=1,20=4,30=5]")
    assert course.at(19.999)["mu"] == pytest.approx(1.0)
    assert course.at(20.0)["mu"] == 4.0
    assert course.at(25.0)["mu"] == 4.5


def test_several_parameters_are_read_and_printed_as_they_are_read():
    text = "full heat:[0=270000,100=225000],sensor lag:[0=6,100=14]"
    course = read_course(text)
    assert course.names == ("full heat", "sensor lag")
    assert read_course(str(course)) == course


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "nothing drifts"),
        ("mu", "a drift is NAME:"),
        ("mu:0=1", "a drift is NAME:"),
        ("mu:[0=1", "a drift is NAME:"),
        ("mu:[0:1]", "is TIME=VALUE, got '0:1'"),
        ("mu:[0=high]", "is TIME=VALUE, got '0=high'"),
        ("mu:[]", "has no knots"),
        ("mu:[9=1,3=2]", "must not run backwards"),
        ("mu:[0=nan]", "finite numbers"),
        ("mu:[0=1],mu:[0=2]", "is given twice"),
    ],
)
def test_other_words_are_refused_with_what_was_expected(text, message):
    with pytest.raises(ValueError, match=message.replace("[", r"\[")):
        read_course(text)


@pytest.mark.parametrize(
    ("plant", "text", "message"),
    [
        ("van_der_pol", "nu:[0=1]", "mu"),
        ("van_der_pol", "mu:[0=11]", "must lie in"),
        ("equal_percentage_valve", "dead time:[0=6,9=8]", "dead time"),
    ],
)
def test_what_the_plant_does_not_allow_is_refused(plant, text, message):
    with pytest.raises(ValueError, match=message):
        read_course(text).check(plants.get(plant))
