"""What the unicycle's runs lose: energy, the closures of the legs; and whether its wheel slips."""

from __future__ import annotations

import numpy as np

import plants
from benchmarks.unicycle import against_plant, legs, reference
from benchmarks.unicycle.geometry import expanded
from benchmarks.unicycle_runs import SPEED, UnicycleRuns
from plants.unicycle import UNICYCLE, loop_forms
from plants.unicycle.parameters import NOMINAL, PARAMETERS
from plants.unicycle.redundant import WHEEL, N, saddle
from plants.unicycle.tasks import start
from tests.reference.unicycle_cases import START_T2, STILL

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
        x, u, w, p = (tuple(group) for group in against_plant.draw(rng))
        named = reference.by_name(p)
        at = legs.posture(x, named)
        _, slopes, _ = expanded("vectors", np.array(at.q), named)
        axle, ahead, _, upward = (slopes[3 * k : 3 * k + 3] @ at.u for k in range(4))  # of the wheel, the first body
        axle[:2] += UNICYCLE.derivative(0.0, x, u, w, p)[10:]
        below = -named["Rw"] * (np.cos(x[WHEEL]) * upward - np.sin(x[WHEEL]) * ahead)
        found.append((np.linalg.norm(axle + below), np.linalg.norm(axle)))
    slipped, rolled = np.max(found, axis=0)
    return float(slipped), float(rolled)
