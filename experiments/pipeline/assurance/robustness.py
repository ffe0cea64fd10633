"""How the fixed gains and the recommended controller fare over the two declared ranges that matter most.

As `sscq map`, on a coarser grid, in the first taught situation. Which ranges of plant, delay and noise matter is asked
one at a time: how much J of the fixed gains changes from the situation as it is to either end of a range. Starts are
taken where fewer than two of these do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.runtime import formats
from sscq.loop.evaluate import evaluate
from sscq.worst.map_axes import MapAxis, check_pair, map_axis
from sscq.worst.robustness_map import MapSettings, robustness_map

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from experiments.pipeline.bench import Bench
    from plants import Plant
    from sscq.baselines.tuned import Tuned
    from sscq.fitness import Fitness
    from sscq.situations.situation import Situation
    from sscq.worst.envelope import Envelope

    Array = NDArray[np.float64]

BASELINE, _OTHER = "fixed", "knowledge_base"
SEEDS = 2
_MATTERS = 1e-3  # relative change of J below which a range does not


@dataclass(frozen=True, eq=False)
class MapFinding:
    """How two controllers fare over two ranges.

    Attributes
    ----------
    names : tuple of str
        The fixed gains, and the recommended controller, or the knowledge base where the fixed gains are recommended.
    situation : Situation
        What is run at every point.
    x, y : MapAxis
    cost, lost : array [controller, n_y, n_x]
        As of :class:`sscq.worst.robustness_map.RobustnessMap`.
    """

    names: tuple[str, ...]
    situation: Situation
    x: MapAxis
    y: MapAxis
    cost: Array
    lost: Array


def robustness(bench: Bench, fitness: Fitness, group: Sequence[Tuned], recommended: str) -> MapFinding | None:
    """Return the map of a design, a stage of its own; None where there is none.

    That is: where none is asked for, fewer than two declared ranges change J, or the plant starts nowhere on the edges.
    """
    setup = bench.setup
    points = setup.config.assurance.map_points
    if not points:
        return None
    contenders = {one.name: one for one in group}
    names = (BASELINE, recommended if recommended != BASELINE else _OTHER)
    chosen = [contenders[name] for name in names if name in contenders]
    situation = setup.sets["taught"][0]

    def compute(_: Path) -> dict[str, np.ndarray]:
        pair = pair_of(bench, fitness, contenders[BASELINE], situation, points)
        if pair is None:
            return {"axes": np.array([])}
        ends = {"axes": np.array([axis.name for axis in pair]), "x": pair[0].values, "y": pair[1].values}
        try:
            return ends | _drawn(bench, fitness, chosen, situation, pair)
        except ValueError:  # the plant can start nowhere on the edges
            return {"axes": np.array([])}

    stored = bench.stage("robustness", compute, *formats.as_npz("map.npz"))
    if not len(stored["axes"]):
        return None
    x, y = (
        map_axis(setup.plant, str(name), float(ends[0]), float(ends[-1]), len(ends))
        for name, ends in zip(stored["axes"], (stored["x"], stored["y"]), strict=True)
    )
    return MapFinding(tuple(one.name for one in chosen), situation, x, y, stored["cost"], stored["lost"])


def _drawn(
    bench: Bench, fitness: Fitness, chosen: Sequence[Tuned], situation: Situation, pair: tuple[MapAxis, MapAxis]
) -> dict[str, Array]:
    """Cost and lost loops of each controller; one whose law asks for a plant of its own runs there."""
    setup = bench.setup
    settings = MapSettings(fitness, setup.step, SEEDS, threads=setup.threads, **setup.options)
    loops = pair[0].values.size * pair[1].values.size * SEEDS
    found = []
    with bench.progress(len(chosen) * loops, "map over two ranges", "loops") as progress:
        for number, one in enumerate(chosen):
            controllers = {one.name: (one.controller, one.theta)}
            found.append(
                robustness_map(
                    one.plant or setup.plant,
                    controllers,
                    situation,
                    *pair,
                    settings,
                    lambda done, number=number: progress.at(number * loops + done),  # type: ignore[misc]
                )
            )
    return {what: np.concatenate([getattr(one, what) for one in found]) for what in ("cost", "lost")}


def pair_of(
    bench: Bench, fitness: Fitness, fixed: Tuned, situation: Situation, points: int
) -> tuple[MapAxis, MapAxis] | None:
    """The two ranges that change J of the fixed gains most, the more important one across; None: there are no two."""
    setup = bench.setup
    plant = fixed.plant or setup.plant
    usual = cost_of(bench, fitness, fixed, situation)
    weighed = []
    for axis in axes_of(setup.plant, setup.ranges, points):
        ends = [axis.set_in(situation, float(axis.values[k]), plant) for k in (0, -1)]
        changes = [abs(cost_of(bench, fitness, fixed, end) - usual) for end in ends]
        known = [change for change in changes if math.isfinite(change)]  # a plant may start at one end alone
        if known and max(known) > _MATTERS * abs(usual):
            weighed.append((max(known), axis))
    # Stable: of equals the one declared first.
    weighed.sort(key=lambda each: (each[1].name.startswith("initial."), -each[0]))
    for number, (_, first) in enumerate(weighed):
        for _, second in weighed[number + 1 :]:
            try:
                check_pair(setup.plant, first, second)
            except ValueError:
                continue
            return first, second
    return None


def cost_of(bench: Bench, fitness: Fitness, one: Tuned, situation: Situation) -> float:
    """J of one loop; NaN where the plant cannot start."""
    setup = bench.setup
    try:
        shared: dict[str, Any] = {"step": setup.step, "entropy_scale": fitness.entropy_scale, **setup.options}
        quality = evaluate(one.plant or setup.plant, one.controller, one.theta, [situation], threads=1, **shared)
    except ValueError:
        return math.nan
    return float(fitness(quality)[0])


def axes_of(plant: Plant, ranges: Envelope, points: int) -> Iterator[MapAxis]:
    """All declared ranges that a map can have as an axis."""
    groups = {group: getattr(ranges, group) for group in ("parameters", "initial", "noise")}
    several = {f"{group}.{name}": ends for group, named in groups.items() for name, ends in named.items()}
    for name, (low, high) in (several | {"delay": ranges.delay}).items():
        if low < high:
            try:
                yield map_axis(plant, name, low, high, points)
            except ValueError:  # a range that leaves the quantity's own
                continue
