"""Tables in print: columns, and which changes are losses."""

import math

import pytest

from experiments.runtime.tables import change, loss, markdown_table, number, text_table


def test_the_first_column_is_to_the_left_and_the_others_to_the_right():
    lines = text_table(("name", "J"), [("one", "1.25"), ("longer", "")]).split("\n")
    assert lines == ["name       J", "------------", "one     1.25", "longer"]


@pytest.mark.parametrize(
    ("value", "base", "told"),
    [
        (1.2, 1.0, "+20.0 % LOSS"),
        (0.9, 1.0, "-10.0 %"),
        (-0.9, -1.0, "+10.0 % LOSS"),  # in the base's magnitude
        (1.0, 1.0, "+0.0 %"),
        (1.00049, 1.0, "+0.0 %"),  # what is printed as none is none
        (1.00051, 1.0, "+0.1 % LOSS"),
        (0.0, 0.0, "-"),
        (1.0, 0.0, "LOSS"),
        (math.inf, 1.0, "+inf % LOSS"),
    ],
)
def test_losses_are_what_is_printed_as_such(value, base, told):
    assert change(value, base) == told


def test_the_mark_is_the_callers():
    assert change(1.2, 1.0, "**loss**") == "+20.0 % **loss**"
    assert (loss(0.001, "**loss**"), loss(0.0004, "**loss**"), loss(-0.2), loss(math.nan)) == (" **loss**", "", "", "")


def test_numbers_have_four_digits_or_a_dash():
    assert (number(1234.56), number(0.00012345), number(math.nan)) == ("1235", "0.0001234", "-")


def test_a_markdown_table_is_as_wide_as_its_head_whatever_is_in_its_cells():
    head, row = ("name", "|a|"), ("b\\|c", "1")
    assert markdown_table(head, [row]) == ["| name | \\|a\\| |", "|---|---|", "| b\\|c | 1 |"]
    assert markdown_table(head, [], numbers=True)[1] == "|---|---:|"
