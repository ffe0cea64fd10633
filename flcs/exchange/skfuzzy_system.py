"""Systems as control systems of scikit-fuzzy, both ways.

That package has Mamdani's inference with sampled sets and the minimum as implication. Singletons become sets as narrow
as the gains' distances allow, with steep sides: cut off at a height, such a set's area is in proportion to the height,
so that the centroid of all is the mean of the gains weighted with the firing strengths, but for the sides' share.
Strengths of rules with one gain are added; all are scaled so that sums stay below 1. A set's label is its gain's
number.
Source: J. Warner et al., scikit-fuzzy 0.5, documentation of skfuzzy.control.
"""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from flcs.exchange.system import Antecedent, Consequent, ExchangeError, FuzzySystem, Term

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SAMPLES = 501  # of an input with curved terms
CLOSEST = 1e-7  # of the box: gains that are closer share a set
_STEEP = 1e-5  # of a set's half width: its sides
_WIDEST = 1e-3  # of the box: half width of a set


def data_of(system: FuzzySystem) -> dict[str, Any]:
    """Return what :func:`built` takes, as plain data.

    Raises
    ------
    ExchangeError
        If conclusions are affine, ranges are missing or terms are of an unknown kind.
    """
    if any(len(value) > 1 for rule in system.rules for value in rule.values):
        raise ExchangeError("scikit-fuzzy has fuzzy sets for conclusions, got gains linear in the inputs; export fis")
    share = 1.0 / max(1, sum(rule.on for rule in system.rules))
    sets = [_sets(item, [rule.values[k][0] for rule in system.rules]) for k, item in enumerate(system.outputs)]
    rules = [
        {"terms": list(rule.terms), "sets": [s["of_rule"][n] for s in sets], "weight": share if rule.on else 0.0}
        for n, rule in enumerate(system.rules)
    ]
    return {
        "inputs": [_input(item) for item in system.inputs],
        "outputs": [{name: s[name] for name in ("name", "universe", "sets")} for s in sets],
        "rules": rules, "and": system.conjunction,
    }  # fmt: skip


def _input(item: Antecedent) -> dict[str, Any]:
    if item.low is None or item.high is None:
        raise ExchangeError(f"scikit-fuzzy needs a universe for {item.name!r}, and no range is known")
    places = {item.low, item.high, *(x for term in item.terms for x, _ in term.points)}
    if any(term.kind != "points" for term in item.terms):
        places |= {*np.linspace(item.low, item.high, SAMPLES).tolist(), *(t.numbers[0] for t in item.terms)}
    universe = np.array(sorted(places))
    terms = {term.label: grades(term, universe).tolist() for term in item.terms}
    return {"name": item.name, "universe": universe.tolist(), "terms": terms}


def grades(term: Term, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the membership of places [n] in a term."""
    if term.kind == "points":
        places, values = zip(*term.points, strict=True)
        return np.interp(x, places, values)
    distance = (x - term.numbers[0]) / term.numbers[1]
    if term.kind == "gaussian":
        return np.exp(-0.5 * distance * distance)
    return 1.0 / (1.0 + (distance * distance) ** term.numbers[2])


def _sets(item: Consequent, gains: Sequence[float]) -> dict[str, Any]:
    """Sets of an output on a universe that has their corners, and for each rule the label of its set."""
    low = item.low if item.low is not None else min(gains)
    high = item.high if item.high is not None else max(gains)
    span = high - low or 1.0
    centres: list[float] = []
    for gain in sorted(set(gains)):
        if not centres or gain - centres[-1] >= CLOSEST * span:
            centres.append(gain)
    gaps = np.diff(centres)
    half = min(_WIDEST * span, float(gaps.min()) / 4.0 if len(gaps) else span)
    edge = _STEEP * half
    corners = {c: (c - half - edge, c - half, c, c + half, c + half + edge) for c in centres}
    universe = np.array(sorted({x for five in corners.values() for x in five} | {low - span, high + span}))
    shape = (0.0, 1.0, 1.0, 1.0, 0.0)
    sets = {repr(c): np.interp(universe, five, shape).tolist() for c, five in corners.items()}
    of_rule = [repr(centres[int(np.searchsorted(centres, gain, side="right")) - 1]) for gain in gains]
    return {"name": item.name, "universe": universe.tolist(), "sets": sets, "of_rule": of_rule}


def built(data):  # noqa: ANN001, ANN201  (its text is copied into exported files)
    """Build the skfuzzy.control.ControlSystem of `data`."""
    import numpy as np
    from skfuzzy import control

    inputs, outputs, rules = [], [], []
    for item in data["inputs"]:
        variable = control.Antecedent(np.array(item["universe"]), item["name"])
        for label, values in item["terms"].items():
            variable[label] = np.array(values)
        inputs.append((variable, list(item["terms"])))
    for item in data["outputs"]:
        variable = control.Consequent(np.array(item["universe"]), item["name"], "centroid")
        variable.accumulation_method = np.add
        for label, values in item["sets"].items():
            variable[label] = np.array(values)
        outputs.append(variable)
    together = np.multiply if data["and"] == "product" else np.fmin
    for number, rule in enumerate(data["rules"]):
        chosen = [variable[labels[term]] for (variable, labels), term in zip(inputs, rule["terms"], strict=True)]
        condition = chosen[0]
        for term in chosen[1:]:
            condition = condition & term
        said = [variable[label] % rule["weight"] for variable, label in zip(outputs, rule["sets"], strict=True)]
        rules.append(control.Rule(condition, said, label=f"rule{number + 1}", and_func=together))
    return control.ControlSystem(rules)


def control_system(system: FuzzySystem) -> Any:
    """Return the system as a ``skfuzzy.control.ControlSystem``.

    Raises
    ------
    ExchangeError
        As :func:`data_of`.
    ImportError
        If scikit-fuzzy is not installed.
    """
    return built(data_of(system))


def write(system: FuzzySystem) -> str:
    """Return a Python file that needs NumPy and scikit-fuzzy alone: ``build()`` gives the control system."""
    lines = inspect.getsource(built).splitlines()[1:]
    head = f'"""Fuzzy control system {system.name} for scikit-fuzzy: build() returns it."""\n'
    data = json.dumps(data_of(system), allow_nan=False, indent=1)
    return "\n".join([head, f"DATA = {data}", "", "", "def built(data):", *lines, "", "", _TAIL])


_TAIL = '''def build():
    """Return the control system."""
    return built(DATA)
'''


def of_control_system(found: Any, name: str = "system") -> FuzzySystem:
    """Return the system of a ``skfuzzy.control.ControlSystem``.

    Its inputs' terms must be straight lines between the universe's places, its rules conjunctions of one term of each
    input, its conclusions sets that are symmetric and do not overlap.

    Raises
    ------
    ExchangeError
        With the rule or variable, what was expected and what came.
    """
    from flcs.exchange.skfuzzy_reader import read

    return read(found, name)
