"""MATLAB's fuzzy inference file (.fis) of a Sugeno system, written.

Terms of a strong partition become ``trimf``, its outer ones ``trapmf`` whose shoulder reaches one range beyond the
taught range; a rule that is off has weight 0; each rule has a conclusion of its own in each output.
Source: MathWorks, Fuzzy Logic Toolbox User's Guide, "Fuzzy inference system files".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flcs.exchange.system import ExchangeError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from flcs.exchange.system import Antecedent, Consequent, FuzzySystem, Term

AND_METHODS = {"product": "prod", "minimum": "min"}


def write(system: FuzzySystem) -> str:
    """Return the text of a .fis file.

    Raises
    ------
    ExchangeError
        If a name or label cannot stand in quotes.
    """
    for name in (system.name, *(i.name for i in system.inputs), *(t.label for i in system.inputs for t in i.terms)):
        if "'" in name or "\n" in name or "\r" in name:
            raise ExchangeError(f"a .fis file cannot hold the name {name!r}: expected no quotes and no line breaks")
    blocks = [_head(system)]
    blocks += [_input(k, item) for k, item in enumerate(system.inputs, 1)]
    blocks += [_output(k, item, system) for k, item in enumerate(system.outputs, 1)]
    return "\n\n".join([*blocks, _rules(system)]) + "\n"


def _head(system: FuzzySystem) -> str:
    return "\n".join([
        "[System]", f"Name='{system.name}'", "Type='sugeno'", "Version=2.0", f"NumInputs={len(system.inputs)}",
        f"NumOutputs={len(system.outputs)}", f"NumRules={len(system.rules)}",
        f"AndMethod='{AND_METHODS[system.conjunction]}'", "OrMethod='max'", "ImpMethod='prod'", "AggMethod='sum'",
        "DefuzzMethod='wtaver'",
    ])  # fmt: skip


def _input(number: int, item: Antecedent) -> str:
    low, high = _range(item)
    lines = [f"[Input{number}]", f"Name='{item.name}'", f"Range={_vector((low, high))}", f"NumMFs={len(item.terms)}"]
    lines += [f"MF{k}='{term.label}':{_function(term, low, high)}" for k, term in enumerate(item.terms, 1)]
    return "\n".join(lines)


def _output(number: int, item: Consequent, system: FuzzySystem) -> str:
    head = [f"[Output{number}]", f"Name='{item.name}'", f"Range={_vector(_range(item))}"]
    lines = [*head, f"NumMFs={len(system.rules)}"]
    for k, rule in enumerate(system.rules, 1):
        constant, *factors = rule.values[number - 1]
        kind = "linear" if factors else "constant"
        lines.append(f"MF{k}='rule{k}':'{kind}',{_vector((*factors, constant))}")
    return "\n".join(lines)


def _rules(system: FuzzySystem) -> str:
    lines = ["[Rules]"]
    for k, rule in enumerate(system.rules, 1):
        chosen = " ".join(str(term + 1) for term in rule.terms)
        said = " ".join([str(k)] * len(system.outputs))
        lines.append(f"{chosen}, {said} ({1 if rule.on else 0}) : 1")
    return "\n".join(lines)


def _function(term: Term, low: float, high: float) -> str:
    """A term as MATLAB's membership function; the shoulders of outer terms reach one range beyond the range."""
    if term.kind == "gaussian":
        return f"'gaussmf',{_vector((term.numbers[1], term.numbers[0]))}"
    if term.kind == "bell":
        centre, width, slope = term.numbers
        return f"'gbellmf',{_vector((width, slope, centre))}"
    grades, places = [g for _, g in term.points], [x for x, _ in term.points]
    beyond = high - low
    if grades == [1.0, 0.0]:
        start = min(low, places[0])
        return f"'trapmf',{_vector((start - beyond, start, *places))}"
    if grades == [0.0, 1.0]:
        end = max(high, places[1])
        return f"'trapmf',{_vector((*places, end, end + beyond))}"
    return f"'{'trimf' if len(places) == 3 else 'trapmf'}',{_vector(places)}"


def _range(item: Antecedent | Consequent) -> tuple[float, float]:
    if item.low is None or item.high is None:
        raise ExchangeError(f"a .fis file needs the range of {item.name!r}, and none is known")
    return item.low, item.high


def _vector(values: Iterable[float]) -> str:
    return "[" + " ".join(map(_number, values)) + "]"


def _number(value: float) -> str:
    """A number in the shortest form that reads back to the same bits."""
    return repr(float(value)).removesuffix(".0") if value != 0.0 else "0"
