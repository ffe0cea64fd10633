"""The loop that all peers run: Van der Pol under PID, one situation, many gains; and chains of masses of any size."""

from __future__ import annotations

import ast
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

import plants
from controllers import PID
from plants import Channel, Plant, Quantity
from plants.core.kernel.kernel import LANES
from sscq import Situation, evaluate
from sscq.loop.closed_loop import ClosedLoop

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sscq import Quality


def chain(n_masses: int, cubic: float = 0.5) -> Plant:
    """Return a chain of `n_masses` unit masses between a wall and a free end, where the force acts: 2 n states.

    Spring j joins mass j to its neighbour towards the wall, with the extension s: force k s + k3 s^3 + d s'.

    Parameters
    ----------
    n_masses : int
    cubic : float
        Nominal k3 [N/m^3]; 0 gives a linear chain.
    """

    def derivative(t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:  # noqa: ARG001  (a block's signature)
        stiffness, hardening, damping = p
        forces = [
            stiffness * s + hardening * s * s * s + damping * s_rate
            for s, s_rate in zip(_extensions(x[:n_masses]), _extensions(x[n_masses:]), strict=True)
        ]
        pulls = [*forces[1:], u[0]]
        return (*x[n_masses:], *(pull - force for pull, force in zip(pulls, forces, strict=True)))

    def entropy_rate(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:  # noqa: ARG001  (as above)
        return p[2] * sum(s_rate * s_rate for s_rate in _extensions(x[n_masses:]))

    ends = [f"position {n_masses}", f"velocity {n_masses}"]
    return Plant(
        name=f"chain of {n_masses}",
        states=(
            *(Quantity(f"position {k}", "m", 0.1, -100.0, 100.0) for k in range(1, n_masses + 1)),
            *(Quantity(f"velocity {k}", "m/s", 0.0, -1000.0, 1000.0) for k in range(1, n_masses + 1)),
        ),
        parameters=(
            Quantity("stiffness", "N/m", 4.0, 0.0, 1e6),
            Quantity("hardening", "N/m^3", cubic, 0.0, 1e6),
            Quantity("damping", "N s/m", 0.3, 0.0, 1e6),
        ),
        inputs=(Quantity("force", "N"),),
        channels=(Channel(output=ends[0], rate=ends[1], low=-20.0, high=20.0),),
        derivative=derivative,
        entropy_rate=entropy_rate,
        text="Masses joined by hardening springs; for benchmarks.",
    )


def _extensions(values: tuple[Any, ...]) -> list[Any]:
    """Differences between neighbours, the wall at 0."""
    return [values[0], *(b - a for a, b in pairwise(values))]


STEP = 0.01  # s
REFERENCE = 1.5  # m
INITIAL = (0.1, 0.0)  # m, m/s
MEASURES = ("iae", "entropy_difference_abs", "total_variation")
LOW, HIGH = (0.5, 0.1, 0.5), (8.0, 4.0, 5.0)  # gains kp, ki, kd: none diverges
PLANT = plants.get("van_der_pol")
SIZES = {2: PLANT, 6: chain(3), 14: chain(7)}  # plants by their number of states


def gains(n: int, seed: int = 0) -> np.ndarray:
    """Return `n` candidates [n, 3], drawn uniformly from the box."""
    return np.random.default_rng(seed).uniform(LOW, HIGH, (n, 3))


def situation(n_steps: int = 1000, initial: tuple[float, float] = INITIAL) -> Situation:
    """Return the situation with a horizon of `n_steps` integration steps."""
    return Situation("step", reference=REFERENCE, initial=initial, t_end=n_steps * STEP)


def million(candidates: np.ndarray, n_steps: int, threads: int) -> Quality:
    """Evaluate all candidates in one call, as a user does."""
    return evaluate(PLANT, PID(), candidates, situation(n_steps), STEP, measures=MEASURES, threads=threads)


def closed_loop(n_steps: int = 1000, lanes: int = LANES, initial: tuple[float, float] = INITIAL) -> ClosedLoop:
    """Return the loop as a kernel with `lanes` rollouts side by side."""
    return ClosedLoop(PLANT, PID(), (situation(n_steps, initial),), STEP, measures=MEASURES, lanes=lanes)


def loop_of(plant: Plant, n_steps: int, lanes: int = LANES) -> ClosedLoop:
    """Return the loop of any plant with one channel: a step of the reference from the plant's own initial state."""
    step = Situation("step", reference=REFERENCE, t_end=n_steps * STEP)
    return ClosedLoop(plant, PID(), (step,), STEP, measures=MEASURES, lanes=lanes)


def table(quality: Quality) -> np.ndarray:
    """Return the measures as columns [candidate, measure], in the order of MEASURES."""
    return np.stack([quality.until_lost[name][0] for name in MEASURES], axis=1)


def limits() -> tuple[float, float]:
    """Return the limits of the command, which the law takes from the plant's channel."""
    return PLANT.channels[0].low, PLANT.channels[0].high


def region() -> tuple[float, float]:
    """Return the largest position and velocity of a rollout that has not diverged."""
    return PLANT.states[0].high, PLANT.states[1].high


def operations(loop: ClosedLoop) -> dict[str, int]:
    """Count what the printed lane loops do in one step of one rollout: no machine changes these figures."""
    counts = Counter(_kind(node) for lane_loop in _lane_loops(loop.kernel.text) for node in ast.walk(lane_loop))
    del counts[""]
    return dict(sorted(counts.items()))


def _lane_loops(text: str) -> Iterator[ast.For]:
    """Yield the printed loops over lanes, in functions of their own or in the rollout's loop over steps."""
    for function in ast.parse(text).body:
        if isinstance(function, ast.FunctionDef):
            own = function.name != "rollout"
            roots = [function] if own else [n for n in ast.walk(function) if isinstance(n, ast.While)]
            loops = (n for root in roots for n in ast.walk(root) if isinstance(n, ast.For))
            yield from (n for n in loops if all(isinstance(line, ast.Assign) for line in n.body))


def _kind(node: ast.AST) -> str:
    """Name the work of one node of the printed text; empty for what costs nothing."""
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else "call"
        return {"fma": "fused multiply-add", "abs": "magnitude", "range": ""}.get(name, name)
    if isinstance(node, ast.BinOp):
        return {"Add": "sum", "Sub": "sum", "Mult": "product", "Div": "division"}.get(type(node.op).__name__, "other")
    if isinstance(node, ast.IfExp):
        return "select"
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        return "row stored" if isinstance(node.ctx, ast.Store) else "row loaded"
    return ""
