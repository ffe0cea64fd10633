"""Simulation system of control quality: situations, entropy production, genetic search, teaching signal.

What compiles or searches is loaded when it is first used, so that ``import sscq`` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sscq.evaluate import evaluate, record
from sscq.optimize import Optimized, optimize
from sscq.quality import Quality
from sscq.situation import Situation
from sscq.statistical_certificate import failure_bound

if TYPE_CHECKING:
    from sscq.adapters.gymnasium_env import gym_env
    from sscq.adapters.gymnasium_vector import gym_vector_env
    from sscq.certification import certify
    from sscq.cmaes import CmaEs
    from sscq.envelope import Envelope
    from sscq.fitness import Fitness, FitnessWarning
    from sscq.front_search import search_front
    from sscq.genetic import GeneticAlgorithm
    from sscq.lyapunov_energy import energy_lyapunov
    from sscq.margins import MarginLimits
    from sscq.nsga2 import NonDominatedSorting
    from sscq.plant_envelope import usual_envelope
    from sscq.situation_sets import standard_sets
    from sscq.teacher import Teacher
    from sscq.teaching_signal import TeachingSignal
    from sscq.worst_search import WorstCase, worst_case

_LATER = {
    "CmaEs": "sscq.cmaes", "Envelope": "sscq.envelope", "Fitness": "sscq.fitness", "FitnessWarning": "sscq.fitness",
    "NonDominatedSorting": "sscq.nsga2", "search_front": "sscq.front_search",
    "gym_env": "sscq.adapters.gymnasium_env", "gym_vector_env": "sscq.adapters.gymnasium_vector",
    "certify": "sscq.certification", "energy_lyapunov": "sscq.lyapunov_energy",
    "GeneticAlgorithm": "sscq.genetic", "MarginLimits": "sscq.margins", "standard_sets": "sscq.situation_sets",
    "Teacher": "sscq.teacher", "TeachingSignal": "sscq.teaching_signal", "WorstCase": "sscq.worst_search",
    "usual_envelope": "sscq.plant_envelope", "worst_case": "sscq.worst_search",
}  # fmt: skip

__all__ = [
    "CmaEs", "Envelope", "Fitness", "FitnessWarning", "GeneticAlgorithm", "MarginLimits", "NonDominatedSorting",
    "Optimized", "Quality", "Situation", "Teacher", "TeachingSignal", "WorstCase", "certify", "energy_lyapunov",
    "evaluate", "failure_bound", "gym_env", "gym_vector_env", "optimize", "record", "search_front",
    "standard_sets", "usual_envelope", "worst_case",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'sscq' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
