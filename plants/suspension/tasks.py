"""The car's control task: which roads are taught, which are not foreseen.

Every run starts at rest on its springs and asks for that rest: a damper carries no load, so a loaded car is held
where the load puts it. What is not foreseen is a list, and cases that nobody chose: roads, speeds, loads, wear, tyres
and delays drawn from a declared random generator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from plants.core.quantities import OperatingRanges, around
from plants.excitation.draws import Draws
from plants.suspension.motion import equilibrium
from plants.suspension.parameters import CS_FRONT, CS_REAR, PARAMETERS, loaded
from plants.suspension.roads import bump, rough_road, together
from plants.suspension.signals import rest_in_modes

if TYPE_CHECKING:
    from collections.abc import Iterable


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
    draws = Draws(seed)
    return tuple(_one(draws, obstacle=k >= rough) for k in range(rough + single))


def _one(draws: Draws, *, obstacle: bool) -> Drawn:
    given = None
    if obstacle:
        height = draws.one_of((-1.0, 1.0)) * draws.on_grid(0.02, 0.08, 0.01)
        given = (height, draws.on_grid(0.5, 3.0, 0.1), draws.one_of(("both", "left", "right")))
    return Drawn(
        road_class="B" if obstacle else draws.one_of(("B", "C", "D")),
        speed=draws.on_grid(10.0, 35.0, 0.5),
        correlation=draws.on_grid(0.0, 1.0, 0.1),
        obstacle=given,
        mass=draws.on_grid(0.0, 300.0, 10.0) if draws.happens(0.5) else 0.0,  # every other car is empty
        place=draws.one_of(tuple(PLACES)),
        dampers=draws.on_grid(0.5, 1.0, 0.01),
        tyres=draws.on_grid(0.8, 1.2, 0.01),
        delay=draws.on_grid(0.0, 0.015, 0.001),
    )


HORIZON = 10.0  # s
_DECIMALS = 9  # of m and rad, where a load puts the car: beyond them, what rests differs from processor to processor
_OUTPUTS = ("heave", "pitch", "roll")
_WORN = {"cs_front": 0.6 * CS_FRONT, "cs_rear": 0.6 * CS_REAR}


def _case(name: str, road: dict[str, Any], seed: int, **more: Any) -> dict[str, Any]:
    """A situation from rest, which is held: with a load as well."""
    parameters = more.get("parameters")
    if parameters:
        state, rest = _rounded(equilibrium(parameters)), equilibrium()
        more |= {
            "initial": state,
            "reference": dict(zip(_OUTPUTS, _rounded(state[k] - rest[k] for k in range(3)), strict=True)),
        }
    return {"name": name, "excitation": road, "seed": seed, "t_end": HORIZON, **more}


def _rounded(values: Iterable[float]) -> tuple[float, ...]:
    return tuple(round(value, _DECIMALS) + 0.0 for value in values)  # and no -0.0


SITUATIONS: dict[str, list[dict[str, Any]]] = {
    "taught": [
        _case("class B at 15 m/s", rough_road("B", 15.0), 1),
        _case("class B at 25 m/s", rough_road("B", 25.0), 2),
        _case("class C at 15 m/s", rough_road("C", 15.0), 3),
        _case("class C at 25 m/s", rough_road("C", 25.0), 4),
        _case("bump", bump(0.05, 1.0, 10.0), 5),
    ],
    "validation": [
        _case("class C at 20 m/s", rough_road("C", 20.0), 8),
        _case("bump on class B", together(bump(0.04, 2.0, 15.0, at=15.0), rough_road("B", 15.0)), 9),
    ],
    "unforeseen": [
        _case("class D at 15 m/s", rough_road("D", 15.0), 11),
        _case("class C at 35 m/s", rough_road("C", 35.0), 12),
        _case("300 kg behind", rough_road("C", 20.0), 13, parameters=loaded(300.0)),
        _case("worn dampers", rough_road("C", 20.0), 14, parameters=_WORN),
        _case("bump on the left", bump(0.05, 1.0, 8.0, side="left"), 15),
        _case("hole on the right", bump(-0.04, 1.5, 12.0, side="right"), 16),
        _case("delay", rough_road("C", 20.0), 17, delay=0.01),
        _case("independent tracks", rough_road("C", 20.0, correlation=0.0), 18),
        *(_case(one.name, one.road(), 100 + k, **one.settings()) for k, one in enumerate(drawn())),
    ],
}


RANGES = OperatingRanges(
    parameters={name: (0.6 * _NOMINAL[name], _NOMINAL[name]) for name in _WORN}
    | around(0.1, {name: _NOMINAL[name] for name in ("kw_front", "kw_rear")}),
    initial={},
    reference={},
    load={},
    excitation={},
    noise=dict.fromkeys(_OUTPUTS, (0.0, 0.0004)),
    delay=(0.0, 0.01),
    excitations_of=tuple(one["name"] for kind in ("taught", "validation") for one in SITUATIONS[kind]),
)
"""Roads, worn dampers, tyres. A load moves where the car rests, and with it what is asked for: no range says that."""


def with_struts(situations: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """Return situations for a car with loops over its struts: they are held where a load puts them, too."""
    return {kind: [_struts_held(one) for one in several] for kind, several in situations.items()}


def _struts_held(one: dict[str, Any]) -> dict[str, Any]:
    if "initial" not in one:
        return one
    travel = rest_in_modes(one["initial"])
    return one | {"reference": one["reference"] | dict(zip(travel, _rounded(travel.values()), strict=True))}
