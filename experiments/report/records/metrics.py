"""What `metrics.json` of a design holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

import numpy as np  # noqa: TC002  (the schema is made of it)

from experiments.pipeline.assurance.stability import StabilityFinding
from experiments.pipeline.assurance.worst_cases import WorstFinding
from sscq.verdict.comparison import Comparison


class ControllerMetrics(TypedDict):
    """One controller of the ladder.

    Attributes
    ----------
    title : str
        What tables call it.
    theta : array [n]
        Its gains, or the gains of its rules.
    evaluations : int or None
        Of all its searches; null: it was not searched for here.
    parameters : int or None
        Numbers that were free; null: not counted.
    fitness : mapping of set to float
        Mean cost J in the situations that were "taught", for "validation", "unforeseen", "drawn".
    fitness_declared : mapping of set to float
        The same with the first seeds alone, which the situations declare.
    measures : mapping of set to mapping
        Means of the measures, by their names.
    failures : mapping of set to int
        Loops that were lost.
    max_sensitivity, delay_margin : tuple of float
        The largest Ms and the least delay margin [s] at rest, by channel; empty where there are no operating points.
    max_transient_sensitivity : tuple of float
        The largest Ms of gains that a schedule passes through, by channel.
    margins_over_ranges : mapping
        What is kept at plants drawn from the declared ranges; left out of a controller that was not asked there.
    """

    title: str
    theta: np.ndarray
    evaluations: int | None
    parameters: int | None
    fitness: Mapping[str, float]
    fitness_declared: Mapping[str, float]
    measures: Mapping[str, Mapping[str, float]]
    failures: Mapping[str, int]
    max_sensitivity: list[float]
    delay_margin: list[float]
    max_transient_sensitivity: list[float]
    margins_over_ranges: NotRequired[Mapping[str, Any]]


class AssuranceMetrics(TypedDict):
    """What was tried against the controllers, by their names."""

    stability: Mapping[str, StabilityFinding]
    worst_cases: Mapping[str, WorstFinding]


class DesignMetrics(TypedDict):
    """All numbers of the verdict.

    Attributes
    ----------
    plant : str
        Its name.
    fitness : mapping
        Settings of the fitness, with what its terms are divided by.
    recommended : str
        The controller that is recommended, one of `controllers`.
    sentence : str
        The verdict in words.
    comparisons : mapping of controller to Comparison
        With the fixed PID.
    controllers : mapping of controller to ControllerMetrics
        All that were judged, the fixed PID among them.
    rules : mapping of knowledge base to int
        Rules that are on.
    authority : mapping of knowledge base to float
        Share of the way from the reference gains to the scheduled ones.
    warnings : tuple of str
        What was said before anything was searched.
    left_open : str
        The controller that a first look, in fewer draws, left undecided; left out where there was one look.
    told_by_two_rules : mapping of knowledge base to tuple
        Of what rules say in the taught runs, the part that two of them say at a time, by channel; null: not known.
    further_rungs : tuple of str
        What is to be said of further rungs of the ladder; left out where there are none.
    """

    plant: str
    fitness: Mapping[str, Any]
    recommended: str
    sentence: str
    comparisons: Mapping[str, Comparison]
    controllers: Mapping[str, ControllerMetrics]
    rules: Mapping[str, int]
    authority: Mapping[str, float]
    assurance: AssuranceMetrics
    warnings: list[str]
    left_open: NotRequired[str]
    told_by_two_rules: NotRequired[Mapping[str, list[float | None]]]
    further_rungs: NotRequired[list[str]]
