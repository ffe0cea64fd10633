"""The page of `sscq map`: cost, its change, lost loops and Ms over two ranges, for each controller."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.report.builders.robustness import map_view
from experiments.report.drawing.html import Html, document, element, join
from experiments.report.sections.robustness import COST_LEAD, MapFigures, change_lead
from experiments.report.sections.view import multiples, section

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.cases.map_case import MapCase
    from experiments.report.records.results import Array

_LARGEST_PEAK = 5.0  # of a map of Ms; beyond, a loop is as good as unstable


def page(case: MapCase, stored: Mapping[str, Array], margins: Mapping[str, Array]) -> str:
    """Return the page."""
    titles = [one.title for one in case.contenders]  # the reference gains first
    seen = map_view(case.plant, case.situation, (case.x, case.y), titles, stored["cost"], stored["lost"])
    figures = MapFigures(seen)
    cross = " The cross: this situation's own values." if seen.place else ""
    parts = [
        _change(figures),
        section("cost", "Cost J", multiples(figures.cost()), lead=COST_LEAD, folded=False),
        _lost(figures),
        _peaks(figures, margins),
    ]
    return document("Robustness map:", case.plant.name, element("p", f"{seen.situation}.{cross}"), *filter(None, parts))


def _change(figures: MapFigures) -> Html:
    drawn, base = figures.change(), figures.seen.controllers[0]
    lead = change_lead(base) if drawn else f"Everywhere that of the {base}."
    return section("change", "Change of the cost J", multiples(drawn), lead=lead, folded=False)


def _lost(figures: MapFigures) -> Html:
    lost = figures.lost()
    if not lost:
        return section("lost", "Lost loops", element("p", "No loop of any controller was lost anywhere."), folded=False)
    return section("lost", "Lost loops", multiples(lost), lead="Share of the seeds.", folded=False)


def _peaks(figures: MapFigures, margins: Mapping[str, Array]) -> Html:
    if not margins["peak"].size:
        return join(())
    peaks = np.minimum(margins["peak"], _LARGEST_PEAK)
    lead = (
        "Largest peak of sensitivity about the plant's operating points, gains at rest, on a coarser grid; "
        f"{_LARGEST_PEAK:g} stands for this and beyond, an unstable loop among it; blank: no rest."
    )
    drawn = multiples(figures.of_each("Ms", margins["x"], margins["y"], peaks))
    return section("ms", "Margins: Ms", drawn, lead=lead, folded=False)
