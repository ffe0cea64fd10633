"""One card of the first screen: how the command uses its limits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from experiments.report.cards import card
from experiments.report.markup import Html, element, join
from experiments.report.numbers import missing, number, plain, share, shown
from experiments.report.view import actuator_use, finite

if TYPE_CHECKING:
    from experiments.report.situations import ActuatorUse, ChannelView
    from experiments.report.view import View

_LEFT, _WIDTH, _ROOM = 4.0, 300.0, 84.0


def actuator_card(view: View) -> Html:
    """How much of the limits the command uses, how often it sits at one, and how far the actuator travels."""
    found = [r for s in view.data.situations if (r := view.recommended.result(s.name)) is not None]
    lost = [r.situation for r in found if r.failed]  # a command that runs away says nothing of the others
    uses = {r.situation: actuator_use(r, view.data.channels) for r in found if not r.failed or len(lost) == len(found)}
    parts = [_channel_use(view, i, channel, uses) for i, channel in enumerate(view.data.channels)]
    note = element("p", f"Left out, as it diverges there: {', '.join(lost)}.") if 0 < len(lost) < len(found) else ""
    return card("Command u against its limits", *parts, _travel(view), note)


def _channel_use(view: View, index: int, channel: ChannelView, uses: dict[str, tuple[ActuatorUse, ...]]) -> Html:
    known = {name: use[index] for name, use in uses.items() if len(use) > index and finite(use[index].highest)}
    if not known:
        return element("p", f"{channel.command}: ", missing("no command was recorded"))
    lowest, highest = min(u.lowest for u in known.values()), max(u.highest for u in known.values())
    unit = f" {channel.command_unit}" if channel.command_unit else ""
    name = f"{channel.command}: " if len(view.data.channels) > 1 else ""
    reach = f"{name}{number(lowest, 3)} … {number(highest, 3)}{unit} over {len(known)} situations (one line each)"
    bars = _range_bars(channel, known, 1.0 / len(view.data.channels))
    if not (math.isfinite(channel.low) or math.isfinite(channel.high)):
        return join((bars, element("p", f"{reach}; no limits were set.{_all_seeds(view, known)}")))
    width = channel.high - channel.low
    part = f": {share((highest - lowest) / width)} of the range" if math.isfinite(width) else ""
    return join((bars, element("p", f"{reach}{part}.{_all_seeds(view, known)}"), element("p", *_saturation(known))))


def _all_seeds(view: View, known: dict[str, ActuatorUse]) -> str:
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
    size = f"0 0 {_WIDTH:g} {height + 16:g}"
    return element("svg", *out, viewBox=size, class_="chart", role="img", aria_label=f"used range of {channel.command}")


def _bar(name: str, use: ActuatorUse, at: object, y: float, height: float) -> Html:
    left, right = at(use.lowest), at(use.highest)  # type: ignore[operator]
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


def _travel(view: View) -> Html:
    own = view.mean_quality(view.recommended, "unforeseen").total_variation
    start = "Travel (total variation), unforeseen mean: "
    if view.recommended is view.compared:
        return element("p", start, shown(own, digits=3))
    other = view.mean_quality(view.compared, "unforeseen").total_variation
    times = number(own / other, 3) if finite(own) and finite(other) and other > 0.0 else ""
    ratio = join((" (", element("b", f"{times} ×"), ")")) if times else ""
    return element(
        "p", start, shown(own, digits=3), " against ", shown(other, digits=3), f" of {view.compared.name}", ratio
    )
