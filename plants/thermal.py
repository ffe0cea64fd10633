"""Two heaters side by side, each with its sensor: the temperature-control laboratory kit.

Convection, radiation, the exchange between the heaters, and sensors that lag. The balance is of exergy
(:mod:`plants.exergy`): electric power supplies it, heat that leaves takes its share along. The sensors take part in no
balance: their lag is a filter.

Source: the kit's public energy balance (J. Park, R. A. Martin, J. D. Kelly and J. D. Hedengren, Benchmark temperature
microcontroller for process dynamics and control, Computers and Chem. Eng. 135 (2020), and the course pages to it): 4 g,
500 J/(kg K), 10 cm^2 and 2 cm^2, 10 and 20 W/(m^2 K), 0.01 and 0.0075 W per percent, emissivity 0.9, sensor lag 20 s.
"""

from __future__ import annotations

from typing import Any

from plants import exergy
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
