"""The plant's equations of motion beside those of this derivation, at random states and parameters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.printed_unicycle import motion as printed_unicycle_motion
from benchmarks.printed_unicycle import reference
from plants.unicycle import energy, motion
from plants.unicycle.parameters import PARAMETERS

STATES, SEED = 100, 5


@dataclass(frozen=True)
class Distances:
    """Largest distances, each relative to the largest entry of the matrix, the forces, the energy."""

    mass: float
    force: float
    energy: float


def distances(states: int = STATES, seed: int = SEED) -> Distances:
    """Compare mass matrices, forces and energies."""
    rng = np.random.default_rng(seed)
    return Distances(*np.max([_at(*draw(rng)) for _ in range(states)], axis=0).tolist())


def draw(rng: np.random.Generator) -> tuple[list[float], ...]:
    """Draw state, torques, pushes and slopes, parameters: all within 20 %, the term `nh` anything from 0 to 1."""
    p = {q.name: q.nominal * rng.uniform(0.8, 1.2) for q in PARAMETERS}
    p |= {"psi0": rng.uniform(-3.0, 3.0), "Droll": rng.uniform(0.0, 0.1), "nh": rng.uniform(0.0, 1.0)}
    limits = np.array([3.0, 0.6, 0.6, 9.0, 9.0, 4.0, 4.0, 4.0, 15.0, 15.0, 5.0, 5.0])
    pushes = np.array([20.0, 20.0, 20.0, 1.0, 0.2, 0.2])
    drawn = (limits, np.full(3, 5.0), pushes)
    return (*((size * rng.uniform(-1.0, 1.0, len(size))).tolist() for size in drawn), [p[q.name] for q in PARAMETERS])


def _at(x: list[float], u: list[float], w: list[float], p: list[float]) -> tuple[float, float, float]:
    block = (0.0, tuple(x), tuple(u), tuple(w), tuple(p))
    theirs = (motion.mass_matrix(*block), motion.force(*block), energy.energy(*block))
    named = reference.by_name(p)
    given = printed_unicycle_motion.Inputs((u[0], u[1], u[2]), (w[0], w[1], w[2]), w[3], (w[4], w[5]))
    at = printed_unicycle_motion.posture(x, named)
    of = printed_unicycle_motion.balance(at, named, given.slope)
    # Energy is that over level ground: slopes are forces.
    ours = (of.mass, printed_unicycle_motion.load(at, of, named, given, p[-1]), of.energy)
    gaps = [np.abs(np.subtract(a, b)).max() / np.abs(a).max() for a, b in zip(ours, theirs, strict=True)]
    return gaps[0], gaps[1], gaps[2]
