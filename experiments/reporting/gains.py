"""Gains of the contenders as the page shows them: numbers to type in, and the range that a schedule can give."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from controllers import GainTable, TwoDegreePID
from experiments.judging import RIVAL
from experiments.report import ChannelGains, NotAvailable
from experiments.report.numbers import number
from experiments.reporting.words import output_unit, with_unit
from flcs import FuzzyController
from flcs.refinement import gain_sets
from flcs.theta import GROUPS

if TYPE_CHECKING:
    from experiments.judging import Contender
    from experiments.reporting.case import Array, Case

_SIGNALS = {"error": "e", "error_rate": "e'"}


def of(case: Case, contender: Contender) -> tuple[ChannelGains, ...] | NotAvailable:
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


def _channel(case: Case, channel: int, row: Array, at: str = "") -> ChannelGains:
    law = case.law(channel)
    weight = float(row[3]) if len(row) > 3 else law.set_point_weight
    kp, ki, kd = row[:3].tolist()
    return ChannelGains(kp, ki, kd, law.derivative_filter_time, weight, at=at)


def _of_table(case: Case, contender: Contender) -> ChannelGains:
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
        kp, ki, kd, law.derivative_filter_time, law.set_point_weight, _triple(rows.min(axis=0)),
        _triple(rows.max(axis=0)), at=f"{first}; linear in between", nodes=others,
    )  # fmt: skip


def _node(case: Case, schedule: GainTable, node: float, scale: float) -> str:
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


def _of_rules(case: Case, controller: FuzzyController) -> tuple[ChannelGains, ...]:
    """Reference gains of a knowledge base, with the range of its rules at its authority."""
    whole = replace(controller, free=GROUPS)
    corners = gain_sets(whole, 0)(whole.theta[None])[0]
    low, high = corners.min(axis=0), corners.max(axis=0)
    found, first = [], 0
    for channel, base in enumerate(controller.kb.channels):
        part = slice(first, first + 3)
        kp, ki, kd = base.reference[:3]
        law = case.law(channel)
        found.append(
            ChannelGains(kp, ki, kd, law.derivative_filter_time, law.set_point_weight, _triple(low[part]),
                         _triple(high[part]), at="reference gains; the rules move them")
        )  # fmt: skip
        first += len(base.gain_names)
    return tuple(found)


def _at_nodes(contender: Contender) -> str:
    nodes = len(contender.controller.schedule.nodes)
    return f"at {nodes} nodes: {_spans(contender.theta.reshape(nodes, -1))}"


def _ranges(rows: Array) -> str:
    """Gains that differ in every situation, as ranges."""
    return f"its own gains in every situation: {_spans(rows)}"


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
