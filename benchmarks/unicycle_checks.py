"""How well the unicycle's equations hold: the specification's cases, derivations beside one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.unicycle import against_plant
from benchmarks.unicycle_residuals import OPENED, drifts, opening, slips
from plants.mechanics import oracle
from plants.mechanics.deriving.full import Full
from plants.unicycle import UNICYCLE, loop_forms
from plants.unicycle.declared import mechanism
from plants.unicycle.loop_forms import MINIMAL
from plants.unicycle.redundant import N
from tests.reference.unicycle_cases import CASES

if TYPE_CHECKING:
    from collections.abc import Callable

    Numbers = tuple[Any, ...]
    Array = np.ndarray[Any, Any]

STATES, SEED = 40, 7


@dataclass(frozen=True)
class Found:
    """All figures of one run.

    Attributes
    ----------
    cases : by case
        Largest distance of accelerations and multipliers from the specification's, of the largest number.
    apart : by derivation
        Largest distance of the five accelerations from the minimal form's, of the largest one, at random states.
    drifts : by (run, nh, step)
        Largest relative change of energy.
    opened : by way of `OPENED`
        Largest opening of a leg [m] under the law.
    slipped, rolled : float
        Largest speeds [m/s] at random states: of the wheel's lowest point, of its axle.
    """

    cases: dict[str, float]
    apart: dict[str, float]
    drifts: dict[tuple[str, float, float], float]
    opened: dict[str, float]
    slipped: float
    rolled: float


def measured() -> Found:
    """Measure everything; takes half a minute."""
    opened = {name: opening(*way) for name, way in OPENED.items()}
    return Found(cases(), apart(), drifts(), opened, *slips(STATES))


def _distance(found: Any, expected: Any) -> float:
    return float(np.abs(np.subtract(found, expected)).max() / np.abs(expected).max())


def cases() -> dict[str, float]:
    """Return distances from the specification's cases: of the plant's accelerations and multipliers, of the nine's."""
    found = {}
    for name, one in CASES.items():
        p = tuple(UNICYCLE.values("parameters", one["parameters"]))
        block = (one["x"], one["u"], one["w"], p)
        nine, forces = loop_forms.multipliers(loop_forms.redundant_state(one["x"], p), *block[1:])
        seen = dict(zip((q.name for q in UNICYCLE.measurements), UNICYCLE.outputs(0.0, *block), strict=True))
        closing = [seen[f"lambda_{k}"] for k in range(1, 5)]
        found[name] = max(
            _distance(UNICYCLE.derivative(0.0, *block)[5:10], np.array(one["accelerations"])[list(MINIMAL)]),
            _distance(nine, one["accelerations"]),
            _distance(closing, one["multipliers"]),
            _distance(forces, one["multipliers"]),
        )
    return found


def _derivations() -> dict[str, Callable[..., Array]]:
    """Accelerations [9] or [11] at a minimal state, the first nine those of the nine coordinates."""
    blocks, printed = Full(mechanism().declared()), loop_forms.printed()

    def nine(x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
        return loop_forms.multipliers(loop_forms.redundant_state(x, p), u, w, p)[0]

    def loops(x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
        return printed.derivative(0.0, loop_forms.redundant_state(x, p), u, w, (*p, 0.0))[N : 2 * N]

    def kit(x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
        state, path = loop_forms.redundant_state(x, p), UNICYCLE.derivative(0.0, x, u, w, p)[10:]
        return oracle.by_routh(blocks.at(0.0, (*state[:N], *x[10:]), (*state[N : 2 * N], *path), u, w, p[:-1]))[0]

    return {"nine coordinates, multipliers": nine, "nine printed equations, solved": loops, "mechanics kit": kit}


def apart(states: int = STATES) -> dict[str, float]:
    """Return how far the derivations' accelerations are from the minimal form's at random states and parameters."""
    rng, others = np.random.default_rng(SEED), _derivations()
    found: dict[str, float] = dict.fromkeys(others, 0.0)
    for _ in range(states):
        x, u, w, p = (tuple(group) for group in against_plant.draw(rng))
        block = (x, u, w, (*p[:-1], 1.0))
        expected = UNICYCLE.derivative(0.0, *block)[5:10]
        for name, other in others.items():
            found[name] = max(found[name], _distance(np.array(other(*block))[list(MINIMAL)], expected))
    return found
