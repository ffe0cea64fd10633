"""The likelihood of many parameter sets at a time: one lane a parameter set, the same filter in each.

Transition, noise and the share of both inputs are computed once for each parameter set. The inner state and the loads
are counted in units in which the inner state goes into the output, and the load into the inner state, by a factor of 1:
these products need not be taken. A row costs an exponential where the input moved (the curve), a division and some 50
products. Dead times are the lanes' own: each fetches its input outside the lane loop. The logarithms of the variances
of the innovations are taken of products of eight.
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
    *("x_x", "x_y", "y_y", "y_l", "x_before", "y_before", "x_after", "y_after", "fading"),
    *("walk_noise", "load_noise", "noise", "load_start", "curve", "inverse", "sense"),
    *("x_start", "x_variance", "x_shared", "load_unit"),
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
    n, row = len(parameters), Row.of(structure, parameters, steps.pop())
    kernel = _kernel(lanes, coupled=bool(row.whole.states[:, 0, 1].any()))
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
    found = np.empty((len(records), n))
    found[:, order] = counted_up(*results.T).reshape(len(records), -1)[:, :n]
    return found


def counted_up(total: Array, product: Array) -> Array:
    """Return log likelihoods from a kernel's two results; minus infinity where they have no finite value."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = -0.5 * (total + np.log(product))
    return np.where(np.isfinite(found), found, -np.inf)


def _theta(
    structure: PlantStructure, parameters: Array, sense: Array | float, row: Row, step: float, spans: Spans
) -> Array:
    """What the lanes are given [n, len(_THETA)]; the inner state and the loads in units of what they add."""
    walk, load, noise, curve = (column(structure, parameters, name) for name in ("walk", "load", "noise", "curve"))
    begun, signs = structure.start(parameters, spans), np.broadcast_to(sense, len(parameters))
    states, (x_v, y_v) = row.whole.states, row.whole.input.T
    of_x = _not_0(states[:, 1, 0])
    of_load = _not_0(of_x * x_v)
    columns = (
        states[:, 0, 0],
        of_x * states[:, 0, 1],
        states[:, 1, 1],
        y_v / of_load,
        of_x * row.before[:, 0],
        row.before[:, 1],
        of_x * row.after[:, 0],
        row.after[:, 1],
        row.fading,
        of_load**2 * walk**2 * step,
        of_load**2 * load**2 * (1.0 - row.fading**2),
        noise**2,
        of_load**2 * load**2,
        curve,
        1.0 / np.where(curve == 0.0, 1.0, curve),
        signs,
        of_x * begun.share,
        of_x**2 * begun.variance,
        of_x * of_load * begun.shared,
        of_load**2,
    )
    return np.ascontiguousarray(np.stack(columns, axis=1))


def _not_0(unit: Array) -> Array:
    """A plant that passes nothing on passes too little to be told from nothing: units are divided by."""
    return np.where(unit == 0.0, 1e-100, unit)


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
def _kernel(lanes: int, coupled: bool) -> Kernel:
    """The compiled filter; one for all records. `coupled`: whether the output acts on the inner state.

    Without it, of two lags, products with 0 are left out: the same bits.
    """

    def predict(lane: Lane) -> None:
        _predict(lane, coupled)

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
        LaneLoop("row", (_update, predict), when="measured > 0.5"),  # one loop: what is between stays in registers
        LaneLoop("row_without_output", (predict,), when="measured <= 0.5"),
        LaneLoop("begin_counting", (begin_counting,), when=f"step == {SKIPPED - 1}"),
        LaneLoop("logarithm", (logarithm,), when=f"step % {TOGETHER} == {TOGETHER - 1}"),
    ]
    return build(design)


def _given(lane: Lane) -> dict[str, Any]:
    return dict(zip(_THETA, lane["theta"], strict=True))


def _start(lane: Lane) -> None:
    """The loop is where its first output is; before the record the input was what it is in the first row."""
    given, scale, input_scale = _given(lane), lane.one("scale"), lane.one("input_scale")
    values = dict.fromkeys(_COVARIANCE, 0.0 * scale)
    values |= {
        "xx": given["x_variance"],
        "xd": given["x_shared"],
        "dd": VAGUE * given["load_unit"] * input_scale,
    }
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
    """Add what a squared standard innovation is worth, as :func:`slow_filter.bent` has it; multiply by its variance."""
    far = 8.0 * elementary.sqrt(elementary.maximum(squared, 16.0)) - 16.0
    lane["total"] = (lane.one("total") + elementary.where(squared - 16.0, far, squared),)
    lane["product"] = (lane.one("product") * variance,)


def begin_counting(lane: Lane) -> None:
    """Forget what the first rows are worth, before which the filter does not know where the loop is."""
    lane["total"], lane["product"] = (0.0 * lane.one("total"),), (0.0 * lane.one("product") + 1.0,)


def _predict(lane: Lane, coupled: bool) -> None:
    """Go on by a row."""
    g, p = _given(lane), dict(zip(_COVARIANCE, lane["covariance"], strict=True))
    before, after = lane.one("before"), lane.one("after")
    x, y, d, c = (lane.one(name) for name in ("x", "y", "d", "c"))

    def to_x(of_x: Any, of_y: Any, of_load: Any) -> Any:
        return g["x_x"] * of_x + (g["x_y"] * of_y + of_load if coupled else of_load)

    def to_y(of_x: Any, of_y: Any, of_load: Any) -> Any:
        return g["y_y"] * of_y + (g["y_l"] * of_load + of_x)

    load = d + c
    lane["x"] = (g["x_after"] * after + (g["x_before"] * before + to_x(x, y, load)),)
    lane["y"] = (g["y_after"] * after + (g["y_before"] * before + to_y(x, y, load)),)
    lane["c"] = (g["fading"] * c,)
    # Rows of F P, then F P F'. Inner state and output see the load, d + c, alone: it is one column, l.
    columns = {
        "x": (p["xx"], p["xy"], p["xd"] + p["xc"]),
        "y": (p["xy"], p["yy"], p["yd"] + p["yc"]),
        "d": (p["xd"], p["yd"], p["dd"] + p["dc"]),
        "c": (p["xc"], p["yc"], p["dc"] + p["cc"]),
    }
    x_half = {name: to_x(*column) for name, column in columns.items()}
    y_half = {name: to_y(*column) for name, column in columns.items()}
    x_of_load, y_of_load = x_half["d"] + x_half["c"], y_half["d"] + y_half["c"]
    fading = g["fading"]
    new = {
        "xx": to_x(x_half["x"], x_half["y"], x_of_load),
        "xy": to_y(x_half["x"], x_half["y"], x_of_load),
        "yy": to_y(y_half["x"], y_half["y"], y_of_load),
        "xd": x_half["d"],
        "xc": fading * x_half["c"],
        "yd": y_half["d"],
        "yc": fading * y_half["c"],
        "dd": p["dd"] + g["walk_noise"],
        "dc": fading * p["dc"],
        "cc": fading * (fading * p["cc"]) + g["load_noise"],
    }
    lane["covariance"] = [new[name] for name in _COVARIANCE]


def logarithm(lane: Lane) -> None:
    """Take the product of the last variances into the sum."""
    product = lane.one("product")
    lane["total"] = (lane.one("total") + elementary.log(product),)
    lane["product"] = (0.0 * product + 1.0,)
