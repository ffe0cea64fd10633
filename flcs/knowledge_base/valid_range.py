"""Where a knowledge base has proved itself, and how it falls back to the reference gains outside.

Delays and sensor noise are not seen by the rules, but an engineer knows those of an installation. Inside the taught
range the knowledge base has its authority; outside, the gains move to the reference gains, all the way within a quarter
of the range: a schedule that was taught to use what a loop allows is the first to swing where the loop allows less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from flcs.knowledge_base.knowledge_base import KnowledgeBase

CONDITIONS = ("delay", "output_delay", "noise")
"""Conditions of a loop that a knowledge base states its range for: delays [s], standard deviation of sensor noise."""

_FADE = 0.25  # of the range, or of its upper end where only one value was taught
_LEAST_NOISE = 0.01  # of the error's range: what counts as some noise, where none was taught


def outside(kb: KnowledgeBase, conditions: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Return the taught ranges that conditions are outside of, by name.

    Parameters
    ----------
    kb : KnowledgeBase
    conditions : mapping of `CONDITIONS` to float
        Those left out are taken to be as taught.
    """
    ranges = {name: _ends(kb, name) for name in CONDITIONS if name in kb.valid_range and name in conditions}
    return {name: (low, high) for name, (low, high) in ranges.items() if not low <= conditions[name] <= high}


def share(kb: KnowledgeBase, conditions: Mapping[str, float]) -> float:
    """Return which share of its authority a knowledge base keeps under conditions: 1 as taught, 0 far outside.

    Less delay or noise than was taught costs nothing: what holds with them holds without.

    Raises
    ------
    ValueError
        For a condition that is unknown, negative or not finite.
    """
    for name, value in conditions.items():
        if name not in CONDITIONS or not 0.0 <= value < float("inf"):
            known = ", ".join(CONDITIONS)
            raise ValueError(f"conditions are {known}, finite and not negative, got {name} = {value}")
    return max(0.0, 1.0 - sum(_excess(kb, conditions)))


def _excess(kb: KnowledgeBase, conditions: Mapping[str, float]) -> Iterator[float]:
    """How far each condition is beyond its range, in distances over which the authority fades."""
    for name, (low, high) in outside(kb, conditions).items():
        least = _LEAST_NOISE * _error_range(kb) if name == "noise" else (kb.tick or 0.0)
        distance = max(_FADE * max(high - low, high), least)
        beyond = max(0.0, conditions[name] - high)
        yield beyond / distance if distance > 0.0 else float(beyond > 0.0)


def _ends(kb: KnowledgeBase, name: str) -> tuple[float, float]:
    low, high = kb.valid_range[name]
    return float(low), float(high)


def _error_range(kb: KnowledgeBase) -> float:
    """Widest range of an error among the inputs."""
    spans = [v.high - v.low for base in kb.channels for v in base.inputs if v.name == "e"]
    return max(spans, default=0.0)
