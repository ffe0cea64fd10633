"""Gains that change much over a step of an input, or in one tick."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from flcs.linting.rates import rates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from flcs.linting.finding import Finding
    from flcs.linting.subject import Subject

    Array = NDArray[np.float64]

_STEP = 0.01  # of the range


def find(subject: Subject) -> Iterator[Finding]:
    """Yield L401, L403."""
    yield from _steep(subject)
    yield from _in_a_tick(subject)


def _steep(subject: Subject) -> Iterator[Finding]:
    points = subject.space[0]
    changes, middles = [], []
    for place, v in enumerate(subject.base.inputs):
        step = _STEP * (v.high - v.low)
        before = points.copy()
        before[:, place] = np.clip(points[:, place] - 0.5 * step, v.low, v.high - step)
        after = before.copy()
        after[:, place] += step
        changes.append(np.abs(subject.gains(after) - subject.gains(before)) / subject.span)
        middles.append(0.5 * (before + after))
    largest = np.array([change.max(axis=0) for change in changes])  # [n_inputs, n_gains]
    for column, gain in enumerate(subject.base.gain_names):
        place = int(largest[:, column].argmax())
        most = float(largest[place, column])
        if most > subject.limits.steep:
            at = middles[place][int(changes[place][:, column].argmax())]
            yield subject.found(
                "L401",
                f"{gain} changes by {100 * most:.0f} % of its box while {subject.base.inputs[place].words} moves by "
                f"{100 * _STEP:.0f} % of its range, at {subject.place(at)}",
                gain=gain, input=subject.base.inputs[place].name, change=most, at=at,
            )  # fmt: skip


def _in_a_tick(subject: Subject) -> Iterator[Finding]:
    tick, known = subject.kb.tick or subject.base.law.get("sample_time"), rates(subject)
    if subject.kb.slew is not None or tick is None or not known:
        return
    moving = " and ".join(f"{subject.base.inputs[place].words} at {rate:.4g}/s" for place, rate in known.items())
    most, start = _while_moving(subject, {place: rate * tick for place, rate in known.items()})
    for column in np.flatnonzero(most > subject.limits.per_tick):
        gain = subject.base.gain_names[column]
        yield subject.found(
            "L403",
            f"{gain} changes by up to {100 * most[column]:.0f} % of its box in one tick of {tick:g} s ({moving}), from "
            f"{subject.place(start[column])}; there is no slew limit",
            gain=gain, change=float(most[column]), tick=tick, at=start[column],
        )  # fmt: skip


def _while_moving(subject: Subject, ways: dict[int, float]) -> tuple[Array, Array]:
    """Largest changes of the gains [n_gains] while inputs move these ways up or down, and where they start from."""
    points, places = subject.space[0], list(ways)
    low, high = (np.array([getattr(v, end) for v in subject.base.inputs]) for end in ("low", "high"))
    most, start = np.zeros(len(subject.span)), np.zeros((len(subject.span), len(low)))
    before = subject.gains(points)
    for signs in itertools.product((1.0, -1.0), repeat=len(places) - 1):  # all turned round is the way back
        moved = points.copy()
        moved[:, places] += np.array([1.0, *signs]) * np.array(list(ways.values()))
        change = np.abs(subject.gains(np.clip(moved, low, high)) - before) / subject.span
        for column in np.flatnonzero(change.max(axis=0) > most):
            most[column], start[column] = change[:, column].max(), points[change[:, column].argmax()]
    return most, start
