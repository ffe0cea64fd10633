"""Figures that stand alone: ticks and values of bars that can be read."""

import re

import numpy as np
import pytest

from experiments.report.drawing.numbers import tick_label
from experiments.report.drawing.svg import LEFT, LETTER, RIGHT, Bars, Chart, SvgLine, figure


def below(drawing):
    """Words under the horizontal axis: places [pixels] and texts."""
    found = re.findall(r'<text x="([\d.-]+)" y="([\d.]+)" text-anchor="middle"[^>]*>([^<]*)<', drawing)
    lowest = sorted({float(y) for _, y, _ in found})[-2]  # the axis's own label is below
    return [(float(x), text) for x, y, text in found if float(y) == lowest]


def of(values, width=460.0):
    return below(figure([Chart("", "x", "y", (SvgLine("one", values, np.ones(len(values))),), width=width)]))


@pytest.mark.parametrize("last", [2, 5, 13, 40, 373])
def test_what_is_counted_has_whole_numbers_at_its_axis(last):
    texts = [text for _, text in of(np.arange(1.0, last + 1.0))]
    assert len(texts) >= 2
    assert all(float(text).is_integer() for text in texts)


def test_what_is_measured_has_others():
    assert "0.2" in [text for _, text in of(np.array([0.0, 0.3, 1.1]))]


@pytest.mark.parametrize("values", [np.linspace(-0.1, 0.1, 9), np.linspace(0.0, 0.02, 9), np.linspace(0.0, 3e-7, 9)])
@pytest.mark.parametrize("width", [240.0, 460.0])
def test_ticks_stand_beside_one_another(values, width):
    labels = of(values, width)
    assert sum(LETTER * (len(text) + 1) for _, text in labels) <= width - LEFT - RIGHT


@pytest.mark.parametrize(
    ("value", "label"), [(1e-4, "10⁻⁴"), (-1e-4, "−10⁻⁴"), (2e-4, "2·10⁻⁴"), (1e7, "10⁷"), (10.0, "10"), (0.0, "0")]
)
def test_powers_of_ten_stand_without_their_one(value, label):
    assert tick_label(value) == label


@pytest.mark.parametrize(("value", "text"), [(0.8333, "0.833"), (999.4, "999"), (1000.0, "1000"), (22361.4, "22361")])
def test_values_of_bars_are_plain_numbers(value, text):
    assert f">{text}<" in figure([Bars("", "", {"a": {"one": value}})])


def test_a_value_wider_than_its_bar_is_turned():
    several = {f"{k}": 12345.0 for k in range(12)}
    assert figure([Bars("", "", {"a": several}, width=200.0)]).count("rotate(-90)") == 12 + 1  # and the axis's label
    assert figure([Bars("", "", {"a": {"one": 12345.0}}, width=400.0)]).count("rotate(-90)") == 1
