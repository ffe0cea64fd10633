"""Slippery ground to be taught: situations drawn once, uniformly from ranges, by a fixed seed.

Ice under both wheels or one, or a patch; in them loads, delays, noise and pushes happen, each by chance. There are no
bumps, no commands beyond the moderate ones, and nothing as hard as what a comparison may draw for its verdict.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from plants.excitation import Step

FRICTION, LOAD, DELAY, PUSH, NOISE = (0.02, 0.15), (1.0, 4.0), (0.005, 0.025), (30.0, 80.0), (0.5, 1.5)
"""Friction scale; payload [kg]; delay of the commands [s]; push of 0.2 s [N]; a multiple of the usual sensor noise."""
_CHANCE = {"load": 0.4, "delay": 0.4, "noise": 0.4, "push": 0.8}
_SIDES = {"L": 1.0, "R": -1.0}


def drawn_cases(number: int, seed: int) -> list[dict[str, Any]]:
    """Return what differs between situations on slippery ground: commands, pitch, parameters, excitation, loop.

    Parameters
    ----------
    number, seed : int

    Returns
    -------
    list of mapping
        "speed" and "later" [m/s] from "changed_at" [s] on, "turn" [rad/s], "pitch" at the start [rad], "parameters",
        "friction" (scales of disturbances by name, and when they fall [s]), "push" (size [N] and time [s]) or None,
        "delay" [s], "noise" (a multiple of the sensors') or None.
    """
    rng = np.random.default_rng(seed)
    return [_case(rng) for _ in range(number)]


def _case(rng: np.random.Generator) -> dict[str, Any]:
    def draw(low: float, high: float) -> float:
        return float(rng.uniform(low, high))

    def happens(what: str) -> bool:
        return bool(rng.random() < _CHANCE[what])

    case: dict[str, Any] = {
        "speed": draw(-1.2, 1.5), "later": draw(-1.0, 1.5), "changed_at": draw(2.0, 5.0), "turn": draw(-0.8, 0.8),
        "pitch": draw(-0.1, 0.1), "delay": 0.0, "noise": None, "push": None, "parameters": {},
    }  # fmt: skip
    case |= _ground(rng, draw, case)
    if happens("load"):
        names = {"payload": LOAD, "payload_x": (-0.06, 0.06), "payload_y": (-0.1, 0.1), "payload_z": (0.2, 0.6)}
        case["parameters"] |= {name: draw(*ends) for name, ends in names.items()}
    if happens("delay"):
        case["delay"] = draw(*DELAY)
    if happens("noise"):
        case["noise"] = draw(*NOISE)
    if happens("push"):
        case["push"] = (draw(*PUSH) * float(rng.choice((-1.0, 1.0))), draw(2.0, 5.0))
    return case


def _ground(rng: np.random.Generator, draw: Any, case: dict[str, Any]) -> dict[str, Any]:
    """Ice under both wheels, under one, or a patch ahead under one."""
    scale, at, side = draw(*FRICTION), draw(0.2, 3.0), str(rng.choice(tuple(_SIDES)))
    kind = int(rng.integers(3))
    if kind < 2:
        return {"friction": (scale, at, ("LR", side)[kind])}
    patch = {
        "patch": scale, "patch_x": draw(0.2, 1.0), "patch_length": draw(0.3, 3.0), "patch_y": _SIDES[side],
        "patch_width": 2.0,
    }  # fmt: skip
    # Straight ahead, so that it is met.
    return {"friction": None, "parameters": patch, "turn": 0.2 * case["turn"], "speed": abs(case["speed"])}


def pushed(size: float, at: float) -> Any:
    """Return a push of 0.2 s [N] at a time [s] as a signal."""
    return Step(size, at=at) + Step(-size, at=at + 0.2)
