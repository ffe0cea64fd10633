"""Measures of quality as a lane loop: accumulated in every step that a rollout is alive."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from plants.core.elementary import abs as magnitude
from plants.core.elementary import where
from plants.core.kernel import ALIVE, Design
from plants.core.lanes import Lane, Loop
from plants.core.signal_bank import SignalBank
from plants.excitation.signals import TIME_TOLERANCE
from sscq.loss_at_rest import loss_at_rest
from sscq.own_measures import OwnMeasures, check_measures
from sscq.quality import STEP_MEASURES, Moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.excitation import Feed
    from sscq.loop_spec import LoopSpec
    from sscq.sampling import Sampling

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
    """

    def __init__(
        self, spec: LoopSpec, sampling: Sampling, measures: Sequence[str], *, scaled: bool, jumps: int
    ) -> None:
        self.spec, self.sampling, self.scaled, self.jumps = spec, sampling, scaled, jumps
        self.measures = check_measures(measures, spec.plant)
        self.own = OwnMeasures(spec.plant, self.measures, spec.timing.step)
        self.built_in = self.measures[: len(self.measures) - len(self.own.measures)]
        self.rest = self._rest()

    def _rest(self) -> SignalBank | None:
        """The plant's loss at rest in every situation, where the plant says so and a measure needs it."""
        spec = self.spec
        if not (spec.plant.loses_at_rest and any(name.startswith(OF_ENTROPY) for name in self.measures)):
            return None
        step = spec.timing.step
        return SignalBank("rest", ("loss",), [(loss_at_rest(spec.plant, s, step),) for s in spec.situations], step)

    def add_to(self, design: Design) -> None:
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

    def add_rows(self, design: Design) -> None:
        """Give the measures rows, as the kernel's results; `steps` tells whether and when a rollout diverged."""
        design.rows.add("since", self.jumps)
        if self.scaled:
            design.numbers.append("entropy_scale")
        for name in self.built_in:
            design.rows.add(f"q_{name}")
        design.results = ("steps", *(f"q_{name}" for name in self.built_in))
        self.own.add_rows(design)

    def loop(self) -> list[Loop]:
        """Return the loop that accumulates, if anything is to be accumulated in steps."""
        bodies = [self._score] if set(self.measures) & set(STEP_MEASURES) else []
        if self.own:
            bodies.append(self._score_own)
        return [Loop("score", tuple(bodies))] if bodies else []

    def _score(self, lane: Lane) -> None:
        alive, moment = lane.one(ALIVE), self.moment(lane)
        for name in self.measures:
            if name in STEP_MEASURES:
                old = lane.one(f"q_{name}")
                lane[f"q_{name}"] = (where(alive, STEP_MEASURES[name](old, moment), old),)

    def _score_own(self, lane: Lane) -> None:
        self.own.update(lane, self.sampling)

    def moment(self, lane: Lane) -> Moment:
        """Return what the measures may look at, now."""
        t, h, plant = lane.uniform("t"), lane.uniform("h"), self.spec.plant
        outputs, references = self.sampling.outputs(lane), self.sampling.refer(lane)
        errors = []
        for i, channel in enumerate(plant.channels):
            error = references[i] - outputs[self.spec.output_index(channel.output)]
            errors.append(error * (1.0 / channel.scale))
        since = t - self._last_jump(lane, t)
        return Moment(
            t=t,
            h=h,
            since=where(since, since, 0.0),
            error=tuple(errors),
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
        total: Any = 0.0
        for i, (channel, law) in enumerate(zip(self.spec.plant.channels, self.spec.laws, strict=True)):
            if "kd" not in law.gain_names:
                continue
            kd = lane["g"][self.spec.gains_of(i)][law.gain_names.index("kd")]
            y_rate = lane["y_rate"][i] if channel.rate is None else outputs[self.spec.output_index(channel.rate)]
            rate = lane["r_rate"][i] - y_rate
            total = total + (magnitude(kd) if channel.opposed else kd) * rate * rate
        # A number of the run, not a constant of the text: another scale needs no other kernel.
        return lane.uniform("entropy_scale") * total if self.scaled else total

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
        return hit
