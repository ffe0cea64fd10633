"""The car's control task: which roads are taught, which are not foreseen.

Every run starts at rest on its springs and asks for that rest: a damper carries no load, so a loaded car is held where
the load puts it. What is not foreseen is a list, and cases that a random generator drew (:mod:`.random_cases`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.suspension.equilibrium import equilibrium
from plants.suspension.loads import loaded
from plants.suspension.parameters import CS_FRONT, CS_REAR
from plants.suspension.random_cases import drawn
from plants.suspension.roads import bump, rough_road, together
from plants.suspension.signals import rest_in_modes

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def with_struts(situations: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """Return situations for a car with loops over its struts: they are held where a load puts them, too."""
    return {kind: [_struts_held(one) for one in several] for kind, several in situations.items()}


def _struts_held(one: dict[str, Any]) -> dict[str, Any]:
    if "initial" not in one:
        return one
    travel = rest_in_modes(one["initial"])
    return one | {"reference": one["reference"] | dict(zip(travel, _rounded(travel.values()), strict=True))}
