"""Constant gains and gain tables as knowledge bases: one format for whatever a design recommends.

Triangles that meet at a table's nodes interpolate between them as the table does, so the knowledge base has the table's
gains to rounding, and can be exported, simulated, judged and certified like any other.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import PID, ConstantGains, GainTable, TwoDegreePID, pid_form
from flcs.inference.rule_base import Inference, Rule, RuleBase
from flcs.inference.variable import Variable
from flcs.knowledge_base.knowledge_base import KnowledgeBase
from flcs.learning.variables import unit_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from plants import Plant

    Gains = NDArray[np.float64]

_NEVER = 1e12  # input ranges beyond its ends, over which a table's gains would return to the reference gains
_OWN = {"error": "e", "error_rate": "e_rate"}
_WEIGHT = 3  # place of the set-point weight among the gains of a TwoDegreePID


def knowledge_base_of(
    plant: Plant,
    controller: Any,
    theta: Gains,
    *,
    box: tuple[Gains, Gains],
    reference: Gains,
    tick: float | None,
    records: Mapping[str, Any] | None = None,
) -> KnowledgeBase:
    """Return a knowledge base that gives a controller's gains.

    Parameters
    ----------
    plant : Plant
    controller : controller
        PID laws, with or without a searched set-point weight, under constant gains or a gain table.
    theta : ndarray [n_theta]
        Parameters of its schedule.
    box : pair of ndarray [n_gains]
        Least and largest gains; widened where the controller's own lie outside.
    reference : ndarray [n_gains]
        What a table's gains go back to with less authority; constant gains are their own reference.
    tick : float, optional
        Time between two updates of the gains [s].
    records : mapping, optional
        Further attributes: fitness, taught situations, valid range.

    Raises
    ------
    ValueError
        For a controller that no knowledge base is equal to: another law, a table over a square (whose gains are not
        straight lines over the signal), over the error of a plant with several channels (each of which has its own), or
        of more nodes than a variable has terms.
    """
    laws, schedule = controller.laws, controller.schedule
    if isinstance(schedule, ConstantGains) and not schedule.routed:
        numbers, fixed = _weighed(laws, np.asarray(theta, float))
        nodes, name = np.array([-1.0, 1.0]), "e"
        rows, own = np.stack([numbers, numbers]), numbers
    elif isinstance(schedule, GainTable):
        (nodes, name), fixed, own = _input_of(schedule, theta, len(laws)), laws, np.asarray(reference, float)
        rows = _rows(schedule, np.asarray(theta, float), len(own))
    else:
        raise ValueError(f"no knowledge base has the gains of a {type(schedule).__name__} with these laws")
    forms = _forms(fixed)  # first: another law's gains would not fit the box
    size, bases = len(own) // len(laws), []
    low, high = np.minimum(box[0], rows.min(axis=0)), np.maximum(box[1], rows.max(axis=0))
    for i, (channel, form) in enumerate(zip(plant.channels, forms, strict=True)):
        here = slice(i * size, (i + 1) * size)
        variable = Variable(name, unit_of(plant, i, name), nodes[0], nodes[-1], tuple(nodes.tolist()))
        rules = tuple(Rule((term,), _numbers(row[here])) for term, row in enumerate(rows))
        least, most, back = (_numbers(values[here]) for values in (low, high, own))
        bases.append(RuleBase(channel.output, (variable,), rules, least, most, back, law=form))
    values = dict(zip((one.name for one in plant.parameters), plant.nominal(), strict=True))
    made = {"plant_parameters": values, **(records or {})}
    return KnowledgeBase(plant.name, tuple(bases), Inference(fade=_NEVER), tick=tick, **made)


def _numbers(values: Gains) -> tuple[float, ...]:
    return tuple(map(float, values))


def _forms(laws: Sequence[Any]) -> list[dict[str, Any]]:
    try:
        return [pid_form.describe(law) for law in laws]
    except TypeError as error:
        raise ValueError(str(error)) from None


def _weighed(laws: Sequence[Any], theta: Gains) -> tuple[Gains, Sequence[Any]]:
    """The gains without set-point weights, and laws that have these as settings."""
    if not all(isinstance(law, TwoDegreePID) for law in laws):
        return theta, laws
    by_channel = theta.reshape(len(laws), -1)
    names = {item.name for item in fields(PID) if item.init}
    return np.delete(by_channel, _WEIGHT, axis=1).ravel(), [
        replace(
            PID(**{f.name: getattr(law, f.name) for f in fields(law) if f.init and f.name in names}),
            set_point_weight=float(row[_WEIGHT]),
        )
        for law, row in zip(laws, by_channel, strict=True)
    ]


def _input_of(table: GainTable, theta: Gains, n_channels: int) -> tuple[Gains, str]:
    """Nodes of a table over its signal itself, of a magnitude on both sides, and the signal's name as an input."""
    if table.transform == "square":
        raise ValueError(f"gains over the square of {table.signal} are no straight lines between nodes")
    name = _OWN.get(table.signal.removesuffix("_1"), table.signal)
    if name in _OWN.values() and n_channels > 1:
        raise ValueError(f"all channels' gains follow the {table.signal} of one, and rules that of their own channel")
    nodes = np.array(table.nodes) * (float(theta[-1]) if table.search_scale else 1.0)
    return (_both(table, -nodes, nodes) if table.transform == "magnitude" else nodes), name


def _rows(table: GainTable, theta: Gains, n_gains: int) -> Gains:
    """Gains [node, gain] at the nodes of :func:`_input_of`."""
    rows = theta[: len(table.nodes) * n_gains].reshape(len(table.nodes), n_gains)
    return _both(table, rows, rows) if table.transform == "magnitude" else rows


def _both(table: GainTable, left: Gains, right: Gains) -> Gains:
    """What stands at the nodes below zero, outermost first, then at those above; at a node at 0 once."""
    return np.concatenate([left[:0:-1] if table.nodes[0] == 0.0 else left[::-1], right])
