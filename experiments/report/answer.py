"""The answer of a design at the terminal: what to type, and what it changes, measure by measure.

Read from the same records as the page, so that both say the same; sentences that both have are written here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from experiments.report.drawing.numbers import number as written
from experiments.report.drawing.numbers import percent, share
from experiments.report.gain_nodes import gain_nodes, lasting_errors
from experiments.report.records.results import NotAvailable
from experiments.report.records.verdict import COMPARED_ONLY, LOSS
from experiments.runtime.tables import in_words, number, text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.report.records.gains import ChannelGains, MarginPoint
    from experiments.report.records.report_data import ReportData
    from experiments.report.records.results import ControllerResult, Estimate, JudgedRuns
    from experiments.report.records.verdict import LossCount
    from flcs import KnowledgeBase

_WHOLE = {
    "knowledge_base": "a finer table: knowledge_base_table*.csv",
    "knowledge_base_direct": "a finer table: knowledge_base_direct_table*.csv",
    "given": "all of its rules: given.json",
}
MEASURE_NAMES = {
    "cost": "cost J",
    "iae": "IAE",
    "entropy_difference_abs": "entropy ∫|ΔṠ| dt",
    "total_variation": "travel",
}
UNFINISHED = "A longer search may recommend another controller; still improving when their budget ended"
FORMS = "K (1 + 1/(Ti s) + Td s/(1 + s Td/N)), parallel kp + ki/s + kd s"


def answer(data: ReportData, kb: KnowledgeBase) -> list[str]:
    """Return what a design says last: gains to type in, and what they change.

    Parameters
    ----------
    data : ReportData
    kb : KnowledgeBase
        The recommended one, whose gains are told; else the refined one at equal travel.
    """
    verdict = data.verdict
    keys = _typed_in(data)
    several = len(data.channels) > 1
    lines = ["", *(_typed(f"{'' if i else 'What to type: '}{text}") for i, text in enumerate(what_to_type(data)))]
    travel = headed("travel", data.units.get("total_variation", ""))
    for i, channel in enumerate(data.channels):
        head = [channel.output if several else "controller", *_heads(channel.gain_units), "b", "Ms", travel]
        lines += ["", text_table(head, [row for key in keys for row in _rows(data, key, i, kb)])]
        lines += _of_schedule(data, i, kb)
    if not verdict.present:
        lines.append(without_present(data))
    late = data.evidence.unfinished if data.evidence else ""
    lines += lasting_errors(data, number, kb)
    return [
        *lines,
        "",
        *_changes(data),
        *(_typed(text) for text in (lost_loops(data), sources(data), named_situations(data)) if text),
        *_single(data),
        *_assured(data),
        *([f"{UNFINISHED}: {_typed(late)}."] if late else []),
    ]


def what_to_type(data: ReportData) -> list[str]:
    """Return formula and settings of the law, once where all channels have the same."""
    laws = {channel.output: channel.law for channel in data.channels if channel.law is not None}
    if not laws:
        return [FORMS]
    formulas = dict.fromkeys(law.formula for law in laws.values())
    several = len(set(laws.values())) > 1
    settings = dict.fromkeys(f"{f'{name}: ' if several else ''}{law.settings}" for name, law in laws.items())
    rows = [g for key in _typed_in(data) for g in _channel_gains(data, key)]
    still = any(math.isinf(one.standard[1]) for gains in rows for one in (gains, *gains.nodes))
    return [
        *formulas,
        *settings,
        *(
            ["Ti none: no integral action there (ki is 0, or too small to move u in the time of a run)"]
            if still
            else []
        ),
    ]


def lost_loops(data: ReportData) -> str:
    """Return how many loops the two controllers of the headline lose, and where J is compared; empty: none."""
    verdict = data.verdict
    own = verdict.recommended if verdict.recommended != verdict.compared_with else verdict.judged
    pair = [data.controller(key) for key in dict.fromkeys((own, verdict.compared_with)) if key]
    lost = [(one.name, one.judged) for one in pair if one.judged is not None]
    if not any(runs.failures for _, runs in lost):
        return ""
    told = ", ".join(f"by the {name} in {runs.failures} of {runs.runs}" for name, runs in lost)
    return f"Changes are of the runs that both survive; the loop is lost {told}."


def without_present(data: ReportData) -> str:
    """Return how present gains are given, where there are none, and what stands for them."""
    stands_in = data.controller(data.verdict.compared_with).name
    return f"no present gains were given (controller.own_gains=[kp,ki,kd]): {stands_in} stands for them"


def _typed_in(data: ReportData) -> tuple[str, ...]:
    verdict = data.verdict
    return tuple(dict.fromkeys(k for k in (verdict.recommended, verdict.present, verdict.compared_with) if k))


def _channel_gains(data: ReportData, key: str) -> Sequence[ChannelGains]:
    gains = data.controller(key).gains
    return () if isinstance(gains, NotAvailable) else gains


def headed(name: str, unit: str) -> str:
    """Return a heading with its unit, if it has any."""
    return f"{name} [{unit}]" if unit else name


def _single(data: ReportData) -> list[str]:
    """What means hide: situations that get worse, and the time at the limits."""
    found, runs = data.verdict.costliest, data.controller(data.verdict.recommended).judged
    lines = []
    if found is not None:
        names = [data.controller(key).name for key in (data.verdict.recommended, found.against)]
        told = ", ".join(f"{name_of(data, one.measure)} {losses(one)}" for one in found.losses)
        lines.append(_typed(f"{names[0]} worse than {names[1]} in single drawn situations: {told}"))
    if runs is not None and math.isfinite(runs.saturated):
        lines.append(_typed(f"{data.controller(data.verdict.recommended).name}: {at_limits(runs)}{other_limits(data)}"))
    return lines


def losses(found: LossCount) -> str:
    """Return in how many situations a measure is worse: "3 of 256 (largest: +17.4 %)"."""
    return f"{found.lost} of {found.of}" + (f" (largest: {percent(found.worst)})" if found.lost else "")


def sources(data: ReportData) -> str:
    """Return which terms of the cost its change comes from, what else it hides; empty: not known."""
    verdict, told = data.verdict, ""
    if not verdict.measures or verdict.measures[0].against != verdict.compared_with:
        return ""
    found = {c.measure: c.change for c in verdict.measures if c.against == verdict.compared_with}
    if verdict.split:
        parts = ", ".join(f"{name_of(data, name)} {_points(part)}" for name, part in verdict.split)
        told = f"Of the {percent(found['cost'].value)}: {parts} points."
    if verdict.same_damping is not None:
        other = data.controller(verdict.compared_with).name
        told += f" With the damping of the {other} in place of its own: J {_printed(verdict.same_damping)}."
    tracking = found.get("iae")
    if tracking is not None and not (tracking.high < 0.0 or (math.isnan(tracking.high) and tracking.value < 0.0)):
        told += f" Tracking (IAE) is {'worse' if tracking.low > 0.0 else 'not better'}."
    return " ".join([told.strip(), *(f"{text}." for text in verdict.trade_offs)]).strip()


def _points(part: float) -> str:
    """Percentage points with their sign."""
    return percent(part).removesuffix("\u00a0%")


def named_situations(data: ReportData) -> str:
    """Return how the recommended controller does in the named unforeseen situations, where others decide."""
    verdict, named = data.verdict, data.group("unforeseen")
    if verdict.group == "unforeseen" or verdict.recommended == verdict.compared_with or not named:
        return ""
    own, other = (data.controller(key) for key in (verdict.recommended, verdict.compared_with))
    kept = [s.name for s in named if not (own.result(s.name).failed or other.result(s.name).failed)]
    means = [float(np.mean([one.result(name).cost.value for name in kept])) if kept else 0.0 for one in (own, other)]
    changes = {name: own.result(name).change for name in kept}
    known = {name: change.value for name, change in changes.items() if change and math.isfinite(change.value)}
    if not means[1] or not known:
        gone = _named_losses(data)
        return f"In the {len(named)} named unforeseen situations: {gone}" if gone else ""
    mean, worst = (means[0] - means[1]) / abs(means[1]), max(known, key=lambda name: known[name])
    lost = sum(value > LOSS for value in known.values())
    most = f" (largest loss: {percent(known[worst])}, {worst})" if lost else ""
    gone, better = _named_losses(data), _better_named(data, kept, means)
    return (
        f"In the {len(named)} named unforeseen situations against the {other.name}: cost J {percent(mean)}, "
        f"worse in {lost} of {len(known)}{most}{f'; {gone}' if gone else ''}{better}"
    )


def _better_named(data: ReportData, kept: Sequence[str], means: Sequence[float]) -> str:
    """Which rung is best there, where another one is clearly better than the recommended one and loses no loop."""
    beside = {one.controller for one in data.verdict.judgements if one.outcome.startswith(COMPARED_ONLY)}
    costs = {
        rung.name: float(np.mean([rung.result(name).cost.value for name in kept]))
        for rung in data.controllers
        if rung.key not in beside and not any(rung.result(s.name).failed for s in data.group("unforeseen"))
    }
    best = min(costs, key=lambda name: costs[name], default="")
    if not best or not means[0] - costs[best] > _CLEARLY * abs(means[1]):
        return ""
    return f"; best there: {best}, {percent((costs[best] - means[1]) / abs(means[1]))}"


def _named_losses(data: ReportData) -> str:
    """In which named situations, left out of the change, the two controllers lose the loop."""
    own, other = (data.controller(key) for key in (data.verdict.recommended, data.verdict.compared_with))
    gone = [
        ", ".join(s.name for s in data.group("unforeseen") if one.result(s.name).failed) or "none"
        for one in (own, other)
    ]
    return "" if gone == ["none", "none"] else f"loop lost in {gone[0]}, by the {other.name} in {gone[1]}"


def other_limits(data: ReportData) -> str:
    """Return the same of the controller that it is compared with, in few words; empty where there is none."""
    other = data.controller(data.verdict.compared_with)
    if other.key == data.verdict.recommended or other.judged is None or not math.isfinite(other.judged.saturated):
        return ""
    return f" ({other.name}: {share(other.judged.saturated)}, at most {share(other.judged.most_saturated)})"


def at_limits(runs: JudgedRuns) -> str:
    """Return the share of the time with a command at a limit in words."""
    if not runs.ever_saturated:
        return f"command never at a limit in {runs.runs - runs.failures} runs"
    told = (
        f"command at a limit {share(runs.saturated)} of the time, in {runs.ever_saturated} of "
        f"{runs.runs - runs.failures} runs; in any one at most {share(runs.most_saturated)}"
    )
    if not runs.held_saturated:
        return told
    return (
        f"{told}. In {runs.held_saturated} it is there for more than nine tenths of the time: reference or load may be "
        "beyond what the actuator can hold, where no controller is better than another (narrow the ranges)"
    )


def _assured(data: ReportData) -> list[str]:
    """The worst case and the stability of the recommended controller, where they were asked for."""
    found = data.evidence
    if found is None:
        return []
    told = (("worst found in the declared ranges", found.worst_case), ("about the operating points", found.stability))
    return [_typed(f"{what}: {text}").rstrip(".") for what, text in told if text]


def _typed(text: str) -> str:
    """The page's numbers as a terminal has them."""
    return text.replace("\N{MINUS SIGN}", "-").replace("\N{NO-BREAK SPACE}", " ")


def _heads(units: Sequence[str]) -> list[str]:
    kp, ki, kd = units or ("", "", "")
    named = {"K": kp, "Ti": "s", "Td": "s", "N": "", "kp": kp, "ki": ki, "kd": kd}
    return [headed(name, unit) for name, unit in named.items()]


def _rows(data: ReportData, key: str, channel: int, kb: KnowledgeBase) -> list[list[str]]:
    """A controller's gains: its own row, and one for each node of a schedule."""
    controller = data.controller(key)
    role = {data.verdict.recommended: " (recommended)", data.verdict.present: " (present)"}.get(key, "")
    title, tail = f"{controller.name}{role}", _ms_and_travel(controller)
    if isinstance(controller.gains, NotAvailable):
        return [[f"{title}: {controller.gains.reason}", *[""] * 8, *tail]]
    gains = controller.gains[channel]
    rows = [[title, *_numbers(gains), *tail]]
    if gains.nodes:
        rows[0][0] = f"{title}, at {gains.at}"
        rows += [[f"  at {node.at}", *_numbers(node), "", ""] for node in gains.nodes]
    elif key == data.verdict.recommended and key in _WHOLE:
        rows[0][0] = f"{title}, reference gains: outside what was taught"
        for place, (kp, ki, kd) in gain_nodes(kb, channel).rows:
            node = replace(gains, kp=kp, ki=ki, kd=kd, low=None, high=None)
            rows.append([f"  at {place}", *_numbers(node), "", ""])
    return rows


def _of_schedule(data: ReportData, channel: int, kb: KnowledgeBase) -> list[str]:
    """What is said below the gains of a recommended knowledge base: how the others follow, where more of them are."""
    recommended = data.verdict.recommended
    if recommended not in _WHOLE or isinstance(data.controller(recommended).gains, NotAvailable):
        return []
    texts = (gain_nodes(kb, channel).between, f"{_WHOLE[recommended]}; as code: sscq export kb=RUN/{recommended}.json")
    return [f"  {text}" for text in texts if text]


def _numbers(gains: ChannelGains) -> list[str]:
    """K, Ti, Td, N, kp, ki, kd, b; a dash where there is no such form, "none" where there is no such action."""
    k, ti, td, n = gains.standard
    times = ["none" if time in {0.0, math.inf} else number(time) for time in (ti, td)]
    return [number(k), *times, *map(number, (n, gains.kp, gains.ki, gains.kd, gains.set_point_weight))]


def _ms_and_travel(controller: ControllerResult) -> list[str]:
    margins = controller.margins
    ms = "-" if isinstance(margins, NotAvailable) else f"{margins.sensitivity_peak:.3g}"
    return [ms, f"{controller.travel:.4g}" if math.isfinite(controller.travel) else "-"]


def _changes(data: ReportData) -> list[str]:
    """One line for each controller that the verdict's is held against."""
    lines = []
    for against in dict.fromkeys(c.against for c in data.verdict.measures):
        of = [c for c in data.verdict.measures if c.against == against]
        told = ", ".join(f"{name_of(data, c.measure)} {_estimated(c.change)}" for c in of)
        margins = "".join(f"; {one}" for one in margin_changes(data, of[0].controller, against))
        names = [data.controller(key).name for key in (of[0].controller, against)]
        turned_down = "" if of[0].controller == data.verdict.recommended else " (not recommended)"
        lines.append(f"{names[0]}{turned_down} against {names[1]}: {told}{_typed(margins)}")
    return lines


def name_of(data: ReportData, measure: str) -> str:
    """Return what a measure is called in few words."""
    own = {one.name: one.title for one in data.own_measures}
    return MEASURE_NAMES.get(measure) or own.get(measure, in_words(measure))


def _estimated(change: Estimate) -> str:
    value, low, high = (100.0 * v for v in (change.value, change.low, change.high))
    if math.isnan(value):
        return "not known"
    return f"{value:+.1f} %" + (f" [{low:+.1f}, {high:+.1f}]" if low < high else "")


def _printed(change: Estimate) -> str:
    """The same with the page's minus."""
    return _estimated(change).replace("-", "\N{MINUS SIGN}").replace(" %", "\N{NO-BREAK SPACE}%")


@dataclass(frozen=True)
class MarginChange:
    """A margin of two controllers at the worst point of each.

    Attributes
    ----------
    better, points : int
        At so many points, of so many that both have, the own one is better by more than rounding.
    least, most : float
        Relative change at single points, both at the same one: the worst points of two controllers may be different.
    """

    name: str
    unit: str
    own: float
    other: float
    more_is_worse: bool
    better: int = 0
    points: int = 0
    least: float = math.nan
    most: float = math.nan

    def __str__(self) -> str:
        """As in "Ms 1.13 against 1.16"."""
        return f"{self.name} {self.values}{f', {self.note}' if self.note else ''}"

    @property
    def values(self) -> str:
        """Both values with their unit."""
        return f"{written(self.own, 3)} against {written(self.other, 3)} {self.unit}".rstrip()

    @property
    def note(self) -> str:
        """What the worst points do not tell; empty: nothing."""
        single = f": {percent(self.least)} … {percent(self.most)}" if self.least < self.most else ""
        return f"better at {self.better} of {self.points} points{single}" if self.mixed or single else ""

    @property
    def mixed(self) -> bool:
        """Whether it is better at some points and not at others."""
        return 0 < self.better < self.points

    @property
    def change(self) -> float:
        """Relative change; NaN where one is infinite."""
        known = math.isfinite(self.own) and math.isfinite(self.other) and self.other > 0.0
        return self.own / self.other - 1.0 if known else math.nan


def margin_changes(data: ReportData, controller: str, against: str) -> tuple[MarginChange, ...]:
    """Return Ms and delay margin of both; none where one is not known."""
    pair = [data.controller(key).margins for key in (controller, against)]
    known = [m for m in pair if not isinstance(m, NotAvailable)]
    if len(known) < len(pair):
        return ()
    own, other = known
    there = {point.operating_point: point for point in other.points}
    pairs = [(point, there[point.operating_point]) for point in own.points if point.operating_point in there]
    return (
        _change(pairs, "sensitivity_peak", MarginChange("Ms", "", own.sensitivity_peak, other.sensitivity_peak, True)),
        _change(pairs, "delay_margin", MarginChange("delay margin", "s", own.delay_margin, other.delay_margin, False)),
    )


def _change(pairs: Sequence[tuple[MarginPoint, MarginPoint]], margin: str, found: MarginChange) -> MarginChange:
    """Add what the points of both say, each compared with itself."""
    pair = [(getattr(a, margin), getattr(b, margin)) for a, b in pairs]
    changes = [own / other - 1.0 for own, other in pair if math.isfinite(own) and math.isfinite(other) and other > 0.0]
    signed = [(b, a) if found.more_is_worse else (a, b) for a, b in pair]
    better = sum(more > less * (1.0 + _EQUAL) for more, less in signed)
    told = {"least": min(changes), "most": max(changes)} if len(changes) == len(pair) > 1 else {}
    return replace(found, better=better, points=len(pair), **told)


_CLEARLY = 0.03  # of the compared one's cost: by so much another one is better where it is named
_EQUAL = 0.005  # margins of two controllers that differ by no more, as a share, are told as the same
