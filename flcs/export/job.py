"""What is exported: a knowledge base's machine and the signals that every export of it is run on."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from flcs.export.guard import LARGEST, Guard
from flcs.export.pid_block import VendorForm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from flcs import KnowledgeBase
    from flcs.export.machine import Machine, MachineSignal
    from flcs.export.recording import Recording
    from plants import Plant
    from sscq.situations.situation import Situation

    Array = NDArray[np.float64]

EDGE = "edge inputs"
_RANDOM, _EDGE = 2000, 2000  # samples
_EDGES = (0.0, -0.0, 1.0, -1.0, 1e-300, -1e-300, 1e3, -1e3, 1e6, LARGEST, -LARGEST, np.nan, np.inf, -np.inf)


@dataclass(frozen=True, eq=False)
class Job:
    """One export.

    Attributes
    ----------
    kb : KnowledgeBase
    plant : Plant
    step : float
        Integration step of the simulation [s].
    machine : Machine
    recordings : tuple of Recording
        Of the simulated closed loop, a situation each.
    situations : tuple of Situation
        Those, in the same order.
    integrator : str
    seed : int
        Of random and edge inputs.
    guard : Guard
        That of the machine.
    hostile : int
        Random sequences of hostile inputs that compiled exports have to stand.
    form : VendorForm
        In which a PID block elsewhere takes its gains.
    """

    kb: KnowledgeBase
    plant: Plant
    step: float
    machine: Machine
    recordings: tuple[Recording, ...]
    situations: tuple[Situation, ...] = ()
    integrator: str = "rk4"
    guard: Guard = field(default_factory=Guard)
    seed: int = 0
    hostile: int = 1000
    form: VendorForm = field(default_factory=VendorForm)

    @cached_property
    def sequences(self) -> dict[str, Array]:
        """Inputs [n, n_inputs] of all sequences: recorded ones by situation, then random and edge inputs."""
        rng = np.random.default_rng(self.seed)
        recorded = {recording.situation: recording.inputs for recording in self.recordings}
        return {**recorded, "random inputs": self._random(rng), EDGE: self._edge(rng)}

    @cached_property
    def answers(self) -> dict[str, Array]:
        """What must come out of each sequence [n, n_outputs].

        In recorded situations that is what the compiled simulation gave; for all else, and for signals that the
        simulation does not have, it is the machine's answer, evaluated in plain Python.
        """
        found = {name: self.machine.run(inputs) for name, inputs in self.sequences.items()}
        for recording in self.recordings:
            simulated = np.isfinite(recording.outputs)
            found[recording.situation] = np.where(simulated, recording.outputs, found[recording.situation])
        return found

    @cached_property
    def spans(self) -> Array:
        """Range of each output [n_outputs]: between its limits, else of what was recorded; 1 where nothing moved."""
        answers = [np.abs(self.answers[r.situation]).max(axis=0, initial=0.0) for r in self.recordings]
        found = np.max(answers, axis=0, initial=0.0)
        spans = [_width(s, float(value)) for s, value in zip(self.machine.outputs, found, strict=True)]
        return np.array(spans)

    def _random(self, rng: np.random.Generator) -> Array:
        """Uniform over twice the recorded ranges, stations and authority switched now and then."""
        seen = np.concatenate([np.zeros((1, self.width)), *(r.inputs for r in self.recordings)])
        middle, half = 0.5 * (seen.max(axis=0) + seen.min(axis=0)), np.ptp(seen, axis=0) + 0.1
        rows = middle + half * rng.uniform(-1.0, 1.0, (_RANDOM, self.width))
        for k, signal in enumerate(self.machine.inputs):
            if signal.name == "authority" or signal.name.startswith("manual_"):
                rows[:, k] = np.repeat(rng.uniform(-0.5, 1.5, _RANDOM // 50), 50)
        return rows

    def _edge(self, rng: np.random.Generator) -> Array:
        """Numbers no sensor should send, among usual ones; held for some samples."""
        rows = self._random(rng)
        strange = np.repeat(rng.choice(np.array(_EDGES), (_EDGE // 5, self.width)), 5, axis=0)
        return np.where(rng.uniform(size=rows.shape) < 0.2, strange, rows)

    @property
    def sub(self) -> int:
        """Integration steps of a sample."""
        return round(self.machine.sample_time / self.step)

    @property
    def width(self) -> int:
        """Number of inputs."""
        return len(self.machine.inputs)


def _width(signal: MachineSignal, seen: float) -> float:
    if np.isfinite(signal.low) and np.isfinite(signal.high) and signal.high > signal.low:
        return signal.high - signal.low
    return seen or 1.0
