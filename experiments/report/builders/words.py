"""Situations, units and the cost in words and formulas."""

from __future__ import annotations

import math
import re
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.report.builders.case import BASELINE, FinishedDesign
from experiments.report.drawing.numbers import number, plain, share, with_unit
from experiments.report.records.results import LawText
from experiments.runtime.tables import in_words
from plants.core.blocks import allocate_inputs
from plants.excitation import Constant, Part, Signal, as_signal

if TYPE_CHECKING:
    from controllers import PID
    from plants import Plant
    from sscq.fitness import Fitness
    from sscq.situations.situation import Situation

_UNITS = {"hold": "s", "at": "s", "bandwidth": "rad/s", "frequency": "Hz", "phase": "rad", "slope": "1/s",
          "start_time": "s", "stop_time": "s", "start_frequency": "Hz", "stop_frequency": "Hz", "duration": "s",
          "speed": "m/s"}  # fmt: skip
SYMBOLS = {
    "iae": "IAE",
    "ise": "ISE",
    "itae": "ITAE",
    "total_variation": "travel",
    "effort": "∫u² dt",
    "entropy_difference": "∫ΔṠ dt",
    "entropy_difference_abs": "∫|ΔṠ| dt",
    "entropy_difference_square": "∫ΔṠ² dt",
}
_LOST_SHOWN = 2  # states whose range a lost loop leaves
_TERMS = {"total_variation": "actuator travel", "effort": "effort"}


def situation(plant: Plant, given: Situation) -> str:
    """Return one line on a situation: reference, start, excitation, what differs from the nominal plant, horizon."""
    parts = [given.text] if given.text else []
    parts += _references(plant, given)
    if given.initial is not None:
        parts.append("start " + _named(plant.states, plant.start(given.initial, given.parameters)[0]))
    parts += [*_disturbances(plant, given), *_other_plant(plant, given), *_real_loop(plant, given)]
    parts.append(f"{plain(given.t_end)} s")
    return "; ".join(parts)


def _disturbances(plant: Plant, given: Situation) -> list[str]:
    """One entry for all disturbances that are alike: wheels of one road differ only in which of them they are."""
    alike: dict[str, list[str]] = {}
    for quantity, signal in zip(plant.disturbances, given.excitations(plant), strict=True):
        if signal.parts and signal != as_signal(quantity.rest):
            alike.setdefault(_signal(signal, quantity.unit), []).append(quantity.name)
    return [f"{', '.join(names)}: {text}" for text, names in alike.items()]


def _references(plant: Plant, given: Situation) -> list[str]:
    several = len(plant.channels) > 1
    found = []
    for channel, signal in zip(plant.channels, given.references(plant), strict=True):
        unit = plant.measurements[plant.index("measurements", channel.output)].unit
        found.append(f"reference{f' of {channel.output}' if several else ''} {_signal(signal, unit)}")
    return found


def _signal(signal: Signal, unit: str) -> str:
    if not signal.parts:
        return with_unit(0.0, unit)
    return " + ".join(_part(part, unit) for part in signal.parts)


def _part(part: Part, unit: str) -> str:
    """A constant as its value; any other kind by its name and settings."""
    shown = [f for f in fields(part) if f.repr and not isinstance(getattr(part, f.name), bool)]
    if type(part).__name__ == "Constant":
        return with_unit(float(getattr(part, shown[0].name)), unit)
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(part).__name__).lower()
    settings = ", ".join(_setting(f.name, getattr(part, f.name)) for f in shown)
    return f"{name} ({settings})" if settings else name


def _setting(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return f"{name.replace('_', ' ')} {with_unit(float(value), _UNITS.get(name, ''))}"
    return f"{name.replace('_', ' ')} given" if value is not None else f"no {name.replace('_', ' ')}"


def _other_plant(plant: Plant, given: Situation) -> list[str]:
    values = plant.values("parameters", given.parameters)
    changed = [(q, v) for q, v in zip(plant.parameters, values, strict=True) if v != q.nominal]
    return [_named([q for q, _ in changed], [v for _, v in changed], " = ")] if changed else []


def _real_loop(plant: Plant, given: Situation) -> list[str]:
    """What stands between controller and plant, where there is anything: sensors, links and actuators."""
    found = []
    if given.delay:
        found.append(f"command delayed by {plain(given.delay)} s")
    if given.output_delay:
        found.append(f"measurement delayed by {plain(given.output_delay)} s")
    if given.jitter:
        found.append(f"sampling jitter of {share(given.jitter)} of a sample")
    found += _nonzero("sensor noise ", plant.measurements, given.noise_levels(plant))
    found += _nonzero("quantisation ", plant.measurements, given.quanta(plant))
    if given.dropout:
        found.append(f"{share(given.dropout)} of the measurements lost")
    if given.command_dropout:
        found.append(f"{share(given.command_dropout)} of the commands lost")
    if given.limits is not None:
        found.append(f"actuator limited to {plain(given.limits[0])} … {plain(given.limits[1])}")
    speeds = [replace(q, unit=f"{_no_one(q.unit) or 1}/s") for q in plant.inputs]
    found += _nonzero("actuator no faster than ", speeds, given.of_inputs("rate_limit", plant))
    found += _nonzero("actuator dead zone ", plant.inputs, given.of_inputs("dead_zone", plant))
    found += _nonzero("backlash ", plant.inputs, given.of_inputs("backlash", plant))
    return found


def _nonzero(what: str, quantities: Any, values: Any) -> list[str]:
    """One entry with every quantity whose value is not 0, or none."""
    pairs = [(q, v) for q, v in zip(quantities, values, strict=True) if v]
    return [what + _named([q for q, _ in pairs], [v for _, v in pairs])] if pairs else []


def _named(quantities: Any, values: Any, between: str = " ") -> str:
    pairs = zip(quantities, values, strict=True)
    return ", ".join(f"{q.name}{between}{with_unit(float(v), q.unit)}" for q, v in pairs)


def lost_loop(plant: Plant) -> str:
    """Return what a lost loop is: outputs first, then other states that have a range."""
    outputs = {channel.output for channel in plant.channels}
    bounded = [q for q in plant.states if math.isfinite(q.low) or math.isfinite(q.high)]
    if not bounded:
        return "numbers without end"
    shown = sorted(bounded, key=lambda q: q.name not in outputs)[:_LOST_SHOWN]
    told = " or ".join(f"{in_words(q.name)} outside {plain(q.low)} … {with_unit(q.high, q.unit)}" for q in shown)
    return told + (", or another state outside its range" if len(bounded) > len(shown) else "")


def gain_units(command: str, output: str) -> tuple[str, str, str]:
    """Return the units of kp, ki and kd from those of command and output; "" where they cancel."""
    u, y = ("" if unit == "1" else unit for unit in (command, output))
    below = f"({y})" if re.search(r"[ /]", y) else y
    if not y:
        return u, f"{u or '1'}/s", f"{u} s".strip()
    return f"{u or '1'}/{below}", f"{u or '1'}/({below} s)", f"{u} s/{below}".strip()


def measure_units(plant: Plant) -> dict[str, str]:
    """Return the units of the built-in measures; of errors over their channels' scales "s, scaled"."""
    channels = range(len(plant.channels))
    errors = {(output_unit(plant, i), plant.channels[i].scale) for i in channels}
    of_scale_1 = [unit for unit, scale in errors if scale == 1.0]
    alike = len(errors) == len(of_scale_1) == 1
    error, tail = (of_scale_1[0], "") if alike else ("", ", scaled")
    commands = list(dict.fromkeys(command_unit(plant, i) or "1" for i in channels))
    squares = " + ".join("1" if unit == "1" else _squared(unit) for unit in commands)
    found = {
        "iae": _times_second(error) + tail,
        "ise": f"{_squared(error)} s".strip() + tail,
        "itae": _times_second(_times_second(error)) + tail,
        "effort": "s" if squares == "1" else f"({squares}) s" if len(commands) > 1 else f"{squares} s",
        "total_variation": "" if commands == ["1"] else " + ".join(commands),
        "settling_time": "s",
    }
    if plant.entropy_rate is not None:
        found |= dict.fromkeys(("entropy_plant", "entropy_controller"), "J")
        found |= dict.fromkeys(("entropy_difference", "entropy_difference_abs"), "J")
    return found


def _times_second(unit: str) -> str:
    """A unit times s: "m s" for m, "rad" for rad/s."""
    if unit.endswith("/s"):
        return unit.removesuffix("/s")
    return f"{unit}²" if unit == "s" or unit.endswith(" s") else f"{unit} s".strip()


def _squared(unit: str) -> str:
    return f"({unit})²" if re.search(r"[ /]", unit) else f"{unit}²" if unit else ""


def command_unit(plant: Plant, channel: int) -> str:
    """Return the unit of a channel's command, where commands are the plant's inputs or are added to one."""
    known = plant.allocate is None or bias(plant) is not None
    return _no_one(plant.inputs[channel].unit) if known else ""


def added(plant: Plant) -> str:
    """Return what a command is added to: ", added to voltage 9.258 V (command 0)"; empty: to nothing, or unknown."""
    rest, into = bias(plant), plant.inputs[0]
    return "" if rest is None else f", added to {into.name} {rounded(rest, into.unit)} (command 0)"


def rounded(value: float, unit: str = "") -> str:
    """Return a value of four digits with its unit."""
    return with_unit(float(f"{value:.4g}"), unit)


_SENSES = {"direct": "positive gains where more u raises y: reverse", "reverse": "the error is y − r: direct"}
"""Ours counts what the plant does, ISA what the controller does where the measured value rises."""


def law(case: FinishedDesign, channel: int) -> LawText:
    """Return the law of a channel as a formula, and what else has to be set."""
    law, plant = case.law(channel), case.plant
    error, weighted, output = ("r − y", "b r − y", "−y") if law.action == "direct" else ("y − r", "y − b r", "y")
    rate = f"({error})" if law.derivative_on == "error" else output if output == "y" else f"({output})"
    sample, wanted = law.sample_time or case.setup.step, law.derivative_filter_time
    measured = measured_rate(case, channel)
    lag = "s/(1 + s Td/N)"
    if measured:
        sign = "" if rate == "y" else "−"
        moved = {"(r − y)": "(s r − v)", "(y − r)": "(v − s r)"}.get(rate, f"({sign}v)" if sign else "v")
        lag, rate = ("1/(1 + s Td/N)" if wanted > sample else ""), moved
    derivative = f"{lag} {rate}".strip()
    formula = (
        f"u = K [{weighted} + ({error})/(Ti s) + Td {derivative}] = kp ({weighted}) + ki/s ({error}) + kd {derivative}"
    )
    source = f" (v: the measured {measured}, not differentiated)" if measured else ""
    one_sample = f"no filter set: Td/N = {plain(sample)} s is one sample, a difference over it"
    if measured:
        one_sample = (
            f"no filter; N is for who has no such signal and differentiates y over one sample ({plain(sample)} s), "
            "with more noise in u than was simulated here"
        )
    lagged = f"filter Td/N = {plain(wanted)} s" if wanted > sample else one_sample
    windup = law.anti_windup.replace("_", " ") + (f", {plain(law.tracking_time)} s" if law.tracking_time else "")
    (low, high), unit = case.limits(channel), command_unit(plant, channel)
    limited = math.isfinite(low) or math.isfinite(high)
    within = f"{rounded(low)} … {rounded(high, unit)}" if limited else "unlimited"
    told = [
        f"derivative on the {law.derivative_on}{source}{_of_error(case, law)}, {lagged}",
        f"{_SENSES[law.action]}-acting in ISA's words",
        f"anti-windup: {windup}",
        f"sample time {plain(sample)} s",
        f"u {within}{added(plant)}",
        f"scheduled gains renewed every {plain(case.setup.tick)} s, ki inside the integral: ∫ki ({error}) dt",
    ]
    if law.rate_limit is not None:
        told.insert(-1, f"u no faster than {plain(law.rate_limit)} {unit or 1}/s")
    return LawText(formula, "; ".join(told))


def measured_rate(case: FinishedDesign, channel: int) -> str:
    """Return the measurement that a law takes for the rate of its channel's output; empty: it differentiates."""
    return (case.plant.channels[channel].rate or "") if case.law(channel).rate_source == "output" else ""


def _of_error(case: FinishedDesign, law: PID) -> str:
    """That it may as well be on the measurement, where no reference moves in any run."""
    every = [situation for several in case.setup.sets.values() for situation in several]
    if law.derivative_on != "error" or not all(reference_stands(situation, case.plant) for situation in every):
        return ""
    return " (on the measurement it is the same in all runs here, whose references stand still)"


def reference_stands(situation: Situation, plant: Plant) -> bool:
    """Return whether the references of a situation are what they begin with."""
    return all(isinstance(part, Constant) for signal in situation.references(plant) for part in signal.parts)


def bias(plant: Plant) -> float | None:
    """Return the input at command 0 of a plant that adds its one command to its one input; None: it does not."""
    if plant.allocate is None or len(plant.channels) != 1 or len(plant.inputs) != 1:
        return None
    state, values = plant.start()
    size = plant.channels[0].scale
    at = [float(allocate_inputs(plant, 0.0, state, (u,), values)[0]) for u in (0.0, size, -size)]
    added = [one - at[0] for one in at[1:]]
    return at[0] if np.allclose(added, [size, -size], rtol=1e-6, atol=0.0) else None


def output_unit(plant: Plant, channel: int) -> str:
    """Return the unit of a channel's output."""
    output = plant.channels[channel].output
    return _no_one(plant.measurements[plant.index("measurements", output)].unit)


def _no_one(unit: str) -> str:
    return "" if unit == "1" else unit


def symbol(measure: str) -> str:
    """Return how a measure is written in formulas; a plant's own by its name."""
    return SYMBOLS.get(measure, in_words(measure))


def cost(case: FinishedDesign) -> str:
    """Return the cost J as a formula, with what its terms are divided by and how much of it each is."""
    fitness = case.fitness
    if fitness.lexicographic:
        return _levels(fitness)
    terms = " + ".join(
        (f"{plain(weight)} " if weight != 1.0 else "")
        + symbol(name)
        + (f" / {number(fitness.reference[name])}" if name in fitness.reference else "")
        for name, weight in fitness.terms.items()
    )
    relative = ""
    if fitness.reference:
        kept = ", and keep the margins where any do" if case.bench.margins is not None else ""
        own = case.setup.own is not None and not case.failed("own", "taught").any()
        whose = "mean for your present gains" if own else f"median for random gains that survive{kept}"
        relative = f" (each divided by its {whose})"
    split = ", ".join(f"{share(part)} {term(name)}" for name, part in shares(case).items())
    where = "drawn" if case.judged == "drawn" else "unforeseen"
    of = f". Of the {case.name(BASELINE)}'s J in the {where} situations: {split}" if len(fitness.terms) > 1 else ""
    return f"J = {terms}{relative}{of}"


def _levels(fitness: Fitness) -> str:
    error, entropy = (
        SYMBOLS[name] + (f" / {number(fitness.reference[name])}" if name in fitness.reference else "")
        for name in fitness.terms
    )
    return (
        f"J = {error}, rounded down to steps of {share(fitness.tolerance)}, times 1 + {plain(fitness.tolerance)} a / "
        f"(1 + a) with a = {entropy}. So levels are compared one after the other: divergence, margins and limits, "
        "tracking error, entropy production"
    )


def term(measure: str) -> str:
    """Return a term of the cost in words."""
    if measure not in SYMBOLS:
        return in_words(measure)
    return _TERMS.get(measure, "entropy production" if "entropy" in measure else "tracking error")


def shares(case: FinishedDesign) -> dict[str, float]:
    """Return how much of the fixed gains' cost in the judged situations each term is; levels have no shares."""
    alive = ~case.failed(BASELINE, case.judged)  # of rollouts that are lost there is no cost
    if case.fitness.lexicographic or not alive.any():
        return {}
    parts = {
        name: weight
        / case.fitness.reference.get(name, 1.0)
        * float(np.mean(case.measure(BASELINE, case.judged, name)[alive]))
        for name, weight in case.fitness.terms.items()
    }
    total = sum(parts.values())
    return {name: part / total for name, part in parts.items()} if total > 0.0 else {}
