"""Heated bodies with sensors that lag: the temperature-control laboratory kit, and water heated by a steam valve.

The balances are of exergy (:mod:`plants.exergy`): heat and flows supply it, heat that leaves takes its share along.
Sensors take part in no balance: their lag is a filter.

The kit: two heaters side by side, with convection, radiation and the exchange between them. The steam heater: an
equal-percentage valve, whose flow changes by the same percentage for every part of the travel, f(x) = R^(x - 1). The
slope of f is ln(R) f: with R = 50 it changes 16:1 between 22 % and 93 % of the travel, and with it the gain of the
loop, because choked steam asks for nothing but the opening and the water's flow does not follow it. Such valves suit
loads that straighten them; here none does, a fault of sizing that is often met.

Sources: the kit's public energy balance (J. Park, R. A. Martin, J. D. Kelly and J. D. Hedengren, Benchmark temperature
microcontroller for process dynamics and control, Computers and Chem. Eng. 135 (2020), and the course pages to it): 4 g,
500 J/(kg K), 10 cm^2 and 2 cm^2, 10 and 20 W/(m^2 K), 0.01 and 0.0075 W per percent, emissivity 0.9, sensor lag 20 s.
The valve: F. G. Shinskey, Process Control Systems, 4th ed. (equal-percentage characteristic, rangeability 50); the
steam heater's figures are the project's own.
"""

from __future__ import annotations

import math
from typing import Any

from plants import exergy
from plants.core.elementary import exp, log
from plants.core.plant import Plant
from plants.core.quantities import Channel, ControlTask, OperatingPoint, OperatingRanges, Quantity
from plants.core.registry import register
from plants.excitation import Step, WhiteNoise

Numbers = tuple[Any, ...]
_RADIATION = 5.67e-8  # W/(m^2 K^4), Stefan and Boltzmann
_AMBIENT = 296.15  # K


def exchanged(x: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Heat [W] that each heater loses to the surroundings, and that the second gives the first."""
    first, second = x[:2]
    _capacity, area, facing, transfer, facing_transfer, emissivity, _one, _two, _lag, ambient = p
    surroundings = ambient + w[0]
    emitted = [emissivity * _RADIATION * T**4 for T in (first, second, surroundings)]
    lost = [
        area * (transfer * (T - surroundings) + own - emitted[2])
        for T, own in zip((first, second), emitted[:2], strict=True)
    ]
    return (*lost, facing * (facing_transfer * (second - first) + emitted[1] - emitted[0]))


def derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Heat balances of both heaters, and both sensors' lag."""
    lost_1, lost_2, between = exchanged(x, w, p)
    first, second, seen_1, seen_2 = x
    capacity, (power_1, power_2, lag) = p[0], p[6:9]
    warming_1 = (power_1 * u[0] - lost_1 + between) / capacity
    warming_2 = (power_2 * u[1] - lost_2 - between) / capacity
    return warming_1, warming_2, (first - seen_1) / lag, (second - seen_2) / lag


def stored_exergy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Thermal exergy of both heaters [J]."""
    capacity, (first, second) = p[0], x[:2]
    return exergy.stored(capacity, first) + exergy.stored(capacity, second)


def supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Electric power less the exergy of the heat as it reaches the surroundings [W]."""
    lost_1, lost_2, _between = exchanged(x, w, p)
    power_1, power_2, _lag, ambient = p[6:]
    return power_1 * u[0] + power_2 * u[1] - exergy.of_heat(lost_1 + lost_2, ambient + w[0])


def entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Entropy production rate times T0 [W]: electric heating, exchange with the surroundings and between the heaters.

    Not 0 at rest above the surroundings. Radiation counts as heat between its two temperatures.
    """
    lost_1, lost_2, between = exchanged(x, w, p)
    power_1, power_2, _lag, ambient = p[6:]
    first, second, surroundings = x[0], x[1], ambient + w[0]
    heating = exergy.lost_as_heat(power_1 * u[0], first) + exergy.lost_as_heat(power_2 * u[1], second)
    leaving = exergy.lost_by_transfer(lost_1, first, surroundings) + exergy.lost_by_transfer(
        lost_2, second, surroundings
    )
    return heating + leaving + exergy.lost_by_transfer(between, second, first)


def _situation(name: str, seed: int, one: float, two: float, draught: float, **more: Any) -> dict[str, Any]:
    return {
        "name": name, "reference": {"sensor 1": one, "sensor 2": two}, "t_end": 1000.0, "seed": seed,
        "excitation": Step(draught, at=500.0) + WhiteNoise(0.04, hold=10.0), **more,
    }  # fmt: skip


_WARM = (318.15, 312.15, 318.15, 312.15)
_TASK = {
    "taught": [
        _situation("warm up", 1, 318.15, 311.15, -3.0), _situation("first only", 2, 323.15, 306.15, 2.0),
        _situation("let cool", 3, 308.15, 305.15, -3.0, initial=_WARM),
    ],
    "validation": [_situation("warm up less", 6, 313.15, 309.15, 3.0)],
    "unforeseen": [
        _situation("hot", 11, 333.15, 321.15, -3.0), _situation("second hotter", 12, 310.15, 319.15, 2.0),
        _situation("strong draught", 13, 318.15, 311.15, -8.0),
        _situation("heavier, more loss", 14, 318.15, 311.15, -3.0, parameters={"capacity": 2.6, "transfer": 13.0}),
        _situation("lighter, weak heaters", 15, 316.15, 310.15, 2.0,
                   parameters={"capacity": 1.4, "heater 1": 0.007, "heater 2": 0.00525}),
    ],
}  # fmt: skip

_REGION = (250.0, 430.0)  # K


def _channel(number: int) -> Channel:
    return Channel(f"sensor {number}", None, 10.0, 0.0, 100.0, collocated=False, gains_high=(40.0, 0.6, 300.0))


HEATER = register(
    Plant(
        name="heater",
        step=0.5,
        loses_at_rest=True,
        states=(
            Quantity("temperature 1", "K", _AMBIENT, *_REGION, "of the first heater"),
            Quantity("temperature 2", "K", _AMBIENT, *_REGION, "of the second heater"),
            Quantity("sensor 1", "K", _AMBIENT, *_REGION),
            Quantity("sensor 2", "K", _AMBIENT, *_REGION),
        ),
        parameters=(
            Quantity("capacity", "J/K", 2.0, 0.1, text="of each heater"),
            Quantity("area", "m^2", 1e-3, 1e-5, text="of each heater, towards the surroundings"),
            Quantity("facing area", "m^2", 2e-4, 0.0, text="between the heaters"),
            Quantity("transfer", "W/(m^2 K)", 10.0, 0.1, text="to the air"),
            Quantity("facing transfer", "W/(m^2 K)", 20.0, 0.0, text="between the heaters"),
            Quantity("emissivity", "1", 0.9, 0.0, 1.0),
            Quantity("heater 1", "W/%", 0.01, 1e-4),
            Quantity("heater 2", "W/%", 0.0075, 1e-4),
            Quantity("sensor lag", "s", 20.0, 0.1),
            Quantity("ambient", "K", _AMBIENT, 283.15, 308.15, text="temperature of the surroundings"),
        ),
        inputs=(Quantity("power 1", "%", 0.0, 0.0, 100.0), Quantity("power 2", "%", 0.0, 0.0, 100.0)),
        disturbances=(Quantity("draught", "K", 0.0, -30.0, 30.0, "change of the surroundings' temperature"),),
        channels=(_channel(1), _channel(2)),
        derivative=derivative,
        energy=stored_exergy,
        supplied_power=supplied_power,
        entropy_rate=entropy_rate,
        task=ControlTask(
            operating_points=(
                OperatingPoint("warm", _WARM),
                OperatingPoint("hot", (338.15, 322.15, 338.15, 322.15)),
            ),
            situations=_TASK,
            # Rooms, draughts, ageing heaters. What they ask for, both heaters can hold in the coldest room.
            ranges=OperatingRanges(
                parameters={
                    "capacity": (1.4, 2.6),
                    "transfer": (8.0, 13.0),
                    "facing transfer": (14.0, 26.0),
                    "emissivity": (0.8, 0.95),
                    "heater 1": (0.008, 0.011),
                    "heater 2": (0.006, 0.008),
                    "sensor lag": (14.0, 26.0),
                    "ambient": (288.15, 300.15),
                },
                initial={"temperature 1": (296.15, 303.15), "temperature 2": (296.15, 303.15)},
                reference={"sensor 1": (311.15, 326.15), "sensor 2": (308.15, 316.15)},
                load={"draught": (-5.0, 3.0)},
                excitation={"draught": (0.0, 0.2)},
                noise={"sensor 1": (0.0, 0.2), "sensor 2": (0.0, 0.2)},
                delay=(0.0, 2.0),
            ),
        ),
        text="Two heaters with sensors (temperature-control laboratory kit), coupled by convection and radiation: "
        "power in percent to two temperatures.",
    )
)


_RANGEABILITY, _INLET, _STEAM = 50.0, 288.15, 425.0
_WATER = 4186.0  # J/(kg K)
_FULL, _FLOW = 270e3, 1.0
_WORKING = (0.22, 0.22 + math.log(16.0) / math.log(_RANGEABILITY))
"""Travel between which the valve's slope changes 16:1."""


def opening(travel: Any, rangeability: Any) -> Any:
    """Share of the flow through the open valve, R^(x - 1); closed, 1 / R still passes, as its rangeability says."""
    return exp(log(rangeability) * (travel - 1.0))


def heating(x: Numbers, w: Numbers, p: Numbers) -> Any:
    """Heat [W] of the steam that condenses: choked flow, in proportion to the steam's pressure and the opening."""
    return p[0] * (1.0 + w[1]) * opening(x[0], p[1])


def steam_derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Positioner, heat balance M c T' = F c (T_in - T) + Q, and the sensor's lag."""
    travel, water, sensor = x
    _full, _rangeability, stroke, flow, content, inlet, _steam, lag, _dead_time = p
    warming = flow * (inlet + w[0] - water) + heating(x, w, p) / _WATER
    return (u[0] - travel) / stroke, warming / content, (water - sensor) / lag


def steam_exergy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Thermal exergy of the water inside [J]."""
    return exergy.stored(_WATER * p[4], x[1])


def steam_supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Exergy [W] that the water's flow and the steam bring, heat at the boiler's temperature."""
    flow, inlet, steam = p[3], p[5], p[6]
    return exergy.of_flow(_WATER * flow, inlet + w[0], x[1]) + exergy.of_heat(heating(x, w, p), steam)


def steam_entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Entropy production rate times T0 [W]: heat from the boiler's to the water's temperature, mixing; not 0 at rest.

    The first is of the whole way, the throttling in the valve included.
    """
    flow, inlet, steam = p[3], p[5], p[6]
    mixing = exergy.lost_by_mixing(_WATER * flow, inlet + w[0], x[1])
    return mixing + exergy.lost_by_transfer(heating(x, w, p), steam, x[1])


def _steam_rest(travel: float) -> tuple[float, float, float]:
    """Travel, water and sensor at rest with the nominal plant."""
    water = _INLET + _FULL * float(opening(travel, _RANGEABILITY)) / (_FLOW * _WATER)
    return travel, water, water


_HELD = 0.575  # travel at the nominal point, the middle of the working range


def steam_allocate(t: Any, x: Numbers, commands: Numbers, p: Numbers) -> Numbers:
    """Demanded travel: the command is what is added to the one that holds the nominal point."""
    return (_HELD + commands[0],)


def _steam_situation(name: str, seed: int, rise: float, colder: float, **more: Any) -> dict[str, Any]:
    """A step to a rise above the inlet's temperature [K], and half way a step of that temperature."""
    excitation = {"inlet temperature": Step(-colder, at=300.0) + WhiteNoise(0.01, hold=6.0)}
    reference = _INLET + rise
    return {"name": name, "reference": reference, "excitation": excitation, "t_end": 600.0, "seed": seed, **more}


_STEAM_TASK = {
    "taught": [
        _steam_situation("up", 1, 25.0, 1.0),
        _steam_situation("down", 2, 5.0, -1.0),
        _steam_situation("far up", 3, 44.0, 2.0),
        _steam_situation("from hot to cool", 4, 8.0, 1.0, initial=_steam_rest(0.9)),
    ],
    "validation": [
        _steam_situation("a little up", 6, 17.0, -1.0),
        _steam_situation("from cool to warm", 7, 30.0, 1.0, initial=_steam_rest(0.3)),
    ],
    "unforeseen": [
        _steam_situation("to the top", 11, 48.0, 1.0),
        _steam_situation("to the bottom", 12, 4.0, 1.0),
        _steam_situation("cold inlet", 13, 20.0, 5.0),
        _steam_situation("more water", 14, 30.0, 1.0, parameters={"flow": 1.2}),
        _steam_situation("little water, sticky valve", 15, 35.0, -1.0, parameters={"flow": 0.8, "stroke": 3.6}),
    ],
}

EQUAL_PERCENTAGE_VALVE = register(
    Plant(
        name="equal_percentage_valve",
        step=0.2,
        loses_at_rest=True,
        states=(
            Quantity("travel", "1", _HELD, -0.1, 1.1, "of the valve's stem, 0 closed"),
            Quantity("water", "K", _steam_rest(_HELD)[1], 273.15, 373.15, "outlet temperature"),
            Quantity("sensor", "K", _steam_rest(_HELD)[1], 273.15, 373.15, "in its thermowell"),
        ),
        parameters=(
            Quantity("full heat", "W", _FULL, 1e3, text="of the steam through the open valve"),
            Quantity("rangeability", "1", _RANGEABILITY, 10.0, 100.0, "R"),
            Quantity("stroke", "s", 2.5, 0.1, text="lag of actuator and positioner"),
            Quantity("flow", "kg/s", _FLOW, 0.1, text="of the water"),
            Quantity("content", "kg", 20.0, 1.0, text="water in the heater"),
            Quantity("inlet", "K", _INLET, 274.15, 313.15, "temperature of the water that comes in"),
            Quantity("steam", "K", _STEAM, 393.15, 500.0, "temperature in the boiler"),
            Quantity("sensor lag", "s", 6.0, 0.1),
            Quantity("dead time", "s", 6.0, 0.0, text="of the way to the sensor"),
        ),
        inputs=(Quantity("demand", "1", _HELD, 0.0, 1.0, "travel that the positioner is asked for"),),
        disturbances=(
            Quantity("inlet temperature", "K", 0.0, -10.0, 10.0, "change"),
            Quantity("steam pressure", "1", 0.0, -0.3, 0.3, "change, as a share"),
        ),
        channels=(Channel("sensor", None, 10.0, -_HELD, 1.0 - _HELD, collocated=False, gains_high=(0.15, 0.01, 1.0)),),
        derivative=steam_derivative,
        energy=steam_exergy,
        supplied_power=steam_supplied_power,
        entropy_rate=steam_entropy_rate,
        allocate=steam_allocate,
        input_delay="dead time",
        task=ControlTask(
            operating_points=tuple(
                OperatingPoint(f"travel {x:.3g}", _steam_rest(x)) for x in (_HELD, _WORKING[0], 0.4, 0.75, _WORKING[1])
            ),
            situations=_STEAM_TASK,
            # What they ask for, the valve can hold: more water with weaker steam takes nearly all of it.
            ranges=OperatingRanges(
                parameters={
                    "full heat": (0.93 * _FULL, 1.07 * _FULL),
                    "stroke": (1.8, 3.6),
                    "flow": (0.9, 1.1),
                    "inlet": (_INLET - 1.0, _INLET + 1.0),
                    "sensor lag": (4.5, 8.0),
                    "dead time": (4.5, 7.5),
                },
                initial={},
                reference={"sensor": (_INLET + 4.0, _INLET + 48.0)},
                load={"inlet temperature": (-1.0, 1.0), "steam pressure": (-0.05, 0.05)},
                excitation={"inlet temperature": (0.0, 0.1), "steam pressure": (0.0, 0.01)},
                noise={"sensor": (0.0, 0.1)},
                delay=(0.0, 1.0),
            ),
        ),
        text="Water heated through an equal-percentage steam valve: demanded travel to outlet temperature; the gain "
        "varies 16:1.",
    )
)
