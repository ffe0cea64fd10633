"""Small multiples, one figure per situation: responses, gains, entropy production over time; the plant's own signals.

Signals that the plant names are shown over time and as power spectral densities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.report.drawing.charts import Curve, LineChart, line_chart
from experiments.report.drawing.html import Html, element
from experiments.report.drawing.numbers import missing, number, plain
from experiments.report.records.results import GROUPS, Array, ControllerResult, Response, SituationInfo, SituationResult
from experiments.report.sections.view import PageView, multiples, section

if TYPE_CHECKING:
    from collections.abc import Callable

    from experiments.report.records.motion import SignalView

    Recorded = list[tuple[ControllerResult, SituationResult, Response]]


def responses(view: PageView) -> Html:
    """Output with reference, command with limits."""
    lead = "Output y with its reference (dotted), command u with its limits (dashed). Point at a curve to read it off."
    return _section(view, "responses", "Responses", lead, _response_charts)


def gains_over_time(view: PageView) -> Html:
    """Gains in force."""
    lead = "The gains that each schedule gave; flat lines are fixed gains."
    return _section(view, "gains", "Gains over time", lead, _gain_charts)


def entropy(view: PageView) -> Html:
    """Entropy production of plant and controller, integrated and as rates."""
    lead = (
        "Entropy production is dissipated power (for T0 = 1): what the plant turns into heat, and apart from it what "
        "the derivative action of the controller takes out. Negative: energy is fed in."
    )
    return _section(view, "entropy", "Entropy production of plant and controller", lead, _entropy_charts)


def _section(
    view: PageView, anchor: str, title: str, lead: str, charts: Callable[[PageView, Recorded], list[Html]]
) -> Html:
    # One block for all groups: a block each would leave most of a row empty where a group has one or two situations.
    situations = [s for group in GROUPS for s in view.data.group(group)]
    recorded = [s for s in situations if _recorded(view, s.name)]
    drawn = recorded or situations
    figures = multiples(_figure(view, s, charts) for s in drawn)
    return section(
        anchor, title, view.legend(), figures, _left_out(view, situations, drawn), lead=f"{lead}{view.named_note}"
    )


def _left_out(view: PageView, situations: list[SituationInfo], drawn: list[SituationInfo]) -> Html:
    """Which situations have no figure, and why."""
    others = [s.name for s in situations if s not in drawn]
    if not others:
        return Html("")
    reason = missing(_reason(view, others[0]))
    names = f" ({', '.join(others)})."
    return element("p", f"{len(others)} of {len(situations)} situations are not drawn: ", reason, names)


def _figure(view: PageView, situation: SituationInfo, charts: Callable[[PageView, Recorded], list[Html]]) -> Html:
    found = _recorded(view, situation.name)
    drawn = charts(view, found)
    body = drawn or [element("p", missing(_reason(view, situation.name)))]
    enlarge = element("button", "⤢", class_="enlarge", type="button", title="larger or smaller", aria_label="enlarge")
    tag = element("span", situation.group, class_=f"tag {situation.group}")
    seed = f"; drawn: {situation.drawn}" if situation.drawn else ""
    small = element("small", situation.text + seed)
    caption = element("figcaption", enlarge, element("b", situation.name), " ", tag, " ", small)
    return element("figure", caption, *body, _gap(view, situation.name, found), _divergences(view, situation.name))


def _gap(view: PageView, situation: str, found: Recorded) -> Html:
    """Said where others are drawn and the recommended controller is not."""
    if not found or any(c is view.recommended for c, _, _ in found):
        return Html("")
    return element("p", f"{view.recommended.name}: ", missing(_reason(view, situation)))


def _recorded(view: PageView, situation: str) -> Recorded:
    results = [(c, c.result(situation)) for c in view.drawn]
    return [(c, r, r.response) for c, r in results if isinstance(r.response, Response)]


def _reason(view: PageView, situation: str) -> str:
    response = view.recommended.result(situation).response
    return "nothing of this kind was recorded" if isinstance(response, Response) else response.reason


def _divergences(view: PageView, situation: str) -> Html:
    failed = [(c, r) for c in view.data.controllers if (r := c.result(situation)).failed]
    words = [f"{c.name}{f' at {number(r.diverged_at, 3)} s' if np.isfinite(r.diverged_at) else ''}" for c, r in failed]
    return element("p", "▲ diverged: " + "; ".join(words), class_="loss") if words else Html("")


def _response_charts(view: PageView, found: Recorded) -> list[Html]:
    if not found:
        return []
    out = []
    last = len(view.data.channels) - 1
    for i, channel in enumerate(view.data.channels):
        reference = found[-1][2]
        y = [Curve(reference.time, reference.reference[:, i], "reference", "reference")]
        y += [_curve(view, c, r, s.time, s.output[:, i]) for c, r, s in found]
        u = [_curve(view, c, r, s.time, s.command[:, i]) for c, r, s in found]
        limits = tuple(v for v in (channel.low, channel.high) if np.isfinite(v))
        near = _near(limits, u)
        far = "" if len(near) == len(limits) else f", limits {plain(channel.low)} … {plain(channel.high)} outside"
        out.append(line_chart(LineChart(channel.output, tuple(y), channel.output_unit, x_label="", height=150.0)))
        x_label = "t" if i == last else ""
        out.append(
            line_chart(
                LineChart(channel.command, tuple(u), channel.command_unit, near, x_label, height=125.0, remark=far)
            )
        )
    return out


def _near(limits: tuple[float, ...], curves: list[Curve]) -> tuple[float, ...]:
    """Limits that are worth the room: those within five times the largest command that is drawn."""
    known = [np.abs(c.y[np.isfinite(c.y)]) for c in curves if c.sets_range]
    largest = max((float(k.max()) for k in known if k.size), default=np.inf)
    return tuple(v for v in limits if abs(v) <= 5.0 * largest)


def _curve(view: PageView, controller: ControllerResult, result: SituationResult, time: Array, y: Array) -> Curve:
    return Curve(
        time, y, controller.name, view.curve_style(controller.key), sets_range=controller.drawn and not result.failed
    )


def _gain_charts(view: PageView, found: Recorded) -> list[Html]:
    visible = [c for c, _, _ in found if c.drawn] or [c for c, _, _ in found]
    names = list(dict.fromkeys(name for c in visible for name in c.gain_names))
    out = []
    for name in names:
        curves = [
            _curve(view, c, r, s.time, s.gains[:, c.gain_names.index(name)])
            for c, r, s in found
            if name in c.gain_names
        ]
        x_label = "t" if name == names[-1] else ""
        unit = view.gain_unit(name)
        out.append(line_chart(LineChart(name, tuple(curves), unit, x_label=x_label, height=105.0, points=300)))
    return out


_ENTROPY = (
    ("plant, integrated", "J", "entropies", 0),
    ("controller, integrated", "J", "entropies", 1),
    ("plant, rate", "W", "entropy_rates", 0),
    ("controller, rate", "W", "entropy_rates", 1),
)


def _entropy_charts(view: PageView, found: Recorded) -> list[Html]:
    out = []
    for label, unit, name, column in _ENTROPY if found else ():
        curves = tuple(_curve(view, c, r, s.time, getattr(s, name)[:, column]) for c, r, s in found)
        x_label = "t" if label == _ENTROPY[-1][0] else ""
        out.append(line_chart(LineChart(label, curves, unit, x_label=x_label, height=105.0, points=300)))
    return out


_LEAD = (
    "Signals that the plant names beside its outputs. Over time: the piece in which the first of them varies most. "
    "Over frequency: power spectral densities of the whole drawn run (one seed, the declared one) by Welch's method: "
    "Hann windows of a quarter of the run, half overlapping."
)


def signals(view: PageView) -> Html:
    """The section; nothing for a plant that names none."""
    given = view.data.signals
    if not given:
        return Html("")
    places = list(dict.fromkeys(one.situation for one in given))
    figures = [_signal_figure(view, place, [one for one in given if one.situation == place]) for place in places]
    known = [c for c in view.data.controllers if c.key in {one.controller for one in given}]
    return section("signals", "Signals over time and frequency", view.legend(known), multiples(figures), lead=_LEAD)


def _signal_figure(view: PageView, place: str, given: list[SignalView]) -> Html:
    info = next(s for s in view.data.situations if s.name == place)
    tag = element("span", info.group, class_=f"tag {info.group}")
    caption = element("figcaption", element("b", place), " ", tag, element("small", f" {info.drawn}"))
    kinds = list(dict.fromkeys((one.what, one.name) for one in given))
    kinds.sort(key=lambda kind: kind[0] != "history")
    charts = [_signal_chart(view, [one for one in given if (one.what, one.name) == kind]) for kind in kinds]
    return element("figure", caption, *charts)


def _signal_chart(view: PageView, given: list[SignalView]) -> Html:
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


def _failed(view: PageView, one: SignalView) -> bool:
    return view.data.controller(one.controller).result(one.situation).failed
