"""What the report shows of a knowledge base (rule-based gain schedule): one `RuleBaseView` per channel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.report.records.situations import NAN, Array


@dataclass(frozen=True, eq=False)
class Term:
    """One linguistic term (fuzzy set): its label and its membership [n_points], 0..1, on the variable's grid."""

    label: str
    membership: Array


@dataclass(frozen=True, eq=False)
class LinguisticVariable:
    """One input of the rules.

    Attributes
    ----------
    name, unit : str
        For example "e" and "m".
    grid : array [n_points]
        Values of the input, in its unit, increasing, over the valid range.
    terms : tuple of Term
        In the order of their centres.
    """

    name: str
    unit: str
    grid: Array
    terms: tuple[Term, ...]

    def __post_init__(self) -> None:
        """Check that every membership lies on the grid."""
        for term in self.terms:
            if np.shape(term.membership) != np.shape(self.grid):
                raise ValueError(
                    f"term {term.label!r} of {self.name!r} must have one membership per grid point "
                    f"{np.shape(self.grid)}, got {np.shape(term.membership)}"
                )


@dataclass(frozen=True)
class Rule:
    """One rule.

    Attributes
    ----------
    number : int
        As the sentences and other exports count it.
    antecedents : tuple of str
        Term label per input; "" where the rule does not look at that input.
    consequents : tuple of float
        Value per gain (at the rule's centre for affine consequents), as `RuleBaseView.gain_names`.
    sentence : str
        The rule in words; empty: the page writes it from the parts.
    firing : float
        Mean share of the firing strength on the taught data, 0..1.
    importance : float
        Relative change of the cost in the taught situations without this rule; NaN: unknown.
    """

    number: int
    antecedents: tuple[str, ...]
    consequents: tuple[float, ...]
    sentence: str = ""
    firing: float = NAN
    importance: float = NAN


@dataclass(frozen=True, eq=False)
class GainSurface:
    """A gain over two inputs, the others held as `text` says.

    Attributes
    ----------
    gain, gain_unit : str
        For example "kp" and "N/m".
    x_name, x_unit, y_name, y_unit : str
        Horizontal and vertical input, for example e [m] and e_rate [m/s].
    x, y : array [n_x], [n_y]
        Evenly spaced values, in the units.
    values : array [n_y, n_x]
        The gain.
    text : str
        For example "error integral = 0".
    taught : (x low, x high, y low, y high) or None
        The taught range, drawn as a dashed frame.
    """

    gain: str
    x_name: str
    y_name: str
    x: Array
    y: Array
    values: Array
    gain_unit: str = ""
    x_unit: str = ""
    y_unit: str = ""
    text: str = ""
    taught: tuple[float, float, float, float] | None = None

    def __post_init__(self) -> None:
        """Check the grid."""
        expected = (len(self.y), len(self.x))
        if np.shape(self.values) != expected:
            raise ValueError(
                f"values of the surface of {self.gain!r} must have shape {expected}, got {self.values.shape}"
            )


@dataclass(frozen=True, eq=False)
class GainLine:
    """A gain over the only input of its rules.

    Attributes
    ----------
    gain, gain_unit, x_name, x_unit : str
        As for a surface.
    x, values : array [n]
    """

    gain: str
    x_name: str
    x: Array
    values: Array
    gain_unit: str = ""
    x_unit: str = ""


@dataclass(frozen=True, eq=False)
class ConclusionView:
    """What the rules say about one gain at the chosen moment.

    Attributes
    ----------
    gain, unit : str
    sets : tuple of (values, memberships), one a rule
        In the unit of the gain.
    joined : (values, memberships) or None
        Mamdani's aggregated set.
    mean, value : float
        What the rules say together; the gain, after the reference gains have had their share.
    """

    gain: str
    unit: str
    sets: tuple[tuple[Array, Array], ...]
    joined: tuple[Array, Array] | None
    mean: float
    value: float


@dataclass(frozen=True, eq=False)
class ActivationView:
    """The rules at one moment.

    Attributes
    ----------
    text : str
        Which moment, and how the sets become gains.
    mean_word : str
        What `ConclusionView.mean` is, such as "centroid".
    point : tuple of float
        Value of every input, in its unit.
    memberships : tuple of array [n_terms]
        One an input.
    firing : tuple of float
        Firing strength of every rule shown, 0..1.
    conclusions : tuple of ConclusionView
    """

    text: str
    mean_word: str
    point: tuple[float, ...]
    memberships: tuple[Array, ...]
    firing: tuple[float, ...]
    conclusions: tuple[ConclusionView, ...]


@dataclass(frozen=True)
class RuleBaseView:
    """The rules of one channel.

    Attributes
    ----------
    channel : int
        Index into `ReportData.channels`.
    controller : str
        Key of the controller that uses it.
    inputs : tuple of LinguisticVariable
        In the order of the antecedents.
    gain_names : tuple of str
        In the order of the consequents.
    rules : tuple of Rule
        In the order in which they are shown.
    surfaces : tuple of GainSurface
        Usually kp, ki, kd over e and e_rate.
    text : str
        Kind of terms, t-norm, defuzzifier, rules before pruning, valid range, authority.
    lines : tuple of GainLine
        In place of surfaces where the rules look at one input only.
    activation : ActivationView or None
        The rules at one moment.
    """

    channel: int
    controller: str
    inputs: tuple[LinguisticVariable, ...]
    gain_names: tuple[str, ...]
    rules: tuple[Rule, ...]
    surfaces: tuple[GainSurface, ...] = ()
    text: str = ""
    lines: tuple[GainLine, ...] = ()
    activation: ActivationView | None = None

    def sentence(self, rule: Rule) -> str:
        """The rule in words, as given or written from its parts."""
        if rule.sentence:
            return rule.sentence
        pairs = zip(self.inputs, rule.antecedents, strict=True)
        given = " and ".join(f"{variable.name} is {term}" for variable, term in pairs if term)
        then = ", ".join(f"{name} = {value:.4g}" for name, value in zip(self.gain_names, rule.consequents, strict=True))
        return f"If {given}, then {then}." if given else f"Always: {then}."
