"""Measures of quality as a lane loop: accumulated in every step that a rollout is alive.

Built-in measures come from :mod:`sscq.loop.quality`. A plant's own measures have rows of their own, something that is
done to them in every step, and values that are read off at the end.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.analysis.integrands import controller_entropy_rate
from plants.core.elementary import abs as magnitude
from plants.core.elementary import where
from plants.core.kernel.kernel import ALIVE, KernelDesign
from plants.core.kernel.lanes import Lane, LaneLoop
from plants.core.kernel.signal_bank import SignalBank
from plants.core.names import unknown
from plants.core.plant import pick_measures
from plants.core.signals.signal import TIME_TOLERANCE
from sscq.loop.loss_at_rest import loss_at_rest
from sscq.loop.quality import ALL_MEASURES, STEP_MEASURES, Quality, StepMoment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from plants import Channel, Plant
    from plants.excitation import Feed
    from sscq.loop.controller_side import Sampling
    from sscq.loop.spec import LoopSpec

    Array = NDArray[np.float64]


DAMPED = "entropy_difference_damped"
"""Measure of observed loops: the integral of |dS_u - dS_d| with dS_d of dampers in the place of the controller [J].

A controller lowers its own kd e'^2 by its gains alone, whatever the plant does; that of given dampers it does not."""

_RESULTS = ("failed", "fitness", "error", "entropy", "travel")
_TAKEN = frozenset({*ALL_MEASURES, DAMPED, *Quality.__dataclass_fields__, *_RESULTS})


def all_measures(plant: Plant) -> tuple[str, ...]:
    """Return the names of all measures that a plant's closed loops can have: the built-in ones, then its own."""
    for measure in plant.measures:
        if measure.name in _TAKEN:
            raise ValueError(
                f"plant {plant.name!r}: {measure.name!r} is a name that results of closed loops have already; "
                "give its measure another one"
            )
    return (*ALL_MEASURES, *(measure.name for measure in plant.measures))


def check_measures(names: Sequence[str], plant: Plant) -> tuple[str, ...]:
    """Return the measures asked for, each once, in their fixed order; unknown ones raise."""
    known = all_measures(plant)
    for name in names:
        if name not in known:
            raise ValueError(unknown("measure", name, known))
    return tuple(name for name in known if name in names)


def scales(plant: Plant, wanted: Iterable[str]) -> dict[str, float]:
    """Return what counts as large of those of the plant's own measures that are to be minimised.

    Raises
    ------
    ValueError
        For a measure that the plant does not have, or that does not say that less of it is better.
    """
    known = {measure.name: measure for measure in plant.measures}
    for name in wanted:
        if name not in known:
            of = f"measure of plant {plant.name!r} to minimise"
            raise ValueError(unknown(of, name, tuple(known)) if known else f"plant {plant.name!r} has no own measures")
        if known[name].less_is_better is not True:
            raise ValueError(
                f"the measure {name!r} of plant {plant.name!r} cannot be minimised: what is must be better "
                "when it is less; declare one that is, with less_is_better=True"
            )
    return {name: known[name].scale for name in wanted}


class OwnMeasures:
    """Those of a plant's measures that a closed loop carries; without any it does nothing.

    Parameters
    ----------
    plant : Plant
    names : sequence of str
        Measures asked for.
    step : float
        Integration step [s].
    """

    def __init__(self, plant: Plant, names: Sequence[str], step: float) -> None:
        self.measures, self.step = pick_measures(plant, names), step
        self.groups = tuple(f"m_{measure.name}" for measure in self.measures)

    def __bool__(self) -> bool:
        return bool(self.measures)

    def add_rows(self, design: KernelDesign) -> None:
        """Give every measure's states rows, the next of the kernel's results."""
        for group, measure in zip(self.groups, self.measures, strict=True):
            design.rows.add(group, measure.n_states)
        design.results = (*design.results, *self.groups)

    @property
    def worst(self) -> dict[str, float]:
        """What a lost rollout's measures read, by name: the worst, NaN where neither way is."""
        ends = {True: math.inf, False: -math.inf, None: math.nan}
        return {measure.name: ends[measure.less_is_better] for measure in self.measures}

    @property
    def width(self) -> int:
        """Number of states of all measures."""
        return sum(measure.n_states for measure in self.measures)

    def start(self) -> dict[str, tuple[float, ...]]:
        """Return the initial values of the rows."""
        return {group: measure.initial for group, measure in zip(self.groups, self.measures, strict=True)}

    def start_again(self, rows: Array, design: KernelDesign) -> None:
        """Put sums and peaks of workspaces [n, rows] back to where they start; filters go on."""
        for group, measure in zip(self.groups, self.measures, strict=True):
            old = rows[:, design.rows.span(group)]
            rows[:, design.rows.span(group)] = np.where(measure.remembered, old, measure.initial)

    def update(self, lane: Lane, sampling: Sampling) -> None:
        """Move the states of all measures by one step, in rollouts that are alive."""
        alive, t = lane.one(ALIVE), lane.uniform("t")
        u, w, p = sampling.motion.block(lane, t, t)
        r = sampling.refer(lane) if any(measure.references for measure in self.measures) else ()
        for group, measure in zip(self.groups, self.measures, strict=True):
            old = lane[group]
            new = measure.updated(t, lane["x"], u, w, p, old, self.step, r)
            lane[group] = tuple(where(alive, a, b) for a, b in zip(new, old, strict=True))

    def values(self, states: Array, time: Array) -> Array:
        """Return the measures [..., n] from their states [..., width], measured for so long [...] [s]."""
        found, first = np.empty((*states.shape[:-1], len(self.measures))), 0
        for k, measure in enumerate(self.measures):
            m = tuple(states[..., first + i] for i in range(measure.n_states))
            with np.errstate(all="ignore"):  # of rollouts that diverge
                found[..., k] = measure.value(m, time)
            first += measure.n_states
        return found

    def final(self, states: Array, steps: Array, total: int) -> Array:
        """Return the measures [n_out, n] of rollouts that got so far [n_out] in `total` steps.

        The step in which a rollout diverges is measured at its start.
        """
        return self.values(states, self.step * np.minimum(steps + 1.0, total))

    def running(self, states: Array, reached: int) -> Array:
        """Return the measures [n + 1, n_measures] as they would be if a recorded rollout had ended at each time.

        At the start, before anything is measured, they are those of the initial states over one step.
        """
        done = np.minimum(np.arange(len(states)), reached)
        return self.values(states, self.step * np.maximum(done, 1))

    def labels(self) -> tuple[list[str], list[str]]:
        """Return names and units."""
        return [measure.name for measure in self.measures], [measure.unit for measure in self.measures]


ON_THE_WAY = frozenset({"overshoot", "settling_time"})
OF_ENTROPY = "entropy"  # how the names of these measures begin
_SHORT = 1e-3  # of the channel's scale: a shorter way is regulation at rest, measured against the scale


class Scoring:
    """Rows and loop of the measures.

    Parameters
    ----------
    spec : LoopSpec
    sampling : Sampling
    measures : sequence of str
        Built-in ones and the plant's own.
    scaled : bool
        Whether kd * e'^2 is scaled to the units of the plant's rate, as where a loop is not collocated.
    jumps : int
        Rows for the times at which reference or load jumps.
    damped : bool
        Also accumulate :data:`DAMPED`; the dampers [per channel] are numbers of the run.
    """

    def __init__(
        self, spec: LoopSpec, sampling: Sampling, measures: Sequence[str], *, scaled: bool, jumps: int, damped: bool
    ) -> None:
        self.spec, self.sampling, self.scaled, self.jumps, self.damped = spec, sampling, scaled, jumps, damped
        asked = check_measures(measures, spec.plant)
        self.own = OwnMeasures(spec.plant, asked, spec.timing.step)
        self.built_in = (*asked[: len(asked) - len(self.own.measures)], *([DAMPED] if damped else ()))
        self.measures = (*self.built_in, *asked[len(asked) - len(self.own.measures) :])
        self.rest = self._rest()

    def _rest(self) -> SignalBank | None:
        """The plant's loss at rest in every situation, where the plant says so and a measure needs it."""
        spec = self.spec
        if not (spec.plant.loses_at_rest and any(name.startswith(OF_ENTROPY) for name in self.measures)):
            return None
        step = spec.timing.step
        return SignalBank("rest", ("loss",), [(loss_at_rest(spec.plant, s, step),) for s in spec.situations], step)

    def add_to(self, design: KernelDesign) -> None:
        """Put what the measures need of each situation into every step."""
        if self.rest is not None:
            self.rest.add_to(design)

    def start(self, number: int, seed: int) -> dict[str, tuple[float, ...]]:
        """Return the initial values of the rows of one situation, with a seed."""
        return {} if self.rest is None else self.rest.start(number, self.spec.situations[number].name, seed)

    def feeds(self, number: int) -> list[Feed]:
        """Return what feeds the streams in one situation, in the kernel's order."""
        return [] if self.rest is None else self.rest.streams(number)

    def every(self, number: int) -> dict[str, int]:
        """Steps between the numbers of each stream in one situation."""
        return {} if self.rest is None else self.rest.every(number)

    def add_rows(self, design: KernelDesign) -> None:
        """Give the measures rows, as the kernel's results; `steps` tells whether and when a rollout diverged."""
        design.rows.add("since", self.jumps)
        if self.scaled:
            design.numbers.append("entropy_scale")
        if self.damped:
            design.numbers.extend(self.dampers)
        for name in self.built_in:
            design.rows.add(f"q_{name}")
        design.results = ("steps", *(f"q_{name}" for name in self.built_in))
        self.own.add_rows(design)

    def loop(self) -> list[LaneLoop]:
        """Return the loop that accumulates, if anything is to be accumulated in steps."""
        bodies = [self._score] if self.damped or set(self.measures) & set(STEP_MEASURES) else []
        if self.own:
            bodies.append(self._score_own)
        return [LaneLoop("score", tuple(bodies))] if bodies else []

    def _score(self, lane: Lane) -> None:
        alive, moment = lane.one(ALIVE), self.moment(lane)
        for name in self.measures:
            if name in STEP_MEASURES:
                old = lane.one(f"q_{name}")
                lane[f"q_{name}"] = (where(alive, STEP_MEASURES[name](old, moment), old),)
        if self.damped:
            old = lane.one(f"q_{DAMPED}")
            new = old + moment.h * magnitude(moment.entropy_plant - self._of_dampers(lane))
            lane[f"q_{DAMPED}"] = (where(alive, new, old),)

    def _score_own(self, lane: Lane) -> None:
        self.own.update(lane, self.sampling)

    def moment(self, lane: Lane) -> StepMoment:
        """Return what the measures may look at, now."""
        t, h, plant = lane.uniform("t"), lane.uniform("h"), self.spec.plant
        outputs, references = self.sampling.outputs(lane), self.sampling.refer(lane)
        errors = []
        for i, channel in enumerate(plant.channels):
            error = references[i] - outputs[self.spec.output_index(channel.output)]
            errors.append(error * (1.0 / channel.scale))
        since = t - self._last_jump(lane, t)
        return StepMoment(
            t=t,
            h=h,
            since=where(since, since, 0.0),
            scaled_error=tuple(errors),
            command=lane["command"],
            entropy_plant=self.of_plant(lane) - self.at_rest(lane) if self.rest else self.of_plant(lane),
            entropy_controller=self._of_controller(lane, outputs),
            progress=self._progress(lane, references, outputs) if ON_THE_WAY & set(self.measures) else (),
            saturated=self._saturated(lane) if "saturated_time" in self.measures else 0.0,
        )

    def _last_jump(self, lane: Lane, t: Any) -> Any:
        """Time of the latest jump of reference or load up to now; the rows hold all of them in order."""
        latest, *later = lane["since"]
        for jump in later:
            latest = where(t - jump + TIME_TOLERANCE, jump, latest)
        return latest

    def at_rest(self, lane: Lane) -> Any:
        """Return the loss rate at the equilibrium of the present reference [W]; 0 where the plant rests without."""
        t = lane.uniform("t")
        return 0.0 if self.rest is None else self.rest.values(lane, t, t)[0]

    def of_plant(self, lane: Lane) -> Any:
        """Return T0 dS/dt of the plant [W]."""
        plant, t = self.spec.plant, lane.uniform("t")
        if plant.entropy_rate is None:
            return 0.0
        u, w, p = self.sampling.motion.block(lane, t, t)
        return plant.entropy_rate(t, lane["x"], u, w, p)

    def _of_controller(self, lane: Lane, outputs: tuple[Any, ...]) -> Any:
        """T0 dS/dt of the derivative action: |kd| times the square of the true error rate where the plant tells it."""

        def parts() -> Iterator[tuple[Channel, Any, Any]]:
            for i, (channel, law) in enumerate(zip(self.spec.plant.channels, self.spec.laws, strict=True)):
                if "kd" in law.gain_names:
                    kd = lane["g"][self.spec.gains_of(i)][law.gain_names.index("kd")]
                    yield channel, kd, self._error_rate(lane, outputs, i)

        total = controller_entropy_rate(parts())
        # A number of the run, not a constant of the text: another scale needs no other kernel.
        return lane.uniform("entropy_scale") * total if self.scaled else total

    @property
    def dampers(self) -> list[str]:
        """Names of the kernel's numbers: the damping of each channel."""
        return [f"damping_{i}" for i in range(len(self.spec.plant.channels))]

    def _of_dampers(self, lane: Lane) -> Any:
        """T0 dS/dt of the given dampers, which the true error rate of each channel moves."""
        outputs, total = self.sampling.outputs(lane), 0.0
        for i, name in enumerate(self.dampers):
            rate = self._error_rate(lane, outputs, i)
            total = total + lane.uniform(name) * rate * rate
        return total

    def _error_rate(self, lane: Lane, outputs: tuple[Any, ...], i: int) -> Any:
        """The error rate of a channel: the true one where the plant tells it."""
        name = self.spec.plant.channels[i].rate
        return lane["r_rate"][i] - (lane["y_rate"][i] if name is None else outputs[self.spec.output_index(name)])

    def _progress(self, lane: Lane, references: tuple[Any, ...], outputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """Errors of the channels over their ways from the initial outputs: 1 at the start, 0 on target."""
        found = []
        for i, channel in enumerate(self.spec.plant.channels):
            way = references[i] - lane["origin"][i]
            length = where(magnitude(way) - _SHORT * channel.scale, way, channel.scale)
            found.append((references[i] - outputs[self.spec.output_index(channel.output)]) / length)
        return tuple(found)

    def _saturated(self, lane: Lane) -> Any:
        hit: Any = 0.0
        for command, law in zip(lane["command"], self.spec.laws, strict=True):
            low, high = getattr(law, "limits", None) or (-math.inf, math.inf)
            if math.isfinite(high):
                hit = where(high - command, hit, 1.0)
            if math.isfinite(low):
                hit = where(command - low, hit, 1.0)
        if self.spec.bounded:  # what a situation's actuator can give may be less than what the law asks for
            for u, low, high in zip(lane[self.sampling.sent], lane["low"], lane["high"], strict=True):
                hit = where(high - u, where(u - low, hit, 1.0), 1.0)
        return hit
