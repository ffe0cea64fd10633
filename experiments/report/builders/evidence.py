"""The plant in words, and what the verdict rests on: what its intervals cover, and what nobody looked at."""

from __future__ import annotations

import inspect
import math
import re
import textwrap
from typing import TYPE_CHECKING

from experiments.report.builders import assurance, estimates, results, words
from experiments.report.builders.case import BASELINE, FinishedDesign
from experiments.report.builders.cautions import unfinished
from experiments.report.drawing.numbers import number, percent, plain, share, with_unit
from experiments.report.records.report_data import Evidence, PlantText
from experiments.report.records.results import NotAvailable
from experiments.runtime.tables import in_words
from experiments.settings.situations import common
from plants.core.motion.modes import scheme
from plants.excitation import Constant, Ramp, Step, as_signal
from sscq.worst.genome import EnvelopeGenes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from experiments.report.records.learning import SearchHistory
    from plants.core.quantities import Quantity
    from sscq.margins.drawn_plants import RangeMargins
    from sscq.situations.situation import Situation

_BLOCKS = ("derivative", "mass_matrix", "force", "acceleration", "outputs", "allocate")
_MOST_LINES = 120  # of equations that a reader would want on a page
_MOST_NAMES = 12


def _has_constant_load(situation: Situation, case: FinishedDesign) -> bool:
    """Whether a disturbance stays away from its rest: what only integral action takes away."""
    signals = zip(case.plant.disturbances, situation.excitations(case.plant), strict=True)
    away = (signal for quantity, signal in signals if signal != as_signal(quantity.rest))
    return any(isinstance(part, Constant | Step | Ramp) for signal in away for part in signal.parts)


_CONSTANT_LOAD = "a constant disturbance"
_REAL_LOOP: dict[str, Callable[[Situation, FinishedDesign], bool]] = {
    _CONSTANT_LOAD: _has_constant_load,
    "a reference that changes during the run": lambda s, case: not words.reference_stands(s, case.plant),
    "a delayed command": lambda s, _: s.delay > 0.0,
    "a delayed measurement": lambda s, _: s.output_delay > 0.0,
    "sensor noise": lambda s, case: any(s.noise_levels(case.plant)),
    "quantised measurements": lambda s, case: any(s.quanta(case.plant)),
    "lost measurements or commands": lambda s, _: bool(s.dropout or s.command_dropout),
    "jitter of the sampling": lambda s, _: bool(s.jitter),
    "an actuator that is slow, sticks or has play": lambda s, case: any(
        any(s.of_inputs(name, case.plant)) for name in ("rate_limit", "dead_zone", "backlash")
    ),
}
"""What real loops have, and whether a situation has it."""


def about(case: FinishedDesign) -> PlantText:
    """Return the plant in words, with its equations where their text can be read."""
    plant, setup = case.plant, case.setup
    loops = [_loop(case, i) for i in range(len(plant.channels))]
    listed = {
        _ranged(plant.states): _listed(plant.states, _range),
        "parameters": _listed(plant.parameters, _value),
        "disturbances": _listed(plant.disturbances, _name),
    }
    sample = setup.laws[0].sample_time or setup.step
    integration = f"integration: {scheme(plant, setup.options['integrator'])}, step {plain(setup.step)} s"
    facts = [("controls", "; ".join(loops)), *((name, text) for name, text in listed.items() if text)]
    facts.append(("sample time", f"{plain(sample)} s ({integration})"))
    return PlantText(tuple(facts), _equations(case))


def _loop(case: FinishedDesign, i: int) -> str:
    low, high = case.limits(i)
    y, u = words.output_unit(case.plant, i), words.command_unit(case.plant, i)
    command = case.plant.inputs[i].name if case.plant.allocate is None else "its command"
    limited = math.isfinite(low) or math.isfinite(high)
    bounds = f"{words.rounded(low)} … {words.rounded(high, u)}" if limited else "no limits"
    return f"{case.plant.channels[i].output}{f' [{y}]' if y else ''} by {command}, {bounds}"


def _listed(quantities: Iterable[Quantity], text: Callable[[Quantity], str]) -> str:
    found = list(quantities)
    more = f" and {len(found) - _MOST_NAMES} more" if len(found) > _MOST_NAMES else ""
    return ", ".join(map(text, found[:_MOST_NAMES])) + more


def _range(q: Quantity) -> str:
    unit = "" if q.unit == "1" else f" {q.unit}"
    known = math.isfinite(q.low) or math.isfinite(q.high)
    return f"{q.name} {plain(q.low)} … {plain(q.high)}{unit}" if known else _name(q)


def _ranged(quantities: Sequence[Quantity]) -> str:
    limited = any(math.isfinite(end) for q in quantities for end in (q.low, q.high))
    return "states (range of the model)" if limited else "states"


def _value(q: Quantity) -> str:
    return f"{q.name} = {with_unit(q.nominal, q.unit)}"


def _name(q: Quantity) -> str:
    return q.name if q.unit in {"", "1"} else f"{q.name} [{q.unit}]"


def _equations(case: FinishedDesign) -> str:
    """Text of the functions that the plant is made of; none for functions that were generated."""
    told: dict[str, str] = {}
    blocks = [inspect.unwrap(block) for name in _BLOCKS if (block := getattr(case.plant, name)) is not None]
    if case.plant.equations is not None:  # of a mechanism: what was derived, not what derives it
        text = re.sub(r"\bk_", "", case.plant.equations.source())
        return _cut(["# fma(a, b, c) = a b + c", *text.splitlines()])
    try:
        for block in blocks:
            if getattr(block, "__module__", "") != type(case.plant).__module__:
                _tell(block, told)
    except (OSError, TypeError):
        return ""
    return _cut("\n\n".join(text for text in dict.fromkeys(told.values()) if text).splitlines())


def _cut(lines: list[str]) -> str:
    cut = [f"# ... {len(lines) - _MOST_LINES} more lines"] if len(lines) > _MOST_LINES else []
    return "\n".join([*lines[:_MOST_LINES], *cut])


def _tell(function: Callable[..., object], told: dict[str, str]) -> None:
    """Add a function's text, before it the constants and functions of its own module that it goes by."""
    if function.__qualname__ in told:
        return
    told[function.__qualname__] = ""
    text = textwrap.dedent(inspect.getsource(function)).strip()
    known = inspect.getclosurevars(function) if inspect.isfunction(function) else None
    for name, value in ({**known.nonlocals, **known.globals} if known else {}).items():
        if isinstance(value, int | float):
            told[name] = f"{name} = {value!r}"
        elif inspect.isfunction(value) and value.__module__ == function.__module__:
            _tell(value, told)
    del told[function.__qualname__]  # what it goes by comes first
    told[function.__qualname__] = text


def evidence(case: FinishedDesign, searches: tuple[SearchHistory, ...] = ()) -> Evidence:
    """Return what the verdict rests on, given how the searches went."""
    return Evidence(
        covers=_covers(case),
        untested=tuple(_untested(case)),
        worst_case=assurance.worst_case(case),
        range_margins=_over_ranges(case),
        unfinished=unfinished(searches),
        stability=assurance.steadiness(case),
        details=assurance.details(case),
        ranges=_ranges(case) if case.judged == "drawn" else "",
    )


def _ranges(case: FinishedDesign) -> str:
    """What situations were drawn over, each quantity with its ends."""
    told = [
        f"{axis_name(axis.name)} {words.rounded(axis.low)} … {words.rounded(axis.high, axis.unit)}{_what_of(axis.name)}"
        for axis in EnvelopeGenes(case.plant, case.setup.ranges, common(case.setup.config)).ranges
    ]
    return "; ".join(told)


def _what_of(name: str) -> str:
    """What numbers of an axis are that its name does not say."""
    return " (standard deviation)" if name.partition(".")[0] in {"excitation", "noise"} else ""


def axis_name(name: str) -> str:
    """Return a parameter by its name alone, all else with its group: "mass", "initial position", "excitation"."""
    group, _, own = name.partition(".")
    if name == "authority":
        return "share of the command's limits that is left"
    return in_words(own if group in {"parameters", own} else f"{group} {own}".strip())


def _over_ranges(case: FinishedDesign) -> str:
    """Margins over drawn parameters and delays of the recommended controller, in brackets of the fixed gains."""
    asked = dict.fromkeys((case.verdict.recommended, BASELINE))
    found = {name: case.judgement.over_ranges[name] for name in asked if name in case.judgement.over_ranges}
    if not found:
        return ""

    def both(text: Callable[[RangeMargins], str]) -> str:
        first, *rest = (text(one) for one in found.values())
        return f"{first} ({rest[0]})" if rest else first

    first, *rest = map(case.name, found)
    who = f"{first} (in brackets: {rest[0]})" if rest else first
    kept, stable = both(lambda m: share(m.kept)), both(lambda m: share(m.stable))
    usual, worst = both(lambda m: number(m.sensitivity_95, 3)), both(lambda m: number(m.sensitivity, 3))
    pairs, moves = next(iter(found.values())).pairs, any(m.transient > m.sensitivity for m in found.values())
    passing = f", in passing {both(lambda m: number(m.transient, 3))}" if moves else ""
    return (
        f"{who}: margins kept in {kept} of {pairs} drawn plants and points, stable in {stable}; Ms at or below {usual} "
        f"in 95 %, {worst} in the worst drawn{passing}{_beyond_limits(case, next(iter(found.values())))}"
    )


def _beyond_limits(case: FinishedDesign, found: RangeMargins) -> str:
    """Which limits the recommended controller exceeds there: they are asked where it was designed."""
    limits = case.setup.limits
    if limits is None:
        return ""
    asked = [("Ms", found.sensitivity, limits.sensitivity)]
    if found.transient > found.sensitivity:
        asked.append(("in passing", found.transient, limits.in_passing.sensitivity))
    # Four digits, or 2.601 beside a limit of 2.60 would read as kept.
    over = [f"{what} {number(value, 4)}, limit {number(limit, 3)}" for what, value, limit in asked if value > limit]
    return f"; beyond a limit, which is asked of the taught plants alone: {'; '.join(over)}" if over else ""


def _without_integral(case: FinishedDesign) -> str:
    """Where the recommended schedule has no integral action, though it has some elsewhere."""
    name = case.verdict.recommended
    gains = results.gains_of(case, case.contenders[name])
    if isinstance(gains, NotAvailable):
        return ""
    where = [node.at for one in gains if one.integrates for node in (one, *one.nodes) if math.isinf(node.standard[1])]
    if any(one.integrates and not one.nodes and one.weakest_stands_still for one in gains):
        where.append("some of its rules")
    at = ", ".join(text.partition(";")[0] for text in where)
    return f" (the {case.name(name)} has no integral action at {at})" if at else ""


def _covers(case: FinishedDesign) -> str:
    spread = case.setup.config.situations.unforeseen_spread
    values = case.judgement.fitness[BASELINE, case.judged]
    if case.judged == "drawn":
        return (
            f"{values.size} fresh situations, drawn from the declared ranges and seen by no search. The 95 % intervals "
            f"are of means over situations and cover other situations and plants of these ranges{_of_searches(case)}. "
            f"Which of those that hold all conditions is recommended was chosen in "
            f"{case.judgement.chosen_on[BASELINE].failed.size} others{_looked_again(case)}."
        )
    seeds, situations = values.shape
    start = f"{seeds * situations} paired runs: {situations} {case.judged} situations, {seeds} seeds of each."
    if not estimates.random(values):
        return f"{start} All seeds give the same run: there are no intervals, and nothing is known beyond these."
    drawn = f"noise and plants (parameters ±{100.0 * spread:g} %)" if spread else "the noise alone"
    rest = "other situations" if spread else "other situations, other plants"
    if len(case.setup.searches) > 1:
        return f"{start} The 95 % intervals cover {drawn} and the luck of the search: not {rest}."
    return f"{start} The 95 % intervals cover {drawn}: not {rest} or another search."


def _looked_again(case: FinishedDesign) -> str:
    """Whom these situations favour, and why there are more of them than at first."""
    if not case.judgement.left_open:
        return ", so that these favour none"
    first, who = case.judgement.first_draws, case.the(case.judgement.left_open)
    return (
        f". The first {first} of those that judge left undecided whether to recommend {who}, which did better in them, "
        "but not reliably. So all controllers were judged again, in all of those; that favours it a little"
    )


def _of_searches(case: FinishedDesign) -> str:
    """What intervals say of the luck of the search, with what each search found for the recommended controller."""
    searches, shown = len(case.setup.searches), case.verdict.recommended
    if searches == 1:
        return ": not other ranges, another model, or another search"
    start = f", and what {searches} other searches would deliver: not other ranges or another model"
    if shown == BASELINE:
        shown = "knowledge_base"
    found = case.verdict.comparisons[shown].searches if shown in case.verdict.comparisons else ()
    if not found:
        return start
    first, *rest = (percent(value) for value in found)
    return (
        f"{start}. Searches for {case.the(shown)}: {first} (delivered, the best where it was chosen), {', '.join(rest)}"
    )


def _rates_without_noise(case: FinishedDesign) -> list[str]:
    """The measured rates that laws use and that no judged situation shakes."""
    plant, levels = case.plant, [s.noise_levels(case.plant) for s in case.setup.sets[case.judged]]
    used = [words.measured_rate(case, i) for i in range(len(plant.channels))]
    return [name for name in used if name and not any(each[plant.index("measurements", name)] for each in levels)]


def _untested(case: FinishedDesign) -> list[str]:
    """What no judged situation had, and what the run did not ask."""
    situations, setup = case.setup.sets[case.judged], case.setup
    found = [name for name, has in _REAL_LOOP.items() if not any(has(s, case) for s in situations)]
    if _CONSTANT_LOAD in found:
        found[found.index(_CONSTANT_LOAD)] += _without_integral(case)
    found += [f"noise of the measured {name}" for name in _rates_without_noise(case)]
    varied = any(case.plant.values("parameters", s.parameters) != case.plant.nominal() for s in situations)
    if not varied and not setup.config.situations.unforeseen_spread:
        found.append("another plant than the nominal one")
    if len(setup.searches) == 1:
        found.append(f"another search (this is the one of seed={setup.seed}; seeds=3 makes three and compares them)")
    return ["the plant itself (all of this is simulated)", *found, *assurance.untested(case)]
