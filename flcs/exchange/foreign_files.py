"""A knowledge base from files that somebody else wrote: what they lack is given, or taken as documented."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from flcs.exchange import partition
from flcs.exchange.complement import gains_and_slopes, relabelled
from flcs.exchange.system import ExchangeError, refuse
from flcs.inference.rule_base import PID_GAINS, Inference, Rule, RuleBase
from flcs.inference.variable import Variable
from flcs.knowledge_base import knowledge_base
from flcs.knowledge_base.complaints import KnowledgeBaseError
from flcs.knowledge_base.knowledge_base import KnowledgeBase
from flcs.knowledge_base.structure import Number, checked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from flcs.exchange.system import Antecedent, Consequent, FuzzySystem


@dataclass(frozen=True)
class Given:
    """What a file lacks, for one channel.

    Attributes
    ----------
    channel : str
        The controlled output of the plant.
    inputs : mapping of the file's name to "e", "e_rate", "z" or a plant output
        For those that are called otherwise there.
    gains : mapping of the file's name to "kp", "ki", "kd" (and "b")
        Likewise.
    units : mapping of input to its unit
    ranges : mapping of input to (low, high)
        Taught ranges; left out, the file's, and where it says none, from the first term's centre to the last one's.
    low, high : mapping of gain to float
        The box; left out, the file's range of the output.
    reference : mapping of gain to float
        Gains that hold where nothing is known; left out, the file's default (FCL), else the middle of the box, which is
        what MATLAB gives where no rule fires.
    law : mapping
        Settings of the PID law; see :mod:`controllers.pid_form`.
    """

    channel: str
    inputs: Mapping[str, str] = field(default_factory=dict)
    gains: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    low: Mapping[str, float] = field(default_factory=dict)
    high: Mapping[str, float] = field(default_factory=dict)
    reference: Mapping[str, float] = field(default_factory=dict)
    law: Mapping[str, Any] = field(default_factory=dict)


class ChannelSettings(Struct):
    """Entries of :class:`Given` as a file of settings has them."""

    channel: str = ""
    inputs: dict[str, str] = {}
    gains: dict[str, str] = {}
    units: dict[str, str] = {}
    ranges: dict[str, tuple[Number, Number]] = {}
    low: dict[str, Number] = {}
    high: dict[str, Number] = {}
    reference: dict[str, Number] = {}
    law: dict[str, Any] = {}


class ImportSettings(Struct):
    """A file of settings: what all channels share, and each channel's."""

    plant: str | None = None
    tick: Number | None = None
    slew: Number | None = None
    fallback: Number = 0.0
    fade: Number = 0.0
    authority: Number = 0.0
    channels: list[ChannelSettings] = []


def check_settings(settings: Mapping[str, Any]) -> None:
    """Raise KnowledgeBaseError where an entry of a file of settings is of another kind than it must be."""
    checked(settings, ImportSettings, "settings")


def imported(
    systems: Sequence[FuzzySystem], given: Sequence[Given], plant: str, *, tick: float | None = None,
    slew: float | None = None, inference: Inference | None = None,
) -> KnowledgeBase:  # fmt: skip
    """Return the knowledge base of files, a channel each, and of what they lack.

    Parameters
    ----------
    systems : sequence of FuzzySystem [n_channels]
    given : sequence of Given [n_channels]
    plant : str
    tick, slew : float, optional
        As of :class:`flcs.KnowledgeBase`.
    inference : Inference, optional
        Its fallback, fade and authority; conjunction and order are the files'.

    Raises
    ------
    ExchangeError
        With the line, what was expected and what came.
    KnowledgeBaseError
        If files and settings do not fit together.
    """
    if len(systems) != len(given) or not systems:
        raise KnowledgeBaseError(f"expected settings for each of {len(systems)} files, got {len(given)}")
    norms = {system.conjunction for system in systems}
    if len(norms) > 1:
        raise KnowledgeBaseError("expected files with one conjunction (AND) for all channels, got product and minimum")
    order = int(any(len(value) > 1 for s in systems for rule in s.rules for value in rule.values))
    how = replace(inference or Inference(), t_norm=norms.pop(), order=order)
    try:
        channels = tuple(_channel(s, g, order) for s, g in zip(systems, given, strict=True))
        kb = KnowledgeBase(plant, channels, how, tick, slew)
    except (ExchangeError, KnowledgeBaseError):
        raise
    except (OverflowError, TypeError, ValueError) as error:
        raise KnowledgeBaseError(str(error)) from error
    return knowledge_base.from_document({**knowledge_base.to_document(kb), "hash": ""})


def _channel(system: FuzzySystem, given: Given, order: int) -> RuleBase:
    inputs = [_input(item, given) for item in system.inputs]
    places = _gain_places(system.outputs, given)
    names = list(places)
    outputs = [system.outputs[place] for place in places.values()]
    seen: dict[tuple[int, ...], int] = {}
    rules = []
    for rule in relabelled(system):
        if rule.terms in seen:
            refuse(rule.line, f"each combination of terms once (line {seen[rule.terms]} has it)", "it again")
        seen[rule.terms] = rule.line
        numbers = gains_and_slopes(rule, inputs, order)
        picked = {key: [rows[p] for p in places.values()] if rows else [] for key, rows in numbers.items()}
        rules.append(Rule(rule.terms, tuple(picked["gains"]), tuple(map(tuple, picked["slopes"])), on=rule.on))
    low = [_end(name, o, given.low, "low") for name, o in zip(names, outputs, strict=True)]
    high = [_end(name, o, given.high, "high") for name, o in zip(names, outputs, strict=True)]
    rest = [_reference(n, o, given, a, b) for n, o, a, b in zip(names, outputs, low, high, strict=True)]
    variables = tuple(Variable(**item) for item in inputs)
    return RuleBase(
        given.channel, variables, tuple(rules), tuple(low), tuple(high), tuple(rest), tuple(names), law=dict(given.law)
    )


def _input(item: Antecedent, given: Given) -> dict[str, Any]:
    name = given.inputs.get(item.name, item.name)
    found = partition.shape(item)
    own = (item.low, item.high) if item.low is not None else (found["centres"][0], found["centres"][-1])
    low, high = given.ranges.get(name, own)
    return {"name": name, "unit": given.units.get(name, ""), "low": low, "high": high, **found}


def _gain_places(outputs: Sequence[Consequent], given: Given) -> dict[str, int]:
    """Places of the gains among the outputs, in the laws' order."""
    found = {given.gains.get(output.name, output.name): place for place, output in enumerate(outputs)}
    known = (*PID_GAINS, "b")
    if not (set(PID_GAINS) <= set(found) <= set(known)) or len(found) != len(outputs):
        line = outputs[0].line if outputs else 0
        refuse(line, f"outputs {', '.join(PID_GAINS)} (say which is which: gains={{Kp: kp, ...}})", list(found))
    return {name: found[name] for name in known if name in found}


def _end(name: str, output: Consequent, given: Mapping[str, float], which: str) -> float:
    value = given.get(name, getattr(output, which))
    if value is None:
        refuse(output.line, f"a range of {output.name!r}, or {which}={{{name}: number}}", "neither")
    return float(value)


def _reference(name: str, output: Consequent, given: Given, low: float, high: float) -> float:
    if name in given.reference:
        return float(given.reference[name])
    return 0.5 * (low + high) if output.default is None else output.default
