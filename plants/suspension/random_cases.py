"""Cases that nobody chose: roads, speeds, loads, wear, tyres and delays drawn from a declared random generator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.suspension.loads import loaded
from plants.suspension.parameters import PARAMETERS
from plants.suspension.roads import bump, rough_road, together

if TYPE_CHECKING:
    from numpy.random import Generator

SEED = 20261122
ROUGH, SINGLE = 18, 10
"""Cases on rough roads alone, and with a bump or a hole on a better road."""
PLACES = {
    "in front": (0.2, 0.3),
    "on the back seat": (-0.7, 0.3),
    "in the boot": (-1.6, 0.3),
    "on the roof": (-0.2, 0.9),
}
"""Of a load, ahead of and above the reference point [m]."""
_NOMINAL = {q.name: q.nominal for q in PARAMETERS}


@dataclass(frozen=True)
class Drawn:
    """One case.

    Attributes
    ----------
    road_class : str
    speed : float
        [m/s]
    correlation : float
        Of the tracks.
    obstacle : tuple (height, length, side) or None
        A bump, with a negative height a hole [m].
    mass, place : float, str
        Of the load [kg].
    dampers, tyres : float
        Share of the nominal damping and tyre stiffness.
    delay : float
        Of the settings [s].
    """

    road_class: str
    speed: float
    correlation: float
    obstacle: tuple[float, float, str] | None
    mass: float
    place: str
    dampers: float
    tyres: float
    delay: float

    @property
    def name(self) -> str:
        """What a reader needs to know of it."""
        words = [f"class {self.road_class} at {self.speed:g} m/s", f"tracks {self.correlation:g}"]
        if self.obstacle is not None:
            height, length, side = self.obstacle
            kind = "bump" if height > 0.0 else "hole"
            words[:0] = [f"{kind} of {100 * abs(height):.0f} cm over {length:g} m, {side}"]
        if self.mass:
            words.append(f"{self.mass:g} kg {self.place}")
        words += [f"dampers {100 * self.dampers:.0f} %", f"tyres {100 * self.tyres:.0f} %"]
        return "drawn: " + ", ".join([*words, f"delay {1000 * self.delay:.0f} ms"])

    def road(self) -> dict[str, Any]:
        """Return the excitation."""
        rough = rough_road(self.road_class, self.speed, correlation=self.correlation)
        if self.obstacle is None:
            return rough
        height, length, side = self.obstacle
        return together(rough, bump(height, length, self.speed, at=2.0 * self.speed, side=side))

    def settings(self) -> dict[str, Any]:
        """Return delay and parameters of the situation."""
        shares = {f"{name}_{axle}": share for name, share in (("cs", self.dampers), ("kw", self.tyres))
                  for axle in ("front", "rear")}  # fmt: skip
        changed = {name: share * _NOMINAL[name] for name, share in shares.items()}
        load = loaded(self.mass, *PLACES[self.place]) if self.mass else {}
        return {"parameters": changed | load, "delay": self.delay}


def drawn(seed: int = SEED, rough: int = ROUGH, single: int = SINGLE) -> tuple[Drawn, ...]:
    """Return the cases: class B to D, 10 to 35 m/s, up to 300 kg, dampers from 50 %, tyres +- 20 %, up to 15 ms."""
    rng = np.random.default_rng(seed)
    return tuple(_one(rng, obstacle=k >= rough) for k in range(rough + single))


def _one(rng: Generator, *, obstacle: bool) -> Drawn:
    given = None
    if obstacle:
        height = float(rng.choice([-1.0, 1.0])) * _between(rng, 0.02, 0.08, 0.01)
        given = (height, _between(rng, 0.5, 3.0, 0.1), str(rng.choice(["both", "left", "right"])))
    return Drawn(
        road_class="B" if obstacle else str(rng.choice(["B", "C", "D"])),
        speed=_between(rng, 10.0, 35.0, 0.5),
        correlation=_between(rng, 0.0, 1.0, 0.1),
        obstacle=given,
        mass=_between(rng, 0.0, 300.0, 10.0) if rng.random() < 0.5 else 0.0,  # every other car is empty
        place=str(rng.choice(list(PLACES))),
        dampers=_between(rng, 0.5, 1.0, 0.01),
        tyres=_between(rng, 0.8, 1.2, 0.01),
        delay=_between(rng, 0.0, 0.015, 0.001),
    )


def _between(rng: Generator, low: float, high: float, step: float) -> float:
    """A number drawn evenly from a grid."""
    return round(low + step * int(rng.integers(0, round((high - low) / step) + 1)), 6)
