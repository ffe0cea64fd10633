"""Findings about gains: consequents against the gain box; much change over a step of an input, or in one tick."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from flcs.lint.subject import rates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from flcs.lint.findings import Finding
    from flcs.lint.subject import Subject

    Array = NDArray[np.float64]


_CLOSE = 1e-6  # of the box: beyond this a gain is outside, within it at the end


def find_in_box(subject: Subject) -> Iterator[Finding]:
    """Yield L601, L602 (constant consequents) or L604 (linear ones)."""
    if subject.kb.inference.order == 0:
        yield from _outside(subject)
        yield from _at_the_end(subject)
    else:
        yield from _linear(subject)


def _outside(subject: Subject) -> Iterator[Finding]:
    base = subject.base
    for rule in base.active:
        for gain, low, value, high in zip(base.gain_names, base.low, base.rules[rule].gains, base.high, strict=True):
            beyond = max(low - value, value - high)
            if beyond > _CLOSE * (high - low):
                yield subject.found(
                    "L601",
                    f"{subject.premise(rule)} gives {gain} = {value:.4g}, outside the box {low:.4g} .. {high:.4g}",
                    rule=subject.named(rule), gain=gain, value=value, low=low, high=high,
                )  # fmt: skip


def _at_the_end(subject: Subject) -> Iterator[Finding]:
    base = subject.base
    for column, gain in enumerate(base.gain_names):
        low, high = base.low[column], base.high[column]
        for word, end in (("lower", low), ("upper", high)):
            near = [
                subject.named(k) for k in base.active if abs(base.rules[k].gains[column] - end) <= _CLOSE * (high - low)
            ]
            if near and low < high:
                rules = f"rule{'s' if len(near) > 1 else ''} {', '.join(map(str, near))}"
                yield subject.found(
                    "L602",
                    f"{gain} of {rules} is at the {word} end {end:.4g} of its box",
                    gain=gain,
                    rules=near,
                    end=end,
                )


def _linear(subject: Subject) -> Iterator[Finding]:
    """What a rule says outside the box counts where the rule fires."""
    points, base = subject.space[0], subject.base
    for rule in base.active:
        fires = points[subject.firing[:, rule] >= subject.limits.fires]
        if not len(fires):
            continue
        said = subject.consequents(rule, fires)
        beyond = np.maximum(np.array(base.low) - said, said - np.array(base.high))
        for column in np.flatnonzero(beyond.max(axis=0) > _CLOSE * np.subtract(base.high, base.low)):
            worst = int(beyond[:, column].argmax())
            gain, value = base.gain_names[column], float(said[worst, column])
            yield subject.found(
                "L604",
                f"{subject.premise(rule)} gives {gain} = {value:.4g} at {subject.place(fires[worst])}, outside the box "
                f"{base.low[column]:.4g} .. {base.high[column]:.4g}",
                rule=subject.named(rule), gain=gain, value=value, at=fires[worst],
            )  # fmt: skip


_STEP = 0.01  # of the range


def find_steep_gains(subject: Subject) -> Iterator[Finding]:
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
