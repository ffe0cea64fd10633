"""Fitness: one number for each candidate from its quality in all situations (minimised).

Weighted sums relative to a reference, or a lexicographic order as one number.
"""

from sscq.fitness.fitness import AGGREGATES, ERRORS, KINDS, NARROWEST, Fitness

__all__ = ["AGGREGATES", "ERRORS", "KINDS", "NARROWEST", "Fitness"]
