"""Stirred-tank reactors with a cooling jacket, exothermic first-order reaction A -> B, in SI units and dimensionless.

In SI units: two sets of published numbers, each with three steady states at one coolant temperature; the middle one,
where one likes to work, is unstable. The balance is of exergy (:mod:`plants.exergy`): flow, jacket and heat of
reaction supply it, heat transfer and mixing destroy it. The reaction's own entropy is left out: a rate law without a
reverse reaction has no finite affinity.

Dimensionless, the form that is studied for multiplicity and cycles: time counts in residence times, x1 is the
conversion, x2 = gamma (T - T_f) / T_f. Exergy counts in units of rho c V T_f / gamma, with surroundings at the feed's
temperature, so that the feed brings none.

Sources: D. E. Seborg, T. F. Edgar and D. A. Mellichamp, Process Dynamics and Control, ch. 2 (`cstr`: 0.5 mol/L, 350
K); B. W. Bequette, Process Dynamics: Modeling, Analysis, and Simulation, module on diabatic reactors, case 2
(`cstr_bequette`: 8.564, 5.518, 2.359 kmol/m^3 at 311.2, 339.1, 368.1 K). Both in SI units here. A. Uppal, W. H. Ray
and A. B. Poore, On the dynamic behavior of continuous stirred tank reactors, Chem. Eng. Science 29 (1974), 967-985;
the set Da 0.072, B 8, gamma 20, beta 0.3 of later control studies has steady states at (0.144, 0.886), (0.447,
2.752), (0.765, 4.705).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants import exergy
from plants.core.elementary import exp, log
from plants.core.plant import Plant
from plants.core.quantities import Channel, ControlTask, OperatingPoint, OperatingRanges, Quantity
from plants.core.registry import register
from plants.excitation import Step, WhiteNoise

if TYPE_CHECKING:
    from collections.abc import Callable


Numbers = tuple[Any, ...]


def derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """Balances of A and of heat: V C' = F (C_f - C) - V r,  rho c V T' = rho c F (T_f - T) - dH V r + UA (T_c - T)."""
    concentration, temperature = x
    flow, volume, capacity, _k0, _activation, heat, transfer, feed, feed_temperature = p
    (coolant,), (warmer, richer) = u, w
    rate = reaction(x, p)
    warming = heat * rate + transfer / volume * (coolant - temperature)
    exchange = flow / volume
    return (
        exchange * (feed + richer - concentration) - rate,
        exchange * (feed_temperature + warmer - temperature) + warming / capacity,
    )


def reaction(x: Numbers, p: Numbers) -> Any:
    """Rate of reaction [mol/(m^3 s)]: k0 exp(-E / (R T)) C."""
    concentration, temperature = x
    k0, activation = p[3:5]
    return k0 * exp(-activation / temperature) * concentration


def stored_exergy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Thermal exergy of the contents [J]."""
    _flow, volume, capacity, *_ = p
    _concentration, temperature = x
    return exergy.stored(capacity * volume, temperature)


def supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Exergy [W] that the flow, the jacket and the heat of reaction bring."""
    _concentration, temperature = x
    flow, volume, capacity, _k0, _activation, heat, transfer, _feed, feed_temperature = p
    (coolant,), warmer = u, w[0]
    brought = exergy.of_flow(capacity * flow, feed_temperature + warmer, temperature)
    jacket = exergy.of_heat(transfer * (coolant - temperature), coolant)
    return brought + jacket + exergy.of_heat(heat * volume * reaction(x, p), temperature)


def entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Entropy production rate times T0 [W]: heat transfer to the jacket and mixing of the feed; not 0 at rest."""
    _concentration, temperature = x
    flow, _volume, capacity, _k0, _activation, _heat, transfer, _feed, feed_temperature = p
    (coolant,), warmer = u, w[0]
    jacket = exergy.lost_by_transfer(transfer * (temperature - coolant), temperature, coolant)
    return jacket + exergy.lost_by_mixing(capacity * flow, feed_temperature + warmer, temperature)


def _state(values: dict[str, float], temperature: float) -> tuple[float, float]:
    """Concentration [mol/m^3] and temperature [K] of the steady state at a temperature."""
    slow = reaction((1.0, temperature), tuple(values.values())) * values["volume"] / values["flow"]
    return values["feed concentration"] / (1.0 + slow), temperature


def _holding(values: dict[str, float], temperature: float) -> float:
    """Coolant temperature [K] of that steady state."""
    x, p = _state(values, temperature), tuple(values.values())
    rate = derivative(0.0, x, (temperature,), (0.0, 0.0), p)[1]  # with a jacket that takes no heat
    return temperature - rate * values["capacity"] * values["volume"] / values["transfer"]


def _adding_to(bias: float) -> Callable[..., Numbers]:
    def allocate(t: Any, x: Numbers, commands: Numbers, p: Numbers) -> Numbers:
        """Coolant temperature [K]: the command is what is added to the one that holds the nominal point."""
        return (bias + commands[0],)

    return allocate


def _parameters(values: dict[str, float]) -> tuple[Quantity, ...]:
    """Temperatures and the activation keep bounds of their own: a third more of either would be another reactor."""
    units = ("m^3/s", "m^3", "J/(m^3 K)", "1/s", "K", "J/mol", "W/K", "mol/m^3", "K")
    near = {"activation": 0.01, "feed temperature": 0.03}
    texts = {"capacity": "heat capacity per volume, rho c", "activation": "E / R", "transfer": "UA of the jacket",
             "reaction heat": "-dH"}  # fmt: skip
    found = []
    for (name, value), unit in zip(values.items(), units, strict=True):
        share = near.get(name, 0.9)
        found.append(Quantity(name, unit, value, (1.0 - share) * value, (1.0 + share) * value, texts.get(name, "")))
    return tuple(found)


def _task(values: dict[str, float], at: float, t_end: float, wide: float) -> dict[str, list[dict[str, Any]]]:
    """Steps of `wide` K about `at` [K] with changes of the feed half way, and a coolant that comes late."""
    feed, exchange = values["feed concentration"], values["transfer"]

    def situation(name: str, seed: int, away: float, warmer: float, **more: Any) -> dict[str, Any]:
        hold = t_end / 100.0
        excitation = {
            "feed temperature": Step(warmer, at=0.5 * t_end) + WhiteNoise(0.04, hold=hold),
            "feed concentration": WhiteNoise((2e-3 * feed) ** 2, hold=hold),
        }
        reference = at + away * wide
        return {
            "name": name, "reference": reference, "excitation": excitation, "delay": 1e-3 * t_end, "t_end": t_end,
            "seed": seed, **more,
        }  # fmt: skip

    return {
        "taught": [
            situation("up", 1, 1.0, 2.0), situation("down", 2, -1.0, -2.0), situation("stay", 3, 0.0, 4.0),
        ],
        "validation": [situation("a little up", 6, 0.5, -4.0), situation("farther down", 7, -1.3, 2.0)],
        "unforeseen": [
            situation("far up", 11, 1.7, 2.0), situation("far down", 12, -1.7, -2.0),
            situation("strong load", 13, 0.5, 8.0),
            situation("fouled jacket", 14, -0.5, 2.0, parameters={"transfer": 0.7 * exchange}),
            situation("better jacket", 15, 0.5, 2.0, parameters={"transfer": 1.3 * exchange}),
            situation("thin feed", 16, -0.5, 2.0, parameters={"feed concentration": 0.9 * feed}),
        ],
    }  # fmt: skip


def _ranges(values: dict[str, float], at: float, t_end: float, wide: float) -> OperatingRanges:
    """Return what the reactors meet: throughput, an ageing catalyst, a fouled jacket, thin feed; rest at `at` [K].

    Hotter, or with less of the jacket, the coldest coolant does not hold the reaction in some of what is drawn.
    """
    shares = {
        "flow": (0.95, 1.05),
        "frequency factor": (0.9, 1.1),
        "reaction heat": (0.97, 1.03),
        "transfer": (0.9, 1.2),
        "feed concentration": (0.93, 1.0),
    }
    feed = values["feed concentration"]
    return OperatingRanges(
        parameters={name: (low * values[name], high * values[name]) for name, (low, high) in shares.items()},
        initial={},
        reference={"temperature": (at - 1.2 * wide, at + 0.8 * wide)},
        load={"feed temperature": (-4.0, 4.0)},
        excitation={"feed temperature": (0.0, 0.2), "feed concentration": (0.0, 2e-3 * feed)},
        noise={"temperature": (0.0, 0.02 * wide)},
        delay=(0.0, 2e-3 * t_end),
    )


def _reactor(
    name: str, values: dict[str, float], points: tuple[float, ...], span: tuple[float, float], t_end: float,
    step: float, wide: float, box: tuple[tuple[float, float, float], tuple[float, float, float]], text: str,
) -> Plant:  # fmt: skip
    """Return a reactor whose operating points are steady states at these temperatures [K], the first the nominal."""
    at, bias = points[0], _holding(values, points[0])
    concentration, temperature = _state(values, at)
    feed = values["feed concentration"]
    return Plant(
        name=name,
        states=(
            Quantity("concentration", "mol/m^3", concentration, -0.1 * feed, 2.0 * feed, "of A"),
            Quantity("temperature", "K", temperature, *span, "of the contents; beyond, a relief valve opens"),
        ),
        parameters=_parameters(values),
        inputs=(Quantity("coolant temperature", "K", bias, bias - 40.0, bias + 40.0, "of the jacket"),),
        disturbances=(
            Quantity("feed temperature", "K", 0.0, -30.0, 30.0, "change"),
            Quantity("feed concentration", "mol/m^3", 0.0, -0.5 * feed, 0.5 * feed, "change"),
        ),
        channels=(
            Channel("temperature", None, wide, -40.0, 40.0, collocated=False, gains_low=box[0], gains_high=box[1]),
        ),
        derivative=derivative,
        energy=stored_exergy,
        supplied_power=supplied_power,
        entropy_rate=entropy_rate,
        allocate=_adding_to(bias),
        task=ControlTask(
            operating_points=tuple(OperatingPoint(f"{T:g} K", _state(values, T)) for T in points),
            situations=_task(values, at, t_end, wide),
            ranges=_ranges(values, at, t_end, wide),
        ),
        step=step,
        loses_at_rest=True,
        text=text,
    )


_NAMES = ("flow", "volume", "capacity", "frequency factor", "activation", "reaction heat", "transfer",
          "feed concentration", "feed temperature")  # fmt: skip
SEBORG = dict(zip(_NAMES, (1.0 / 600.0, 0.1, 2.39e5, 1.2e9, 8750.0, 5e4, 5e4 / 60.0, 1e3, 350.0), strict=True))
"""100 L/min through 100 L, 239 J/(L K), 7.2e10 /min, E/R 8750 K, 50 kJ/mol, 50 kJ/(min K), 1 mol/L at 350 K."""

_KCAL = 4184.0
BEQUETTE = dict(zip(_NAMES, (
    1.0 / 3600.0, 1.0, 500.0 * _KCAL, 9703.0, 11843.0 / 1.987, 5.96 * _KCAL, 150.0 * _KCAL / 3600.0, 1e4, 298.0
), strict=True))  # fmt: skip
"""F/V 1 /h, 500 kcal/(m^3 K), 9703 /s, 11843 kcal/kmol, 5960 kcal/kmol, 150 kcal/(m^3 K h), 10 kmol/m^3 at 25 degC."""

CSTR = register(
    _reactor(
        "cstr", SEBORG, (350.0, 340.0, 360.0), (250.0, 450.0), 1000.0, 0.5, 6.0, ((1.5, 0.0, 0.0), (20.0, 2.0, 10.0)),
        "Jacketed stirred-tank reactor A -> B (Seborg, Edgar, Mellichamp), unstable at 350 K: coolant temperature to "
        "reactor temperature.",
    )
)  # fmt: skip
CSTR_BEQUETTE = register(
    _reactor(
        "cstr_bequette", BEQUETTE, (339.1, 330.0, 348.0), (250.0, 420.0), 2e4, 10.0, 5.0,
        ((3.0, 0.0, 0.0), (220.0, 1.0, 5e3)),
        "Jacketed stirred-tank reactor A -> B (Bequette's case 2), slow, unstable at 339 K: coolant temperature to "
        "reactor temperature.",
    )
)  # fmt: skip


_DIMENSIONLESS_NOMINAL = (0.072, 8.0, 20.0, 0.3)
_DIMENSIONLESS_REST = 2.752


def dimensionless_derivative(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Numbers:
    """x1' = -x1 + R,  x2' = -(x2 - w) + B R - beta (x2 - u),  R = Da (1 - x1) exp(x2 / (1 + x2 / gamma))."""
    conversion, temperature = x
    _damkoehler, heat, _gamma, beta = p
    rate = dimensionless_reaction(x, p)
    return rate - conversion, heat * rate - (temperature - w[0]) - beta * (temperature - u[0])


def dimensionless_reaction(x: Numbers, p: Numbers) -> Any:
    """Rate of reaction per residence time."""
    return p[0] * (1.0 - x[0]) * exp(x[1] / (1.0 + x[1] / p[2]))


def dimensionless_exergy(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Thermal exergy of the contents, surroundings at the feed's nominal temperature."""
    return x[1] - p[2] * log(1.0 + x[1] / p[2])


def dimensionless_supplied_power(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Exergy that flow, jacket and heat of reaction bring; a heat q at x2 is worth q (1 - 1 / (1 + x2 / gamma))."""
    _damkoehler, heat, gamma, beta = p
    inside, jacket, entering = (1.0 + value / gamma for value in (x[1], u[0], w[0]))
    flow = w[0] - x[1] - gamma * log(entering / inside)
    return (
        flow + beta * (u[0] - x[1]) * (1.0 - 1.0 / jacket) + heat * dimensionless_reaction(x, p) * (1.0 - 1.0 / inside)
    )


def dimensionless_entropy_rate(t: Any, x: Numbers, u: Numbers, w: Numbers, p: Numbers) -> Any:
    """Entropy production rate times the feed's temperature: heat transfer and mixing; not 0 at rest."""
    _damkoehler, _heat, gamma, beta = p
    inside, jacket, entering = (1.0 + value / gamma for value in (x[1], u[0], w[0]))
    apart = x[1] - u[0]
    ratio = entering / inside
    return beta * apart * apart / (gamma * inside * jacket) + gamma * (ratio - 1.0 - log(ratio))


def _dimensionless_state(temperature: float) -> tuple[float, float]:
    """Conversion and temperature of the steady state at a temperature."""
    rate = dimensionless_reaction((0.0, temperature), _DIMENSIONLESS_NOMINAL)
    return rate / (1.0 + rate), temperature


def _dimensionless_holding(temperature: float) -> float:
    """Coolant temperature of that steady state."""
    return (
        -dimensionless_derivative(0.0, _dimensionless_state(temperature), (0.0,), (0.0,), _DIMENSIONLESS_NOMINAL)[1]
        / _DIMENSIONLESS_NOMINAL[3]
    )


_DIMENSIONLESS_BIAS = _dimensionless_holding(_DIMENSIONLESS_REST)  # about 0


def dimensionless_allocate(t: Any, x: Numbers, commands: Numbers, p: Numbers) -> Numbers:
    """Coolant temperature: the command is what is added to the one that holds the nominal point."""
    return (_DIMENSIONLESS_BIAS + commands[0],)


def _dimensionless_situation(name: str, seed: int, reference: float, load: float, **more: Any) -> dict[str, Any]:
    excitation = Step(load, at=10.0) + WhiteNoise(4e-4, hold=0.2)
    return {
        "name": name, "reference": reference, "excitation": excitation, "delay": 0.06, "t_end": 20.0, "seed": seed,
        **more,
    }  # fmt: skip


_DIMENSIONLESS_TASK = {
    "taught": [
        _dimensionless_situation("up", 1, 3.5, 0.2), _dimensionless_situation("down", 2, 2.0, -0.2),
        _dimensionless_situation("from the hot state", 3, 2.752, 0.2, initial=_dimensionless_state(4.705)),
    ],
    "validation": [
        _dimensionless_situation("a little up", 6, 3.1, -0.2),
        _dimensionless_situation("from the cold state", 7, 2.4, 0.2, initial=_dimensionless_state(0.886)),
    ],
    "unforeseen": [
        _dimensionless_situation("far up", 11, 4.2, 0.2), _dimensionless_situation("far down", 12, 1.2, -0.2),
        _dimensionless_situation("strong load", 13, 2.752, 0.6),
        _dimensionless_situation("faster reaction", 14, 2.752, 0.2, parameters={"Da": 0.0936}),
        _dimensionless_situation(
            "slower reaction, fouled jacket", 15, 3.2, 0.2, parameters={"Da": 0.0504, "beta": 0.21}
        ),
    ],
}  # fmt: skip

CSTR_DIMENSIONLESS = register(
    Plant(
        name="cstr_dimensionless",
        states=(
            Quantity("conversion", "1", _dimensionless_state(_DIMENSIONLESS_REST)[0], -0.1, 1.1, "of A"),
            Quantity("temperature", "1", _DIMENSIONLESS_REST, -3.0, 12.0, "gamma (T - T_f) / T_f"),
        ),
        parameters=(
            Quantity("Da", "1", _DIMENSIONLESS_NOMINAL[0], 1e-3, text="Damkoehler number"),
            Quantity("B", "1", _DIMENSIONLESS_NOMINAL[1], 0.0, text="adiabatic rise of temperature"),
            Quantity("gamma", "1", _DIMENSIONLESS_NOMINAL[2], 15.0, 25.0, text="activation energy"),
            Quantity("beta", "1", _DIMENSIONLESS_NOMINAL[3], 0.01, text="heat transfer"),
        ),
        inputs=(Quantity("coolant temperature", "1", _DIMENSIONLESS_BIAS, -8.0, 8.0),),
        disturbances=(Quantity("feed temperature", "1", 0.0, -3.0, 3.0, "change"),),
        channels=(
            Channel(
                "temperature",
                None,
                1.0,
                -6.0,
                6.0,
                collocated=False,
                gains_low=(2.0, 0.0, 0.0),
                gains_high=(40.0, 60.0, 1.5),
            ),
        ),
        derivative=dimensionless_derivative,
        energy=dimensionless_exergy,
        supplied_power=dimensionless_supplied_power,
        entropy_rate=dimensionless_entropy_rate,
        loses_at_rest=True,
        allocate=dimensionless_allocate,
        task=ControlTask(
            operating_points=tuple(
                OperatingPoint(f"temperature {x2:g}", _dimensionless_state(x2))
                for x2 in (_DIMENSIONLESS_REST, 2.0, 3.5)
            ),
            situations=_DIMENSIONLESS_TASK,
            ranges=OperatingRanges(
                parameters={"Da": (0.06, 0.085), "B": (7.7, 8.3), "beta": (0.26, 0.34)},
                initial={"conversion": (0.3, 0.65), "temperature": (1.8, 3.6)},
                reference={"temperature": (1.6, 4.0)},
                load={"feed temperature": (-0.2, 0.4)},
                excitation={"feed temperature": (0.0, 0.02)},
                noise={"temperature": (0.0, 0.02)},
                delay=(0.0, 0.06),
            ),
        ),
        text="Jacketed stirred-tank reactor A -> B without dimensions (Uppal, Ray and Poore 1974): coolant to reactor "
        "temperature, unstable at 2.75; time in residence times.",
    )
)
