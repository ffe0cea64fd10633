"""Systems as control systems of scikit-fuzzy, both ways.

That package has Mamdani's inference with sampled sets and the minimum as implication. Singletons become sets as narrow
as the gains' distances allow, with steep sides: cut off at a height, such a set's area is in proportion to the height,
so that the centroid of all is the mean of the gains weighted with the firing strengths, but for the sides' share.
Strengths of rules with one gain are added; all are scaled so that sums stay below 1. A set's label is its gain's
number. Read back, terms come from their samples and rules from their expressions.
Source: J. Warner et al., scikit-fuzzy 0.5, documentation of skfuzzy.control.
"""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from flcs.exchange.system import Antecedent, Consequent, ExchangeError, FuzzySystem, SystemRule, Term
from plants.core.names import comment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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


def write(system: FuzzySystem) -> str:
    """Return a Python file that needs NumPy and scikit-fuzzy alone: ``build()`` gives the control system."""
    lines = inspect.getsource(built).splitlines()[1:]
    head = f'"""Fuzzy control system {comment(system.name)} for scikit-fuzzy: build() returns it."""\n'
    data = json.dumps(data_of(system), allow_nan=False, indent=1)
    return "\n".join([head, f"DATA = {data}", "", "", "def built(data):", *lines, "", "", _TAIL])


_TAIL = '''def build():
    """Return the control system."""
    return built(DATA)
'''


_STRAIGHT = 1e-9  # curvature below which three samples lie on a line


def of_control_system(found: Any, name: str = "system") -> FuzzySystem:
    """Return the system of a ``skfuzzy.control.ControlSystem``.

    Its inputs' terms must be straight lines between the universe's places, its rules conjunctions of one term of each
    input, its conclusions sets that are symmetric and do not overlap.

    Raises
    ------
    ExchangeError
        With the rule or variable, what was expected and what came.
    """
    rules = list(found.rules)
    if not rules:
        raise ExchangeError("expected a control system with rules, got none")
    first = [leaf.parent for leaf in _leaves(rules[0].antecedent, "rule 1")]
    inputs = {variable.label: _antecedent(variable) for variable in first}
    outputs = {said.term.parent.label: said.term.parent for said in rules[0].consequent}
    gains = {label: {t: _gain(label, variable, t) for t in variable.terms} for label, variable in outputs.items()}
    read_rules = tuple(_rule(k, rule, inputs, gains) for k, rule in enumerate(rules, 1))
    norms = {_conjunction(rule, len(inputs)) for rule in rules}
    if len(norms) != 1:
        raise ExchangeError(f"expected one conjunction for all rules, got {', '.join(sorted(norms))}")
    consequents = tuple(Consequent(label, None, None) for label in outputs)
    return FuzzySystem(name, tuple(inputs.values()), consequents, read_rules, norms.pop())


def _conjunction(rule: Any, n_inputs: int) -> str:
    """The rule's conjunction, told from what it does."""
    together = rule._aggregation_methods.and_func  # noqa: SLF001  (the package has no other way to ask)
    value = float(together(0.5, 0.5))
    if value not in {0.25, 0.5}:
        raise ExchangeError(f"expected the conjunction np.multiply or np.fmin, got {together}")
    return "product" if value == 0.25 or n_inputs == 1 else "minimum"


def _leaves(node: Any, where: str) -> Iterator[Any]:
    kind = getattr(node, "kind", None)
    if kind is None:
        yield node
    elif kind == "and":
        yield from _leaves(node.term1, where)
        yield from _leaves(node.term2, where)
    else:
        raise ExchangeError(f"{where}: expected terms joined by & alone, got {kind!r}")


def _antecedent(variable: Any) -> Antecedent:
    universe = np.asarray(variable.universe, dtype=float)
    terms = tuple(_term(variable.label, label, term.mf, universe) for label, term in variable.terms.items())
    return Antecedent(variable.label, float(universe[0]), float(universe[-1]), terms)


def _term(name: str, label: str, values: NDArray[np.float64], x: NDArray[np.float64]) -> Term:
    """A term's break points: the samples at which its slope changes."""
    slopes = np.diff(values) / np.diff(x)
    scale = float(np.abs(slopes).max()) or 1.0
    bends = np.flatnonzero(np.abs(np.diff(slopes)) > _STRAIGHT * scale) + 1
    points = [(float(x[k]), float(values[k])) for k in bends]
    ends = [(float(x[k]), float(values[k])) for k, slope in ((0, slopes[0]), (-1, slopes[-1])) if abs(slope) > 0.0]
    points = sorted({*points, *ends})
    if not 2 <= len(points) <= 4 or any(grade not in {0.0, 1.0} for _, grade in points):
        raise ExchangeError(
            f"term {label!r} of {name!r}: expected straight lines between memberships 0 and 1, got {len(points)} bends"
        )
    return Term(label, "points", tuple(points))


def _gain(name: str, variable: Any, label: str) -> float:
    """What a set says: its label where that is a number on its plateau, else its centre."""
    universe, values = np.asarray(variable.universe, float), np.asarray(variable.terms[label].mf, float)
    support, top = universe[values > 0.0], universe[values == values.max()]
    others = [np.asarray(term.mf, float) for key, term in variable.terms.items() if key != label]
    if any(np.any((other > 0.0) & (values > 0.0)) for other in others):
        raise ExchangeError(f"set {label!r} of {name!r}: expected sets that do not overlap (singletons), got overlap")
    centre = 0.5 * (support[0] + support[-1])
    try:
        said = float(label)
    except ValueError:
        return float(centre)
    return said if top[0] <= said <= top[-1] else float(centre)


def _rule(
    number: int, rule: Any, inputs: Mapping[str, Antecedent], gains: Mapping[str, Mapping[str, float]]
) -> SystemRule:
    where = f"rule {number}"
    chosen = {leaf.parent.label: leaf.label for leaf in _leaves(rule.antecedent, where)}
    said = {item.term.parent.label: (item.term.label, item.weight) for item in rule.consequent}
    for wanted, came in ((inputs, chosen), (gains, said)):
        if wanted.keys() != came.keys():
            raise ExchangeError(f"{where}: expected {', '.join(wanted)}, got {', '.join(came)}")
    on = {weight > 0.0 for _, weight in said.values()}
    if len(on) != 1:
        raise ExchangeError(f"{where}: expected one weight for all conclusions, got {said}")
    terms = tuple([t.label for t in item.terms].index(chosen[name]) for name, item in inputs.items())
    return SystemRule(terms, tuple((gains[name][said[name][0]],) for name in gains), on.pop())
