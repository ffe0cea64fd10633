"""Consequents against the gain box."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flcs.linting.finding import Finding
    from flcs.linting.subject import Subject

_CLOSE = 1e-6  # of the box: beyond this a gain is outside, within it at the end


def find(subject: Subject) -> Iterator[Finding]:
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
