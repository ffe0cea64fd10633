"""The limits beyond which something is a finding."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from plants.core.naming import unknown

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Limits:
    """What counts as a finding. Gains are in shares of their box, inputs in shares of their range.

    Attributes
    ----------
    fires : float
        Firing strength from which a rule counts as firing.
    thin, hole : float
        Share of the say that the reference gains have where coverage is thin; where there is a hole.
    region : float
        Smallest share of the declared ranges that a hole must fill.
    contradiction : float
        Difference of the gains of two rules that contradict each other.
    overlap, same : float
        Similarity of premises that overlap strongly; of terms and premises that cannot be told apart.
    steep : float
        Change of a gain over 1 % of an input's range.
    jump : float
        Difference of the gains of neighbouring rules over the distance of their centres.
    per_tick : float
        Change of a gain in one tick.
    """

    fires: float = 0.05
    thin: float = 0.1
    hole: float = 0.9
    region: float = 0.001
    contradiction: float = 0.3
    overlap: float = 0.5
    same: float = 0.9
    steep: float = 0.1
    jump: float = 5.0
    per_tick: float = 0.25

    def __post_init__(self) -> None:
        """Check."""
        for name, value in vars(self).items():
            if not 0.0 < value < float("inf"):
                raise ValueError(f"limit {name} must be a positive number, got {value}")

    @classmethod
    def parsed(cls, settings: Sequence[str]) -> Limits:
        """Return the limits with some set as "name=value"; ValueError for an unknown name or no positive number."""
        known, given = tuple(item.name for item in fields(cls)), {}
        for setting in settings:
            name, _, value = setting.partition("=")
            if name not in known:
                raise ValueError(unknown("limit", name, known))
            try:
                given[name] = float(value)
            except ValueError:
                raise ValueError(f"limit {name} must be a positive number, got {value!r}") from None
        return cls(**given)
