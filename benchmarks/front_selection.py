"""Survivors of one generation of a search for a trade-off front: sorting and crowding on arrays against DEAP's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.report import Section
from benchmarks.timing import alternate, ratio
from sscq import nondominated

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.size import Size

_POINTS, _OBJECTIVES = 200, 3  # parents and children of the usual population


def front_selection(size: Size) -> Section:
    """Time the choice of the better half of parents and children."""
    section = Section("front_selection", f"Survivors of a front search, {_POINTS} points, {_OBJECTIVES} objectives")
    objectives = np.random.default_rng(0).random((_POINTS, _OBJECTIVES))
    calls: dict[str, Callable[[], object]] = {
        "arrays": lambda: nondominated.best_first(objectives)[: _POINTS // 2],
        "DEAP": lambda: of_deap(objectives, "standard"),
        "DEAP, log": lambda: of_deap(objectives, "log"),
    }
    times = alternate(calls, size.rounds // 2)
    section.time("sorting and crowding on arrays", times["arrays"], "ms", 1e3)
    section.time("DEAP, its standard sorting", times["DEAP"], "ms", 1e3)
    section.time("DEAP, its divide-and-conquer sorting", times["DEAP, log"], "ms", 1e3)
    section.ratio("DEAP / arrays", ratio(times["DEAP"], times["arrays"]))
    section.ratio("DEAP, divide and conquer / arrays", ratio(times["DEAP, log"], times["arrays"]))
    fronts = int(nondominated.ranks(objectives).max()) + 1
    section.counts = {"points": _POINTS, "fronts": fronts}
    return section


def of_deap(objectives: np.ndarray, sorting: str) -> list[int]:
    """Return the positions of the survivors that DEAP's NSGA-II chooses."""
    from deap import base, tools

    class Minimised(base.Fitness):
        weights = (-1.0,) * _OBJECTIVES

    class Point(list[int]):
        fitness: base.Fitness

    points = []
    for k, row in enumerate(objectives.tolist()):
        point = Point([k])
        point.fitness = Minimised(row)
        points.append(point)
    return [point[0] for point in tools.selNSGA2(points, len(points) // 2, nd=sorting)]
