"""What is the same for all controllers of a design, in words: budget, limits, noise, filter, sampling, travel."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from experiments.report.builders.words import SYMBOLS, command_unit, output_unit, symbol
from experiments.report.drawing.numbers import plain, share, with_unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from experiments.settings import Setup


def shared(setup: Setup) -> tuple[str, ...]:
    """Return a line for each condition."""
    return (
        _fitness(setup),
        f"budget: {setup.evaluations} closed-loop evaluations for every search",
        *_limits(setup),
        f"sensors: {_noise(setup)}",
        f"derivative: {_filter(setup)}",
        f"sampling: {_sampling(setup)}",
        f"actuator travel when searched: {_travel(setup)}",
        f"margins: {_margins(setup)}",
    )


def _fitness(setup: Setup) -> str:
    fitness = setup.fitness
    if fitness.lexicographic:
        return f"J: stability and constraints, then {SYMBOLS[fitness.error]}, then entropy production"
    terms = " + ".join(
        f"{plain(weight) if weight != 1.0 else ''} {symbol(name)}".strip() for name, weight in fitness.terms.items()
    )
    relative = ", each relative to what random gains that survive have" if setup.config.fitness.relative else ""
    scales = ", ".join(
        f"{channel.output} {with_unit(channel.scale, output_unit(setup.plant, i))}"
        for i, channel in enumerate(setup.plant.channels)
    )
    return f"J: {terms}{relative}; errors count in the channel's scale ({scales})"


def _limits(setup: Setup) -> Iterator[str]:
    for i, (channel, law) in enumerate(zip(setup.plant.channels, setup.laws, strict=True)):
        low, high = law.limits or (channel.low, channel.high)
        unit = command_unit(setup.plant, i)
        within = f"{plain(low)} … {with_unit(high, unit)}" if math.isfinite(max(-low, high)) else "no limits"
        speed = "" if law.rate_limit is None else f", no faster than {with_unit(law.rate_limit, f'{unit or 1}/s')}"
        yield f"command of {channel.output}: {within}{speed}"


def _noise(setup: Setup) -> str:
    levels = {level for several in setup.sets.values() for s in several for level in s.noise_levels(setup.plant)}
    if levels == {0.0}:
        return "no noise"
    return f"noise with a standard deviation of up to {plain(max(levels))}; each situation says its own"


def _filter(setup: Setup) -> str:
    law = setup.laws[0]
    time = law.derivative_filter_time
    measured = law.rate_source == "output" and any(channel.rate for channel in setup.plant.channels)
    source = "the measured rate" if measured else "differences of the samples"
    return f"from {source}, " + (f"filtered with {plain(time)} s" if time else "not filtered")


def _sampling(setup: Setup) -> str:
    sample = setup.laws[0].sample_time or setup.step
    ticks = f"gains of schedules every {plain(setup.tick)} s"
    return f"every {plain(sample)} s, {ticks}; integration step {plain(setup.step)} s"


def _travel(setup: Setup) -> str:
    most = share(setup.config.fitness.travel_share)
    return f"schedules have at most {most} of the fixed PID's in the taught situations, unless they are called free"


def _margins(setup: Setup) -> str:
    if setup.limits is None or not setup.plant.operating_points:
        return "none asked for"
    delay = setup.limits.delay_margin
    late = f" and a delay margin of at least {plain(delay)} s" if delay else ""
    first = setup.config.fitness.margins_of == "first"
    of = "the operating points" + (" of the first taught situation's plant" if first else "")
    return f"Ms of at most {plain(setup.limits.sensitivity)}{late} at {of}, for whatever is searched"
