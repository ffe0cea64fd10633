"""Simulation system of control quality: situations, entropy production, genetic search, teaching signal."""

from sscq.evaluate import evaluate, record
from sscq.quality import Quality
from sscq.situation import Situation

__all__ = ["Quality", "Situation", "evaluate", "record"]
