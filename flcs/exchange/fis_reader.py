"""MATLAB's fuzzy inference file (.fis) of a Sugeno system, read as text: nothing in it is evaluated.

First its sections and settings: lines with their numbers, words, numbers in brackets. Then what they say.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from flcs.exchange.fis_writer import AND_METHODS
from flcs.exchange.system import Antecedent, Consequent, FuzzySystem, SystemRule, Term, refuse

_SECTION = re.compile(r"\[\s*(System|Input|Output|Rules)\s*(\d*)\s*\]\Z", re.IGNORECASE)


@dataclass
class FisSection:
    """Lines of one section: numbers of lines with their texts, and settings by name."""

    line: int
    lines: list[tuple[int, str]] = field(default_factory=list)
    settings: dict[str, tuple[int, str]] = field(default_factory=dict)

    def text(self, key: str) -> tuple[int, str]:
        """Return a setting without its quotes, and its line."""
        if key.lower() not in self.settings:
            refuse(self.line, f"a line {key}=... in this section", "none")
        line, value = self.settings[key.lower()]
        return line, value.strip("'")

    def numbers(self, key: str) -> tuple[int, tuple[float, ...]]:
        """Return a setting that is a list of numbers in brackets, and its line."""
        line, value = self.text(key)
        if not (value.startswith("[") and value.endswith("]")):
            refuse(line, f"{key}=[numbers]", repr(value))
        return line, numbers_in(value[1:-1], line)

    def count(self, key: str) -> int:
        """Return a setting that is a whole number."""
        line, value = self.text(key)
        return int(value) if re.fullmatch(r"\d{1,6}", value) else refuse(line, f"{key}=a whole number", repr(value))


def sections_of(text: str) -> dict[tuple[str, str], FisSection]:
    """Return the sections of a file by kind and number."""
    found: dict[tuple[str, str], FisSection] = {}
    section = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line[0] in "%#":
            continue
        head = _SECTION.match(line)
        if head:
            key = (head[1].lower(), head[2])
            if key in found:
                refuse(number, "each section once", line)
            section = found[key] = FisSection(number)
        elif section is None or line[0] == "[":
            refuse(number, "a section [System], [Input1], [Output1] or [Rules]", repr(line[:60]))
        else:
            section.lines.append((number, line))
            name, equals, value = line.partition("=")
            if equals:
                section.settings[name.strip().lower()] = (number, value.strip())
    return found


def numbered(sections: dict[tuple[str, str], FisSection], kind: str, number: int) -> FisSection:
    """Return the section of one input or output."""
    return sections.get((kind.lower(), str(number))) or refuse(0, f"a section [{kind}{number}]", "none")


def numbers_in(text: str, line: int) -> tuple[float, ...]:
    """Return numbers that stand between blanks, commas or semicolons."""
    values = []
    for word in re.split(r"[\s,;]+", text.strip()):
        try:
            values.append(float(word))
        except ValueError:
            refuse(line, "a number", repr(word))
        if not math.isfinite(values[-1]):
            refuse(line, "a finite number", word)
    return tuple(values)


_FUNCTION = re.compile(r"'([^']*)'\s*:\s*'([^']*)'\s*,\s*\[([^\]]*)\]\Z")
_RULE = re.compile(r"([-\d.\s]+),([-\d.\s]+)\(\s*([^)\s]+)\s*\)\s*:\s*(\d+)\Z")
_COUNTS = {"trimf": 3, "trapmf": 4, "gaussmf": 2, "gbellmf": 3}
_METHODS = {"type": "sugeno", "defuzzmethod": "wtaver"}


def read(text: str) -> FuzzySystem:
    """Return the system of a .fis file.

    Parameters
    ----------
    text : str
        The whole file.

    Raises
    ------
    ExchangeError
        With the line, what was expected and what came.
    """
    sections = sections_of(text)
    system = sections.get(("system", "")) or refuse(1, "a section [System]", "none")
    for key, wanted in _METHODS.items():
        line, came = system.text(key)
        if came.lower() != wanted:
            refuse(line, f"{key} '{wanted}' (a Sugeno system with the weighted mean)", repr(came))
    line, method = system.text("AndMethod")
    norms = {word: name for name, word in AND_METHODS.items()}
    if method not in norms:
        refuse(line, f"AndMethod {' or '.join(map(repr, norms))}", repr(method))
    inputs = tuple(_input(sections, k) for k in range(1, system.count("NumInputs") + 1))
    outputs = [_output(sections, k, len(inputs)) for k in range(1, system.count("NumOutputs") + 1)]
    rules = _rules(sections, inputs, [said for _, said in outputs], system.count("NumRules"))
    return FuzzySystem(system.text("Name")[1], inputs, tuple(item for item, _ in outputs), rules, norms[method])


def _functions(section: FisSection) -> list[tuple[int, str, str, tuple[float, ...]]]:
    """Lines, labels, kinds and numbers of a section's membership functions."""
    found = []
    for k in range(1, section.count("NumMFs") + 1):
        line, value = section.settings.get(f"mf{k}") or refuse(
            section.line, f"a line MF{k}=... in this section", "none"
        )
        parts = _FUNCTION.match(value)
        if not parts:
            refuse(line, f"MF{k}='label':'kind',[numbers]", repr(value))
        found.append((line, parts[1], parts[2], numbers_in(parts[3], line)))
    return found


def _range(section: FisSection) -> tuple[float, float]:
    line, ends = section.numbers("Range")
    if len(ends) != 2 or not ends[0] < ends[1]:
        refuse(line, "Range=[low high] with low < high", list(ends))
    return ends[0], ends[1]


def _input(sections: dict[tuple[str, str], FisSection], number: int) -> Antecedent:
    section = numbered(sections, "Input", number)
    low, high = _range(section)
    terms = tuple(_term(*item, low, high) for item in _functions(section))
    return Antecedent(section.text("Name")[1], low, high, terms, section.line)


def _term(line: int, label: str, kind: str, values: tuple[float, ...], low: float, high: float) -> Term:
    if kind not in _COUNTS:
        refuse(line, f"a membership function of kind {', '.join(_COUNTS)}", repr(kind))
    if len(values) != _COUNTS[kind]:
        refuse(line, f"{_COUNTS[kind]} numbers for {kind}", list(values))
    if kind == "gaussmf":
        return Term(label, "gaussian", numbers=(values[1], values[0]), line=line)
    if kind == "gbellmf":
        return Term(label, "bell", numbers=(values[2], values[0], values[1]), line=line)
    if list(values) != sorted(values):
        refuse(line, f"numbers of {kind} in increasing order", list(values))
    return Term(label, "points", _points(line, values, low, high), line=line)


def _points(line: int, values: tuple[float, ...], low: float, high: float) -> tuple[tuple[float, float], ...]:
    """Break points inside the range: where a term is 1 at an end of the range, what lies beyond does not count."""
    a, b, c, d = values if len(values) == 4 else (values[0], values[1], values[1], values[2])
    rising, falling = ((a, 0.0), (b, 1.0)), ((c, 1.0), (d, 0.0))
    if b <= low and c >= high:
        refuse(line, "a term that is less than 1 somewhere in the range", list(values))
    if b <= low:
        return falling
    if c >= high:
        return rising
    return (rising[0], *((rising[1],) if b == c else (rising[1], falling[0])), falling[1])


def _output(
    sections: dict[tuple[str, str], FisSection], number: int, n_inputs: int
) -> tuple[Consequent, list[tuple[float, ...]]]:
    """An output, and what each of its membership functions says: constant first."""
    section = numbered(sections, "Output", number)
    said = []
    for line, _, kind, values in _functions(section):
        counts = {"constant": 1, "linear": n_inputs + 1}
        if kind not in counts:
            refuse(line, "a conclusion of kind 'constant' or 'linear'", repr(kind))
        if len(values) != counts[kind]:
            refuse(line, f"{counts[kind]} numbers for {kind}", list(values))
        said.append((values[-1], *values[:-1]))
    low, high = _range(section)
    return Consequent(section.text("Name")[1], low, high, line=section.line), said


def _rules(
    sections: dict[tuple[str, str], FisSection], inputs: tuple[Antecedent, ...], said: list[list[tuple[float, ...]]],
    count: int,
) -> tuple[SystemRule, ...]:  # fmt: skip
    section = sections.get(("rules", "")) or refuse(0, "a section [Rules]", "none")
    if len(section.lines) != count:
        refuse(section.line, f"{count} rules (NumRules)", len(section.lines))
    return tuple(_rule(line, text, inputs, said) for line, text in section.lines)


def _rule(line: int, text: str, inputs: tuple[Antecedent, ...], said: list[list[tuple[float, ...]]]) -> SystemRule:
    parts = _RULE.match(text)
    if not parts:
        refuse(line, "a rule such as '1 2, 3 3 (1) : 1'", repr(text))
    terms = _places(line, parts[1], [len(item.terms) for item in inputs], "term of each input")
    places = _places(line, parts[2], [len(rows) for rows in said], "conclusion for each output")
    (weight,) = numbers_in(parts[3], line)
    if weight not in {0.0, 1.0}:
        refuse(line, "weight 1 (the rule is on) or 0 (off): rules have no other weights", parts[3])
    if parts[4] != "1" and len(inputs) > 1:
        refuse(line, "connection 1 (AND)", f"{parts[4]} (OR)")
    return SystemRule(terms, tuple(rows[p] for rows, p in zip(said, places, strict=True)), weight == 1.0, line)


def _places(line: int, text: str, counts: list[int], what: str) -> tuple[int, ...]:
    """Numbers in a rule, from 1 (0: left out, negative: not, with a fraction: hedges; all of these refused)."""
    words = text.split()
    if len(words) != len(counts):
        refuse(line, f"the number of one {what}, {len(counts)} in all", repr(text.strip()))
    for word, count in zip(words, counts, strict=True):
        if not word.isdecimal() or not 1 <= int(word) <= count:
            refuse(line, f"the number of one {what}, 1 .. {count} (no 'not', no hedge, none left out)", word)
    return tuple(int(word) - 1 for word in words)
