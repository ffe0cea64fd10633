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

from plants.core.kernel.kernel import ALIVE, LANES, KernelDesign, build
from plants.core.kernel.lanes import LaneLoop, Uniform
from plants.core.kernel.run import RolloutJob, grid, run
from plants.identification.filter_bodies import (
    COVARIANCE,
    FILTER_ROWS,
    TOGETHER,
    begin,
    begin_counting,
    counted_up,
    gone_on,
    logarithm,
    starts,
    take_in,
    whole_chunks,
)
from plants.identification.row import PER_CENT, Row, column, curved
from plants.identification.slow_filter import SKIPPED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from plants.core.kernel.kernel import Kernel
    from plants.core.kernel.lanes import Lane
    from plants.identification.record import LoopRecord
    from plants.identification.row import PlantStructure, Spans

    Array = NDArray[np.float64]

_THETA = (
    *("x_x", "x_y", "y_y", "y_l", "x_before", "y_before", "x_after", "y_after", "fading"),
    *("walk_noise", "load_noise", "noise", "load_start", "curve", "inverse", "sense"),
    *("x_start", "x_variance", "x_shared", "load_unit"),
)


def each_log_likelihood(
    structure: PlantStructure,
    records: Sequence[LoopRecord],
    parameters: Array,
    sense: Array | float = 1.0,
    spans: Spans = PER_CENT,
    threads: int | None = None,
    lanes: int = LANES,
) -> Array:
    """Return the log likelihoods of parameter sets in each record [n_records, n]; they do not depend on the lanes.

    Records have rows equally far apart; the rest as for :func:`plants.identification.likelihood.log_likelihoods`.
    """
    # In order of dead times: most chunks then have one input for all lanes.
    order = np.argsort(structure.dead_time(parameters), kind="stable")
    parameters, sense = parameters[order], np.broadcast_to(sense, len(parameters))[order]
    n, row = len(parameters), Row.of(structure, parameters, records[0].step)
    kernel = _kernel(lanes, coupled=bool(row.whole.states[:, 0, 1].any()))
    # Every chunk is of one record: whole chunks of parameter sets, the last one filled up.
    padded = whole_chunks(_theta(structure, parameters, sense, row, records[0].step, spans), kernel.lanes)
    job = RolloutJob(
        start=starts(kernel, tuple(records), spans),
        theta=padded,
        codes=whole_chunks(row.rows, kernel.lanes)[None],
        keys=np.zeros((1, 1, 2), np.int64),
        series=_series(tuple(records)),
        n_steps=max(map(len, records)),
        step=1.0,
    )
    results, _, _ = run(kernel, job, grid(len(records), len(padded), kernel.lanes), threads=threads)
    found = np.empty((len(records), n))
    found[:, order] = counted_up(*results.T).reshape(len(records), -1)[:, :n]
    return found


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
    for name in (ALIVE, *FILTER_ROWS, "u", "before", "after"):
        rows.add(name)
    rows.add("covariance", len(COVARIANCE))
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
        LaneLoop("start", (_begin,), when="step == 0"),
        LaneLoop("curve", (_curve,), when="moved > 0"),
        LaneLoop("input_stands", (_input_stands,), when="moved == 0"),  # an exponential less, and the same bits
        LaneLoop("row", (_take_in, predict), when="measured > 0.5"),  # one loop: what is between stays in registers
        LaneLoop("row_without_output", (predict,), when="measured <= 0.5"),
        LaneLoop("begin_counting", (begin_counting,), when=f"step == {SKIPPED - 1}"),
        LaneLoop("logarithm", (logarithm,), when=f"step % {TOGETHER} == {TOGETHER - 1}"),
    ]
    return build(design)


def _given(lane: Lane) -> dict[str, Any]:
    return dict(zip(_THETA, lane["theta"], strict=True))


def _begin(lane: Lane) -> None:
    given = _given(lane)
    lane["after"] = (_acting(lane, given),)
    begin(lane, given, lane.one("after"))


def _acting(lane: Lane, given: dict[str, Any]) -> Any:
    return curved(lane.one("u"), given["curve"], given["inverse"]) * given["sense"]


def _curve(lane: Lane) -> None:
    lane["before"] = lane["after"]
    lane["after"] = (_acting(lane, _given(lane)),)


def _input_stands(lane: Lane) -> None:
    lane["before"] = lane["after"]


def _take_in(lane: Lane) -> None:
    take_in(lane, _given(lane)["noise"])


def _predict(lane: Lane, coupled: bool) -> None:
    """Go on by a row."""
    g = _given(lane)
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
    p = dict(zip(COVARIANCE, lane["covariance"], strict=True))
    lane["covariance"] = gone_on(p, to_x, to_y, g["fading"], g["walk_noise"], g["load_noise"])
