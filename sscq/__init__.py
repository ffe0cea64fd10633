"""Simulation system of control quality: situations, entropy production, genetic search, teaching signal.

What compiles or searches is loaded when it is first used, so that ``import sscq`` is fast.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from sscq.loop.evaluate import evaluate
from sscq.loop.quality import Quality
from sscq.loop.record import record
from sscq.optimize import Optimized, optimize
from sscq.situations.situation import Situation

if TYPE_CHECKING:
    from sscq.adapters.gymnasium import gym_env, gym_vector_env
    from sscq.certificates.certify import certify, largest_authority
    from sscq.certificates.energy_lyapunov import energy_lyapunov
    from sscq.fitness import Fitness
    from sscq.identification.advice import advise
    from sscq.identification.assessing.assessment import assess
    from sscq.identification.design_plant import design_plant
    from sscq.identification.ensemble import identify
    from sscq.identification.promise import promise
    from sscq.identification.reading.log import read_log
    from sscq.identification.stored import load_ensemble
    from sscq.margins.margins import MarginLimits
    from sscq.search.cmaes import CmaEs
    from sscq.search.front_search import search_front
    from sscq.search.genetic import GeneticAlgorithm
    from sscq.search.nsga2 import NonDominatedSorting
    from sscq.situations.situation_sets import standard_sets
    from sscq.teaching.teacher import Teacher
    from sscq.teaching.teaching_signal import TeachingSignal
    from sscq.worst.envelope import Envelope, usual_envelope
    from sscq.worst.worst_case import WorstCase, failure_bound, worst_case

_LATER = {
    "CmaEs": "sscq.search.cmaes", "Envelope": "sscq.worst.envelope", "Fitness": "sscq.fitness",
    "NonDominatedSorting": "sscq.search.nsga2", "search_front": "sscq.search.front_search",
    "gym_env": "sscq.adapters.gymnasium", "gym_vector_env": "sscq.adapters.gymnasium",
    "certify": "sscq.certificates.certify", "energy_lyapunov": "sscq.certificates.energy_lyapunov",
    "largest_authority": "sscq.certificates.certify",
    "GeneticAlgorithm": "sscq.search.genetic", "MarginLimits": "sscq.margins.margins",
    "standard_sets": "sscq.situations.situation_sets", "Teacher": "sscq.teaching.teacher",
    "TeachingSignal": "sscq.teaching.teaching_signal", "WorstCase": "sscq.worst.worst_case",
    "failure_bound": "sscq.worst.worst_case", "usual_envelope": "sscq.worst.envelope",
    "worst_case": "sscq.worst.worst_case",
    "advise": "sscq.identification.advice", "assess": "sscq.identification.assessing.assessment",
    "identify": "sscq.identification.ensemble", "promise": "sscq.identification.promise",
    "read_log": "sscq.identification.reading.log", "design_plant": "sscq.identification.design_plant",
    "load_ensemble": "sscq.identification.stored",
    "design": "experiments.front.design",  # the whole chain, which no room of its own knows
    "export": "experiments.front.exporting",
    "map": "experiments.front.exploring:draw_map", "worst_of": "experiments.front.exploring",
    "sweep": "experiments.front.sweeping",
}  # fmt: skip

__all__ = [
    "CmaEs", "Envelope", "Fitness", "GeneticAlgorithm", "MarginLimits", "NonDominatedSorting", "Optimized",
    "Quality", "Situation", "Teacher", "TeachingSignal", "WorstCase", "advise", "assess", "certify",
    "design", "design_plant", "energy_lyapunov", "evaluate", "export", "failure_bound", "gym_env", "gym_vector_env",
    "identify", "largest_authority", "load_ensemble", "map", "optimize", "promise", "read_log", "record",
    "search_front", "standard_sets", "sweep", "usual_envelope", "worst_case", "worst_of",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return version("sscq")
    if name in _LATER:
        module, _, there = _LATER[name].partition(":")
        return getattr(import_module(module), there or name)
    raise AttributeError(f"module 'sscq' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
