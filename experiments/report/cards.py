"""The three cards of the first screen: use of the actuator, the worst situation, robustness."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from experiments.report.charts import Curve, LineChart, line_chart
from experiments.report.markup import Html, element, join
from experiments.report.numbers import judged, missing, number, plain, share, shown
from experiments.report.results import GROUPS, NotAvailable, Response
from experiments.report.view import actuator_use, change, finite

if TYPE_CHECKING:
    from experiments.report.results import ActuatorUse, ChannelView, ControllerResult, Margins, SituationResult
    from experiments.report.view import View


def _card(title: str, *content: object) -> Html:
    return element("article", element("h3", title), *content, class_="card")


# ------------------------------------------------------------------------------------------------------------ actuator


def actuator_card(view: View) -> Html:
    """How much of the limits the command uses, how often it sits at one, and how far the actuator travels."""
    uses = {
        s.name: actuator_use(r, view.data.channels)
        for s in view.data.situations
        if (r := view.recommended.result(s.name)) is not None
    }
    parts = [_channel_use(view, i, channel, uses) for i, channel in enumerate(view.data.channels)]
    return _card("Command u against its limits", *parts, _travel(view))


def _channel_use(view: View, index: int, channel: ChannelView, uses: dict[str, tuple[ActuatorUse, ...]]) -> Html:
    known = {name: use[index] for name, use in uses.items() if len(use) > index and finite(use[index].highest)}
    if not known:
        return element("p", f"{channel.command}: ", missing("no command was recorded"))
    lowest, highest = min(u.lowest for u in known.values()), max(u.highest for u in known.values())
    bar = _range_bar(channel, lowest, highest)
    unit = f" {channel.command_unit}" if channel.command_unit else ""
    name = f"{channel.command}: " if len(view.data.channels) > 1 else ""
    reach = f"{name}{number(lowest, 3)} … {number(highest, 3)}{unit} over all situations"
    if not (math.isfinite(channel.low) or math.isfinite(channel.high)):
        return join((bar, element("p", f"{reach}; no limits were set")))
    width = channel.high - channel.low
    part = f", {share((highest - lowest) / width)} of the range" if math.isfinite(width) else ""
    return join((bar, element("p", f"{reach}{part}"), element("p", *_saturation(known))))


def _saturation(known: dict[str, ActuatorUse]) -> list[object]:
    times = {name: use.saturated for name, use in known.items() if finite(use.saturated)}
    if not times:
        return ["Time at a limit: ", missing()]
    worst = max(times, key=lambda name: times[name])
    if times[worst] == 0.0:
        return ["Never at a limit."]
    mean = sum(times.values()) / len(times)
    return [element("b", share(mean)), f" of the time at a limit; most in {worst}: ", element("b", share(times[worst]))]


def _range_bar(channel: ChannelView, lowest: float, highest: float) -> Html:
    """Limits as a frame, the used part filled."""
    low = channel.low if math.isfinite(channel.low) else min(lowest, 0.0)
    high = channel.high if math.isfinite(channel.high) else max(highest, 0.0)
    if not high > low:
        return Html("")
    scale, width = 292.0 / (high - low), 300.0

    def at(value: float) -> float:
        return round(4.0 + scale * (min(max(value, low), high) - low), 1)

    left, right = at(lowest), at(highest)
    out = [
        element("rect", x="4", y="3", width="292", height="14", class_="track"),
        element("rect", x=left, y="3", width=round(max(right - left, 1.5), 1), height="14", class_="used k0"),
    ]
    if low < 0.0 < high:
        out.append(element("path", d=f"M{at(0.0)} 0v20", class_="zero strong"))
        out.append(element("text", "0", x=at(0.0), y="31", class_="tick mid"))
    limits = [(channel.low, 4.0, "M4 0v20", "tick"), (channel.high, 296.0, "M296 0v20", "tick end")]
    for value, x, d, style in limits:
        if math.isfinite(value):
            out.append(element("path", d=d, class_="limit"))
            out.append(element("text", f"limit {plain(value)}", x=x, y="31", class_=style))
    return element("svg", *out, viewBox=f"0 0 {width:g} 34", class_="chart", role="img", aria_label="used range of u")


def _travel(view: View) -> Html:
    own = view.mean_quality(view.recommended, "unforeseen").total_variation
    if view.recommended is view.compared:
        return element("p", "Travel (total variation), unforeseen mean: ", shown(own, digits=3))
    other = view.mean_quality(view.compared, "unforeseen").total_variation
    ratio = (
        join((" (", element("b", number(own / other, 3), " ×"), ")")) if finite(own / other if other else own) else ""
    )
    against = join((" against ", shown(other, digits=3), " of ", view.compared.label, ratio))
    return element("p", "Travel (total variation), unforeseen mean: ", shown(own, digits=3), against)


# ----------------------------------------------------------------------------------------------------- worst situation


def worst_card(view: View) -> Html:
    """The situation with the largest cost, how the compared controller does there, and the largest loss anywhere."""
    found = [(r, s.group) for s in view.data.situations if (r := view.recommended.result(s.name)) is not None]
    scored = [(r, g) for r, g in found if finite(r.cost.value) or r.failed]
    if not scored:
        return _card("Worst situation", element("p", missing("no situation was scored")))
    worst, group = max(scored, key=lambda item: (item[0].failed, item[0].cost.value))
    parts = [element("p", element("b", worst.situation), f" ({group}): cost J ", shown(worst.cost.value, digits=4))]
    if worst.failed:
        parts.append(element("p", element("span", "▲ diverges", class_="loss"), _when(worst)))
    rival = view.compared if view.compared is not view.recommended else view.subject
    if rival is not view.recommended:
        against = _against_rival(view, worst, rival)
        parts.append(element("p", f"Against {rival.label} there: ", judged(against)))
        parts.append(_largest_loss(view, rival))
    return _card("Worst situation", *parts, _sketch(view, worst, rival))


def _when(result: SituationResult) -> str:
    return f" at {number(result.diverged_at, 3)} s" if finite(result.diverged_at) else ""


def _against_rival(view: View, result: SituationResult, rival: ControllerResult) -> float:
    other = rival.result(result.situation)
    return change(result.cost.value, other.cost.value) if other else math.nan


def _largest_loss(view: View, rival: ControllerResult) -> Html:
    results = [r for group in GROUPS for r in view.results(view.recommended, group)]
    changes = {r.situation: c for r in results if finite(c := _against_rival(view, r, rival))}
    if not changes:
        return Html("")
    worst = max(changes, key=lambda name: changes[name])
    if changes[worst] <= 0.005:
        return element("p", f"No loss in any of {len(changes)} situations.")
    lost = sum(c > 0.005 for c in changes.values())
    return element("p", f"Loses in {lost} of {len(changes)}; most in {worst}: ", judged(changes[worst]))


def _sketch(view: View, worst: SituationResult, rival: ControllerResult) -> Html:
    """The first channel's output in the worst situation."""
    if not isinstance(worst.response, Response):
        return element("p", missing(worst.response.reason))
    channel, curves = view.data.channels[0], []
    response = worst.response
    curves.append(Curve(response.time, response.reference[:, 0], "reference", "reference"))
    other = rival.result(worst.situation)
    if rival is not view.recommended and other is not None and isinstance(other.response, Response):
        curves.append(_output(other, rival, view))
    curves.append(_output(worst, view.recommended, view))
    return line_chart(LineChart(channel.output, tuple(curves), channel.output_unit, height=118.0, points=300))


def _output(result: SituationResult, controller: ControllerResult, view: View) -> Curve:
    assert isinstance(result.response, Response)  # noqa: S101 - both callers looked
    style = view.curve_style(controller.key)
    return Curve(result.response.time, result.response.output[:, 0], controller.label, style, not result.failed)


# ---------------------------------------------------------------------------------------------------------- robustness


def robustness_card(view: View) -> Html:
    """Ms and delay margin of the recommended controller, their limits, and those of the compared one."""
    margins = view.recommended.margins
    if isinstance(margins, NotAvailable):
        return _card("Robustness", element("p", "Ms and delay margin ", missing(margins.reason)))
    parts = [_limited("Ms (peak of the sensitivity function)", margins.sensitivity_peak, "", _peak_limit(view))]
    parts.append(_limited("Delay margin", margins.delay_margin, "s", _delay_limit(view)))
    parts.append(element("p", f"Worst of {len(margins.points)} operating points: {_where(margins)}. {margins.text}"))
    other = view.compared.margins
    if view.compared is not view.recommended and not isinstance(other, NotAvailable):
        delay = join((shown(other.delay_margin, "s", 3),))
        parts.append(element("p", view.compared.label, ": Ms ", shown(other.sensitivity_peak, digits=3), ", ", delay))
    return _card("Robustness", *parts)


def _where(margins: Margins) -> str:
    return max(margins.points, key=lambda p: p.sensitivity_peak).operating_point if margins.points else "none"


def _peak_limit(view: View) -> tuple[float, bool]:
    return view.data.verdict.sensitivity_peak_limit, True


def _delay_limit(view: View) -> tuple[float, bool]:
    return view.data.verdict.delay_margin_needed, False


def _limited(name: str, value: float, unit: str, limit: tuple[float, bool]) -> Html:
    """A value with its constraint, marked where it is broken."""
    bound, is_upper = limit
    note: object = " (no limit was set)"
    if finite(bound):
        broken = not (value <= bound if is_upper else value >= bound)
        words = f"{'at most' if is_upper else 'at least'} {number(bound, 3)}{' ' + unit if unit else ''}"
        note = element("span", f" ▲ breaks the limit: {words}", class_="loss") if broken else f" ({words}: held)"
    return element("p", name, ": ", element("b", shown(value, unit, 3), class_="figure"), note)
