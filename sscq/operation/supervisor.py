"""The supervisor: after every window it looks back and decides whether something better takes over.

It looks back in this order: is there an estimate that its own tests do not refuse; has anything changed beyond what it
can tell; does it explain the window; is a proposal searched on it better by the verdict's rules, and by enough. The
first that says no ends it, and the controller in force stays. What has taken over is watched: where the error grows
beyond what was seen in the replays, the controller before takes over again at once.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers.settings import check, setting
from sscq.operation.explaining import misfit
from sscq.operation.judging import Judge

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from sscq.loop.closed_loop import Snapshot
    from sscq.operation.course import DriftCourse
    from sscq.operation.estimate import Estimator, PlantEstimate
    from sscq.operation.judging import ProposalJudgement
    from sscq.operation.renewal import OperatingTask, Renewal
    from sscq.operation.running import PartRecord, RunningLoop

    Array = NDArray[np.float64]

UNCHANGED, REFUSED, KEPT, RENEWED = "unchanged", "model refused", "kept", "renewed"


@dataclass(frozen=True)
class SupervisorSettings:
    """How the supervisor decides.

    Raises
    ------
    ValueError
        For a setting outside its range.
    """

    searched: int = setting(6, "members that a proposal is searched on", low=1)
    judged: int = setting(16, "other members that it is judged on", low=2)
    level: float = setting(0.9, "of the members' interval; a value inside it counts as unchanged", above=0, below=1)
    explained: float = setting(
        1.5, "outputs may differ by this factor more from what an estimate predicts than predictions do", above=1
    )
    ahead: float = setting(
        1.0, "windows that the change since the last one is taken to go on for; 0: the plant stays as it is", low=0
    )
    gain: float = setting(0.01, "least gain in IAE and J for which anything is handed over, as a share", low=0, below=1)
    watch: float = setting(
        1.5, "error of a window over the largest in the replays, at which it is rolled back", above=1
    )

    def __post_init__(self) -> None:
        """Check the settings."""
        check(self, "supervisor")


@dataclass(frozen=True, eq=False)
class WindowRecord:
    """A window and what was decided after it.

    Attributes
    ----------
    window : int
    time : float
        At its end [s].
    truth : mapping
        Parameters that drift, at its end.
    iae, travel : float
        Up to where it was lost.
    lost_at : float or None
        [s] from the beginning of the run.
    rolled_back_at : float or None
    decision : str
    words : str
        Why.
    estimate : mapping of parameter to (5 %, median, 95 %)
        Empty: nothing was estimated.
    theta : array [n_theta]
        In force at its end, before the decision.
    numbers : mapping
        Of the judgement: share, replay, ensemble, bump.
    """

    window: int
    time: float
    truth: Mapping[str, float]
    iae: float
    travel: float
    lost_at: float | None
    rolled_back_at: float | None
    decision: str
    words: str
    estimate: Mapping[str, tuple[float, ...]]
    theta: np.ndarray
    numbers: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class _LookBack:
    """A decision before it becomes part of the record."""

    decision: str
    words: str
    estimate: PlantEstimate | None = None
    judgement: ProposalJudgement | None = None


@dataclass(eq=False)
class Supervisor:
    """Renews one controller.

    Attributes
    ----------
    task : OperatingTask
    loop : RunningLoop
    renewal : Renewal
    estimator : Estimator
    allowed : callable
        Plants to the travel that a search may use on them, the same for all contenders.
    settings : SupervisorSettings
    seed : int
    design : mapping
        Parameters that the controller at the start was made for.
    """

    task: OperatingTask
    loop: RunningLoop
    renewal: Renewal
    estimator: Estimator
    allowed: Callable[[Sequence[Mapping[str, float]]], float]
    settings: SupervisorSettings
    seed: int
    design: Mapping[str, float]

    def __post_init__(self) -> None:
        """Begin with the plant of the design."""
        self._known = dict(self.design)
        self._limit = np.inf
        self._last: dict[str, float] | None = None
        self._before: tuple[Array, dict[str, float]] | None = None

    def rolls_back(self, spent: float) -> Array | None:
        """Return the numbers of before where an error so far in this window says so; None: all is as expected."""
        if self._before is None or spent <= self._limit:
            return None
        theta, self._known = self._before
        self._before = None
        return theta

    def look_back(
        self, window: int, begin: Snapshot, theta: Array, records: Sequence[PartRecord], time: float
    ) -> _LookBack:
        """Decide after a window.

        Parameters
        ----------
        window : int
        begin : Snapshot
            Where it began.
        theta : array [n_theta]
            In force.
        records : sequence of PartRecord
        time : float
            Its end [s].
        """
        self._before = None  # what took over has kept for a window
        estimate = self.estimator.estimate(window, time, records, self.seed)
        if estimate.refusal:
            return _LookBack(REFUSED, estimate.refusal, estimate)
        before, self._last = self._last, estimate.middle
        known = {name: self._known[name] for name in estimate.names}
        if estimate.holds(known, self.settings.level):
            return _LookBack(UNCHANGED, "no parameter has left what the estimate can tell apart", estimate)
        against = self._unexplained(window, begin, theta, records, estimate, known)
        if against:
            self._last = before
            return _LookBack(REFUSED, against, estimate)
        coming = estimate if before is None else self._ahead(estimate, before)
        plants = coming.some(self.settings.searched)
        new = self.renewal.proposed(self.task, plants, theta, self.allowed(plants), self.seed + 7919 * (window + 1))
        judge = Judge(self.task, self.loop, self.renewal.controller)
        judged, past = (one.some(self.settings.judged, first=1) for one in (coming, estimate))
        found = judge.judged(window, begin, theta, new, judged, past, self.seed + 104_729 * (window + 1))
        reasons = found.reasons or self._little(found)
        if reasons:
            return _LookBack(KEPT, "; ".join(reasons), estimate, found)
        assert found.replayed is not None  # noqa: S101  (it passed; for the type checker)
        self._before = theta, self._known
        self._limit = self.settings.watch * float(found.replayed.iae[:, 1].max())
        self._known = {**self._known, **estimate.middle}
        return _LookBack(RENEWED, _gain(found), estimate, found)

    def _little(self, found: ProposalJudgement) -> tuple[str, ...]:
        """That a proposal is better by less than is worth a handover."""
        assert found.replay is not None and found.ensemble is not None  # noqa: S101, PT018
        if max(found.replay.mean.value, found.ensemble.mean.value) <= -self.settings.gain or found.ensemble.fewer:
            return ()
        return (f"it gains less than {100.0 * self.settings.gain:g} % ({_gain(found)})",)

    def _ahead(self, estimate: PlantEstimate, before: Mapping[str, float]) -> PlantEstimate:
        """The members as they are now, and on to what they will be if the change since the last window goes on."""
        now = estimate.middle
        change = np.array([now[name] / before[name] if before[name] > 0.0 < now[name] else 1.0 for name in now])
        # In pairs: searched and judged members are every second one.
        share = np.linspace(0.0, self.settings.ahead, (len(estimate.members) + 1) // 2)
        moved = estimate.members * change ** np.repeat(share, 2)[: len(estimate.members), None]
        bounds = {q.name: (q.low, q.high) for q in self.task.plant.parameters}
        low, high = np.array([bounds[name] for name in estimate.names]).T
        return replace(estimate, members=np.clip(moved, low, high))

    def _unexplained(
        self,
        window: int,
        begin: Snapshot,
        theta: Array,
        records: Sequence[PartRecord],
        estimate: PlantEstimate,
        known: Mapping[str, float],
    ) -> str:
        """What speaks against the estimate in the window itself."""
        if any(part.lost for part in records):
            return ""
        middle = estimate.middle
        away = misfit(self.loop, window, begin, theta, records, known, estimate, self.seed)
        if away <= self.settings.explained:
            return ""
        told = ", ".join(f"{name} = {value:.4g}" for name, value in middle.items())
        return (
            f"{told} does not explain the window: its outputs are {away:.3g} times as far from predictions as these "
            f"from one another, at most {self.settings.explained:g}"
        )


def _gain(found: ProposalJudgement) -> str:
    assert found.replay is not None and found.ensemble is not None  # noqa: S101, PT018
    share = "" if found.share >= 1.0 else f", {100.0 * found.share:.3g} % of the change, so that the margins hold"
    return f"J {found.ensemble.mean} on the ensemble, IAE {found.replay.mean} in the window's replay{share}"


class OperatedLoop:
    """A controller in operation through all windows.

    Parameters
    ----------
    loop : RunningLoop
    course : DriftCourse
    start : array [n_theta]
    supervisor : Supervisor, optional
        Left out, nobody renews.
    schedule : callable, optional
        Time [s] to numbers [n_theta], for those who know the course.
    on_window : callable, optional
        Called after each window.
    """

    def __init__(
        self,
        loop: RunningLoop,
        course: DriftCourse,
        start: Array,
        supervisor: Supervisor | None = None,
        schedule: Callable[[float], Array] | None = None,
        on_window: Callable[[], None] | None = None,
    ) -> None:
        self.loop, self.course, self.supervisor, self.schedule = loop, course, supervisor, schedule
        self.theta, self._on_window = np.asarray(start, float), on_window

    def run(self) -> list[WindowRecord]:
        """Return the timeline."""
        state, found = self.loop.begun(), []
        programme = self.loop.programme
        for window in range(programme.windows):
            begin, state, records, rolled_back = state, *self._window(window, state)
            time = (window + 1) * programme.window_time
            lost = next((k for k, part in enumerate(records) if part.lost), None)
            look, bump = _LookBack("", ""), None
            if self.supervisor is not None and window + 1 < programme.windows:
                look = self.supervisor.look_back(window, begin, self.theta, records, time)
            record = self._recorded(window, time, records, lost, rolled_back, look)
            if look.decision == RENEWED and look.judgement is not None:
                new = look.judgement.theta
                if lost is None:
                    state, bump = self.loop.handed_over(window, state, self.theta, new, self.course.at(time))
                self.theta = new
            if bump is not None:
                record = replace(record, numbers={**record.numbers, "bump": bump.tolist()})
            found.append(record)
            if lost is not None and window + 1 < programme.windows:
                state = self.loop.begun(window + 1)
            if self._on_window is not None:
                self._on_window()
        return found

    def _window(self, window: int, state: Snapshot) -> tuple[Snapshot, list[PartRecord], float | None]:
        """Run the parts of a window; what has taken over before may be rolled back in it."""
        records: list[PartRecord] = []
        spent, rolled_back, logs = 0.0, None, self.supervisor is not None
        for number in range(self.loop.parts):
            middle = (state.step + 0.5 * self.loop.part_steps(number)) * self.loop.programme.step
            theta = self.theta if self.schedule is None else self.schedule(middle)
            part = self.loop.part(window, number, theta, self.course, state, log=logs)
            records.append(part)
            state, spent = part.end, spent + part.iae
            older = None if self.supervisor is None else self.supervisor.rolls_back(np.inf if part.lost else spent)
            if older is not None:
                rolled_back = state.step * self.loop.programme.step
            if part.lost:
                self.theta = self.theta if older is None else older
                break
            if older is not None and rolled_back is not None:
                state, _ = self.loop.handed_over(window, state, self.theta, older, self.course.at(rolled_back))
                self.theta = older
        return state, records, rolled_back

    def _end_of(self, window: int, part: int) -> float:
        """When a part ends [s]."""
        programme = self.loop.programme
        return (window * programme.window_steps + self.loop.ends[part + 1]) * programme.step

    def _recorded(
        self,
        window: int,
        time: float,
        records: Sequence[PartRecord],
        lost: int | None,
        rolled_back: float | None,
        look: _LookBack,
    ) -> WindowRecord:
        estimate = {}
        if look.estimate is not None and len(look.estimate.members):
            quantiles = np.quantile(look.estimate.members, (0.05, 0.5, 0.95), axis=0).T
            estimate = {name: tuple(row) for name, row in zip(look.estimate.names, quantiles.tolist(), strict=True)}
        numbers = {}
        if look.judgement is not None:
            given = look.judgement
            numbers = {
                "share": given.share,
                "replay": None if given.replay is None else asdict(given.replay),
                "ensemble": None if given.ensemble is None else asdict(given.ensemble),
                "proposed": given.theta.tolist(),
            }
        return WindowRecord(
            window=window,
            time=time,
            truth=self.course.at(time),
            iae=sum(one.iae for one in records),
            travel=sum(one.travel for one in records),
            lost_at=None if lost is None else self._end_of(window, lost),
            rolled_back_at=rolled_back,
            decision=look.decision,
            words=look.words,
            estimate=estimate,
            theta=self.theta.copy(),
            numbers=numbers,
        )
