"""A gain schedule without any search in closed loop: a margin design at each operating point, linear in between.

The classical gain schedule of the text books (K. J. Astrom and B. Wittenmark, Adaptive Control, 2nd ed. (Dover, 2008),
chapter 9): linearise, design, interpolate over the output. Several channels share the first channel's output as
scheduling variable; they are designed in turn, the others closed with the gains they have by then.

The design at one point takes the largest integral gain that keeps the margins. A load that steps leaves an integral of
the error of 1 / ki, so the largest ki answers loads best; the limit on the maximum sensitivity Ms keeps the loop
robust. Here the margins are those of the exact sampled loop, with its delays and filter, and the gains stay in a box.
Where the box stops ki before the margins do, its largest value stands and Ms is made as small as the other two gains
can make it. A channel without integral action gets the largest kp instead. The set of gains that keep the margins is
not convex: a grid over the whole box first, then CMA-ES from its best point.

Source: K. J. Astrom, H. Panagopoulos, T. Hagglund, Design of PI controllers based on non-convex optimization,
Automatica 34 (1998) 585-601; H. Panagopoulos, K. J. Astrom, T. Hagglund, Design of PID controllers based on
constrained optimisation, IEE Proc. Control Theory Appl. 149 (2002) 32-40.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import ConstantGains, Controller, GainTable, gain_names
from plants import OperatingPoint
from plants.core.analysis.linearise import linearise
from sscq.loop.spec import LoopSpec
from sscq.margins.channels import loop_of
from sscq.margins.frequency_response import loop_responses
from sscq.margins.linear_loop import one_channel
from sscq.margins.margins import MarginLimits, loop_margins, penalty
from sscq.search.cmaes import CmaEs
from sscq.search.search import evolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from controllers import PID
    from plants import Plant
    from plants.core.analysis.linearise import LinearModel
    from sscq.margins.frequency_response import LoopResponse
    from sscq.situations.situation import Situation

    Array = NDArray[np.float64]


_PER_AXIS = 20  # of the grid; its points crowd towards the small end of each gain
_POLISH = 3000  # evaluations of CMA-ES
_REACHED = 1e-6  # of the range: so near to its end a gain is at it
_JUST_ABOVE_ONE = 1.0 + 1e-9  # a limit that no loop keeps: the violation is then 1 - 1 / Ms


@dataclass(frozen=True)
class MarginGains:
    """Gains for one operating point.

    Attributes
    ----------
    gains : ndarray [3]
        kp, ki, kd.
    sensitivity : float
        Ms with them; infinite where the loop is unstable.
    kept : bool
        Whether the limits are kept. Where no gains of the box keep them, these violate them least.
    """

    gains: Array
    sensitivity: float
    kept: bool


def margin_gains(response: LoopResponse, low: ArrayLike, high: ArrayLike, limits: MarginLimits) -> MarginGains:
    """Return the gains with the largest ki (in magnitude) that keep the margins.

    Parameters
    ----------
    response : LoopResponse
        Of the loop at the operating point, from :func:`sscq.margins.frequency_response.loop_responses`.
    low, high : array [3]
        Box of kp, ki, kd; a gain with equal ends is fixed.
    limits : MarginLimits

    Raises
    ------
    ValueError
        If neither ki nor kp is free.
    """
    ends = np.array([np.asarray(low, dtype=float), np.asarray(high, dtype=float)])
    free = ends[1] > ends[0]
    if not free[:2].any():
        raise ValueError(f"ki or kp must be free to be made large, got low = {ends[0]} and high = {ends[1]}")
    design = _ScheduleDesign(response, ends, limits, 1 if free[1] else 0)
    found = design.best(ends)
    if design.at_end(found):  # the margins do not bind: what is left is to be as robust as can be
        fixed = ends.copy()
        fixed[:, design.goal] = found[design.goal]
        if (fixed[1] > fixed[0]).any():
            found = _Robust(response, fixed, limits, design.goal).best(fixed)
    sensitivity = float(loop_margins(found, [response]).sensitivity[0, 0])
    return MarginGains(found, sensitivity, bool(penalty(found, [response], limits) <= 0.0))


@dataclass(frozen=True)
class _ScheduleDesign:
    """Fitness of gain sets: any that keeps the limits before any that does not; `goal` is made large."""

    response: LoopResponse
    ends: Array
    limits: MarginLimits
    goal: int

    def __call__(self, gains: Array) -> Array:
        violation = penalty(gains, [self.response], self.limits)
        return np.asarray(np.where(violation > 0.0, 1.0 + violation, self.aim(gains)))

    def aim(self, gains: Array) -> Array:
        """Value of gains that keep the limits, below 1."""
        return -np.abs(gains[:, self.goal]) / np.abs(self.ends[:, self.goal]).max()

    def best(self, ends: Array) -> Array:
        """Grid, then polish."""
        grid = np.stack(np.meshgrid(*(_axis(*pair) for pair in ends.T), indexing="ij"), axis=-1).reshape(-1, 3)
        start = grid[np.argmin(self(grid))]
        polish = CmaEs(evaluations=_POLISH, sigma=0.05, restarts=2)
        return np.asarray(evolve(self, ends[0], ends[1], polish, 0, start=start[None]).genome)

    def at_end(self, gains: Array) -> bool:
        """Whether the goal's gain is as large as the box lets it be, and the limits are kept."""
        span = self.ends[1, self.goal] - self.ends[0, self.goal]
        largest = np.abs(self.ends[:, self.goal]).max()
        return bool(self(gains[None])[0] < 1.0 and largest - abs(gains[self.goal]) <= _REACHED * span)


def _axis(low: float, high: float) -> Array:
    if low == high:
        return np.array([low])
    share = np.linspace(0.0, 1.0, _PER_AXIS) ** 2
    return low + (high - low) * (share if abs(low) <= abs(high) else 1.0 - share)


@dataclass(frozen=True)
class _Robust(_ScheduleDesign):
    """The same with the smallest Ms as its aim."""

    def aim(self, gains: Array) -> Array:
        return np.asarray(penalty(gains, [self.response], MarginLimits(_JUST_ABOVE_ONE)))


_SWEEPS = 6  # over the channels of one point; they have settled before
_SETTLED = 0.01  # of the box
_SAME = 1e-9  # relative: nodes and matrices that differ by rounding


class NoScheduleError(ValueError):
    """The plant has no margin-designed schedule; the message says why."""


@dataclass(frozen=True)
class MarginSchedule:
    """Gains at operating points.

    Attributes
    ----------
    signal : str
        Scheduling variable: the output of the first channel.
    transform : {"identity", "magnitude"}
        "magnitude" where the plant mirrored about 0 is the same plant.
    nodes : tuple of float
        Of the (transformed) variable, ascending.
    gains : ndarray [n_nodes, n_gains]
    sensitivity : ndarray [n_nodes, n_channels]
        Ms at the nodes.
    kept : bool
        Whether all limits are kept at all nodes.
    """

    signal: str
    transform: str
    nodes: tuple[float, ...]
    gains: Array
    sensitivity: Array
    kept: bool

    def at(self, values: ArrayLike) -> Array:
        """Return the gains [n, n_gains] at values [n] of the output: linear between the nodes, constant outside."""
        places = np.asarray(values, dtype=float)
        places = np.abs(places) if self.transform == "magnitude" else places
        return np.stack([np.interp(places, self.nodes, column) for column in self.gains.T], axis=1)

    def controller(self, laws: Sequence[PID], tick: float | None) -> Controller:
        """Return the laws with a table over the variable; with constant gains where there is one node."""
        names = gain_names(tuple(laws))
        if len(self.nodes) == 1:
            return Controller(tuple(laws), ConstantGains(names))
        table = GainTable(self.signal, self.nodes, transform=self.transform, gain_names=names, tick=tick)
        return Controller(tuple(laws), table)


def margin_schedule(
    plant: Plant,
    controller: Any,
    situations: Sequence[Situation],
    step: float,
    low: Sequence[float],
    high: Sequence[float],
    limits: MarginLimits,
    *,
    midpoints: bool = False,
) -> MarginSchedule:
    """Design the schedule for the nominal plant.

    Parameters
    ----------
    plant : Plant
    controller : law or tuple of laws
    situations : sequence of Situation
        Their largest delay is the loop's.
    step : float
        Integration step [s].
    low, high : sequence of float [n_gains]
        Box of the gains.
    limits : MarginLimits
    midpoints : bool
        Design between neighbouring operating points, too.

    Raises
    ------
    NoScheduleError
        If the plant declares no operating point, or a channel cannot be closed for the design of another.
    """
    if not plant.operating_points:
        raise NoScheduleError(f"plant {plant.name!r} declares no operating points to design at")
    spec = LoopSpec(plant, controller, [replace(s, parameters=None) for s in situations], step)
    models = [(point.name, linearise(plant, point, commands=True)) for point in plant.operating_points]
    place = plant.index("measurements", plant.channels[0].output)
    mirrored = len(models) > 1 and all(_is_symmetric(plant, point) for point in plant.operating_points)
    nodes = _nodes(models, place, mirrored=mirrored)
    if midpoints:
        nodes = _with_midpoints(plant, nodes, place, mirrored=mirrored)
    box = np.array([low, high], dtype=float)
    try:
        found = [_designed(spec, name, model, box, limits) for _, name, model in nodes]
    except ValueError as error:
        raise NoScheduleError(str(error)) from error
    return MarginSchedule(
        plant.channels[0].output, "magnitude" if mirrored else "identity", tuple(node for node, _, _ in nodes),
        np.array([gains for gains, _, _ in found]), np.array([ms for _, ms, _ in found]),
        all(kept for _, _, kept in found),
    )  # fmt: skip


_Node = tuple[float, str, "LinearModel"]


def _nodes(models: list[tuple[str, LinearModel]], place: int, *, mirrored: bool) -> list[_Node]:
    """Values of the scheduling variable in order, each with the first model that belongs to it."""
    nodes: list[_Node] = []
    for name, model in models:
        value = float(model.output[place])
        value = abs(value) if mirrored else value
        if not any(abs(value - node) <= _SAME * (1.0 + abs(node)) for node, _, _ in nodes):
            nodes.append((value, name, model))
    return sorted(nodes, key=lambda node: node[0])


def _is_symmetric(plant: Plant, point: OperatingPoint) -> bool:
    """Whether the plant at the mirrored state, all signs turned, is the same linear plant."""
    other = OperatingPoint(point.name, tuple(-value for value in point.state), point.parameters)
    try:
        here, there = (linearise(plant, one, commands=True) for one in (point, other))
    except ValueError:  # nothing holds the plant there, or it is outside its region
        return False
    pairs = [(getattr(here, part), getattr(there, part)) for part in ("A", "B", "C")] + [(here.output, -there.output)]
    return all(bool(np.abs(a - b).max() <= _SAME * (1.0 + np.abs(a).max())) for a, b in pairs)


def _with_midpoints(plant: Plant, nodes: list[_Node], place: int, *, mirrored: bool) -> list[_Node]:
    """Add a node between every two: the equilibrium next to the mean of their states, with its output."""
    found = [(name, model) for _, name, model in nodes]
    for (_, one, a), (_, two, b) in pairwise(nodes):
        sides = [np.sign(m.output[place]) or 1.0 if mirrored else 1.0 for m in (a, b)]
        middle = 0.5 * (sides[0] * a.state + sides[1] * b.state)
        others = [q.name for q, slope in zip(plant.states, a.C[place], strict=True) if slope == 0.0]
        try:
            model = linearise(plant, tuple(middle.tolist()), adjust=others, commands=True)
        except ValueError:  # no equilibrium there: the straight line between the two stands
            continue
        found.append((f"between {one} and {two}", model))
    return _nodes(found, place, mirrored=mirrored)


def _designed(
    spec: LoopSpec, name: str, model: LinearModel, box: Array, limits: MarginLimits
) -> tuple[Array, Array, bool]:
    """Gains of all channels [n_gains] at one point, Ms of each [n_channels], and whether all limits are kept."""
    n = len(spec.laws)
    gains, ends = np.zeros((n, 3)), box.reshape(2, n, 3)
    sensitivity, kept = np.zeros(n), [False] * n
    for _ in range(_SWEEPS if n > 1 else 1):
        before = gains.copy()
        for i in range(n):
            seen = one_channel(spec, model, i, gains, name)
            (response,) = loop_responses([seen], loop_of(spec, i), ends[0, i], ends[1, i])
            one = margin_gains(response, ends[0, i], ends[1, i], limits)
            gains[i], sensitivity[i], kept[i] = one.gains, one.sensitivity, one.kept
        if np.abs(gains - before).max(initial=0.0) <= _SETTLED * np.abs(ends).max():
            break
    return gains.ravel(), sensitivity, all(kept)
