"""Contenders as the page's controllers: gains, margins, cost, measures and responses in every declared situation.

Gains are numbers to type in; of a schedule, the range that it can give.
"""

from __future__ import annotations

import warnings
from math import degrees, nan
from typing import TYPE_CHECKING

import numpy as np

from controllers import GainTable, TwoDegreePID
from experiments.pipeline.judged_rollouts import RIVAL
from experiments.report.builders import estimates, words
from experiments.report.builders.case import BASELINE, COMPARED, FinishedDesign, PlacedSituation
from experiments.report.builders.motion import shown_contenders
from experiments.report.builders.words import output_unit
from experiments.report.drawing.numbers import number, plain, with_unit
from experiments.report.records.gains import ChannelGains, MarginPoint, PointMargins
from experiments.report.records.results import (
    MEASURES,
    ActuatorUse,
    Array,
    ControllerResult,
    Estimate,
    JudgedRuns,
    NotAvailable,
    OwnMeasure,
    SituationInfo,
    SituationResult,
)
from experiments.runtime.tables import in_words
from flcs import FuzzyController
from sscq.margins.channels import loop_of
from sscq.verdict.comparison import change_where_alive

if TYPE_CHECKING:
    from experiments.report.recorded import Recordings
    from plants import Plant
    from sscq.baselines.tuned import Tuned
    from sscq.margins.margins import LoopMargins


HELD = 0.9
"""Share of a run's time with a command at a limit from which the run is counted as one that is held there."""

_SIGNALS = {"error": "e", "error_rate": "e'"}


def gains_of(case: FinishedDesign, contender: Tuned) -> tuple[ChannelGains, ...] | NotAvailable:
    """Return the gains of every channel, or why there are none to show."""
    if contender.per_situation is not None:
        return NotAvailable(_ranges(contender.per_situation))
    controller = contender.controller
    if contender.name.startswith(RIVAL):
        return NotAvailable(contender.text)
    if contender.plant is not None:
        return NotAvailable(f"feedback of {len(controller.schedule.measured)} states and of integrals, no PID")
    if isinstance(controller, FuzzyController):
        return _of_rules(case, controller)
    if not contender.theta.any():
        return NotAvailable("no control")
    if isinstance(controller.schedule, GainTable):
        return (_of_table(case, contender),) if len(case.plant.channels) == 1 else NotAvailable(_at_nodes(contender))
    width = 4 if isinstance(controller.laws[0], TwoDegreePID) else 3
    rows = contender.theta.reshape(-1, width)
    return tuple(_channel(case, i, row) for i, row in enumerate(rows))


def _channel(case: FinishedDesign, channel: int, row: Array, at: str = "") -> ChannelGains:
    law = case.law(channel)
    weight = float(row[3]) if len(row) > 3 else law.set_point_weight
    kp, ki, kd = row[:3].tolist()
    return ChannelGains(kp, ki, kd, case.filter_time(channel), weight, at=at, horizon=_horizon(case))


def _horizon(case: FinishedDesign) -> float:
    """The longest of the judged situations [s]."""
    return max(situation.t_end for situation in case.setup.sets[case.judged])


def _of_table(case: FinishedDesign, contender: Tuned) -> ChannelGains:
    """Gains at the nodes of a table, which has one channel: linear between them, constant outside."""
    schedule: GainTable = contender.controller.schedule
    rows = contender.theta[: 3 * len(schedule.nodes)].reshape(len(schedule.nodes), 3)
    scale = float(contender.theta[-1]) if schedule.search_scale else 1.0
    first = _node(case, schedule, 0.0 if schedule.search_scale else schedule.nodes[0], scale)
    others = tuple(
        _channel(case, 0, row, f"{_node(case, schedule, node, scale)}{' and beyond' if k == len(rows) - 1 else ''}")
        for k, (node, row) in enumerate(zip(schedule.nodes, rows, strict=True))
        if k > 0
    )
    kp, ki, kd = rows[0].tolist()
    law = case.law(0)
    return ChannelGains(
        kp, ki, kd, case.filter_time(0), law.set_point_weight, _triple(rows.min(axis=0)),
        _triple(rows.max(axis=0)), at=f"{first}; kp, ki, kd linear in between", nodes=others, horizon=_horizon(case),
    )  # fmt: skip


def _node(case: FinishedDesign, schedule: GainTable, node: float, scale: float) -> str:
    """Where a node is, for example "|e| = 1.315 m"; a square is given by its root."""
    unit = output_unit(case.plant, 0)
    if schedule.signal == "error_rate":
        unit = f"{unit}/s" if unit else "1/s"
    name = _SIGNALS.get(schedule.signal, schedule.signal.replace("_", " "))
    value = node * scale
    if schedule.transform == "square":
        root = with_unit(float(f"{np.sqrt(value):.4g}"), unit)
        return f"|{name}| = {root}"
    written = with_unit(float(f"{value:.4g}"), unit)
    return f"|{name}| = {written}" if schedule.transform == "magnitude" else f"{name} = {written}"


def _of_rules(case: FinishedDesign, controller: FuzzyController) -> tuple[ChannelGains, ...]:
    """Reference gains of a knowledge base, with the range of its rules at its authority."""
    corners = controller.gain_hull.gains
    low, high = corners.min(axis=0), corners.max(axis=0)
    found, first = [], 0
    for channel, base in enumerate(controller.kb.channels):
        part = slice(first, first + 3)
        kp, ki, kd = base.reference[:3]
        law = case.law(channel)
        found.append(
            ChannelGains(kp, ki, kd, case.filter_time(channel), law.set_point_weight, _triple(low[part]),
                         _triple(high[part]), at="rules move the gains", horizon=_horizon(case))
        )  # fmt: skip
        first += len(base.gain_names)
    return tuple(found)


def _at_nodes(contender: Tuned) -> str:
    nodes = len(contender.controller.schedule.nodes)
    return f"at {nodes} nodes: {_spans(contender.theta.reshape(nodes, -1))}"


def _ranges(rows: Array) -> str:
    """Gains of each situation, as ranges; how many of them there are, where situations share them."""
    several = len(np.unique(rows, axis=0))
    if several == 1:
        return "the fixed PID's gains in every situation: no search for one situation alone found better ones"
    return f"its own gains in every situation, {several} different sets for {len(rows)} of them: {_spans(rows)}"


def _spans(rows: Array) -> str:
    names = ("kp", "ki", "kd")
    spans = [
        f"{names[i % 3]} {number(low, 3)} … {number(high, 3)}"
        for i, (low, high) in enumerate(zip(rows.min(axis=0).tolist(), rows.max(axis=0).tolist(), strict=True))
    ]
    return ", ".join(spans)


def _triple(values: Array) -> tuple[float, float, float]:
    a, b, c = values.tolist()
    return a, b, c


_ALWAYS_DRAWN = ("own",)  # beside those that are also seen moving: eight curves are a thicket


def situations(case: FinishedDesign) -> tuple[SituationInfo, ...]:
    """Return all declared situations."""
    spread = case.setup.config.situations.unforeseen_spread
    other = f"; every seed with another plant, parameters spread by ±{100.0 * spread:g} %" if spread else ""
    return tuple(
        SituationInfo(
            p.label, p.kind, words.situation(case.plant, p.situation) + (other if p.kind != "taught" else ""),
            case.seeds(p.kind), f"seed {p.situation.seed}",
        )
        for p in case.places
    )  # fmt: skip


def controllers(case: FinishedDesign, recorded: Recordings) -> tuple[ControllerResult, ...]:
    """Return all contenders, simplest first."""
    return tuple(_controller(case, contender, recorded) for contender in case.group)


def _controller(case: FinishedDesign, contender: Tuned, recorded: Recordings) -> ControllerResult:
    name = contender.name
    return ControllerResult(
        key=name,
        label=contender.title,
        text=contender.text,
        gains=gains_of(case, contender),
        cost={kind: _cost(case, name, kind) for kind in case.setup.sets if (name, kind) in case.judgement.fitness},
        margins=margins_of(case, contender),
        results=tuple(_result(case, contender, place, recorded) for place in case.places),
        evaluations=contender.evaluations,
        parameters=contender.parameters,
        short=case.name(name),
        gain_names=tuple(contender.controller.schedule.gain_names),
        drawn=name in {*_ALWAYS_DRAWN, *shown_contenders(case)},
        judged=judged_runs(case, name),
    )


def judged_runs(case: FinishedDesign, name: str) -> JudgedRuns | None:
    """Return means over the runs of the verdict; None for a contender that is judged in other situations."""
    kind = case.judged
    if (name, kind) not in case.judgement.quality:
        return None
    failed, shown = case.failed(name, kind), [m for m in case.judgement.measures if m != "diverged_at"]
    horizons = np.array([situation.t_end for situation in case.setup.sets[kind]])
    times = (case.measure(name, kind, "saturated_time") / horizons)[~failed]
    peak = case.measure(name, kind, "peak_command")[~failed]
    sample = case.setup.laws[0].sample_time or case.setup.step
    moves = (case.measure(name, kind, "total_variation") * sample / horizons)[~failed]
    one = len(case.plant.channels) == 1 and peak.size
    return JudgedRuns(
        runs=failed.size,
        failures=int(failed.sum()),
        measures={m: case.judgement.mean(name, kind, m) for m in shown} if times.size else {},
        saturated=float(times.mean()) if times.size else float("nan"),
        most_saturated=float(times.max()) if times.size else float("nan"),
        ever_saturated=int((times > 0.0).sum()),
        held_saturated=int((times > HELD).sum()),
        peak=float(peak.max()) if one else float("nan"),
        per_sample=float(moves.mean()) if moves.size else float("nan"),
    )


def _cost(case: FinishedDesign, name: str, kind: str) -> Estimate:
    """The mean of J over the rollouts that it survives."""
    values, lost = case.costs(name, kind), case.sampled(case.failed(name, kind), kind)
    return estimates.surviving_mean(values, lost, estimates.draws(len(values), case.setup.seed))


def _change_of_cost(case: FinishedDesign, name: str, place: PlacedSituation) -> Estimate:
    """The change of J in a situation, over the seeds with which both survive."""
    kind, some = place.kind, slice(place.number, place.number + 1)
    values, base = (case.judgement.fitness[key, kind][:, some] for key in (name, BASELINE))
    lost = (case.failed(name, kind) | case.failed(BASELINE, kind))[:, some]
    if not lost.any():
        return estimates.change(values[:, 0], base[:, 0], estimates.draws(len(values), case.setup.seed))
    return estimates.of_change(change_where_alive(values, base, lost, case.setup.seed))


def _result(case: FinishedDesign, contender: Tuned, place: PlacedSituation, recorded: Recordings) -> SituationResult:
    name, kind, k = contender.name, place.kind, place.number
    values = case.judgement.fitness[name, kind][:, k]
    rows = estimates.draws(len(values), case.setup.seed)
    ends = case.measure(name, kind, "diverged_at")[:, k]
    key = f"{name}.{place.overall}"
    return SituationResult(
        situation=place.label,
        cost=estimates.mean(values, rows),
        change=None if name == BASELINE else _change_of_cost(case, name, place),
        changes={} if name == BASELINE else _changes(case, name, place),
        measures=_measures(case, name, place),
        actuator=_use(case, name, place, recorded[f"{key}.use"]) if f"{key}.use" in recorded else (),
        diverged_at=float(np.nanmin(ends)) if np.isfinite(ends).any() else float("nan"),
        failures=int(np.isfinite(ends).sum()),
    )


def _measures(case: FinishedDesign, name: str, place: PlacedSituation) -> dict[str, float]:
    """Means over the seeds that survive: a rollout cut short by its divergence has small integrals."""
    alive, own = ~case.failed(name, place.kind)[:, place.number], (one.name for one in case.plant.measures)
    values = {m: case.measure(name, place.kind, m)[alive, place.number] for m in (*MEASURES, *own)}
    if name.startswith(RIVAL):  # it has no commands: its constants stand in their place
        values["effort"] = np.full(0, np.nan)
    with warnings.catch_warnings(action="ignore"):  # the mean of no survivor is NaN: not available
        return {measure: float(each.mean()) for measure, each in values.items()}


def _changes(case: FinishedDesign, name: str, place: PlacedSituation) -> dict[str, Estimate]:
    """Changes of measures against the baseline, over the seeds that both survive; none where none does."""
    kind, k = place.kind, place.number
    alive = ~(case.failed(name, kind) | case.failed(BASELINE, kind))[:, k]
    if not alive.any():
        return {}
    rows = estimates.draws(int(alive.sum()), case.setup.seed)
    pairs = {m: [case.measure(key, kind, m)[alive, k] for key in (name, BASELINE)] for m in COMPARED}
    return {measure: estimates.change(one, other, rows) for measure, (one, other) in pairs.items()}


def own_measures(case: FinishedDesign) -> tuple[OwnMeasure, ...]:
    """Return what the plant's own measures are."""
    return tuple(
        OwnMeasure(one.name, in_words(one.name), one.unit, one.text, one.less_is_better) for one in case.plant.measures
    )


def _use(case: FinishedDesign, name: str, place: PlacedSituation, use: Array) -> tuple[ActuatorUse, ...]:
    """Of the drawn seed; with one channel also the largest command of all seeds."""
    peak = float("nan")
    if len(use) == 1:
        peak = float(case.measure(name, place.kind, "peak_command")[:, place.number].max())
    return tuple(ActuatorUse(float(low), float(high), float(share), peak) for low, high, share in use)


def margins_of(case: FinishedDesign, contender: Tuned) -> PointMargins | NotAvailable:
    """Return the margins at every operating point and in passing, or why there are none."""
    if case.bench.margins is None:
        if not case.plant.operating_points:
            return NotAvailable("the plant declares no operating points")
        return NotAvailable("no margins were asked for (fitness.max_sensitivity=null)")
    found = case.judgement.margins.get(contender.name)
    if found is None:
        if contender.plant is not None:
            return NotAvailable("it feeds back all states: margins here are those of a PID")
        return NotAvailable("no feedback" if not contender.theta.any() else "its gains are those of each situation")
    several = len(found) > 1
    points = tuple(
        point
        for channel, margins in zip(case.plant.channels, found, strict=True)
        for point in _points(case.plant, case.bench.margins.points, margins, f"{channel.output}: " if several else "")
    )
    passing = [channel.sensitivity.value for channel in case.judgement.passing.get(contender.name, ())]
    return PointMargins(points, _over(case), max(passing, default=nan))


def plants_asked(case: FinishedDesign) -> str:
    """Return the plants whose margins are asked; where no constant gains keep those of all, they are few."""
    bench = case.bench.margins
    assert bench is not None  # noqa: S101  (there are margins)
    n_plants = int(np.bincount(bench.points).max())
    if n_plants > 1:
        return f"{n_plants} taught plants"
    nominal = all(case.plant.values("parameters", s.parameters) == case.plant.nominal() for s in bench.spec.situations)
    return f"the {'nominal' if nominal else 'taught'} plant"


def _over(case: FinishedDesign) -> str:
    bench = case.bench.margins
    assert bench is not None  # noqa: S101  (there are margins)
    dead = loop_of(bench.spec, 0).delay
    none = ", without delay" if case.plant.input_delay is None else ", without delay beside the plant's own dead time"
    late = f"; delay margin beyond the taught {plain(dead)} s" if dead else none
    parts = [f"Over {plants_asked(case)}{late}."]
    if len(case.plant.channels) > 1:
        parts += ["One channel's loop is opened at a time, the others are closed."]
    return " ".join(parts)


def _points(plant: Plant, about: Array, margins: LoopMargins, prefix: str) -> list[MarginPoint]:
    """Worst margins of each operating point; several taught plants share it, as far as they can be held there."""
    names = [point.name for point in plant.operating_points]

    def worst(values: Array, reduce: np.ufunc) -> list[float]:
        return [float(reduce.reduce(values[:, about == number], axis=None)) for number in range(len(names))]

    columns = zip(
        names,
        worst(margins.sensitivity, np.maximum),
        worst(margins.delay_margin, np.minimum),
        worst(margins.phase_margin, np.minimum),
        worst(margins.gain_margin, np.minimum),
        strict=True,
    )
    return [MarginPoint(prefix + name, ms, delay, degrees(phase), gain) for name, ms, delay, phase, gain in columns]
