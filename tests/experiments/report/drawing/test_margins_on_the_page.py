"""Margins as the page shows them: beside their limits, at rest and in passing."""

from dataclasses import replace

import pytest

from experiments.report.page import render
from tests.experiments.report.reading import words
from tests.experiments.report_example import example


@pytest.fixture(scope="module")
def data():
    return example(3.0, 0.02)


def with_margins(data, **changes):
    """The example with other margins of the knowledge base."""
    kb = data.controller("kb")
    swapped = replace(kb, margins=replace(kb.margins, **changes))
    return replace(data, controllers=tuple(swapped if c is kb else c for c in data.controllers))


def test_a_margin_within_the_slack_is_held(data):
    kb = data.controller("kb")
    changed = with_margins(data, points=tuple(replace(p, sensitivity_peak=1.81) for p in kb.margins.points))
    strict = words(render(changed))
    loose = words(render(replace(changed, verdict=replace(data.verdict, margin_slack=0.02))))
    assert "▲ breaks the limit: at most 1.80" in strict
    assert "▲ breaks the limit: at most 1.80" not in loose
    assert "(at most 1.80 : held at these points)" in loose.replace("1.80:", "1.80 :")


def test_gains_in_passing_have_their_own_peak_and_limit(data):
    """On the first screen where the recommended gains move, and in the table of margins for all."""
    text = words(render(data))
    assert "Ms in passing, while gains move: 2.71 ▲ breaks the limit: at most 2.60" in text
    rows = text.split("Robustness margins")[-1].split("Worst over 4 taught plants.")[:5]
    assert rows[-1].rstrip().endswith("▲ 2.71 above limit")
    assert [row.rstrip().endswith("– gains stand") for row in rows] == [True, True, True, False, False]
    assert rows[3].rstrip().endswith("2.07")
    held = render(with_margins(data, passing_peak=2.59))
    assert "Ms in passing, while gains move: 2.59 (at most 2.60: held at these points)" in words(held)
    still = render(with_margins(data, passing_peak=float("nan")))
    assert "Ms in passing, while gains move" not in words(still)
