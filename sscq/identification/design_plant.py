"""An ensemble as one plant of the design chain: its members are parameter sets that belong together.

    plant = design_plant(load_ensemble("identified.json"))        # registered by nobody: a plain `plants.Plant`

The measured value is in its own unit, the command counts from the output at rest. Teaching, validating and judging draw
members, each with its own dead time; the scenario of the promise is the named situation. A lag that the log's rows
cannot tell from dead time counts as dead time.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plants import process
from plants.core.quantities import Channel, ControlTask, OperatingPoint, OperatingRanges, Quantity
from plants.excitation import Step
from plants.identification.row import curved
from sscq.identification.ensemble import spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from plants.core.plant import Plant
    from sscq.identification.ensemble import PlantMembers
    from sscq.identification.stored import StoredEnsemble, StoredLoop

    Array = NDArray[np.float64]

NAME = "identified"
_PARTS = 4  # integration steps in a row of the log
_LEAST_LAG = 0.3  # of a row: what is faster counts as dead time
_SHARPEST = 6.0  # kp times slope times effective dead time
_HELD = 0.8  # of what the valve can hold: the rest is for loads
NOISE = (0.5, 1.5)
"""Range of the sensor noise, about the middle of the members."""


def design_plant(ensemble: StoredEnsemble) -> Plant:
    """Return the plant of an ensemble, of the structure that most members have, spread by its discrepancy.

    Raises
    ------
    ValueError
        If the ensemble may not be used, or its file says nothing of the loop.
    """
    loop = ensemble.loop
    if ensemble.refusal:
        raise ValueError(f"no controller follows from this log: {ensemble.refusal}")
    if loop is None:
        raise ValueError("it says nothing of the loop; `sscq commission` writes an identified.json that does")
    group = max(spread(ensemble.members, ensemble.step, ensemble.discrepancy), key=len)
    base, sets = _of_structure(group, ensemble.sense, ensemble.step)
    middle = medoid(sets)
    parts = max(1, math.ceil(_PARTS * loop.sample_time / ensemble.step - 1e-9))
    slow, late = (np.median(times) for times in group.structure.times(group.parameters))
    low, high = _gains(group, float(slow), float(late), ensemble.sense)
    rest_y, rest_u = loop.rest
    channel = Channel(
        "output",
        scale=abs(loop.scenario.set_point),
        low=loop.limits[0] - rest_u,
        high=loop.limits[1] - rest_u,
        collocated=False,
        gains_low=low,
        gains_high=high,
    )
    wide = _levels(loop, middle)
    parameters = tuple(replace(q, nominal=middle[q.name]) for q in base.parameters)
    outputs = base.outputs
    return replace(
        base,
        name=NAME,
        measurements=(Quantity("output", "1", rest_y, text="measured value"),),
        outputs=lambda t, x, u, w, p: (rest_y + outputs(t, x, u, w, p)[0],),
        step=loop.sample_time / parts,
        parameters=parameters,
        channels=(channel,),
        task=_task(loop, sets, float(np.median(group.column("noise"))), _points(base, middle, wide), wide),
        text=f"{_share(ensemble, group)} that explain a log; the command counts from output {rest_u:.6g}.",
    )


def _share(ensemble: StoredEnsemble, group: PlantMembers) -> str:
    """Which plants these are: those of the structure that most members have."""
    several = sum(map(len, ensemble.members))
    if len(group) == several:
        return "Plants"
    return f"The {100.0 * len(group) / several:.0f} % of the plants ({group.structure.name})"


def _of_structure(group: PlantMembers, sense: float, row: float) -> tuple[Plant, list[dict[str, float]]]:
    """The plant of a structure, and the parameters of its members."""
    gain, late, curve = sense * group.parameters[:, 0], group.column("dead_time"), group.column("curve")
    if "damping" in group.structure.parameters:
        columns = {"K": gain, "T": group.column("period"), "zeta": group.column("damping"), "L": late, "curve": curve}
        return process.SECOND_ORDER_WITH_VALVE, _rows(columns)
    lag = np.maximum(group.column("lag"), _LEAST_LAG * row)
    late = np.maximum(late - (lag - group.column("lag")), 0.0)
    return process.TWO_LAGS, _rows(
        {"slope": gain, "decay": group.column("decay"), "lag": lag, "L": late, "curve": curve}
    )


def _rows(columns: dict[str, Array]) -> list[dict[str, float]]:
    return [dict(zip(columns, row, strict=True)) for row in np.stack([*columns.values()], axis=1).tolist()]


def medoid(sets: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the set that is nearest the middle of each parameter, in units of its spread."""
    table = np.array([[*one.values()] for one in sets])
    middle = np.median(table, axis=0)
    width = np.median(np.abs(table - middle), axis=0)
    return sets[int((np.abs(table - middle) / np.where(width > 0.0, width, 1.0)).sum(axis=1).argmin())]


def _gains(
    group: PlantMembers, slow: float, late: float, sense: float
) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """The box of gains, from the rules that such plants are tuned by; a search may widen it."""
    names = group.structure.parameters
    times, _ = group.structure.times(group.parameters)
    slope = float(np.median(group.column("slope") if "slope" in names else group.column("gain") / times))
    if not 0.0 < slope * late < math.inf:
        raise ValueError(f"its plants have no slope and no dead time of a loop: {slope:g} per second, {late:g} s")
    kp = _SHARPEST / (slope * late)
    most = np.array([kp, kp / min(slow, 4.0 * late), 0.5 * kp * late])
    low, high = np.minimum(sense * most, 0.0), np.maximum(sense * most, 0.0)
    return (float(low[0]), float(low[1]), float(low[2])), (float(high[0]), float(high[1]), float(high[2]))


def _levels(loop: StoredLoop, middle: dict[str, float]) -> tuple[float, float]:
    """Deviations of the set point that the loop has to serve: where the log led it, at least a step either way.

    No further than the valve can hold it there without help of a load.
    """
    height = abs(loop.scenario.set_point)
    ends = sorted(_HELD * curved(end - loop.rest[1], middle["curve"]) * _static(middle) for end in loop.limits)
    return max(min(loop.levels[0], -height), ends[0]), min(max(loop.levels[1], height), ends[1])


def _static(middle: dict[str, float]) -> float:
    """Output over valve at rest; infinite for what integrates."""
    if "decay" not in middle:
        return middle["K"]
    return abs(middle["slope"]) / middle["decay"] if middle["decay"] > 0.0 else math.inf


def _points(base: Plant, middle: dict[str, float], levels: tuple[float, float]) -> tuple[OperatingPoint, ...]:
    """At rest, and at both levels, with the states that hold them there."""
    inner = max(middle["decay"], 0.0) / middle["slope"] if "decay" in middle else 0.0

    def state(level: float) -> tuple[float, ...]:
        return tuple(level if q.name == "output" else inner * level if q.name == "inner" else 0.0 for q in base.states)

    names = ("rest", "lowest level", "highest level")
    return tuple(OperatingPoint(name, state(level)) for name, level in zip(names, (0.0, *levels), strict=True))


def _task(
    loop: StoredLoop,
    sets: Sequence[dict[str, float]],
    noise: float,
    points: tuple[OperatingPoint, ...],
    levels: tuple[float, float],
) -> ControlTask:
    """The scenario of the promise both ways, the way to both levels, and the members to draw from."""
    height, load = loop.scenario.set_point, loop.scenario.load
    horizon = loop.sample_time * max(2, round(loop.scenario.horizon / loop.sample_time))

    def situation(name: str, reference: float, seed: int) -> dict[str, Any]:
        return {
            "name": name,
            "reference": loop.rest[0] + reference,
            "excitation": Step(load if reference > 0.0 else -load, at=0.5 * horizon),
            "noise": noise,
            "t_end": horizon,
            "seed": seed,
        }

    return ControlTask(
        operating_points=points,
        situations={
            "taught": [
                situation("step and load", height, 1),
                situation("step down and load", -height, 2),
                situation("to the lowest level", levels[0], 3),
                situation("to the highest level", levels[1], 4),
            ],
            "validation": [situation("step and load", height, 6)],
            "unforeseen": [situation("step and load", height, 11), situation("step down and load", -height, 12)],
        },
        ranges=OperatingRanges(
            parameters={},
            initial={},
            reference={"output": (loop.rest[0] + levels[0], loop.rest[0] + levels[1])},
            load={"load": (-abs(load), abs(load))},
            excitation={},
            noise={"output": (NOISE[0] * noise, NOISE[1] * noise)},
            delay=(0.0, 0.0),
            authority=(1.0, 1.0),
            together=tuple(sets),
        ),
    )
