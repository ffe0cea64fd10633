"""What a robustness map of a stored knowledge base is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from experiments.cases.kb_case import StoredContender
    from plants import Plant
    from sscq.fitness import Fitness
    from sscq.situations.situation import Situation
    from sscq.worst.map_axes import MapAxis


@dataclass(frozen=True)
class MapCase:
    """What a map is made of."""

    plant: Plant
    situation: Situation
    contenders: tuple[StoredContender, ...]
    fitness: Fitness
    x: MapAxis
    y: MapAxis
