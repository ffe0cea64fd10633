"""Control systems of scikit-fuzzy, read back: terms from their samples, rules from their expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from flcs.exchange.system import Antecedent, Consequent, ExchangeError, FuzzySystem, SystemRule, Term

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

_STRAIGHT = 1e-9  # curvature below which three samples lie on a line


def read(found: Any, name: str) -> FuzzySystem:
    """Return the system of a control system; see :func:`flcs.exchange.skfuzzy_system.of_control_system`."""
    rules = list(found.rules)
    if not rules:
        raise ExchangeError("expected a control system with rules, got none")
    first = [_leaf_variable(leaf) for leaf in _leaves(rules[0].antecedent, "rule 1")]
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


def _leaf_variable(leaf: Any) -> Any:
    return leaf.parent


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
