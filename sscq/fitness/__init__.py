"""Fitness: one number for each candidate from its quality in all situations (minimised)."""

from sscq.fitness.checks import AGGREGATES, ERRORS, KINDS, NARROWEST
from sscq.fitness.definition import Fitness
from sscq.fitness.warning import FitnessWarning

__all__ = ["AGGREGATES", "ERRORS", "KINDS", "NARROWEST", "Fitness", "FitnessWarning"]
