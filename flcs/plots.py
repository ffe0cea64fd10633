"""Pictures of a knowledge base with matplotlib (extra `plot`): terms, gains over the inputs, rules that speak."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.motion.plots import pyplot

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from flcs.inference.rule_base import Rule, RuleBase
    from flcs.inference.variable import Variable

    KnowledgeBase = Any  # flcs.knowledge_base.knowledge_base.KnowledgeBase, which calls what is here

_POINTS = 121
_IN_A_ROW = 3  # of a legend
_LEAST_SPAN = 1e-3  # of a gain: one that moves less stands still, and its contours would be rounding


def plot(kb: KnowledgeBase, channel: int = 0) -> Any:
    """Draw a channel: the terms of each input above, each gain below; return the axes [2, n].

    Gains are drawn over the first two inputs (over one, as a line), further inputs in the middle of their ranges.
    """
    base = kb.channels[channel]
    n = max(len(base.inputs), len(base.gain_names))
    figure, axes = pyplot().subplots(2, n, squeeze=False, figsize=(3.2 * n, 5.2), layout="constrained")
    for chart, variable in zip(axes[0], base.inputs, strict=False):
        _terms(chart, variable)
    for k, chart in enumerate(axes[1]):
        if k < len(base.gain_names):
            _gain(figure, chart, kb, channel, k)
    for chart in (*axes[0, len(base.inputs) :], *axes[1, len(base.gain_names) :]):
        chart.set_axis_off()
    return axes


def activation(kb: KnowledgeBase, inputs: ArrayLike, time: ArrayLike | None = None, channel: int = 0) -> Any:
    """Draw each rule's share in the gains along a course of the inputs; return the axes.

    Parameters
    ----------
    inputs : array [n, n_inputs]
        Of the knowledge base, in its order (``kb.input_names``).
    time : array [n], optional
        [s]; left out, samples are counted.
    channel : int

    Raises
    ------
    ValueError
        If the inputs have another number of columns.
    """
    rows = np.atleast_2d(np.asarray(inputs, float))
    if rows.shape[1] != len(kb.input_names):
        raise ValueError(f"inputs must have the columns {', '.join(kb.input_names)}, got {rows.shape[1]}")
    base, shares = kb.channels[channel], kb.shares(rows, channel)
    t = np.arange(len(rows)) if time is None else np.asarray(time, float)
    heard = [k for k in np.argsort(-shares.mean(axis=0), kind="stable") if base.rules[k].on and shares[:, k].any()]
    chart = pyplot().subplots(figsize=(7.0, 3.0), layout="constrained")[1]
    chart.stackplot(t, shares[:, heard].T, labels=[_words(base, base.rules[k]) for k in heard], alpha=0.85)
    chart.set(xlabel="sample" if time is None else "time [s]", ylabel="share in the gains", ylim=(0.0, 1.05))
    chart.margins(x=0.0)
    chart.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="small")
    return chart


def _words(base: RuleBase, rule: Rule) -> str:
    pairs = zip(base.inputs, rule.terms, strict=True)
    return ", ".join(f"{variable.words} {variable.term_words(term)}" for variable, term in pairs)


def _terms(chart: Any, variable: Variable) -> None:
    x = np.linspace(variable.low, variable.high, 4 * _POINTS)
    for number, grades in enumerate(np.broadcast_arrays(*variable.memberships(x))):
        chart.plot(x, grades, label=variable.term_words(number))
    chart.set_xlabel(_label(variable))
    chart.set_ylim(0.0, 1.05)
    # Above: where terms are steep, lines fill the chart. Unseen words keep the room: laid out itself, a legend that is
    # wider than its chart would make all charts of its column narrow.
    legend = chart.legend(
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=_IN_A_ROW,
        frameon=False,
        fontsize="small",
        handlelength=1.0,
    )
    legend.set_in_layout(False)
    chart.set_title("\n".join("|" * -(-variable.n_terms // _IN_A_ROW)), alpha=0.0, pad=12.0)


def _gain(figure: Any, chart: Any, kb: KnowledgeBase, channel: int, gain: int) -> None:
    base = kb.channels[channel]
    column = sum(len(one.gain_names) for one in kb.channels[:channel]) + gain
    grids = [np.linspace(v.low, v.high, _POINTS) for v in base.inputs[:2]]
    mesh = np.meshgrid(*grids, indexing="ij")
    rows = np.zeros((mesh[0].size, len(kb.input_names)))
    own = [0.5 * (v.low + v.high) * np.ones(mesh[0].size) for v in base.inputs]
    own[: len(mesh)] = [one.ravel() for one in mesh]
    rows[:, kb.columns(channel)] = np.stack(own, axis=1)
    values = kb.gains(rows)[:, column].reshape(mesh[0].shape)
    if len(grids) == 1:
        chart.plot(grids[0], values)
        chart.set_ylabel(base.gain_names[gain])
        chart.grid(visible=True, alpha=0.3)
    else:
        _surface(figure, chart, grids, values, base.gain_names[gain])
        chart.set_ylabel(_label(base.inputs[1]))
    chart.set_xlabel(_label(base.inputs[0]))


def _surface(figure: Any, chart: Any, grids: list[Any], values: Any, name: str) -> None:
    """A gain over two inputs, in thirteen levels; one that stands still is told as a number."""
    low, high = float(values.min()), float(values.max())
    if high - low > _LEAST_SPAN * max(abs(low), abs(high), 1e-300):
        filled = chart.contourf(grids[0], grids[1], values.T, levels=np.linspace(low, high, 13))
        figure.colorbar(filled, ax=chart, label=name)
        return
    chart.set(xlim=grids[0][[0, -1]], ylim=grids[1][[0, -1]])
    middle = 0.5 * (low + high)
    chart.text(0.5, 0.5, f"{name} = {middle:.4g}\neverywhere", ha="center", va="center", transform=chart.transAxes)


def _label(variable: Variable) -> str:
    return f"{variable.words} [{variable.unit}]" if variable.unit not in {"", "1"} else variable.words
