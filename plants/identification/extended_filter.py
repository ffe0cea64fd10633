"""The extended Kalman filter of a plant of its own equations: log likelihoods of many parameter sets, compiled.

The mean moves by the plant's own integrator step. The covariance moves by that step's exact slopes, which forward mode
takes on the tape, in the state and in the command; both loads enter as the command does. One lane a parameter set.

Source: Jazwinski, Stochastic Processes and Filtering Theory, Academic Press 1970, sec. 8.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.kernel.kernel import ALIVE, LANES, KernelDesign, build
from plants.core.kernel.lanes import LaneLoop, Repeat, Uniform
from plants.core.kernel.run import RolloutJob, grid, run
from plants.core.tracing.tape import Traced
from plants.core.tracing.trace import differentiate
from plants.identification.filter_bodies import TOGETHER, begin_counting, count, counted_up, logarithm, whole_chunks
from plants.identification.slow_filter import SKIPPED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from plants.core.kernel.kernel import Kernel
    from plants.core.kernel.lanes import Lane
    from plants.identification.grey_box import GreyBox
    from plants.identification.record import LoopRecord

    Array = NDArray[np.float64]
    Start = tuple[Array, Array]

_GIVEN = ("part", "fading", "walk_noise", "load_noise", "noise", "load_start")


class ExtendedFilter:
    """The filter of one plant, compiled at its first use.

    Parameters
    ----------
    box : GreyBox
    lanes : int
        Results do not depend on it.
    """

    def __init__(self, box: GreyBox, lanes: int = LANES) -> None:
        self.box = box
        self._lanes, self._kernel = lanes, _built(box, lanes, observed=False)

    @cached_property
    def _observed(self) -> Kernel:
        return _built(self.box, self._lanes, observed=True)

    def log_likelihoods(
        self,
        records: Sequence[LoopRecord],
        parameters: Array,
        threads: int | None = None,
        starts: Sequence[Start] | None = None,
    ) -> Array:
        """Return the log likelihoods of parameter sets, summed over records of the same loop [n].

        Parameters
        ----------
        records : sequence of LoopRecord
            With rows as far apart as the box says; output and input in the units of the plant's output and command.
        parameters : array [n, n_parameters]
            In the order of the box's names.
        threads : int, optional
            None: all processors. The result does not depend on it.
        starts : sequence of (mean [n_unknowns], covariance [n_unknowns, n_unknowns]), optional
            What is known before each record; left out, what the box says.

        Returns
        -------
        array [n]
            Minus infinity where the filter has no finite value.
        """
        parameters = self._checked(records, parameters)
        begun = [self.box.start(record) for record in records] if starts is None else list(starts)
        total = np.zeros(len(parameters))
        for record, start in zip(records, begun, strict=True):
            job = self._job(self._kernel, record, parameters, start)
            results, _, _ = run(self._kernel, job, grid(1, len(job.theta), self._kernel.lanes), threads=threads)
            total += counted_up(*results.T)[: len(parameters)]
        return total

    def seen(self, record: LoopRecord, parameters: Array, start: Start | None = None) -> SeenRows:
        """Return what the filter sees with one parameter set [n_parameters], row by row."""
        kernel, table = self._observed, self._checked([record], np.atleast_2d(parameters))
        job = self._job(kernel, record, table, self.box.start(record) if start is None else start)
        rows = [kernel.rows.first[name] for name in ("innovation", "variance")]
        rows += range(*kernel.rows.span("mean").indices(kernel.rows.count))
        _, _, record_rows = run(kernel, job, grid(1, len(job.theta), kernel.lanes), threads=1, record=rows)
        innovation, variance, *mean = record_rows[: len(record), :, 0].T
        there = record.measured
        return SeenRows(np.where(there, innovation, np.nan), np.where(there, variance, np.nan), np.array(mean).T)

    def _checked(self, records: Sequence[LoopRecord], parameters: Array) -> Array:
        names, step = self.box.parameters, self.box.step
        table = np.atleast_2d(np.asarray(parameters, float))
        if table.shape[1] != len(names):
            raise ValueError(f"parameters must have {len(names)} columns ({', '.join(names)}), got {table.shape[1]}")
        if any(abs(record.step - step) > 1e-9 * step for record in records):
            raise ValueError(f"rows of the records must be {step:g} s apart, as the box says")
        return table

    def _job(self, kernel: Kernel, record: LoopRecord, parameters: Array, start: Start) -> RolloutJob:
        late = parameters[:, len(self.box.fitted)]
        rows = np.floor(late / self.box.step).astype(np.int64)
        return RolloutJob(
            start=_start(kernel, start),
            theta=whole_chunks(self._theta(parameters, late / self.box.step - rows), kernel.lanes),
            codes=whole_chunks(rows, kernel.lanes)[None],
            keys=np.zeros((1, 1, 2), np.int64),
            series=np.array([np.where(record.measured, record.output, 0.0), record.measured, record.input], float),
            n_steps=len(record),
            step=self.box.step,
        )

    def _theta(self, parameters: Array, part: Array) -> Array:
        _, noise, load, walk, load_time = parameters[:, len(self.box.fitted) :].T
        fading = np.exp(-self.box.step / load_time)
        given = (part, fading, walk**2 * self.box.step, load**2 * (1.0 - fading**2), noise**2, load**2)
        return np.ascontiguousarray(np.column_stack([self.box.values(parameters), *given]))


@dataclass(frozen=True, eq=False)
class SeenRows:
    """What the filter saw.

    Attributes
    ----------
    innovation, variance : array [n]
        Of each row's measured output before it is known; NaN where it is missing.
    mean : array [n, n_unknowns]
        States and loads of each row, once its output is known.
    """

    innovation: Array
    variance: Array
    mean: Array


def _start(kernel: Kernel, start: Start) -> Array:
    mean, covariance = start
    found = np.zeros((1, kernel.rows.count))
    found[:, kernel.rows.span(ALIVE)] = found[:, kernel.rows.span("product")] = 1.0
    found[:, kernel.rows.span("mean")] = mean
    found[:, kernel.rows.span("covariance")] = covariance[np.triu_indices(len(mean))]
    return found


# -------------------------------------------------------------------------------------------------------------- kernel


def _built(box: GreyBox, lanes: int, *, observed: bool) -> Kernel:
    design = KernelDesign(
        f"log likelihood of {box.plant.name} by the extended Kalman filter",
        results=("total", "product"),
        lanes=lanes,
        observed=observed,
    )
    rows, n, n_x = design.rows, box.unknowns, len(box.plant.states)
    for name in (ALIVE, "total", "product", "u", "u_before", "innovation", "variance"):
        rows.add(name)
    rows.add("mean", n)
    rows.add("covariance", n * (n + 1) // 2)
    rows.add("slopes", n_x * (n_x + 1))  # of the state in the row's first state, and in the load
    rows.add("theta", len(box.plant.parameters) + len(_GIVEN))
    late, u, before = "codes[0, lane_theta[chunk, lane]]", rows.first["u"], rows.first["u_before"]
    fetched = (
        "measured = series[1, step]",
        "output = series[0, step]",
        f"for lane in range({design.lanes}):",
        f"    S[{u}, lane] = series[2, max(step - {late}, 0)]",
        f"    S[{before}, lane] = series[2, max(step - {late} - 1, 0)]",
    )
    design.kept += ["u", "u_before"]
    view = _View(box)
    design.before += [
        Uniform(fetched),
        LaneLoop("start", (view.start,), when="step == 0"),
        LaneLoop("update", (view.update,), when="measured > 0.5"),
        LaneLoop("begin_counting", (begin_counting,), when=f"step == {SKIPPED - 1}"),
    ]
    design.after += [
        LaneLoop("still", (view.still,)),
        Repeat(LaneLoop("early", (view.moving("u_before", first=True),)), box.parts),
        Repeat(LaneLoop("late", (view.moving("u", first=False),)), box.parts),
        LaneLoop("spread", (view.spread,)),
        LaneLoop("logarithm", (logarithm,), when=f"step % {TOGETHER} == {TOGETHER - 1}"),
    ]
    return build(design)


class _View:
    """The bodies of the loops, for one plant."""

    def __init__(self, box: GreyBox) -> None:
        self.box, self.n_x = box, len(box.plant.states)

    def given(self, lane: Lane) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The plant's parameters, and what else the lane is given."""
        theta, n = lane["theta"], len(self.box.plant.parameters)
        return theta[:n], dict(zip(_GIVEN, theta[n:], strict=True))

    def matrix(self, lane: Lane) -> list[list[Any]]:
        """The covariance of all unknowns."""
        n = self.box.unknowns
        packed = iter(lane["covariance"])
        upper = {(i, j): next(packed) for i in range(n) for j in range(i, n)}
        return [[upper[min(i, j), max(i, j)] for j in range(n)] for i in range(n)]

    def keep(self, lane: Lane, matrix: Sequence[Sequence[Any]]) -> None:
        """Give the covariance its new values."""
        n = self.box.unknowns
        lane["covariance"] = [matrix[i][j] for i in range(n) for j in range(i, n)]

    def start(self, lane: Lane) -> None:
        """The fading load begins with its own variance."""
        matrix, (_, given) = self.matrix(lane), self.given(lane)
        matrix[-1][-1] = given["load_start"]
        self.keep(lane, matrix)

    def update(self, lane: Lane) -> None:
        """Take the measured output in, and count how much it was to be expected."""
        (p, given), matrix = self.given(lane), self.matrix(lane)
        mean = lane["mean"]
        x, load = mean[: self.n_x], lane.tape.keep(mean[-2] + mean[-1], "load")
        # A row is measured before the command of this instant acts, which a loop has made from this very output.
        expected = self.box.measured(lane.uniform("t"), x, lane.one("u_before"), load, p)
        row = _slopes(lane, [expected], [*x, load])[0]
        row = [*row, row[-1]]  # both loads are one to the plant
        column = [_product(row, line) for line in matrix]  # P H'
        innovation = lane.uniform("output") - expected
        variance = _product(row, column) + given["noise"]
        inverse = 1.0 / variance
        lane["mean"] = [value + entry * inverse * innovation for value, entry in zip(mean, column, strict=True)]
        n = range(self.box.unknowns)
        self.keep(lane, [[matrix[i][j] - column[i] * inverse * column[j] for j in n] for i in n])
        count(lane, innovation * innovation * inverse, variance)
        lane["innovation"], lane["variance"] = (innovation,), (variance,)

    def still(self, lane: Lane) -> None:
        """Nothing has moved yet in this row."""
        lane["slopes"] = [1.0 if i == j else 0.0 for i in range(self.n_x) for j in range(self.n_x + 1)]

    def moving(self, command: str, *, first: bool) -> Callable[[Lane], None]:
        """One integration step in the part of the row before the dead time has passed, or in that behind."""

        def body(lane: Lane) -> None:
            (p, given), mean, box = self.given(lane), lane["mean"], self.box
            part, whole = given["part"], lane.uniform("h")
            h = (part if first else 1.0 - part) * whole * (1.0 / box.parts)
            x, load = mean[: self.n_x], lane.tape.keep(mean[-2] + mean[-1], "load")
            new = box.moved(lane.uniform("t"), x, lane.one(command), load, p, h)
            table = _slopes(lane, new, [*x, load])
            old = lane["slopes"]
            n = self.n_x + 1
            lines: list[list[Any]] = [list(old[i * n : (i + 1) * n]) for i in range(self.n_x)]
            lines.append([0.0] * self.n_x + [1.0])
            moved = [[_product(row, [line[j] for line in lines]) for j in range(n)] for row in table]
            lane["slopes"] = [value for row in moved for value in row]
            lane["mean"] = [*new, *mean[self.n_x :]]

        return body

    def spread(self, lane: Lane) -> None:
        """The covariance goes on by the row; the fading load fades."""
        _, given = self.given(lane)
        n, n_x, slopes = self.box.unknowns, self.n_x, lane["slopes"]
        lines = [slopes[i * (n_x + 1) : (i + 1) * (n_x + 1)] for i in range(n_x)]
        forward: list[list[Any]] = [[*line, line[-1]] for line in lines]
        forward += [[0.0] * n_x + [1.0, 0.0], [0.0] * n_x + [0.0, given["fading"]]]
        matrix = self.matrix(lane)
        half = [[_product(row, column) for column in matrix] for row in forward]  # F P, P being symmetric
        new = [[_product(half[i], forward[j]) if j >= i else 0.0 for j in range(n)] for i in range(n)]
        new[-2][-2] = new[-2][-2] + given["walk_noise"]
        new[-1][-1] = new[-1][-1] + given["load_noise"]
        self.keep(lane, new)
        mean = lane["mean"]
        lane["mean"] = [*mean[:-1], given["fading"] * mean[-1]]


def _slopes(lane: Lane, outputs: Sequence[Any], inputs: Sequence[Any]) -> list[list[Any]]:
    """Slopes of numbers in others, 0.0 where there is none."""
    return differentiate([lane.tape.lift(value) for value in outputs], inputs)


def _product(row: Sequence[Any], column: Sequence[Any]) -> Any:
    """A sum of products, without those that are 0 whatever the lane holds."""
    total: Any = 0.0
    for a, b in zip(row, column, strict=True):
        if _nothing(a) or _nothing(b):
            continue
        total = total + a * b
    return total


def _nothing(value: Any) -> bool:
    return not isinstance(value, Traced) and value == 0.0
