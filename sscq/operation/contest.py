"""Five contenders on one course: the renewed knowledge base and what it has to beat, within the same travel.

knowledge_base  renewed by the supervisor; never: the same, never renewed
fixed           constant gains, the best for the whole course, which they know; renewed: others, renewed likewise
oracle          a gain table over time that knows the course, straight between its nodes

The travel that searches may use on some plants is that of the knowledge base never renewed, up to a budget. Constant
gains that know the course have the evaluations of all renewals together.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from sscq.operation.renewal import FixedRenewal, travel_on
from sscq.operation.running import RunningLoop
from sscq.operation.supervisor import RENEWED, OperatedLoop, Supervisor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from sscq.operation.course import DriftCourse
    from sscq.operation.estimate import Estimator
    from sscq.operation.programme import Programme
    from sscq.operation.renewal import OperatingTask, Renewal
    from sscq.operation.supervisor import SupervisorSettings, WindowRecord

    Array = NDArray[np.float64]

CONTENDERS = {
    "knowledge_base": "knowledge base, renewed",
    "never": "knowledge base, never renewed",
    "fixed": "best fixed gains for the whole course",
    "renewed": "fixed gains, renewed likewise",
    "oracle": "gain table over time by an oracle",
}


@dataclass(frozen=True, eq=False)
class Contest:
    """What all contenders share.

    Attributes
    ----------
    task : OperatingTask
        Its travel is the budget.
    programme : Programme
    course : DriftCourse
    estimator : Estimator
    knowledge : Renewal
        The knowledge base.
    reference : array [n_gains]
        Gains that searches of constant gains begin with.
    settings : SupervisorSettings
    design : mapping
        Parameters that the knowledge base was made for, at least those that drift.
    parts : int
        Of a window.
    seed : int
    """

    task: OperatingTask
    programme: Programme
    course: DriftCourse
    estimator: Estimator
    knowledge: Renewal
    reference: Array
    settings: SupervisorSettings
    design: Mapping[str, float]
    parts: int = 8
    seed: int = 0

    def run(self, name: str, on_window: Callable[[], None] | None = None) -> list[WindowRecord]:
        """Return the timeline of a contender of :data:`CONTENDERS`."""
        if name in {"knowledge_base", "never"}:
            return self._operated(self.knowledge, self.knowledge.start, name != "never", on_window)
        gains = self._best([self.course.at(0.0)], self.seed)
        renewal = FixedRenewal(self.task.laws, gains)
        if name == "renewed":
            return self._operated(renewal, gains, True, on_window)
        if name == "fixed":
            return self._operated(renewal, self._of_course(), False, on_window)
        loop = self._loop(renewal)
        return OperatedLoop(loop, self.course, gains, schedule=self._table(gains), on_window=on_window).run()

    def _operated(
        self, renewal: Renewal, start: Array, supervised: bool, on_window: Callable[[], None] | None
    ) -> list[WindowRecord]:
        loop = self._loop(renewal)
        supervisor = None
        if supervised:
            supervisor = Supervisor(
                self.task, loop, renewal, self.estimator, self.allowed, self.settings, self.seed, self.design
            )
        found = OperatedLoop(loop, self.course, start, supervisor, on_window=on_window).run()
        return [self._examined(renewal, record) for record in found]

    def _loop(self, renewal: Renewal) -> RunningLoop:
        return RunningLoop(self.programme, renewal.controller, self.parts, self.task.options, self.task.threads)

    def allowed(self, plants: Sequence[Mapping[str, float]]) -> float:
        """Return the travel that any search may use on some plants."""
        own = travel_on(self.task, self.knowledge.controller, self.knowledge.start, plants)
        return min(self.task.travel, own) if own > 0.0 else self.task.travel

    # ---------------------------------------------------------------------------------------- what knows the course

    def _best(
        self, plants: Sequence[Mapping[str, float]], seed: int, start: Array | None = None, more: int = 1
    ) -> Array:
        """Constant gains for some plants."""
        begin = self.reference if start is None else start
        task = replace(self.task, evaluations=more * self.task.evaluations)
        return FixedRenewal(self.task.laws, self.reference).proposed(task, plants, begin, self.allowed(plants), seed)

    def _of_course(self) -> Array:
        """The best constant gains for plants all along the course."""
        window = self.programme.window_time
        plants = [self.course.at((k + 0.5) * window) for k in range(self.programme.windows)]
        return self._best(plants, self.seed, more=self.programme.windows)

    def _table(self, first: Array) -> Callable[[float], Array]:
        """The oracle's gains over time."""
        nodes = self._nodes
        gains = [first]
        for number, (_, plant) in enumerate(nodes[1:], 1):
            same = plant == nodes[number - 1][1]
            gains.append(gains[-1] if same else self._best([plant], self.seed + number, gains[-1]))
        times, table = np.array([time for time, _ in nodes]), np.array(gains)

        def at(time: float) -> Array:
            behind = int(np.searchsorted(times, time, side="right"))
            if behind == len(times):
                return np.asarray(table[-1])
            begin, end = times[behind - 1], times[behind]
            return np.asarray(table[behind - 1] + (table[behind] - table[behind - 1]) * (time - begin) / (end - begin))

        return at

    @cached_property
    def _nodes(self) -> list[tuple[float, dict[str, float]]]:
        """Times and plants of the oracle's table: ends of windows, knots of the course; at jumps before and after."""
        end = self.programme.duration
        knots = {time for several in self.course.knots.values() for time, _ in several if 0.0 < time < end}
        ends = {k * self.programme.window_time for k in range(self.programme.windows + 1)}
        found = []
        for time in sorted(knots | ends):
            before, now = self.course.at(np.nextafter(time, -np.inf)), self.course.at(time)
            if time in knots and not np.allclose(list(before.values()), list(now.values()), rtol=1e-9):
                found.append((time, before))
            found.append((time, now))
        return found

    # ---------------------------------------------------------------------------------------------- seen from outside

    def _examined(self, renewal: Renewal, record: WindowRecord) -> WindowRecord:
        """A handover with what nobody in the loop knows: Ms of its frozen loops on the true plants, before and after.

        The plants are those at both ends of the next window; infinite is an unstable one.
        """
        plants = [self.course.at(record.time), self.course.at(record.time + self.programme.window_time)]
        margins = self.task.margins(plants)
        if record.decision != RENEWED or margins is None:
            return record

        def peak(theta: Array) -> float:
            rest = [each.worst() for each in margins.at_rest(renewal.controller, theta)]
            every = (*rest, *margins.passing(renewal.controller, theta))
            return max(one.sensitivity.value if one.stable else np.inf for one in every)

        after = peak(np.array(record.numbers["proposed"]))
        return replace(record, numbers={**record.numbers, "sensitivity": [peak(record.theta), after]})


def plain(records: Sequence[WindowRecord]) -> list[dict[str, Any]]:
    """Return a timeline as plain data."""
    return [{**asdict(record), "theta": record.theta.tolist()} for record in records]


class OperationTotals(TypedDict):
    """What a contender's timeline sums up to.

    Attributes
    ----------
    iae, travel : float
        Of all windows, each up to where the loop was lost if it was.
    lost : int
        Windows in which the loop was lost.
    handovers, rolled_back : int
    unstable : int
        Handovers after which the next window was lost or rolled back, or that made a frozen loop unstable on the true
        plant.
    """

    iae: float
    travel: float
    lost: int
    handovers: int
    rolled_back: int
    unstable: int


def totals(timeline: Sequence[Mapping[str, Any]]) -> OperationTotals:
    """Return what a contender's timeline of plain data sums up to."""
    handed = [(one, after) for one, after in pairwise(timeline) if one["decision"] == RENEWED]
    bad = [
        after["lost_at"] is not None or after["rolled_back_at"] is not None or _made_unstable(one)
        for one, after in handed
    ]
    return {
        "iae": sum(one["iae"] for one in timeline),
        "travel": sum(one["travel"] for one in timeline),
        "lost": sum(one["lost_at"] is not None for one in timeline),
        "handovers": len(handed),
        "rolled_back": sum(one["rolled_back_at"] is not None for one in timeline),
        "unstable": sum(bad),
    }


def _made_unstable(record: Mapping[str, Any]) -> bool:
    """Whether a handover has lost what the controller before kept; in files an infinite Ms is none."""
    before, after = record["numbers"].get("sensitivity", (1.0, 1.0))
    return (before is not None and np.isfinite(before)) and (after is None or not np.isfinite(after))
