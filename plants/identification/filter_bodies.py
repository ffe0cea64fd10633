"""Bodies of the kernels that filter logs: what a measured output tells, what it is worth, how uncertainty goes on.

The states are the inner one x, the output y, and two loads d and c, of which both see the sum.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core import elementary
from plants.core.kernel.kernel import ALIVE
from plants.identification.slow_filter import VAGUE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from plants.core.kernel.kernel import Kernel
    from plants.core.kernel.lanes import Lane
    from plants.identification.record import LoopRecord
    from plants.identification.row import Spans

    Array = NDArray[np.float64]

TOGETHER = 8
"""Variances whose product is taken before its logarithm."""


COVARIANCE = ("xx", "xy", "xd", "xc", "yy", "yd", "yc", "dd", "dc", "cc")

FILTER_ROWS = ("total", "product", "scale", "input_scale", "first", "x", "y", "d", "c")


def whole_chunks(rows: NDArray[Any], lanes: int) -> NDArray[Any]:
    """Return rows, one a parameter set, with the last one repeated until they fill chunks of lanes."""
    left = -len(rows) % lanes
    return np.concatenate([rows, np.repeat(rows[-1:], left, axis=0)]) if left else rows


@lru_cache(maxsize=32)
def starts(kernel: Kernel, records: tuple[LoopRecord, ...], spans: Spans) -> Array:
    """Return the first rows of a kernel with :data:`FILTER_ROWS`, for each record."""
    found = np.zeros((len(records), kernel.rows.count))
    output, given = ((span / 100.0) ** 2 for span in spans)
    for start, record in zip(found, records, strict=True):
        start[kernel.rows.span(ALIVE)] = 1.0
        start[kernel.rows.span("product")] = 1.0
        start[kernel.rows.span("scale")] = output
        start[kernel.rows.span("input_scale")] = given
        first = float(record.output[record.measured][0]) - record.origin[0]
        start[kernel.rows.span("first")] = first
    return found


def begin(lane: Lane, given: Mapping[str, Any], first: Any) -> None:
    """The loop is where its first output is; before the record the input was what it is in the first row.

    Parameters
    ----------
    lane : Lane
    given : mapping of str to number
        "noise" and "load_start", variances; "x_start", "x_variance", "x_shared" as :class:`StartOfLog` has them; and
        "load_unit", in which the variance of the walking load is counted.
    first : number
        What the input gives.
    """
    scale = lane.one("scale")
    values = dict.fromkeys(COVARIANCE, 0.0 * scale)
    values |= {"xx": given["x_variance"], "xd": given["x_shared"], "cc": given["load_start"]}
    values |= {"yy": 4.0 * given["noise"] + scale, "dd": VAGUE * given["load_unit"] * lane.one("input_scale")}
    lane["covariance"] = [values[name] for name in COVARIANCE]
    lane["x"], lane["y"] = (given["x_start"] * first,), (lane.one("first"),)
    lane["d"], lane["c"] = (0.0 * scale,), (0.0 * scale,)


def counted_up(total: Array, product: Array) -> Array:
    """Return log likelihoods from a kernel's two results; minus infinity where they have no finite value."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = -0.5 * (total + np.log(product))
    return np.where(np.isfinite(found), found, -np.inf)


def take_in(lane: Lane, noise: Any) -> None:
    """Take the measured output in, whose noise has this variance, and count how much it was to be expected."""
    p = dict(zip(COVARIANCE, lane["covariance"], strict=True))
    innovation, variance = lane.uniform("output") - lane.one("y"), p["yy"] + noise
    inverse = 1.0 / variance
    column = {"x": p["xy"], "y": p["yy"], "d": p["yd"], "c": p["yc"]}
    gain = {name: value * inverse for name, value in column.items()}
    for name in ("x", "y", "d", "c"):
        lane[name] = (lane.one(name) + gain[name] * innovation,)
    lane["covariance"] = [p[name] - gain[name[0]] * column[name[1]] for name in COVARIANCE]
    count(lane, innovation * innovation * inverse, variance)


def count(lane: Lane, squared: Any, variance: Any) -> None:
    """Add what a squared standard innovation is worth, as :func:`slow_filter.bent` has it; multiply by its variance."""
    far = 8.0 * elementary.sqrt(elementary.maximum(squared, 16.0)) - 16.0
    lane["total"] = (lane.one("total") + elementary.where(squared - 16.0, far, squared),)
    lane["product"] = (lane.one("product") * variance,)


def begin_counting(lane: Lane) -> None:
    """Forget what the first rows are worth, before which the filter does not know where the loop is."""
    lane["total"], lane["product"] = (0.0 * lane.one("total"),), (0.0 * lane.one("product") + 1.0,)


def gone_on(
    p: Mapping[str, Any],
    to_x: Callable[[Any, Any, Any], Any],
    to_y: Callable[[Any, Any, Any], Any],
    fading: Any,
    walk_noise: Any,
    load_noise: Any,
) -> list[Any]:
    """Return the covariance a row later: F P, then F P F'.

    Parameters
    ----------
    p : mapping of str to number
        By the names of :data:`COVARIANCE`.
    to_x, to_y : callable
        What x, y and the load give to x and to y.
    fading : number
        Of the coloured load.
    walk_noise, load_noise : number
        Variances that the loads gain.
    """
    # Inner state and output see the load, d + c, alone: it is one column.
    columns = {
        "x": (p["xx"], p["xy"], p["xd"] + p["xc"]),
        "y": (p["xy"], p["yy"], p["yd"] + p["yc"]),
        "d": (p["xd"], p["yd"], p["dd"] + p["dc"]),
        "c": (p["xc"], p["yc"], p["dc"] + p["cc"]),
    }
    x_half = {name: to_x(*column) for name, column in columns.items()}
    y_half = {name: to_y(*column) for name, column in columns.items()}
    x_of_load, y_of_load = x_half["d"] + x_half["c"], y_half["d"] + y_half["c"]
    new = {
        "xx": to_x(x_half["x"], x_half["y"], x_of_load),
        "xy": to_y(x_half["x"], x_half["y"], x_of_load),
        "yy": to_y(y_half["x"], y_half["y"], y_of_load),
        "xd": x_half["d"],
        "xc": fading * x_half["c"],
        "yd": y_half["d"],
        "yc": fading * y_half["c"],
        "dd": p["dd"] + walk_noise,
        "dc": fading * p["dc"],
        "cc": fading * (fading * p["cc"]) + load_noise,
    }
    return [new[name] for name in COVARIANCE]


def logarithm(lane: Lane) -> None:
    """Take the product of the last variances into the sum."""
    product = lane.one("product")
    lane["total"] = (lane.one("total") + elementary.log(product),)
    lane["product"] = (0.0 * product + 1.0,)
