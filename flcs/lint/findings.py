"""Findings: something that a reader of a knowledge base should look at; their codes, and the limits that make them.

A code says how serious a finding is, what it means and what to do. Its first digit is the family.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from flcs.plain_data import plain
from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class Limits:
    """What counts as a finding. Gains are in shares of their box, inputs in shares of their range.

    Attributes
    ----------
    fires : float
        Firing strength from which a rule counts as firing.
    thin, hole : float
        Share of the say that the reference gains have where coverage is thin; where there is a hole.
    region : float
        Smallest share of the declared ranges that a hole must fill.
    contradiction : float
        Difference of the gains of two rules that contradict each other.
    overlap, same : float
        Similarity of premises that overlap strongly; of terms and premises that cannot be told apart.
    steep : float
        Change of a gain over 1 % of an input's range.
    jump : float
        Difference of the gains of neighbouring rules over the distance of their centres.
    per_tick : float
        Change of a gain in one tick.
    """

    fires: float = 0.05
    thin: float = 0.1
    hole: float = 0.9
    region: float = 0.001
    contradiction: float = 0.3
    overlap: float = 0.5
    same: float = 0.9
    steep: float = 0.1
    jump: float = 5.0
    per_tick: float = 0.25

    def __post_init__(self) -> None:
        """Check."""
        for name, value in vars(self).items():
            if not 0.0 < value < float("inf"):
                raise ValueError(f"limit {name} must be a positive number, got {value}")

    @classmethod
    def parsed(cls, settings: Sequence[str]) -> Limits:
        """Return the limits with some set as "name=value"; ValueError for an unknown name or no positive number."""
        known, given = tuple(item.name for item in fields(cls)), {}
        for setting in settings:
            name, _, value = setting.partition("=")
            if name not in known:
                raise ValueError(unknown("limit", name, known))
            try:
                given[name] = float(value)
            except ValueError:
                raise ValueError(f"limit {name} must be a positive number, got {value!r}") from None
        return cls(**given)


SEVERITIES = ("error", "warning", "note")


@dataclass(frozen=True)
class Code:
    """A kind of finding.

    Attributes
    ----------
    name : str
        L and three digits; the first is the family.
    severity : {"error", "warning", "note"}
        An error contradicts what a knowledge base is; a warning is hardly meant; a note is worth a look.
    title, meaning, advice : str
    limits : str
        Names of the limits that decide, with spaces between; see :class:`flcs.lint.findings.Limits`.
    """

    name: str
    severity: str
    title: str
    meaning: str
    advice: str
    limits: str = ""


_TABLE = (
    Code("L001", "warning", "changed after it was saved",
         "The content does not fit the file's hash, so `sscq evaluate` and KnowledgeBase.load refuse the file.",
         "if the change is meant, load it with KnowledgeBase.load(path, edited=True) and save it"),
    Code("L101", "warning", "hole in the coverage",
         "In a part of the declared ranges no rule fires: the reference gains have nearly all of the say there. Points "
         "count where the reference has more than 10 % of the say; the terms are the strongest ones there.",
         "add or switch on a rule for these terms, or accept the reference gains there", "thin hole region"),
    Code("L102", "note", "thin coverage",
         "In a part of the declared ranges the sum of the firing strengths is below the fallback, so that the "
         "reference gains take over in part.",
         "widen the terms around it, lower the fallback, or accept the mixture", "thin hole region"),
    Code("L103", "warning", "data where the fallback acts",
         "Rows of the data lie where the reference gains have more than half of the say.",
         "add or switch on rules for these terms: this is where the loop works"),
    Code("L104", "error", "no rule takes part",
         "No rule of the channel is on: the reference gains hold everywhere.",
         "switch rules on, or use fixed gains"),
    Code("L201", "error", "contradiction",
         "Two rules have the same premise, or premises that cannot be told apart, and say something different. "
         "Similarity of premises is the smallest similarity of their terms, that of terms the area of their minimum "
         "over that of their maximum.",
         "keep one of the two rules, or give both the gains that are meant", "same contradiction"),
    Code("L202", "warning", "contradicting neighbours",
         "The premises of two rules overlap strongly and their gains differ by more than the stated share of the gain "
         "box: the weighted mean is what neither of them says.",
         "narrow the overlapping terms, or bring the gains together", "overlap contradiction"),
    Code("L301", "warning", "rule that never fires",
         "The premise stays below the smallest firing strength that counts everywhere in the declared ranges.",
         "move its terms into the ranges, widen them, or remove the rule", "fires"),
    Code("L302", "note", "rule that never fires in the data",
         "The premise stays below the smallest firing strength that counts in all rows: nothing in the data supports "
         "it.",
         "record data that reach it, or give it gains near the reference", "fires"),
    Code("L303", "error", "rule given twice",
         "Two rules of a channel have the same terms and hardly different gains; such a file is refused when it is "
         "loaded.",
         "remove one of them", "contradiction"),
    Code("L304", "note", "rules that say the same",
         "Two rules whose premises cannot be told apart give nearly the same gains.",
         "one of them is enough", "same contradiction"),
    Code("L401", "warning", "steep gain",
         "A gain crosses a large share of its box while one input moves by 1 % of its range: noise of the input "
         "becomes noise of the gain.",
         "move the centres of the terms there apart, or bring the gains of the rules together", "steep"),
    Code("L402", "note", "jump between neighbouring rules",
         "The gains of two rules that differ by one step in one term lie far apart for the distance of their centres.",
         "move the two centres apart, add a term between them, or bring the gains together", "jump"),
    Code("L403", "warning", "large change in a tick",
         "While the inputs move at their largest rates for one tick, a gain crosses a large share of its box, and no "
         "slew limit slows it. The rate of e is the end of the range of e_rate, that of z the end of the range of e; "
         "data with times tell the rates of all inputs.",
         "set a slew limit, shorten the tick, or make the gains flatter", "per_tick"),
    Code("L501", "warning", "term outside the range",
         "A centre lies outside the declared range; inputs are limited to the range, so the term may never hold fully.",
         "move the centre into the range, or widen the range"),
    Code("L502", "warning", "data outside the range",
         "Rows of the data leave the declared range; there the gains return to the reference gains.",
         "widen the range, or leave these rows out if they do not belong to normal work"),
    Code("L601", "warning", "consequent outside the box",
         "A rule gives a gain outside the gain box; what it says is cut off.",
         "widen the box if the gain is safe, or move the gain into it"),
    Code("L602", "note", "consequent at the box",
         "Rules give a gain at the end of its box: the best gain may lie behind it.",
         "widen the box if larger gains are safe"),
    Code("L603", "error", "reference gain outside the box",
         "The gains that hold where nothing is known lie outside the gain box; such a file is refused when it is "
         "loaded.",
         "widen the box, or move the reference gain into it"),
    Code("L604", "warning", "linear consequent leaves the box",
         "A consequent that is linear in the inputs leaves the gain box at inputs where its rule fires.",
         "make the slope smaller, or move the constant; the part outside the box is cut off", "fires"),
    Code("L701", "note", "unused term",
         "No rule that is on uses the term.",
         "add a rule for it, or remove the term and renumber those after it"),
    Code("L702", "warning", "terms that cannot be told apart",
         "Two terms of an input are nearly the same set (area of their minimum over that of their maximum).",
         "merge them, or move and narrow them", "same"),
    Code("L703", "error", "word untrue",
         "A term's centre contradicts its name: called negative but not below 0, positive but not above it, or zero "
         "while 0 lies nearer to another term. Every sentence about its rules is wrong.",
         "rename the term after its centre, or move the centre"),
    Code("L801", "warning", "no authority",
         "The authority is 0, so that the rules have no say.",
         "give an authority above 0, or use the fixed reference gains"),
    Code("L802", "warning", "fallback out of reach",
         "The fallback is above the largest sum of firing strengths, so that the reference gains have a part of "
         "the say everywhere.",
         "lower the fallback below the largest sum", "thin"),
    Code("L803", "note", "fallback next to nothing",
         "The fallback is so small that rules decide alone where they hardly fire; 0.5 is usual.",
         "raise the fallback"),
    Code("L804", "warning", "short fade",
         "Within a small step outside the declared ranges the gains go all the way to the reference gains.",
         "raise the fade; 1 is usual"),
    Code("L805", "note", "long fade",
         "Far outside the ranges that were taught the schedule still has most of the say.",
         "lower the fade; 1 is usual"),
    Code("L806", "warning", "slew limit that cannot act",
         "In one tick a gain may cross its whole box: the slew limit limits nothing.",
         "lower the slew limit below 1 / tick, or leave it out"),
    Code("L807", "warning", "slew limit that is too slow",
         "The gains need many times as long to cross their box as the error needs to cross its range: they cannot "
         "follow.",
         "raise the slew limit, or use fixed gains"),
    Code("L808", "warning", "tick that is too long",
         "At its largest rate an input moves past whole terms between two updates of the gains.",
         "shorten the tick"),
    Code("L809", "error", "tick between two samples",
         "The tick is no whole multiple of the sample time of the channel's law; the closed loop refuses that.",
         "round the tick to a multiple of the sample time"),
    Code("L810", "warning", "integral limit and range differ",
         "The error integral is limited to another size than the range of its terms: a part of the range is never "
         "reached, or the integral rests outside it, where the gains return to the reference gains.",
         "make the integral limit the end of the range"),
)  # fmt: skip

CODES: dict[str, Code] = {code.name: code for code in _TABLE}


def explain(name: str) -> str:
    """Return what a code means, in words.

    Raises
    ------
    ValueError
        For an unknown code, with the near miss.
    """
    if name.upper() not in CODES:
        raise ValueError(unknown("code", name, tuple(CODES)))
    code = CODES[name.upper()]
    counts = ", ".join(f"{limit} = {getattr(Limits(), limit):g}" for limit in code.limits.split())
    ends = [f"What to do: {code.advice}.", *([f"Limits: {counts}."] if counts else [])]
    return "\n".join([f"{code.name}, {code.severity}: {code.title}", code.meaning, *ends])


@dataclass(frozen=True)
class Finding:
    """Something that a reader of a knowledge base should look at.

    Attributes
    ----------
    code : str
        See :data:`flcs.lint.findings.CODES`.
    message : str
        What was found, with names and numbers.
    channel : str
        Empty: it concerns the whole knowledge base.
    numbers : mapping
        The same as plain data: rules by their numbers, counted from 1 as in the message; terms by their places in the
        file, counted from 0.
    """

    code: str
    message: str
    channel: str = ""
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check."""
        object.__setattr__(self, "numbers", plain(self.numbers, f"numbers of {CODES[self.code].name}"))

    @property
    def severity(self) -> str:
        """How serious it is: "error", "warning" or "note"."""
        return CODES[self.code].severity

    @property
    def advice(self) -> str:
        """What to do."""
        return CODES[self.code].advice

    def document(self) -> dict[str, Any]:
        """Return the finding as plain data."""
        named = {name: getattr(self, name) for name in ("code", "severity", "channel", "message", "advice")}
        return {**named, "numbers": dict(self.numbers)}

    def order(self) -> tuple[int, str]:
        """Return the key by which findings are sorted: errors first."""
        return SEVERITIES.index(self.severity), self.code
