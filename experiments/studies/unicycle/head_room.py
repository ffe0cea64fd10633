"""How much a schedule over the speed could win at most: the region of survived pushes itself is searched.

    python -m experiments.studies unicycle_head_room    # ten minutes on one core

No design is asked and no other fitness: constant gains, gains at nodes of the measured speed, and such gains made by
LQR from five weights are searched for the largest region on a few rides, and judged on others. Speed, yaw rate and
turntable rate are fed back as well (plant `unicycle_balanced`); once with motors that bear anything, and once with
motors that bear a share of their largest torque. What a search finds is a lower bound of what there is. Rides and
seeds are none of the comparison's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import sscq
from controllers import PID, ConstantGains, Controller, GainTable, gain_names
from experiments.runtime.tables import markdown_table
from experiments.studies.engine.changes import change_of_sum, percent
from experiments.studies.engine.contenders import RivalController
from experiments.studies.engine.template import Template
from experiments.studies.unicycle.contenders import NODES as LQR_NODES
from experiments.studies.unicycle.contenders import UnicycleLqr, gains_of_feedback
from experiments.studies.unicycle.pushes import PushGrid, areas, conditions, largest_pushes
from plants.core import atomic_files
from plants.unicycle import UNICYCLE_BALANCED
from plants.unicycle.signals import PEDAL_MAX, TABLE_MAX
from sscq.search.cmaes import CmaEs
from sscq.search.search import evolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.studies.unicycle.pushes import Condition

    Array = np.ndarray


NODES = (-4.0, -1.0, 0.0, 1.0, 4.0)  # m/s
BEARABLE = 1.0 / 3.0  # share of the largest torque that a motor bears for long, root mean square
_STEP, _SAMPLE = 0.005, 0.01  # s, as in the comparison's designs
_RANGES = {"speed": (0.5, 3.0), "phase": (0.0, 2.0 * math.pi), "height": (0.2, 0.6)}
_SEEDS = {"searched": 4711, "judged": 4712}
_SEARCHED = PushGrid(lasting=1.0, sizes=7)
JUDGED = PushGrid(lasting=1.0, sizes=17, directions=16, halvings=1)
WIDER = PushGrid(lasting=1.0, largest=600.0, sizes=15, directions=16, halvings=1)
_LAWS = (PID(sample_time=_SAMPLE),) * len(UNICYCLE_BALANCED.channels)
_NAMES = gain_names(_LAWS)
_BALANCE, _STEERING = ("kp_1", "kd_1", "kp_2", "ki_2", "kd_2", "kp_3"), ("kp_4", "kp_5")
_LOW = dict(zip((*_BALANCE, *_STEERING), (10.0, 2.0, -300.0, 0.0, -60.0, 0.0, -1.0, -0.02), strict=True))
_HIGH = dict(zip((*_BALANCE, *_STEERING), (200.0, 40.0, 500.0, 20.0, 150.0, 4.0, 6.0, 0.06), strict=True))
_BEGUN = dict(zip((*_BALANCE, *_STEERING), (25.0, 12.0, 60.0, 0.0, 13.0, 0.26, 1.5, 0.008), strict=True))
_TURNED = ("kp_2", "kd_2")  # change their sign where it rolls backwards
_FIRST = {False: 0.2, True: 0.05}  # steps of the search, in boxes: a schedule is found near its start
_CROWD = {False: 16, True: 24}
_PENALTY = 2.0  # of the disc, for twice the load that is allowed


@dataclass(frozen=True)
class Structure:
    """What is searched: which gains are free, and whether they follow the speed.

    Attributes
    ----------
    title : str
    free : tuple of str
        Names of gains; the others are 0.
    scheduled : bool
    """

    title: str
    free: tuple[str, ...]
    scheduled: bool

    @property
    def n_nodes(self) -> int:
        """Sets of gains."""
        return len(NODES) if self.scheduled else 1

    @cached_property
    def controller(self) -> Controller:
        """Laws and schedule."""
        constant = ConstantGains(_NAMES)
        return Controller(
            _LAWS, GainTable("speed", NODES, gain_names=_NAMES, tick=_SAMPLE) if self.scheduled else constant
        )

    def theta(self, genomes: Array) -> Array:
        """Return the schedule's numbers [n, n_theta] of free ones [n, n_genes]."""
        full = np.zeros((len(genomes), self.n_nodes, len(_NAMES)))
        full[:, :, [_NAMES.index(name) for name in self.free]] = genomes.reshape(len(genomes), self.n_nodes, -1)
        return full.reshape(len(genomes), -1)

    def row(self, values: dict[str, float]) -> Array:
        """Return the genome with the same gains at all nodes."""
        return np.tile([values[name] for name in self.free], self.n_nodes)

    def start(self) -> Array:
        """Return genomes to begin with: the same gains everywhere, and where scheduled, turned by the speed's sign."""
        constant = self.row(_BEGUN)
        return np.vstack([constant, self.turned(constant[: len(self.free)])]) if self.scheduled else constant[None]

    def turned(self, gains: Array) -> Array:
        """Return the genome over the speed that has these gains where it rolls forward, and steers back otherwise."""
        return np.ravel([gains * np.where(np.isin(self.free, _TURNED), np.sign(speed), 1.0) for speed in NODES])

    @property
    def box(self) -> tuple[Array, Array, str]:
        """Bounds and scale of the genomes."""
        return self.row(_LOW), self.row(_HIGH), "linear"


@dataclass(frozen=True)
class FromWeights:
    """Gains over the speed that LQR makes of five weights: the feedback at its nodes, linear between."""

    title: str = "gains over the speed made by LQR from five weights"
    scheduled: bool = True

    @cached_property
    def controller(self) -> Controller:
        """Laws and schedule."""
        return Controller(_LAWS, GainTable("speed", LQR_NODES, gain_names=_NAMES, tick=_SAMPLE))

    def theta(self, genomes: Array) -> Array:
        """Return the schedule's numbers [n, n_theta] of weights [n, 5]; no gains where there is no feedback."""
        lqr = UnicycleLqr(((-PEDAL_MAX, PEDAL_MAX), (-TABLE_MAX, TABLE_MAX)), _SAMPLE, scheduled=True)
        rows = np.nan_to_num(lqr.theta(genomes), nan=0.0).reshape(len(genomes), len(LQR_NODES), -1)
        return gains_of_feedback(rows).reshape(len(genomes), -1)

    @property
    def box(self) -> tuple[Array, Array, str]:
        """Bounds and scale of the genomes."""
        candidate = UnicycleLqr(((-PEDAL_MAX, PEDAL_MAX), (-TABLE_MAX, TABLE_MAX)), _SAMPLE, scheduled=True).candidate()
        return candidate.low, candidate.high, "log"

    def start(self) -> Array:
        """Return weights that give gains in the size of the constant ones to begin with, and LQR's usual ones."""
        return np.array([[50.0, 8.0, 1.0, 0.2, 6.0], [1.0, 1.0, 0.1, 0.1, 3.0], [0.1, 0.1, 0.2, 0.2, 10.0]])


_ALL = (*_BALANCE, *_STEERING)
CONSTANT, OVER_SPEED = Structure("constant gains", _ALL, False), Structure("gains over the speed", _ALL, True)
FROM_WEIGHTS = FromWeights()


class Regions:
    """The region of many candidates at once, to be searched: one side, few sizes; how late it falls counts a little.

    Parameters
    ----------
    structure : Structure
    rides : sequence of Condition
    bearable : float, optional
        Largest mean load of the motors in survived pushes.
    """

    _AROUND = np.linspace(0.0, math.pi, 7)
    _WEIGHTS = np.array([1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 1.0]) / 12.0

    def __init__(
        self, structure: Structure | FromWeights, rides: Sequence[Condition], bearable: float | None = None
    ) -> None:
        self.structure, self.bearable = structure, bearable
        self.shape = (len(rides), len(self._AROUND), _SEARCHED.sizes)
        self.situations = [
            ride.situation(float(size), float(angle), _SEARCHED)
            for ride in rides for angle in self._AROUND for size in _SEARCHED.steps
        ]  # fmt: skip

    def __call__(self, genomes: Array) -> Array:
        """Return minus the share of the disc [n], with a penalty for too much load."""
        found = sscq.evaluate(
            UNICYCLE_BALANCED, self.structure.controller, self.structure.theta(genomes), self.situations, _STEP,
            measures=("motor_load",), threads=1,
        )  # fmt: skip
        fell_at, load = (v.reshape(*self.shape, -1) for v in (found.diverged_at, found.until_lost["motor_load"]))
        stood = ~np.isfinite(fell_at)
        first = np.where(stood.all(axis=2), self.shape[2], stood.argmin(axis=2))
        lived = np.where(stood, 0.0, fell_at / _SEARCHED.t_end)
        part = np.take_along_axis(lived, np.minimum(first, self.shape[2] - 1)[:, :, None], 2)[:, :, 0]
        radius = np.minimum((first + 0.5 * part) / self.shape[2], 1.0)
        area = (radius**2 * self._WEIGHTS[:, None]).sum(axis=1).mean(axis=0)
        if self.bearable is None:
            return -area
        within = np.arange(self.shape[2])[:, None] < np.maximum(first, 1)[:, :, None]
        mean = (load * within).sum(axis=(0, 1, 2)) / within.sum(axis=(0, 1, 2))
        return _PENALTY * np.maximum(0.0, mean / self.bearable - 1.0) - area


@dataclass(frozen=True)
class LargestRegion:
    """The largest region of one structure: genome, areas of rides [ride], N^2, in both grids, and mean load."""

    structure: Structure | FromWeights
    genome: Array
    areas: Array
    wider: Array
    load: float


def _rides(number: int, kind: str) -> list[Condition]:
    return [replace(ride, balanced=True) for ride in conditions(_RANGES, number, _SEEDS[kind])]


def searched(
    structure: Structure | FromWeights, bearable: float | None, evaluations: int, rides: int, start: Array
) -> LargestRegion:
    """Search one structure, and judge it on other rides."""
    regions = Regions(structure, _rides(rides, "searched"), bearable)
    method = CmaEs(evaluations=evaluations, population=_CROWD[structure.scheduled], sigma=_FIRST[structure.scheduled])
    low, high, scale = structure.box
    best = evolve(regions, low, high, method, 0, start=start, scale=scale).genome
    robot = RivalController(
        structure.title, UNICYCLE_BALANCED, structure.controller, structure.theta(best[None])[0], _STEP, 1
    )
    loads: list[float] = []

    def survives(situations: Sequence[sscq.Situation]) -> Array:
        found = robot.outcome(situations, ("motor_load",))
        loads.append(float(found["motor_load"][found["stood"]].mean()))
        return found["stood"]

    others = _rides(2 * rides, "judged")
    own = areas(largest_pushes(survives, others, JUDGED))
    return LargestRegion(structure, best, own, areas(largest_pushes(survives, others, WIDER)), loads[0])


def all_found(bearable: float | None, evaluations: int, rides: int) -> list[LargestRegion]:
    """Search all structures; gains over the speed have twice the evaluations and begin with the others' as well."""
    constant = searched(CONSTANT, bearable, evaluations, rides, CONSTANT.start())
    weights = searched(FROM_WEIGHTS, bearable, evaluations, rides, FROM_WEIGHTS.start())
    same = np.tile(constant.genome, len(NODES))
    start = np.vstack([OVER_SPEED.start(), same, OVER_SPEED.turned(constant.genome), _as_nodes(weights.genome)])
    nodes = searched(OVER_SPEED, bearable, 2 * evaluations, rides, start)
    return [constant, weights, nodes]


def _as_nodes(weights: Array) -> Array:
    """Return what LQR makes of weights [5] as a genome of gains over the speed, read off at its nodes."""
    table = FROM_WEIGHTS.theta(weights[None]).reshape(len(LQR_NODES), -1)
    rows = [[float(np.interp(v, LQR_NODES, table[:, _NAMES.index(name)])) for name in _ALL] for v in NODES]
    return np.ravel(rows)


def cells(one: LargestRegion, base: LargestRegion) -> list[str]:
    """Return one structure's row of the table; changes are against the base's region."""
    told = [one.structure.title]
    for ours, theirs, grid in ((one.areas, base.areas, JUDGED), (one.wider, base.wider, WIDER)):
        told += [f"{100 * ours.mean() / (math.pi * grid.largest**2):.1f} %"]
        told += ["" if one is base else percent(change_of_sum(ours, theirs))]
    return [*told, f"{one.load:.2f}"]


def conclusion(found: dict[float | None, list[LargestRegion]]) -> str:
    """Return what the largest region found is against that of constant gains, and what the range of pushes leaves."""
    parts = []
    for bearable, (constant, *others) in found.items():
        best = max(others, key=lambda one: float(one.areas.sum()))
        left = math.pi * JUDGED.largest**2 / constant.areas.mean()
        parts.append(
            f"{_title(bearable)}: {best.structure.title}, {percent(change_of_sum(best.areas, constant.areas))} of "
            f"constant gains' region up to {JUDGED.largest:g} N, of {100 * (left - 1):+.1f} % that are left to the edge"
        )
    return f"{'. '.join(parts)}."


def _title(bearable: float | None) -> str:
    return "Motors that bear anything" if bearable is None else f"Motor load of at most {bearable:.2f}"


def page(found: dict[float | None, list[LargestRegion]], evaluations: int, rides: int) -> str:
    """Return the page: a table for each condition."""
    sections: list[str] = []
    for bearable, several in found.items():
        rows = [cells(one, several[0]) for one in several]
        sections += [f"## {_title(bearable)}", "", *markdown_table(_HEAD, rows), ""]
    return Template.of("unicycle_head_room").page({
        "conclusion": conclusion(found), "rides": rides, "evaluations": evaluations, "judged": 2 * rides,
        "nodes": ", ".join(f"{speed:g}" for speed in NODES), "sections": sections,
    })  # fmt: skip


_HEAD = (
    "searched", f"area, of {JUDGED.largest:g} N all around", "change", f"area, of {WIDER.largest:g} N all around",
    "change", "motor load",
)  # fmt: skip


def main(words: Sequence[str]) -> None:
    """Search and write the page; words: evaluations=N, rides=N."""
    given = dict(word.split("=", 1) for word in words)
    evaluations, rides = int(given.get("evaluations", "300")), int(given.get("rides", "4"))
    found = {bearable: all_found(bearable, evaluations, rides) for bearable in (None, BEARABLE)}
    path = Path(Template.of("unicycle_head_room").head["page"])
    atomic_files.write(path, page(found, evaluations, rides))
    print(f"written: {path}")
