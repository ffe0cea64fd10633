"""The likelihood of many parameter sets at a time: one lane a parameter set, the same filter in each.

Transition, noise and the share of both inputs are computed once for each parameter set; a row costs an exponential (the
curve), a division and some sixty products. Dead times are the lanes' own: each fetches its input outside the lane loop.
The logarithms of the innovations' variances are taken of products of eight.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core import elementary
from plants.core.kernel.kernel import ALIVE, LANES, KernelDesign, build
from plants.core.kernel.lanes import LaneLoop, Uniform
from plants.core.kernel.run import RolloutJob, grid, run
from plants.identification.row import PER_CENT, Row, column, curved
from plants.identification.slow_filter import SKIPPED, VAGUE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from plants.core.kernel.kernel import Kernel
    from plants.core.kernel.lanes import Lane
    from plants.identification.record import LoopRecord
    from plants.identification.row import PlantStructure, Spans

    Array = NDArray[np.float64]

TOGETHER = 8
"""Variances whose product is taken before its logarithm."""

_THETA = (
    *("x_x", "x_y", "y_x", "y_y", "x_v", "y_v", "x_before", "y_before", "x_after", "y_after", "fading"),
    *("walk_noise", "load_noise", "noise", "load_start", "curve", "inverse", "sense"),
    *("x_start", "x_variance", "x_shared"),
)
_COVARIANCE = ("xx", "xy", "xd", "xc", "yy", "yd", "yc", "dd", "dc", "cc")


def log_likelihoods(
    structure: PlantStructure,
    records: Sequence[LoopRecord],
    parameters: Array,
    sense: Array | float = 1.0,
    spans: Spans = PER_CENT,
    threads: int | None = None,
) -> Array:
    """Return the log likelihoods of parameter sets, summed over records of the same loop.

    Parameters
    ----------
    structure : PlantStructure
    records : sequence of LoopRecord
        With rows equally far apart.
    parameters : array [n, n_parameters]
    sense : array [n] or float
        1 or -1.
    spans : (output, input)
        Of the signals, as for :func:`plants.identification.slow_filter.filtered`.
    threads : int, optional
        None: all processors. The result does not depend on it.

    Returns
    -------
    array [n]
        Minus infinity where the filter has no finite value.
    """
    return each_log_likelihood(structure, records, parameters, sense, spans, threads).sum(axis=0)


def each_log_likelihood(
    structure: PlantStructure,
    records: Sequence[LoopRecord],
    parameters: Array,
    sense: Array | float = 1.0,
    spans: Spans = PER_CENT,
    threads: int | None = None,
    lanes: int = LANES,
) -> Array:
    """Return the same of each record [n_records, n]; the results do not depend on the lanes."""
    parameters = np.atleast_2d(np.asarray(parameters, float))
    if parameters.shape[1] != len(structure.parameters):
        names = ", ".join(structure.parameters)
        raise ValueError(f"parameters must have {len(structure.parameters)} columns ({names})")
    steps = {record.step for record in records}
    if len(steps) != 1:
        raise ValueError(f"records must have one distance between rows, got {sorted(steps)} s")
    # In order of dead times: most chunks then have one input for all lanes.
    order = np.argsort(structure.dead_time(parameters), kind="stable")
    parameters, sense = parameters[order], np.broadcast_to(sense, len(parameters))[order]
    kernel, n, row = _kernel(lanes), len(parameters), Row.of(structure, parameters, steps.pop())
    # Every chunk is of one record: whole chunks of parameter sets, the last one filled up.
    left = -n % kernel.lanes
    padded = np.pad(_theta(structure, parameters, sense, row, records[0].step, spans), ((0, left), (0, 0)), mode="edge")
    job = RolloutJob(
        start=_starts(kernel, tuple(records), spans),
        theta=padded,
        codes=np.pad(row.rows, (0, left), mode="edge")[None],
        keys=np.zeros((1, 1, 2), np.int64),
        series=_series(tuple(records)),
        n_steps=max(map(len, records)),
        step=1.0,
    )
    results, _, _ = run(kernel, job, grid(len(records), len(padded), kernel.lanes), threads=threads)
    total, product = results.T
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.empty((len(records), n))
        found[:, order] = (total - 0.5 * np.log(product)).reshape(len(records), -1)[:, :n]
    return np.where(np.isfinite(found), found, -np.inf)


def _theta(
    structure: PlantStructure, parameters: Array, sense: Array | float, row: Row, step: float, spans: Spans
) -> Array:
    """What the lanes are given [n, len(_THETA)]."""
    walk, load, noise, curve = (column(structure, parameters, name) for name in ("walk", "load", "noise", "curve"))
    begun, signs = structure.start(parameters, spans), np.broadcast_to(sense, len(parameters))
    columns = (
        *(row.whole.states[:, i, j] for i in range(2) for j in range(2)),
        *row.whole.input.T,
        *row.before.T,
        *row.after.T,
        row.fading,
        walk**2 * step,
        load**2 * (1.0 - row.fading**2),
        noise**2,
        load**2,
        curve,
        1.0 / np.where(curve == 0.0, 1.0, curve),
        signs,
        begun.share,
        begun.variance,
        begun.shared,
    )
    return np.ascontiguousarray(np.stack(columns, axis=1))


@lru_cache(maxsize=4)  # a sampler asks thousands of times for the same logs
def _series(records: tuple[LoopRecord, ...]) -> Array:
    """Output, whether it is measured, and input of each record [3 n_records, n]; short ones end without outputs."""
    n, rows = max(map(len, records)), []
    for record in records:
        origin, middle = record.origin
        left = n - len(record)
        output = np.where(record.measured, record.output - origin, 0.0)
        rows += [np.pad(output, (0, left)), np.pad(record.measured.astype(float), (0, left))]
        rows.append(np.pad(record.input - middle, (0, left), mode="edge"))
    return np.array(rows)


@lru_cache(maxsize=4)
def _starts(kernel: Kernel, records: tuple[LoopRecord, ...], spans: Spans) -> Array:
    starts = np.zeros((len(records), kernel.rows.count))
    output, given = ((span / 100.0) ** 2 for span in spans)
    for start, record in zip(starts, records, strict=True):
        start[kernel.rows.span(ALIVE)] = 1.0
        start[kernel.rows.span("product")] = 1.0
        start[kernel.rows.span("scale")] = output
        start[kernel.rows.span("input_scale")] = given
        first = float(record.output[record.measured][0]) - record.origin[0]
        start[kernel.rows.span("first")] = first
    return starts


# -------------------------------------------------------------------------------------------------------------- kernel


@cache
def _kernel(lanes: int) -> Kernel:
    """The compiled filter; one for all records."""
    design = KernelDesign("likelihood of a plant of two states under loads", results=("total", "product"), lanes=lanes)
    rows = design.rows
    of_start, state = ("scale", "input_scale", "first"), ("x", "y", "d", "c")
    for name in (ALIVE, "total", "product", *of_start, "u", "before", "after", *state):
        rows.add(name)
    rows.add("covariance", len(_COVARIANCE))
    rows.add("theta", len(_THETA))
    fetched = (
        "measured = series[3 * source + 1, step]",
        "output = series[3 * source, step]",
        f"counted = 1.0 if step >= {SKIPPED} else 0.0",
        "first = lane_theta[chunk, 0]",  # a chunk's parameter sets lie side by side
        "moved = 0",
        f"if codes[0, first] == codes[0, first + {design.lanes - 1}]:",  # in order: all are as late
        "    late = series[3 * source + 2, max(step - codes[0, first], 0)]",
        f"    moved = 0 if late == S[{rows.first['u']}, 0] else 1",
        f"    for lane in range({design.lanes}):",
        f"        S[{rows.first['u']}, lane] = late",
        "else:",
        f"    for lane in range({design.lanes}):",
        "        late = series[3 * source + 2, max(step - codes[0, first + lane], 0)]",
        f"        moved = moved + (0 if late == S[{rows.first['u']}, lane] else 1)",
        f"        S[{rows.first['u']}, lane] = late",
    )
    design.kept += ["u"]
    design.before += [
        Uniform(fetched),
        LaneLoop("start", (_start,), when="step == 0"),
        LaneLoop("curve", (_curve,), when="moved > 0"),
        LaneLoop("input_stands", (_input_stands,), when="moved == 0"),  # an exponential less, and the same bits
        LaneLoop("row", (_update, _predict), when="measured > 0.5"),  # one loop: what is between stays in registers
        LaneLoop("row_without_output", (_predict,), when="measured <= 0.5"),
        LaneLoop("logarithm", (logarithm,), when=f"step % {TOGETHER} == {TOGETHER - 1}"),
    ]
    return build(design)


def _given(lane: Lane) -> dict[str, Any]:
    return dict(zip(_THETA, lane["theta"], strict=True))


def _start(lane: Lane) -> None:
    """The loop is where its first output is; before the record the input was what it is in the first row."""
    given, scale = _given(lane), lane.one("scale")
    values = dict.fromkeys(_COVARIANCE, 0.0 * scale)
    values |= {"xx": given["x_variance"], "xd": given["x_shared"], "dd": VAGUE * lane.one("input_scale")}
    values |= {"yy": 4.0 * given["noise"] + scale, "cc": given["load_start"]}
    lane["covariance"] = [values[name] for name in _COVARIANCE]
    first = _acting(lane, given)
    lane["after"], lane["x"], lane["y"] = (first,), (given["x_start"] * first,), (lane.one("first"),)
    lane["d"], lane["c"] = (0.0 * scale,), (0.0 * scale,)


def _acting(lane: Lane, given: dict[str, Any]) -> Any:
    return curved(lane.one("u"), given["curve"], given["inverse"]) * given["sense"]


def _curve(lane: Lane) -> None:
    lane["before"] = lane["after"]
    lane["after"] = (_acting(lane, _given(lane)),)


def _input_stands(lane: Lane) -> None:
    lane["before"] = lane["after"]


def _update(lane: Lane) -> None:
    """Take the measured output in, and count how much it was to be expected."""
    given, p = _given(lane), dict(zip(_COVARIANCE, lane["covariance"], strict=True))
    innovation, variance = lane.uniform("output") - lane.one("y"), p["yy"] + given["noise"]
    inverse = 1.0 / variance
    column = {"x": p["xy"], "y": p["yy"], "d": p["yd"], "c": p["yc"]}
    gain = {name: value * inverse for name, value in column.items()}
    for name in ("x", "y", "d", "c"):
        lane[name] = (lane.one(name) + gain[name] * innovation,)
    lane["covariance"] = [p[name] - gain[name[0]] * column[name[1]] for name in _COVARIANCE]
    squared = innovation * innovation * inverse
    count(lane, squared, variance)


def count(lane: Lane, squared: Any, variance: Any) -> None:
    """Add what a squared standard innovation and its variance are worth, as :func:`slow_filter.bent` has it."""
    counted = lane.uniform("counted")
    far = 8.0 * elementary.sqrt(elementary.maximum(squared, 16.0)) - 16.0
    lane["total"] = (lane.one("total") - 0.5 * counted * elementary.where(squared - 16.0, far, squared),)
    lane["product"] = (lane.one("product") * (1.0 + counted * (variance - 1.0)),)


def _predict(lane: Lane) -> None:
    """Go on by a row."""
    g, p = _given(lane), dict(zip(_COVARIANCE, lane["covariance"], strict=True))
    before, after = lane.one("before"), lane.one("after")
    x, y, d, c = (lane.one(name) for name in ("x", "y", "d", "c"))
    for name in ("x", "y"):
        free = g[f"{name}_x"] * x + g[f"{name}_y"] * y + g[f"{name}_v"] * (d + c)
        lane[name] = (free + g[f"{name}_before"] * before + g[f"{name}_after"] * after,)
    lane["c"] = (g["fading"] * c,)
    # Rows of F P, then F P F'. Inner state and output see the load, d + c, alone: it is one column, l.
    of_load = {"x": p["xd"] + p["xc"], "y": p["yd"] + p["yc"], "d": p["dd"] + p["dc"], "c": p["dc"] + p["cc"]}
    columns = {"x": (p["xx"], p["xy"], of_load["x"]), "y": (p["xy"], p["yy"], of_load["y"])}
    columns |= {"l": (of_load["x"], of_load["y"], of_load["d"] + of_load["c"])}
    columns |= {"d": (p["xd"], p["yd"], of_load["d"]), "c": (p["xc"], p["yc"], of_load["c"])}

    def through(name: str, column: tuple[Any, Any, Any]) -> Any:
        return g[f"{name}_x"] * column[0] + g[f"{name}_y"] * column[1] + g[f"{name}_v"] * column[2]

    half = {name: {key: through(name, column) for key, column in columns.items()} for name in ("x", "y")}
    new = {
        "xx": through("x", (half["x"]["x"], half["x"]["y"], half["x"]["l"])),
        "xy": through("y", (half["x"]["x"], half["x"]["y"], half["x"]["l"])),
        "yy": through("y", (half["y"]["x"], half["y"]["y"], half["y"]["l"])),
        "xd": half["x"]["d"],
        "xc": g["fading"] * half["x"]["c"],
        "yd": half["y"]["d"],
        "yc": g["fading"] * half["y"]["c"],
        "dd": p["dd"] + g["walk_noise"],
        "dc": g["fading"] * p["dc"],
        "cc": g["fading"] * g["fading"] * p["cc"] + g["load_noise"],
    }
    lane["covariance"] = [new[name] for name in _COVARIANCE]


def logarithm(lane: Lane) -> None:
    """Take the product of the last variances into the sum."""
    product = lane.one("product")
    lane["total"] = (lane.one("total") - 0.5 * elementary.log(product),)
    lane["product"] = (0.0 * product + 1.0,)
