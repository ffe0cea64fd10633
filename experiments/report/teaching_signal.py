"""The teaching signal over time: the gains that were taught, how much each window knew, what was learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.report.charts import Curve, LineChart, line_chart
from experiments.report.markup import Html, element
from experiments.report.numbers import missing
from experiments.report.situations import NotAvailable
from experiments.report.view import multiples, section

if TYPE_CHECKING:
    from experiments.report.situations import Array
    from experiments.report.teaching import TaughtTrack, TeachingView
    from experiments.report.view import View

_GAIN_HEIGHT, _WEIGHT_HEIGHT = 105.0, 90.0


def teaching_signal(view: View) -> Html:
    """One figure per taught situation: gains, and their weight."""
    lead = (
        "Best gains over time that a search found, window after window; the knowledge base learned from these rows, "
        "each with its weight. A weight near 0: the gains hardly matter there, so the best ones are an accident."
    )
    data = view.data.teaching
    if isinstance(data, NotAvailable):
        return section("teaching", "Teaching signal", element("p", missing(data.reason)), lead=lead)
    figures = multiples(_figure(view, data, track) for track in data.tracks)
    return section("teaching", "Teaching signal", element("p", data.text), _keys(view, data), figures, lead=lead)


def _keys(view: View, data: TeachingView) -> Html:
    """What each line is; colours of controllers are those of the whole page."""
    found = [("curve taught", "teaching signal")]
    if any(track.learned is not None for track in data.tracks):
        found.append((f"curve {_style(view, data.learner)}", "knowledge base that learned it, for the same inputs"))
    found.append((f"curve {_style(view, data.start)}", "start: fixed gains"))
    keys = [element("span", _line(style), text) for style, text in found]
    return element("p", *keys, class_="keys")


def _line(style: str) -> Html:
    return element("svg", element("path", d="M1 6h22", class_=style), viewBox="0 0 24 12", class_="swatch")


def _style(view: View, key: str) -> str:
    return view.colour(key) if key else "other"


def _figure(view: View, data: TeachingView, track: TaughtTrack) -> Html:
    time = np.append(track.time, track.time[-1] + data.window)
    charts = [_gain_chart(view, data, track, k, time) for k in range(len(data.gain_names))]
    weight = Curve(np.repeat(time, 2)[1:-1], np.repeat(track.weight, 2), "weight", "taught")
    charts.append(line_chart(LineChart("weight", (weight,), y_range=(-0.03, 1.05), height=_WEIGHT_HEIGHT)))
    return element("figure", element("figcaption", element("b", track.situation)), *charts)


def _gain_chart(view: View, data: TeachingView, track: TaughtTrack, k: int, time: Array) -> Html:
    start = np.full(2, float(data.start_gains[k]))
    curves = [Curve(time[[0, -1]], start, "start", _style(view, data.start))]
    if track.learned is not None:
        curves.append(_held(time, track.learned[:, k], "learned", _style(view, data.learner)))
    curves.append(_held(time, track.gains[:, k], "taught", "taught"))
    name = data.gain_names[k]
    return line_chart(LineChart(name, tuple(curves), view.gain_unit(name), x_label="", height=_GAIN_HEIGHT))


def _held(time: Array, values: Array, name: str, style: str) -> Curve:
    """A curve that keeps each value through its window."""
    return Curve(np.repeat(time, 2)[1:-1], np.repeat(values, 2), name, style)
