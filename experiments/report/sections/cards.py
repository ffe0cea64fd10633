"""Cards of the first screen: the worst situation, robustness, and how the command uses its limits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from experiments.report.answer import MEASURE_NAMES, at_limits, name_of, named_situations, other_limits
from experiments.report.drawing.charts import Curve, LineChart, line_chart
from experiments.report.drawing.html import Html, element, join, svg
from experiments.report.drawing.interval_chart import IntervalRow, Mark, interval_chart
from experiments.report.drawing.numbers import missing, number, percent, plain, proven, share, shown
from experiments.report.records.results import (
    ActuatorUse,
    ChannelView,
    ControllerResult,
    NotAvailable,
    Response,
    SituationResult,
)
from experiments.report.records.verdict import LOSS
from experiments.report.sections.view import PageView, finite

if TYPE_CHECKING:
    from collections.abc import Callable

    from experiments.report.records.gains import MarginPoint, PointMargins
    from experiments.report.records.verdict import CostliestDraw, LossCount

_ALSO = ("iae", "entropy_difference_abs")  # beside the cost: one may be bought with the other
_LOSS = 0.005  # a smaller one is none
_PEAKS = 3  # operating points that the robustness card has room for


def card(title: str, *content: object) -> Html:
    """One box of the first screen."""
    return element("article", element("h3", title), *content, class_="card")


def worst_card(view: PageView) -> Html:
    """The situation with the largest cost, how the compared controller does there, and the largest loss anywhere."""
    drawn = view.data.verdict.costliest
    parts = _worst_named(view) if drawn is None else _worst_drawn(view, drawn)
    named = named_situations(view.data)
    evidence = view.data.evidence
    worst = (evidence.worst_case if evidence else "") or missing("`sscq worst` of the run searches it")
    first = element("p", element("b", named, ".")) if named else ""
    return card("Worst case", element("p", element("b", "Worst found in the declared ranges: "), worst), *parts, first)


def _worst_drawn(view: PageView, found: CostliestDraw) -> list[Html]:
    """Of the situations on which the verdict rests; the recorded ones are named ones."""
    own, rival, runs = view.recommended, view.data.controller(found.against), view.recommended.judged
    cost = _lost_or(found.cost)
    there = (" (", rival.name, " there: ", _lost_or(found.other_cost), ")")
    parts = [element("p", f"Costliest of {runs.runs if runs else 'all'} fresh situations: J ", cost, *there)]
    told = [piece for one in found.losses for piece in (", ", _loss_words(view, one))]
    title = f"{own.name} worse than {rival.name} by more than {100.0 * LOSS:g} % in single situations: "
    parts.append(element("p", title, *told[1:], "."))
    where = [
        ("the costliest", found.where),
        *((f"{name_of(view.data, one.measure)}", one.where) for one in found.losses),
    ]
    lines = [element("p", element("b", what, ": "), text) for what, text in where if text]
    return [*parts, element("details", element("summary", "Which situations"), *lines)]


def _lost_or(cost: float) -> Html:
    return shown(cost, digits=4) if finite(cost) else element("span", "▲ loop lost", class_="loss")


def _loss_words(view: PageView, found: LossCount) -> Html:
    name = name_of(view.data, found.measure)
    if not found.lost:
        return join((f"{name} in none of {found.of}",))
    return join((f"{name} in {found.lost} of {found.of} (largest: ", element("b", percent(found.worst)), ")"))


def _worst_named(view: PageView) -> list[Html]:
    """Of the named situations: where none were drawn, or by an earlier release."""
    found = [(view.recommended.result(s.name), s.group) for s in view.data.situations]
    scored = [(r, g) for r, g in found if finite(r.cost.value) or r.failed]
    if not scored:
        return [element("p", missing("no situation was scored"))]
    worst, group = max(scored, key=lambda item: (item[0].failed, item[0].cost.value))
    parts = [
        element(
            "p",
            "Costliest named situation: ",
            element("b", worst.situation),
            f" ({group}): cost J ",
            shown(worst.cost.value, digits=4),
        )
    ]
    if worst.failed:
        parts.append(element("p", element("span", "▲ diverges", class_="loss"), _when(worst)))
    rival = view.compared if view.compared is not view.recommended else view.subject
    if rival is not view.recommended:
        against = view.change_in(worst.situation, view.recommended, rival)
        there = "it diverges" if rival.result(worst.situation).failed else proven(against)
        parts.append(element("p", f"Against {rival.name} there: ", there))
        parts += [_largest_loss(view, rival, name) for name in ("cost", *_ALSO)]
    sketch = element("details", element("summary", "How it looks"), _sketch(view, worst, rival))
    return [*parts, sketch]


def _when(result: SituationResult) -> str:
    return f" at {number(result.diverged_at, 3)} s" if finite(result.diverged_at) else ""


def _largest_loss(view: PageView, rival: ControllerResult, measure: str) -> Html:
    """In how many situations a measure is worse than the rival's, and where most."""
    names, title = [s.name for s in view.data.situations], MEASURE_NAMES[measure]
    changes = {name: c for name in names if finite((c := view.change_in(name, view.recommended, rival, measure)).value)}
    if not changes:
        return Html("")
    lost = {name: c for name, c in changes.items() if c.value > _LOSS and not c.open}
    if not lost:
        return element("p", f"{title}: no loss in any of {len(changes)} situations.")
    worst = max(lost, key=lambda name: lost[name].value)
    return element("p", f"{title}: loses in {len(lost)} of {len(changes)}; most in {worst}: ", proven(lost[worst]))


def _sketch(view: PageView, worst: SituationResult, rival: ControllerResult) -> Html:
    """The first channel's output in the worst situation."""
    if not isinstance(worst.response, Response):
        return element("p", missing(worst.response.reason))
    channel, response, until = view.data.channels[0], worst.response, _end(worst.response)
    early = response.time <= until
    curves = [Curve(response.time[early], response.reference[early, 0], "reference", "reference")]
    for controller in (rival, view.recommended) if rival is not view.recommended else (rival,):
        result = controller.result(worst.situation)
        if isinstance(result.response, Response):
            time, style = result.response.time, view.curve_style(controller.key)
            output = result.response.output[time <= until, 0]
            curves.append(Curve(time[time <= until], output, controller.name, style, not result.failed))
    return line_chart(LineChart(channel.output, tuple(curves), channel.output_unit, height=150.0, points=300))


def _end(response: Response) -> float:
    """Until when to draw: to the end, or a little beyond where the loop diverged."""
    alive = response.time[np.isfinite(response.output[:, 0])]
    last = float(alive[-1]) if alive.size else 0.0
    return 1.2 * last if 0.0 < last < response.time[-1] else float(response.time[-1])


def robustness_card(view: PageView) -> Html:
    """Ms and delay margin of the recommended controller, their limits, and those of the compared one."""
    margins, evidence = view.recommended.margins, view.data.evidence
    told = evidence.stability if evidence else ""
    stability = element("p", element("b", "About the operating points: "), told) if told else Html("")
    if isinstance(margins, NotAvailable):
        return card("Robustness", element("p", "Ms and delay margin ", missing(margins.reason)), stability)
    verdict = view.data.verdict
    peak, delay = margins.sensitivity_peak, margins.delay_margin
    parts = [element("p", f"{_where(margins)} {margins.text}")]
    asked = _at_most(verdict.sensitivity_peak_limit)
    parts.append(_limited("Ms, peak of sensitivity", peak, "", asked, verdict.peak_held(peak)))
    if not math.isnan(passing := margins.passing_peak):
        asked = _at_most(verdict.passing_peak_limit)
        parts.append(_limited("Ms in passing, while gains move", passing, "", asked, verdict.passing_held(passing)))
    asked = f"at least {number(verdict.delay_margin_needed, 3)} s" if finite(verdict.delay_margin_needed) else ""
    parts.append(_limited(f"Delay margin{_shortest(margins)}", delay, "s", asked, verdict.delay_held(delay)))
    ranges = (evidence.range_margins if evidence else "") or missing("not computed: the above holds at nominal values")
    parts.append(element("p", element("b", "Over the declared ranges: "), ranges))
    parts.append(stability)
    peaks = _peaks(view, margins)
    parts += [element("details", element("summary", "Ms at the operating points"), *peaks)] if peaks else []
    other = view.compared.margins
    if not verdict.measures and view.compared is not view.recommended and not isinstance(other, NotAvailable):
        ms, seconds = shown(other.sensitivity_peak, digits=3), shown(other.delay_margin, "s", 3)
        parts.append(element("p", view.compared.name, ": Ms ", ms, ", delay margin ", seconds))
    return card("Robustness", *parts)


def _at_most(limit: float) -> str:
    return f"at most {number(limit, 3)}" if finite(limit) else ""


def _where(margins: PointMargins) -> str:
    if not margins.points:
        return "No operating point."
    worst = max(margins.points, key=lambda p: p.sensitivity_peak).operating_point
    return f"At the worst of {len(margins.points)} operating points, {worst}." if margins.points[1:] else f"At {worst}."


def _shortest(margins: PointMargins) -> str:
    """Where the delay margin is shortest, if elsewhere than where Ms is largest."""
    known = [p for p in margins.points if math.isfinite(p.delay_margin)]
    if not known:
        return ""
    least = min(known, key=lambda p: p.delay_margin)
    largest = max(margins.points, key=lambda p: p.sensitivity_peak)
    return f" (at {least.operating_point})" if least is not largest else ""


def _peaks(view: PageView, margins: PointMargins) -> list[Html]:
    """Ms of both controllers at the operating points where the recommended one is weakest."""
    known = [p for p in margins.points if math.isfinite(p.sensitivity_peak)]
    if len(known) < 2:
        return []
    chosen = sorted(sorted(known, key=lambda p: -p.sensitivity_peak)[:_PEAKS], key=known.index)
    rows = tuple(IntervalRow(p.operating_point, _peak_marks(view, p)) for p in chosen)
    bound = view.data.verdict.sensitivity_peak_limit
    limit = bound if finite(bound) else None
    words = "Ms where it is largest" + (f"; upright line: limit {number(bound, 3)}" if limit else "")
    return [element("small", words), interval_chart(rows, words, zero=limit, width=400.0, axis="Ms")]


def _peak_marks(view: PageView, point: MarginPoint) -> tuple[Mark, ...]:
    marks = []
    for controller in dict.fromkeys((view.compared.key, view.recommended.key)):
        margins, name = view.data.controller(controller).margins, view.data.controller(controller).name
        found = [] if isinstance(margins, NotAvailable) else margins.points
        peaks = [p.sensitivity_peak for p in found if p.operating_point == point.operating_point]
        marks += [Mark(v, f"{name}: Ms {number(v, 3)}", style=view.colour(controller)) for v in peaks if v < 10.0]
    return tuple(marks)


def _limited(name: str, value: float, unit: str, asked: str, held: bool) -> Html:
    """A value with its constraint, marked where it is broken."""
    note: object = " (no limit was set)"
    if asked:
        note = (
            f" ({asked}: held at these points)"
            if held
            else element("span", f" ▲ breaks the limit: {asked}", class_="loss")
        )
    return element("p", name, ": ", element("b", shown(value, unit, 3), class_="figure"), note)


_LEFT, _WIDTH, _ROOM = 4.0, 300.0, 84.0


def actuator_card(view: PageView) -> Html:
    """How much of the limits the command uses, how often it sits at one, and how far the actuator travels."""
    runs = view.recommended.judged
    if runs is None or not view.on_draws:
        return card("Command u against its limits", *_uses(view), _travel(view))
    limits = [_limits(channel) for channel in view.data.channels]
    text = at_limits(runs)
    peak = (
        f"Largest |u| {number(runs.peak, 3)} {view.data.channels[0].command_unit}".rstrip() if finite(runs.peak) else ""
    )
    title = element("summary", "Range asked for in each named situation; a weaker actuator gives less")
    return card(
        "Command u against its limits",
        element(
            "p",
            element("b", text[:1].upper() + text[1:]),
            f"{other_limits(view.data)}, over {view.judged_words}.",
        ),
        element(
            "p", f"{f'{peak}; l' if peak else 'L'}imits: {'; '.join(limits)}, or what the situation leaves of them."
        ),
        _travel(view),
        element("details", title, *_uses(view)),
    )


def _limits(channel: ChannelView) -> str:
    """The limits of a command in words."""
    if not (math.isfinite(channel.low) or math.isfinite(channel.high)):
        return f"{channel.command}: none"
    low, high = (plain(float(f"{end:.4g}")) for end in (channel.low, channel.high))
    return f"{channel.command} {low} … {high} {channel.command_unit}".rstrip()


def _uses(view: PageView) -> list[Html]:
    """What was recorded of the named situations, channel after channel."""
    found = [view.recommended.result(s.name) for s in view.data.situations]
    lost = [r.situation for r in found if r.failed]  # a command that runs away says nothing of the others
    uses = {r.situation: r.actuator for r in found if not r.failed or len(lost) == len(found)}
    parts = [_channel_use(view, i, channel, uses) for i, channel in enumerate(view.data.channels)]
    note = element("p", f"Left out, as it diverges there: {', '.join(lost)}.") if 0 < len(lost) < len(found) else None
    return [*parts, note] if note else parts


def _channel_use(view: PageView, index: int, channel: ChannelView, uses: dict[str, tuple[ActuatorUse, ...]]) -> Html:
    known = {name: use[index] for name, use in uses.items() if len(use) > index and finite(use[index].highest)}
    if not known:
        return element("p", f"{channel.command}: ", missing("no command was recorded"))
    lowest, highest = min(u.lowest for u in known.values()), max(u.highest for u in known.values())
    unit = f" {channel.command_unit}" if channel.command_unit else ""
    name = f"{channel.command}: " if len(view.data.channels) > 1 else ""
    reach = f"{name}{number(lowest, 3)} … {number(highest, 3)}{unit} over {len(known)} situations (one line each)"
    bars = _range_bars(channel, known, 1.0 / len(view.data.channels))
    bars = element("details", element("summary", "Range used in each situation"), bars) if bars else bars
    if not (math.isfinite(channel.low) or math.isfinite(channel.high)):
        return join((element("p", f"{reach}; no limits were set.{_all_seeds(view, known)}"), bars))
    width = channel.high - channel.low
    part = f": {share((highest - lowest) / width)} of the range" if math.isfinite(width) else ""
    return join(
        (
            element("p", *_saturation(known)),
            element("p", f"{reach}{part}.{_all_seeds(view, known)}"),
            bars,
        )
    )


def _all_seeds(view: PageView, known: dict[str, ActuatorUse]) -> str:
    """The largest command of all seeds, where the drawn ones do not reach it."""
    peaks = [use.peak for use in known.values() if finite(use.peak)]
    seeds = max((s.seeds for s in view.data.situations), default=1)
    if not peaks or seeds < 2:
        return ""
    return f" Over all seeds |u| up to {number(max(peaks), 3)}."


def _saturation(known: dict[str, ActuatorUse]) -> list[object]:
    times = {name: use.saturated for name, use in known.items() if finite(use.saturated)}
    if not times:
        return ["Time at a limit: ", missing()]
    worst = max(times, key=lambda name: times[name])
    if times[worst] == 0.0:
        return ["Never at a limit."]
    mean = element("b", share(sum(times.values()) / len(times)))
    return ["At a limit ", mean, f" of the time; most in {worst}: ", element("b", share(times[worst]))]


def _range_bars(channel: ChannelView, known: dict[str, ActuatorUse], part: float) -> Html:
    """One thin bar per situation between the dashed limits."""
    low = channel.low if math.isfinite(channel.low) else min(0.0, *(u.lowest for u in known.values()))
    high = channel.high if math.isfinite(channel.high) else max(0.0, *(u.highest for u in known.values()))
    if not high > low:
        return Html("")
    pitch = min(8.0, max(2.5, part * _ROOM / len(known)))
    height = pitch * len(known) + 4.0

    def at(value: float) -> float:
        return round(_LEFT + (_WIDTH - 2.0 * _LEFT) * (min(max(value, low), high) - low) / (high - low), 1)

    out = [element("rect", x=_LEFT, width=_WIDTH - 2.0 * _LEFT, height=height, class_="track")]
    out += [_bar(name, use, at, 2.0 + i * pitch, pitch - 1.5) for i, (name, use) in enumerate(known.items())]
    out += _scale(channel, low, high, height, at(0.0) if low < 0.0 < high else None)
    return svg(_WIDTH, height + 16, f"used range of {channel.command}", *out)


def _bar(name: str, use: ActuatorUse, at: Callable[[float], float], y: float, height: float) -> Html:
    left, right = at(use.lowest), at(use.highest)
    title = element("title", f"{name}: {number(use.lowest, 3)} … {number(use.highest, 3)}")
    width = round(max(right - left, 1.5), 1)
    return element("rect", title, x=left, y=f"{y:.1f}", width=width, height=f"{height:.1f}", class_="used k0")


def _scale(channel: ChannelView, low: float, high: float, height: float, zero: float | None) -> list[Html]:
    out = []
    if zero is not None:
        out.append(element("path", d=f"M{zero:g} 0v{height:g}", class_="zero strong"))
        out.append(element("text", "0", x=zero, y=f"{height + 12:g}", class_="tick mid"))
    for value, bound, x, style in ((low, channel.low, _LEFT, "tick"), (high, channel.high, _WIDTH - _LEFT, "tick end")):
        limited = math.isfinite(bound)
        if limited:
            out.append(element("path", d=f"M{x:g} 0v{height:g}", class_="limit"))
        name = f"limit {plain(value)}" if limited else f"{number(value, 3)}, no limit"
        if limited or value:
            out.append(element("text", name, x=f"{x:g}", y=f"{height + 12:g}", class_=style))
    return out


def _travel(view: PageView) -> Html:
    group, unit = view.data.verdict.group, view.data.units.get("total_variation", "")
    own = view.mean_measure(view.recommended, group, "total_variation")
    start = f"Travel (total variation), mean over {'fresh' if view.on_draws else 'unforeseen'} situations: "
    if view.recommended is view.compared:
        return element("p", start, shown(own, unit, 3))
    other = view.mean_measure(view.compared, group, "total_variation")
    times = number(own / other, 3) if finite(own) and finite(other) and other > 0.0 else ""
    ratio = join((" (", element("b", f"{times} ×"), ")")) if times else ""
    each = view.recommended.judged.per_sample if view.recommended.judged else math.nan
    moved = f"; {number(each, 3)} {unit}".rstrip() + " per sample" if finite(each) and view.on_draws else ""
    return element(
        "p", start, shown(own, unit, 3), " against ", shown(other, unit, 3), f" of {view.compared.name}", ratio, moved
    )
