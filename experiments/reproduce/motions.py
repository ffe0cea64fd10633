"""Plants and motions for comparing ways to treat an algebraic loop: free, excited, and under control."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

import plants
from controllers import PID
from plants import Plant, Quantity
from plants.core.kernel import kernel as kernels
from plants.core.kernel.kernel import ALIVE, LANES, KernelDesign
from plants.core.kernel.run import RolloutJob, grid, run
from plants.core.kernel.signal_bank import SignalBank, stream_arrays
from plants.core.motion import modes as motion_modes
from plants.core.motion.simulate import as_signals, fill_rows
from plants.core.motion.step import Motion
from plants.excitation import WhiteNoise
from plants.oscillators import van_der_pol_derivative
from sscq import Situation
from sscq.loop.closed_loop import ClosedLoop

if TYPE_CHECKING:
    from collections.abc import Mapping

STEP = 0.01  # s
EXCITATION = WhiteNoise(0.02, hold=0.1)  # variance [N^2]: small enough that no rollout reaches a loop gain of 1
REFERENCE = 0.5  # m
LOOP_GAIN = 0.5
_LOW, _HIGH = (2.0, 0.1, 2.0), (8.0, 1.0, 5.0)  # gains: both loops are stable and stay where the loop gain is below 1
MOTIONS = ("free", "excited", "controlled")


def modes() -> tuple[str, ...]:
    """Return the ways to treat an algebraic loop that there are."""
    return tuple(dict.fromkeys((*motion_modes.MODES, "loop_free_filtered")))


def _implicit_acceleration(t: Any, x: Any, a: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:
    mu, gain = p
    _, wanted = van_der_pol_derivative(t, x, u, w, (mu,))
    return (wanted + gain * (wanted - a[0]),)


def _implicit_mass(t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[tuple[Any, ...], ...]:  # noqa: ARG001  (a block)
    return ((1.0 + p[1],),)


def _implicit_force(t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:
    return ((1.0 + p[1]) * van_der_pol_derivative(t, x, u, w, p[:1])[1],)


# Van der Pol has no algebraic loop. Posed implicitly, q'' = f + g (f - q''): the same motion for every loop gain g.
IMPLICIT_VAN_DER_POL = replace(
    plants.get("van_der_pol"),
    name="van_der_pol_implicit",
    parameters=(*plants.get("van_der_pol").parameters, Quantity("loop gain", "1", LOOP_GAIN, 0.0, 0.99)),
    derivative=None,
    entropy_rate=None,
    acceleration=_implicit_acceleration,
    mass_matrix=_implicit_mass,
    force=_implicit_force,
)
OSCILLATORS = (IMPLICIT_VAN_DER_POL, plants.get("nonlinear_inertia"))


class Movement(Protocol):
    """Many rollouts of one plant in one way to treat its loop."""

    def run(self, n: int, n_steps: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the states at the end [n, n_x] and the steps reached [n]."""


class OpenLoop:
    """Rollouts without a controller from initial positions in [0.2, 1], all under the same excitation."""

    def __init__(
        self, plant: Plant, mode: str, excitation: Mapping[str, Any] | None = None, lanes: int = LANES
    ) -> None:
        self.plant, self.design = (
            plant,
            KernelDesign(f"motion of {plant.name}: rk4, algebraic loop {mode}", lanes=lanes),
        )
        names = [q.name for q in plant.disturbances]
        self.bank = SignalBank("w", names, [as_signals(plant, "disturbances", excitation, STEP)], STEP)
        self.motion = Motion(
            plant, "rk4", mode, disturbances=self.bank.values, inputs=lambda *_: (0.0,) * len(plant.inputs)
        )
        self.motion.add_rows(self.design)
        self.bank.add_to(self.design)
        self.design.after += self.motion.items()
        self.design.results, self.design.theta = ("x", "steps"), "x"
        self.kernel = kernels.build(self.design)

    def run(
        self, n: int, n_steps: int, step: float = STEP, initial: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the states at the end [n, n_x] and the steps reached [n]; other steps than usual only without noise.

        `initial` [n, n_x] replaces the initial states.
        """
        start = np.zeros((1, self.design.rows.count))
        rows = {"p": self.plant.nominal(), ALIVE: (1.0,)} | self.bank.start(0, "excited", 0)
        states = np.tile(self.plant.initial(), (n, 1))
        states[:, 0] = np.linspace(0.2, 1.0, n)
        states = states if initial is None else initial
        fill_rows(start[0], self.design, rows | self.motion.start(states[0]))
        streams = [s.name for s in self.design.streams]
        codes, keys, series = stream_arrays([self.bank.streams(0)], streams, [("excited", 0)])
        job = RolloutJob(start, states, codes, keys, series, n_steps, step, 0, self.bank.every(0))
        results, _, _ = run(self.kernel, job, grid(1, n, self.design.lanes), threads=1)
        return results[:, :-1], results[:, -1]


class Controlled:
    """Rollouts under PID, excited as well, with gains [n, 3] from a box."""

    def __init__(self, plant: Plant, mode: str, n_steps: int) -> None:
        situation = Situation("excited", REFERENCE, EXCITATION, t_end=n_steps * STEP)
        self.loop = ClosedLoop(plant, PID(), (situation,), STEP, algebraic_loop=mode, measures=("iae",))

    def run(self, n: int, n_steps: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the states at the end [n, n_x] and the steps reached [n]."""
        gains = np.random.default_rng(0).uniform(_LOW, _HIGH, (n, 3))
        out = self.loop.run(gains, [0], n_steps=n_steps, threads=1, keep=True)
        if out.snapshot is None:
            message = "a run that keeps its end gives a snapshot"
            raise RuntimeError(message)
        return out.snapshot.rows[:, self.loop.design.rows.span("x")], out.steps


def movement(plant: Plant, kind: str, mode: str, n_steps: int) -> Movement:
    """Return the rollouts of one kind of motion."""
    if kind == "controlled":
        return Controlled(plant, mode, n_steps)
    return OpenLoop(plant, mode, {"excitation": EXCITATION} if kind == "excited" else None)
