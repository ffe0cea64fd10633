"""A schedule as a table to type in: gains where its terms have their centres, and how well these tell all others.

And where it has next to no integral action.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np
from scipy.interpolate import RegularGridInterpolator

from experiments.report.drawing.numbers import number, plain
from experiments.report.records.results import NotAvailable
from experiments.runtime.tables import in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from experiments.report.records.gains import ChannelGains
    from experiments.report.records.report_data import ReportData
    from flcs import KnowledgeBase
    from flcs.inference.variable import Variable

    Axes = Sequence[Sequence[float]]

_SHOWN, _FINE = 2, 61  # scheduling variables that are told; points of each where the table's error is looked for
_MANY = 1e5  # places of a variable's range between it and 0
_SLOW_SHOWN = 3  # points without integral action that are told
_TO = 1e-3  # of a variable's range: to so much are places told
_DUST = 1e-12  # of a gain's largest value: what sums of products leave of 0
_CLOSE = 5  # per cent: a table that tells less well has more points
_NAMES = {"e": "error", "e_rate": "error rate", "z": "error integral"}


@dataclass(frozen=True)
class GainNodes:
    """Gains of a schedule at points from which a table of the usual kind gives the others.

    Attributes
    ----------
    rows : tuple of (str, tuple of float)
        Where, and kp, ki, kd there; empty where the gains do not change.
    between : str
        How the others follow, and how well.
    """

    rows: tuple[tuple[str, tuple[float, ...]], ...] = ()
    between: str = ""


def gain_nodes(kb: KnowledgeBase, channel: int, *, finer: bool = False) -> GainNodes:
    """Return the gains of a channel at the centres of the terms of its first two inputs, the others at rest.

    Between the centres of triangular terms gains are linear where no rule is missing, and beyond the outer ones they
    stay; how nearly, is measured over the taught range. A `finer` table has the middles between the centres as well,
    where centres alone tell less than 95 %.
    """
    base = kb.channels[channel]
    shown, rest = base.inputs[:_SHOWN], {v: float(np.clip(0.0, v.low, v.high)) for v in base.inputs[_SHOWN:]}
    first = sum(len(one.gain_names) for one in kb.channels[:channel])

    def gains(axes: Axes) -> np.ndarray:
        places = list(product(*axes))
        inputs = np.zeros((len(places), len(kb.input_names)))
        inputs[:, kb.columns(channel)] = [(*place, *rest.values()) for place in places]
        found = kb.gains(inputs)[:, first : first + 3]
        return np.where(np.abs(found) < _DUST * np.abs(found).max(axis=0), 0.0, found)

    axes: Axes = [_to_type(v, v.centres) for v in shown]
    if np.allclose(at_centres := gains(axes), at_centres[0], rtol=1e-6):
        return GainNodes()
    error = _error(shown, axes, gains)
    if finer and error > _CLOSE:
        axes = [_to_type(v, _with_middles(v.centres)) for v in shown]
        error = _error(shown, axes, gains)
    rows = [
        (", ".join(_place(v, x) for v, x in zip(shown, place, strict=True)), tuple(row))
        for place, row in zip(product(*axes), gains(axes).tolist(), strict=True)
    ]
    told = f"a table read linearly between these points is off by at most {error} % of a gain's largest value"
    ends = ", ".join(f"{_place(v, v.low)} … {_number(v, v.high)}" for v in shown)
    others = "".join(f"; {_place(v, x)}" for v, x in rest.items())
    if any(v.name == "e_rate" for v in shown):
        others += "; the error rate is the rate of the error that the formula has"
    whole = math.prod(v.n_terms for v in base.inputs) == sum(rule.on for rule in base.rules)
    few = f"the rules that are left fire with less than {kb.inference.fallback:g} together"
    untold = "" if whole else f" it, and where {few},"
    beyond = (
        f"from the outer points to the edge of what was taught ({ends}) gains stay; outside{untold} they return to the "
        "reference"
    )
    beyond += " gains" + _fading(kb)
    return GainNodes(tuple(rows), f"{told}; {beyond}{others}")


def lasting_errors(
    data: ReportData,
    form: Callable[[float], str] = number,
    kb: KnowledgeBase | None = None,
    *,
    finer: bool = False,
) -> list[str]:
    """Return one sentence for each loop of the recommended controller that has practically no integral action.

    Or has next to none at some of the points of its schedule, though not at others. `kb` is the recommended knowledge
    base, where the report's own files are not written yet; `finer` says which of its tables is meant.
    """
    known = data.knowledge
    if kb is None and known is not None and known.controller == data.verdict.recommended:
        kb = known.kb
    controller = data.controller(data.verdict.recommended)
    if isinstance(controller.gains, NotAvailable):
        return []
    found = []
    for place, (channel, gains) in enumerate(zip(data.channels, controller.gains, strict=False)):
        name = f"{controller.name}{f', {channel.output}' if len(data.channels) > 1 else ''}"
        if not gains.integrates:
            found.append(
                f"{name}: no integral action (ki = {form(gains.ki)}): a constant disturbance leaves a lasting error"
            )
        elif gains.horizon > 0.0 and (slow := _slow_places(kb, place, gains, finer=finer)):  # NaN: an earlier run
            found.append(
                f"{name}: Ti is longer than the longest run ({form(gains.horizon)} s), or infinite, at {slow}: where "
                "gains stay there, a constant disturbance leaves an error for that long"
            )
    return found


def _slow_places(kb: KnowledgeBase | None, channel: int, gains: ChannelGains, *, finer: bool) -> str:
    """Points of a schedule at which integral action takes longer than a run; empty: nowhere."""
    places = [(one.at.partition(";")[0], one.kp, one.ki) for one in (gains, *gains.nodes)] if gains.nodes else []
    if gains.ruled and kb is not None:
        places = [(at, kp, ki) for at, (kp, ki, _) in gain_nodes(kb, channel, finer=finer).rows]
    slow = [at for at, kp, ki in places if not ki or abs(ki) * gains.horizon < abs(kp)]
    if not slow:
        return ""
    if len(slow) == len(places):
        return "all points to type in"
    more = f" and {len(slow) - _SLOW_SHOWN} more" if len(slow) > _SLOW_SHOWN else ""
    return f"{len(slow)} of {len(places)} points to type in ({'; '.join(slow[:_SLOW_SHOWN])}{more})"


def _fading(kb: KnowledgeBase) -> str:
    """How gains go back outside: their share falls with the distance, of all inputs together."""
    return f", fully at {100.0 * kb.inference.fade:g} % of an input's range outside, in proportion before"


def _with_middles(centres: Sequence[float]) -> list[float]:
    return sorted([*centres, *(0.5 * (a + b) for a, b in pairwise(centres))])


def _error(shown: Sequence[Variable], axes: Axes, gains: Callable[[Axes], np.ndarray]) -> int:
    """Largest error of a table over the taught range, in whole per cent of a gain's largest value."""
    found, fine = gains(axes), [np.linspace(v.low, v.high, _FINE) for v in shown]
    table = RegularGridInterpolator(axes, found.reshape(*map(len, axes), -1))
    inside = list(product(*(np.clip(f, axis[0], axis[-1]) for f, axis in zip(fine, axes, strict=True))))
    error = np.abs(table(inside) - gains([f.tolist() for f in fine])).max(axis=0)
    largest = np.maximum(np.abs(found).max(axis=0), np.finfo(float).tiny)
    return math.ceil(100.0 * float((error / largest).max()) - 1e-6)


def _to_type(variable: Variable, values: Sequence[float]) -> list[float]:
    """Values as they are printed, to a thousandth of the variable's range: what is said of a table is true of these."""
    return [round(value, _decimals(variable)) for value in values]


def _decimals(variable: Variable) -> int:
    return math.ceil(-math.log10(_TO * (variable.high - variable.low)))


def _place(variable: Variable, value: float) -> str:
    return f"{_NAMES.get(variable.name, in_words(variable.name))} {_number(variable, value)}"


def _number(variable: Variable, value: float) -> str:
    unit = "" if variable.unit in {"", "1"} else f" {variable.unit}"
    decimals = _decimals(variable)
    if abs(value) >= _MANY * _TO * (variable.high - variable.low):  # six digits would round it to a neighbour
        return f"{value:.{max(decimals, 0)}f}".replace("-", "\N{MINUS SIGN}") + unit
    return f"{plain(round(value, decimals))}{unit}"
