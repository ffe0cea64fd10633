"""Closed loops with plants that are stepped outside the compiled kernels, in processes of their own.

``crew`` starts the processes, ``SlowLoop`` is the loop around them.
"""

from sscq.loop.slow.processes import Crew, SlowLimits, SlowPlantError, crew
from sscq.loop.slow.slow_loop import SlowLoop, Watched

__all__ = ["Crew", "SlowLimits", "SlowLoop", "SlowPlantError", "Watched", "crew"]
