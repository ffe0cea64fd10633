"""Write docs/studies/unicycle_checks.md: ``python -m benchmarks.vehicles.unicycle.checks [--folder X]``.

How well the unicycle's equations hold: the specification's cases, derivations beside one another; what its runs lose
of energy and of the legs' closures, and whether its wheel slips.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import plants
from benchmarks.runner import pages
from experiments.reproduce.printed_unicycle import agreement, motion, reference
from experiments.reproduce.printed_unicycle.geometry import expanded
from experiments.reproduce.printed_unicycle.reference import CASES, START_T2, STILL
from experiments.reproduce.vehicles.unicycle import loop_forms
from experiments.reproduce.vehicles.unicycle.loop_forms import MINIMAL
from experiments.reproduce.vehicles.unicycle.mechanism import mechanism
from experiments.reproduce.vehicles.unicycle.redundant import WHEEL, N, saddle
from experiments.reproduce.vehicles.unicycle.rollouts import SPEED, UnicycleRuns
from experiments.runtime.tables import markdown_table
from plants.mechanics.algebra.blocks import Full
from plants.mechanics.forms import pseudo_inverse
from plants.unicycle import UNICYCLE
from plants.unicycle.parameters import NOMINAL, PARAMETERS
from plants.unicycle.tasks import start

if TYPE_CHECKING:
    from collections.abc import Callable

    Numbers = tuple[Any, ...]
    Array = np.ndarray[Any, Any]


STEPS = (4e-3, 2e-3, 1e-3)  # s, of the runs that keep their energy
_FREE = {q.name: 0.0 for q in PARAMETERS if q.name[0] == "D"}
KEPT = {  # horizon [s], start, parameters: no friction, no torque
    "a fall of 0.4 s": (0.4, START_T2, _FREE),
    "eight turns of the wheel at 0.05 m/s²": (6.24, start(8.0 * 0.15, 0.01), {**_FREE, "g": 0.05}),
}
KAPPA = 20.0  # 1/s, Baumgarte's
OPENED = {  # form, step [s], kappa [1/s]
    "minimal, by construction": ("minimal", 1e-3, 0.0),
    "nine coordinates": ("redundant", 1e-3, 0.0),
    "nine coordinates, 0.1 ms": ("redundant", 1e-4, 0.0),
    f"nine coordinates, Baumgarte's {KAPPA:g} 1/s": ("redundant", 1e-3, KAPPA),
    "mechanics kit, velocities by construction": ("kit", 1e-3, 0.0),
}
T_END = 10  # s, of the runs in which legs may open
_NONE = (0.0, 0.0, 0.0)
_SEED = 7


def drifts() -> dict[tuple[str, float, float], float]:
    """Return the largest relative changes of energy of runs without friction and torque."""
    found = {}
    for name, (t_end, initial, given) in KEPT.items():
        for nh in (1.0, 0.0):
            parameters = {**given, "nh": nh}
            p = UNICYCLE.values("parameters", parameters)
            for step in STEPS:
                run = plants.simulate(UNICYCLE, t_end, step, initial, parameters, inputs=_NONE)
                held = UNICYCLE.energy(0.0, tuple(run.states.T), _NONE, STILL, p)
                found[name, nh, step] = float(np.abs(held / held[0] - 1.0).max())
    return found


def opening(form: str, step: float, kappa: float, t_end: int = T_END) -> float:
    """Return by how much a leg is open at most [m], seen at each full second of a run under the law."""
    runs, gaps = UnicycleRuns(form, "solved", step=step), []
    begun = runs.begun(start(SPEED, 0.05, 0.05))
    varied, value = ("kappa", kappa) if form == "redundant" else ("g", NOMINAL[0])
    for second in range(1, t_end + 1):
        (end,) = runs.rollouts(begun, varied, value, value, 1, round(second / step))
        state = loop_forms.redundant_state(end[:12]) if form == "minimal" else end
        gaps.append(np.abs(saddle((*state[:N], *(0.0,) * N), _NONE, STILL, NOMINAL).gaps))
    return float(np.max(gaps))


def slips(states: int) -> tuple[float, float]:
    """Return the largest speeds of the wheel's lowest point and of its axle at random states [m/s].

    From places alone: the axle's and those of the tips of the wheel's axes, of which the lowest point is made.
    """
    rng, found = np.random.default_rng(_SEED), []
    for _ in range(states):
        x, u, w, p = (tuple(group) for group in agreement.draw(rng))
        named = reference.by_name(p)
        at = motion.posture(x, named)
        _, slopes, _ = expanded("vectors", np.array(at.q), named)
        axle, ahead, _, upward = (slopes[3 * k : 3 * k + 3] @ at.u for k in range(4))  # of the wheel, the first body
        axle[:2] += UNICYCLE.derivative(0.0, x, u, w, p)[10:]
        below = -named["Rw"] * (np.cos(x[WHEEL]) * upward - np.sin(x[WHEEL]) * ahead)
        found.append((np.linalg.norm(axle + below), np.linalg.norm(axle)))
    slipped, rolled = np.max(found, axis=0)
    return float(slipped), float(rolled)


STATES, SEED = 40, 7


@dataclass(frozen=True)
class CheckFindings:
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


def measured() -> CheckFindings:
    """Measure everything; takes half a minute."""
    opened = {name: opening(*way) for name, way in OPENED.items()}
    return CheckFindings(cases(), apart(), drifts(), opened, *slips(STATES))


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
        return pseudo_inverse.by_routh(blocks.at(0.0, (*state[:N], *x[10:]), (*state[N : 2 * N], *path), u, w, p[:-1]))[
            0
        ]

    return {"nine coordinates, multipliers": nine, "nine printed equations, solved": loops, "mechanics kit": kit}


def apart(states: int = STATES) -> dict[str, float]:
    """Return how far the derivations' accelerations are from the minimal form's at random states and parameters."""
    rng, others = np.random.default_rng(SEED), _derivations()
    found: dict[str, float] = dict.fromkeys(others, 0.0)
    for _ in range(states):
        x, u, w, p = (tuple(group) for group in agreement.draw(rng))
        block = (x, u, w, (*p[:-1], 1.0))
        expected = UNICYCLE.derivative(0.0, *block)[5:10]
        for name, other in others.items():
            found[name] = max(found[name], _distance(np.array(other(*block))[list(MINIMAL)], expected))
    return found


_TERMS = {1.0: "with the rolling terms", 0.0: "as printed"}


def page(found: CheckFindings) -> str:
    """Return the page's text."""
    energies = [
        [name, _TERMS[nh], *(f"{found.drifts[name, nh, step]:.0e}" for step in STEPS)] for name in KEPT for nh in _TERMS
    ]
    return pages.filled(
        pages.TEMPLATES / "unicycle_checks.md",
        {},
        {
            "cases": markdown_table(tuple(found.cases), [[f"{gap:.0e}" for gap in found.cases.values()]]),
            "apart": markdown_table(
                ("derivation", "distance"), [[name, f"{gap:.0e}"] for name, gap in found.apart.items()]
            ),
            "energies": markdown_table(("run", "equations", *(f"{1e3 * step:g} ms" for step in STEPS)), energies),
            "opened": markdown_table(("form", "opening, m"), [[name, f"{found.opened[name]:.0e}"] for name in OPENED]),
            "states": STATES,
            "end": T_END,
            "slipped": found.slipped,
            "rolled": found.rolled,
        },
    )


def main(arguments: list[str] | None = None) -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.vehicles.unicycle.checks", description=__doc__)
    parser.add_argument("--folder", type=Path, default=pages.STUDIES, help="where the page goes (default: %(default)s)")
    folder = parser.parse_args(arguments).folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "unicycle_checks.md").write_text(page(measured()), encoding="utf-8")


if __name__ == "__main__":
    main()
