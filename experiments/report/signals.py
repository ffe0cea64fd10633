"""Signals that the plant names: histories and power spectral densities, one figure per situation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.report.charts import Curve, LineChart, line_chart
from experiments.report.markup import Html, element
from experiments.report.view import multiples, section

if TYPE_CHECKING:
    from experiments.report.signals_data import SignalView
    from experiments.report.view import View

_LEAD = (
    "Signals that the plant names beside its outputs. Over time: the piece in which the first of them varies most. "
    "Over frequency: power spectral densities of the whole drawn run (one seed, the declared one) by Welch's method: "
    "Hann windows of a quarter of the run, half overlapping."
)


def signals(view: View) -> Html:
    """The section; nothing for a plant that names none."""
    given = view.data.signals
    if not given:
        return Html("")
    places = list(dict.fromkeys(one.situation for one in given))
    figures = [_figure(view, place, [one for one in given if one.situation == place]) for place in places]
    known = [c for c in view.data.controllers if c.key in {one.controller for one in given}]
    return section("signals", "Signals over time and frequency", view.legend(known), multiples(figures), lead=_LEAD)


def _figure(view: View, place: str, given: list[SignalView]) -> Html:
    info = next(s for s in view.data.situations if s.name == place)
    tag = element("span", info.group, class_=f"tag {info.group}")
    caption = element("figcaption", element("b", place), " ", tag, element("small", f" {info.drawn}"))
    kinds = list(dict.fromkeys((one.what, one.name) for one in given))
    kinds.sort(key=lambda kind: kind[0] != "history")
    charts = [_chart(view, [one for one in given if (one.what, one.name) == kind]) for kind in kinds]
    return element("figure", caption, *charts)


def _chart(view: View, given: list[SignalView]) -> Html:
    order = {c.key: k for k, c in enumerate(view.drawn)}
    curves = tuple(
        Curve(one.x, one.y, view.data.controller(one.controller).name, view.curve_style(one.controller),
              sets_range=not _failed(view, one))
        for one in sorted(given, key=lambda one: order[one.controller])
    )  # fmt: skip
    first = given[0]
    if first.what == "history":
        return line_chart(LineChart(first.name, curves, first.unit, height=130.0))
    limits = _decades_shown(given)
    return line_chart(
        LineChart(first.name, curves, first.unit, x_label="f", x_unit="Hz", log=True, log_x=True, height=190.0,
                  y_range=limits)
    )  # fmt: skip


def _decades_shown(given: list[SignalView]) -> tuple[float, float] | None:
    """Five decades below the highest peak: what lies lower is of no use and takes the room."""
    values = np.concatenate([one.y for one in given])
    known = values[np.isfinite(values) & (values > 0.0)]
    if not known.size:
        return None
    top = float(known.max())
    return max(float(known.min()), 1e-5 * top), top


def _failed(view: View, one: SignalView) -> bool:
    result = view.data.controller(one.controller).result(one.situation)
    return result is not None and result.failed
