"""What the two ways of teaching share: noise continuations, the fitness of a stretch of the loop, the table of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core import noise
from sscq.quality import Quality
from sscq.teaching_signal import TeachingSignal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.excitation import Feed
    from sscq.closed_loop import ClosedLoop, Outcome
    from sscq.fitness import Fitness

FLAT = 1e-12
"""A fitness smaller than this cannot be bettered by a part of itself."""


@dataclass(frozen=True)
class Row:
    """One window: start [s], what the controller sees then [n_inputs], gains [n_gains], weight (0 to 1), fitness."""

    time: float
    inputs: np.ndarray
    gains: np.ndarray
    weight: float
    fitness: float


def continuations(
    loop: ClosedLoop, number: int, label: str, copies: int, seed: int
) -> tuple[list[tuple[str, int]], list[list[Feed]]]:
    """Return fresh random streams for a situation: what the forming filters could give from their present state."""
    name, own = loop.situations[number].name, loop.situations[number].seed
    keys = [(f"{name}/{label}/continuation {c}", own + seed) for c in range(copies)]
    return keys, [continued(loop.feeds(number), key) for key in keys]


def continued(feeds: Sequence[Feed], key: tuple[str, int]) -> list[Feed]:
    """Feeds for a continuation: a recorded series, whose future must not be known, is read from another place on."""
    result = []
    for number, feed in enumerate(feeds):
        if feed.code == noise.RECORDED:
            unit = noise.samples(noise.UNIFORM, 1, noise.stream_key(*key, f"continuation {number}"))[0]
            shift = 1 + int((unit / np.sqrt(12.0) + 0.5) * (len(feed.series) - 1))
            result.append(replace(feed, series=feed.series[shift:] + feed.series[:shift]))
        else:
            result.append(feed)
    return result


def mean_fitness(loop: ClosedLoop, fitness: Fitness, outcome: Outcome, copies: int, n_steps: int) -> np.ndarray:
    """Return the fitness [n] of the candidates of a run, averaged over the copies of its situation."""
    steps = outcome.steps.reshape(copies, -1)
    values = {n: outcome.measures[:, k].reshape(steps.shape) for k, n in enumerate(loop.measures)}
    diverged = np.where(steps < n_steps, steps * loop.step, np.nan)
    quality = Quality(("",) * copies, np.full(copies, n_steps * loop.step), diverged, values)
    return fitness.per_situation(quality).mean(axis=0)


def gained(before: Any, after: Any, scale: Any) -> Any:
    """Return how much better `after` is than `before`, 0 to 1; 1 is a tenth of `scale`."""
    return np.clip((before - after) / np.maximum(0.1 * np.abs(scale), FLAT), 0.0, 1.0)


def inputs(signals: np.ndarray, integral: np.ndarray) -> np.ndarray:
    """Error, filtered error rate and integral of every channel, then plant outputs, as the teaching signal has them."""
    columns = [(signals[2 * k], signals[2 * k + 1], integral[k]) for k in range(len(integral))]
    return np.concatenate([np.array(columns).ravel(), signals[2 * len(integral) :]])


def table(loop: ClosedLoop, number: int, names: tuple[str, ...], rows: Sequence[Row], **marks: Any) -> TeachingSignal:
    """Return the rows of one situation; `names` are those of all situations that the signal will be pooled from."""
    columns = []
    for k in range(len(loop.plant.channels)):
        suffix = "" if len(loop.plant.channels) == 1 else f"_{k + 1}"
        columns += [f"error{suffix}", f"error_rate{suffix}", f"error_integral{suffix}"]
    watched = loop.spec.controller.schedule.signals  # a schedule's own come first, those of the teaching signal last
    columns += watched[len(watched) - max((len(row.inputs) for row in rows), default=len(columns)) + len(columns) :]
    return TeachingSignal(
        situation=np.full(len(rows), number, np.int64),
        time=np.array([row.time for row in rows]),
        inputs=np.array([row.inputs for row in rows]).reshape(len(rows), len(columns)),
        gains=np.array([row.gains for row in rows]).reshape(len(rows), -1),
        weight=np.array([row.weight for row in rows]),
        fitness=np.array([row.fitness for row in rows]),
        input_names=tuple(columns),
        gain_names=loop.spec.controller.gain_names,
        situation_names=names,
        **marks,
    )
