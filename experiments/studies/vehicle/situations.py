"""Situations of the balancing vehicle that are drawn at random, from ranges that its comparison declares.

They have slippery ground, bumps, loads, commands, sensors. A kind is a list of what happens in its situations; a
mixture has slippery ground of a random kind and some of the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.balancing_vehicle.tasks import NO_LOAD, NOISE, dropped, standing
from plants.excitation import Step
from sscq import Situation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from experiments.studies.engine.declaration import Declaration

    Ranges = Mapping[str, Sequence[float]]


SLIPPERY = ("patch", "ice", "ice_one_side")
OTHERS = ("bump", "payload", "hard", "delay", "noise", "push")
MIXTURE = "mixture"
MORE = 3  # things that happen in a mixture beside slippery ground


@dataclass
class _Case:
    """A situation in the making; `draw` gives a number from a range by its name."""

    draw: Callable[[str], float]
    speed: float
    turn: float
    pitch: float
    later: float
    changed_at: float
    parameters: dict[str, float] = field(default_factory=dict)
    excitation: dict[str, Any] = field(default_factory=dict)
    real_loop: dict[str, Any] = field(default_factory=dict)


def drawn(kinds: Mapping[str, int], ranges: Ranges, horizon: float, seed: int) -> list[Situation]:
    """Return situations drawn at random, uniformly from ranges.

    Parameters
    ----------
    kinds : mapping of kind to int
        How many of each; kinds are `SLIPPERY`, `OTHERS` and `MIXTURE`.
    ranges : mapping of name to (low, high)
        `speed` [m/s], `turn` [rad/s], `pitch` at the start [rad]; `later`, the second commanded speed [m/s], and
        `changed_at` [s]; `friction` scale of slippery ground, `slippery_at` [s] for ice; `patch_x`, `patch_length` [m]
        of a patch under one wheel; `bump`, `bump_x` [m]; `payload` [kg], `payload_x`, `payload_y`, `payload_z` [m];
        `hard_speed`, `hard_turn`; `delay` [s]; `noise`, a multiple of the sensors'; `push` [N].
    horizon : float
        Of each [s].
    seed : int
    """
    rng = np.random.default_rng(seed)
    found = []
    for kind, number in kinds.items():
        for k in range(number):
            happening = _mixed(rng) if kind == MIXTURE else (kind,)
            found.append(_one(f"{kind} {k}", happening, ranges, horizon, rng))
    return found


def slippery(kind: str) -> bool:
    """Return whether the ground of a kind's situations has low friction."""
    return kind in (*SLIPPERY, MIXTURE)


def kind_of(situation: Situation) -> str:
    """Return the kind of a drawn situation."""
    return situation.name.rpartition(" ")[0]


def _mixed(rng: np.random.Generator) -> tuple[str, ...]:
    more = rng.choice(OTHERS, size=MORE, replace=False)
    return (str(rng.choice(SLIPPERY)), *(str(one) for one in more))


def _one(name: str, happening: Sequence[str], ranges: Ranges, horizon: float, rng: np.random.Generator) -> Situation:
    def draw(what: str) -> float:
        return float(rng.uniform(ranges[what][0], ranges[what][1]))

    speed, turn, pitch, later, at = (draw(what) for what in ("speed", "turn", "pitch", "later", "changed_at"))
    case = _Case(draw, speed, turn, pitch, later, at)
    for one in happening:
        _HAPPENS[one](case, rng)
    return Situation(
        name=name, seed=0, t_end=horizon, initial=standing(case.pitch),
        reference={
            "pitch": 0.0, "speed": case.speed + Step(case.later - case.speed, at=case.changed_at),
            "yaw_rate": case.turn,
        },
        parameters={"no_load_speed": NO_LOAD, "encoder": 1.0} | case.parameters,
        excitation=case.excitation, **case.real_loop,
    )  # fmt: skip


def _patch(case: _Case, rng: np.random.Generator) -> None:
    """A wet patch that begins ahead under one wheel only and is as long as drawn."""
    side = float(rng.choice((-1.0, 1.0)))
    case.turn = 0.2 * case.turn  # so that it is met
    case.parameters |= {
        "patch": case.draw("friction"), "patch_x": case.draw("patch_x"), "patch_length": case.draw("patch_length"),
        "patch_y": side * 1.0, "patch_width": 2.0,
    }  # fmt: skip


def _ice(case: _Case, rng: np.random.Generator) -> None:  # noqa: ARG001
    case.excitation |= dropped(case.draw("friction"), at=case.draw("slippery_at"))


def _ice_one_side(case: _Case, rng: np.random.Generator) -> None:
    wheel = str(rng.choice(("L", "R")))
    case.excitation |= dropped(case.draw("friction"), at=case.draw("slippery_at"), wheels=wheel)


def _bump(case: _Case, rng: np.random.Generator) -> None:
    wheels = (("L", "R"), ("L",), ("R",))[int(rng.integers(3))]
    height = case.draw("bump")
    case.parameters |= {f"bump_{wheel}": height for wheel in wheels} | {"bump_x": case.draw("bump_x")}


def _payload(case: _Case, rng: np.random.Generator) -> None:  # noqa: ARG001
    case.parameters |= {name: case.draw(name) for name in ("payload", "payload_x", "payload_y", "payload_z")}


def _hard(case: _Case, rng: np.random.Generator) -> None:  # noqa: ARG001
    case.speed, case.later, case.turn = (case.draw(name) for name in ("hard_speed", "later", "hard_turn"))


def _delay(case: _Case, rng: np.random.Generator) -> None:  # noqa: ARG001
    case.real_loop["delay"] = case.draw("delay")


def _noise(case: _Case, rng: np.random.Generator) -> None:  # noqa: ARG001
    share = case.draw("noise")
    case.real_loop["noise"] = {sensor: share * deviation for sensor, deviation in NOISE.items()}


def _push(case: _Case, rng: np.random.Generator) -> None:
    size, at = case.draw("push") * float(rng.choice((-1.0, 1.0))), case.draw("changed_at")
    case.excitation |= {"push": Step(size, at=at) + Step(-size, at=at + 0.2)}


_HAPPENS: Mapping[str, Callable[[_Case, np.random.Generator], None]] = {
    "patch": _patch, "ice": _ice, "ice_one_side": _ice_one_side, "bump": _bump, "payload": _payload, "hard": _hard,
    "delay": _delay, "noise": _noise, "push": _push,
}  # fmt: skip


OWN = {
    "drawn": ("seed", "horizon", "step", "kinds", "ranges"),
    "drawn.ranges": (
        "speed", "turn", "pitch", "later", "changed_at", "friction", "slippery_at", "patch_x", "patch_length", "bump",
        "bump_x", "payload", "payload_x", "payload_y", "payload_z", "hard_speed", "hard_turn", "delay", "noise", "push",
    ),
    "drawn.kinds": (*SLIPPERY, *OTHERS, MIXTURE),
    "aim": (),
}  # fmt: skip
"""Entries of the declaration: how many situations of which kinds, their ranges; the share of fewer falls."""


def unforeseen(declared: Declaration) -> list[Situation]:
    """Return the declared situations."""
    given = declared.own["drawn"]
    return drawn(given["kinds"], given["ranges"], given["horizon"], given["seed"])
