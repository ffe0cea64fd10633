"""The likelihood of many parameter sets where a log's rows are not equally far apart: one lane a parameter set.

A row lasts as long as it does, so that its transition is computed in every row. Every change of the input, late by the
lane's own dead time, parts a row: the mean goes on piece by piece, each of its own length, the covariance row by row. A
step of the kernel is a piece; all rows have as many as the fullest one may have, and those not needed have no length.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core import elementary
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
from plants.identification.row import DYNAMICS, PER_CENT, column, curved
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
    *(f"dynamics_{k}" for k in range(DYNAMICS)),
    *("dead_time", "load_rate", "walk", "load_start", "noise", "curve", "inverse", "sense"),
    *("x_start", "x_variance", "x_shared", "load_unit"),
)
_AT_ONCE = 1e-9  # of a row: changes that lie so much farther apart than a row may round into it


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

    As for :func:`plants.identification.likelihood.log_likelihoods`.
    """
    kernel, n = _kernel(structure, lanes), len(parameters)
    padded = whole_chunks(_theta(structure, parameters, sense, spans), kernel.lanes)
    found = np.empty((len(records), n))
    for place, record in enumerate(records):
        pieces = most_pieces(record)
        job = RolloutJob(
            start=starts(kernel, (record,), spans),
            theta=padded,
            codes=np.zeros((1, len(padded)), np.int64),
            keys=np.zeros((1, 1, 2), np.int64),
            series=_series(record),
            n_steps=len(record) * pieces,
            step=1.0,
            integers={"pieces": pieces},
        )
        results, _, _ = run(kernel, job, grid(1, len(padded), kernel.lanes), threads=threads)
        found[place] = counted_up(*results.T)[:n]
    return found


def most_pieces(record: LoopRecord) -> int:
    """Return into how many pieces changes of the input part a row at most, whatever the dead time."""
    times = record.instants[record.changes]
    last = times + (1.0 + _AT_ONCE) * record.lasting.max()
    return 1 + int((np.searchsorted(times, last, side="right") - np.arange(len(times))).max())


def _theta(structure: PlantStructure, parameters: Array, sense: Array | float, spans: Spans) -> Array:
    """What the lanes are given [n, len(_THETA)]."""
    names = ("load_time", "walk", "load", "noise", "curve")
    load_time, walk, load, noise, curve = (column(structure, parameters, name) for name in names)
    begun = structure.start(parameters, spans)
    columns = (
        *parameters[:, :DYNAMICS].T,
        structure.dead_time(parameters),
        1.0 / load_time,
        walk**2,
        load**2,
        noise**2,
        curve,
        1.0 / np.where(curve == 0.0, 1.0, curve),
        np.broadcast_to(sense, len(parameters)),
        begun.share,
        begun.variance,
        begun.shared,
        np.ones(len(parameters)),
    )
    return np.ascontiguousarray(np.stack(columns, axis=1))


@lru_cache(maxsize=32)  # a sampler asks thousands of times for the same stretches
def _series(record: LoopRecord) -> Array:
    """Output, whether it is measured, how long rows last, when they begin, when the input changes, to what [6, n + 1].

    Times count from the first row; behind the last change there is none.
    """
    origin, middle = record.origin
    times, changes = record.instants - record.instants[0], record.changes
    found = np.zeros((6, len(record) + 1))
    found[0, :-1] = np.where(record.measured, record.output - origin, 0.0)
    found[1, :-1], found[2, :-1], found[3, :-1] = record.measured, record.lasting, times
    found[4] = np.inf
    found[4, : len(changes)], found[5, : len(changes)] = times[changes], record.input[changes] - middle
    return found


# -------------------------------------------------------------------------------------------------------------- kernel


@cache
def _kernel(structure: PlantStructure, lanes: int) -> Kernel:
    """The compiled filter of a structure; one for all records."""
    design = KernelDesign(
        f"likelihood of {structure.name} under loads, rows of any length",
        results=("total", "product"),
        lanes=lanes,
        integers=["pieces"],
    )
    rows = design.rows
    for name in (ALIVE, *FILTER_ROWS, "u", "acting", "at", "place", "length"):
        rows.add(name)
    rows.add("covariance", len(COVARIANCE))
    rows.add("theta", len(_THETA))
    u, at, place, length = (rows.first[name] for name in ("u", "at", "place", "length"))
    dead_time = rows.first["theta"] + _THETA.index("dead_time")
    fetched = (
        "row = step // pieces",
        "part = step - row * pieces",
        "whole = 1 if part == pieces - 1 else 0",
        "measured = series[1, row] if part == 0 else 0.0",
        "output = series[0, row]",
        "lasting = series[2, row]",
        "end = series[3, row] + lasting",
        f"begins = 1 if row == {SKIPPED - 1} and part == 0 else 0",
        f"full = whole if row % {TOGETHER} == {TOGETHER - 1} else 0",
        "moved = 0",
        f"for lane in range({design.lanes}):",
        f"    change = int(S[{place}, lane])",
        f"    until = series[4, change + 1] + S[{dead_time}, lane]",
        "    stop = until if until < end else end",
        f"    moved = moved + (0 if series[5, change] == S[{u}, lane] else 1)",
        f"    S[{u}, lane] = series[5, change]",
        f"    S[{length}, lane] = stop - S[{at}, lane]",
        f"    S[{at}, lane] = stop",
        f"    S[{place}, lane] = S[{place}, lane] + (1.0 if until <= end else 0.0)",
    )
    design.kept += ["u", "at", "place", "length"]
    bodies = _Bodies(structure)
    design.before += [
        Uniform(fetched),
        LaneLoop("start", (bodies.start,), when="step == 0"),
        LaneLoop("curve", (bodies.curve,), when="moved > 0"),
        LaneLoop("output", (bodies.take_in,), when="measured > 0.5"),
        LaneLoop("begin_counting", (begin_counting,), when="begins == 1"),
        LaneLoop("piece", (bodies.piece,)),
        LaneLoop("onward", (bodies.onward,), when="whole == 1"),
        LaneLoop("logarithm", (logarithm,), when="full == 1"),
    ]
    return build(design)


class _Bodies:
    """The bodies of the loops, for one structure."""

    def __init__(self, structure: PlantStructure) -> None:
        self.structure = structure

    @staticmethod
    def given(lane: Lane) -> dict[str, Any]:
        return dict(zip(_THETA, lane["theta"], strict=True))

    def start(self, lane: Lane) -> None:
        self.curve(lane)
        begin(lane, self.given(lane), lane.one("acting"))

    def curve(self, lane: Lane) -> None:
        given = self.given(lane)
        lane["acting"] = (curved(lane.one("u"), given["curve"], given["inverse"]) * given["sense"],)

    def take_in(self, lane: Lane) -> None:
        take_in(lane, self.given(lane)["noise"])

    def piece(self, lane: Lane) -> None:
        """The mean goes on by a piece, in which all that acts stands still."""
        x_x, x_y, y_x, y_y, x_v, y_v = self.structure.coefficients(lane["theta"][:DYNAMICS], lane.one("length"))
        x, y, v = lane.one("x"), lane.one("y"), lane.one("acting") + lane.one("d") + lane.one("c")
        lane["x"] = (x_x * x + x_y * y + x_v * v,)
        lane["y"] = (y_x * x + y_y * y + y_v * v,)

    def onward(self, lane: Lane) -> None:
        """The loads and the covariance go on by the row."""
        given, lasting = self.given(lane), lane.uniform("lasting")
        x_x, x_y, y_x, y_y, x_v, y_v = self.structure.coefficients(lane["theta"][:DYNAMICS], lasting)
        fading = elementary.exp(-given["load_rate"] * lasting)
        lane["c"] = (fading * lane.one("c"),)
        lane["covariance"] = gone_on(
            dict(zip(COVARIANCE, lane["covariance"], strict=True)),
            lambda x, y, load: x_x * x + x_y * y + x_v * load,
            lambda x, y, load: y_x * x + y_y * y + y_v * load,
            fading,
            given["walk"] * lasting,
            given["load_start"] * (1.0 - fading * fading),
        )
