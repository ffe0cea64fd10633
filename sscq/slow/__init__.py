"""Closed loops with plants that are stepped outside the compiled kernels, in processes of their own."""

from sscq.slow.crew import Crew, SlowPlantError, crew
from sscq.slow.loop import SlowLoop, Watched

__all__ = ["Crew", "SlowLoop", "SlowPlantError", "Watched", "crew"]
