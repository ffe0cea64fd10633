"""The verdict in the page's terms: comparisons, conditions, losses, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass

from experiments.report.records.gains import NAN
from experiments.report.records.results import Estimate, Group


@dataclass(frozen=True)
class VerdictComparison:
    """Change of the cost J of one controller against another: J / J_against - 1, negative is better.

    Attributes
    ----------
    controller, against : str
        Keys of controllers.
    equal_travel : bool
        Whether both were held to the same total variation of u.
    travel_ratio : float
        Total variation of `controller` over that of `against`, in this comparison.
    """

    controller: str
    against: str
    change: Estimate
    equal_travel: bool
    group: Group = "unforeseen"
    travel_ratio: float = NAN

    def turned(self) -> VerdictComparison:
        """The same comparison seen from the other controller."""
        ratio = 1.0 / self.travel_ratio if self.travel_ratio else NAN
        return VerdictComparison(
            self.against, self.controller, self.change.turned(), self.equal_travel, self.group, ratio
        )


@dataclass(frozen=True)
class MeasureChange:
    """Change of one measure's mean against another controller, over the runs of the verdict that both survive.

    Attributes
    ----------
    controller, against : str
        Keys of controllers.
    measure : str
        Name as in the results of situations, or "cost".
    change : Estimate
        Relative, with its 95 % interval from the same draws as the verdict's.
    """

    controller: str
    against: str
    measure: str
    change: Estimate


COMPARED_ONLY = "for comparison only"
"""How the outcome of a controller begins that cannot be recommended."""

LOSS = 0.005  # relative; a smaller one is none


@dataclass(frozen=True)
class LossCount:
    """In how many of the verdict's situations a measure is worse than another controller's; where most.

    Attributes
    ----------
    measure : str
        As in `MeasureChange`.
    lost, of : int
        Situations in which it is worse by more than 0.5 %, of those that both survive.
    worst : float
        Largest relative change; NaN: none is worse.
    where : str
        That situation in words.
    """

    measure: str
    lost: int
    of: int
    worst: float = NAN
    where: str = ""


@dataclass(frozen=True)
class CostliestDraw:
    """Of the drawn situations the one that costs the recommended controller most, beside another controller.

    Attributes
    ----------
    against : str
        Key of the other controller.
    where : str
        The situation in words.
    cost, other_cost : float
        J there; infinite: the loop is lost.
    losses : tuple of LossCount
        Of the recommended controller against the other, over all drawn situations.
    """

    against: str
    where: str
    cost: float
    other_cost: float
    losses: tuple[LossCount, ...] = ()


@dataclass(frozen=True)
class Criterion:
    """One condition of the verdict: what was asked, whether it held (None: could not be judged), and the numbers.

    Attributes
    ----------
    unmet : str
        What is said of a controller where it does not hold: "it needs +8 % actuator travel"; of statistics their name.
    """

    text: str
    passed: bool | None
    detail: str = ""
    unmet: str = ""


@dataclass(frozen=True)
class JudgedText:
    """How one controller fared against the one that all are compared with, by the same conditions for all.

    Attributes
    ----------
    wins : float
        Share of the runs in which its cost is lower.
    p_value : float
        Of a rank test on the runs; for information.
    outcome : str
        What became of it, in words.
    """

    controller: str
    criteria: tuple[Criterion, ...]
    wins: float = NAN
    p_value: float = NAN
    outcome: str = ""


@dataclass(frozen=True)
class VerdictText:
    """What the reader should do.

    Attributes
    ----------
    recommended, compared_with : str
        Keys of controllers; equal where the fixed gains win.
    judged : str
        Key of the most ambitious controller that was judged; its change is shown where it is not recommended.
    present : str
        Key of the user's own present tuning; empty: none was given.
    comparisons : tuple of VerdictComparison
        Of the recommended (or judged) controller against every other; the page picks what it needs.
    criteria, judgements : tuple of Criterion, tuple of JudgedText
        The conditions of the verdict for the recommended (or judged) controller, and for every one.
    sensitivity_peak_limit, passing_peak_limit, delay_margin_needed : float
        The constraints in force, of Ms at rest and in passing; NaN: none.
    margin_slack : float
        Relative miss of the constraints (of Ms - 1, of the delay margin) that still counts as held.
    measures : tuple of MeasureChange
        Of the recommended (or judged) controller against the compared and the present one.
    group : str
        Situations on which the verdict rests.
    costliest : CostliestDraw or None
        Where the verdict rests on situations that were drawn, and another controller was judged in them.
    split : tuple of (measure, float)
        What each term of the cost J adds to the change of its mean that the headline tells, in shares of the compared
        controller's J; empty: J is no sum of terms, or has one.
    same_damping : Estimate or None
        Change of J with the compared controller's damping in the place of the own one; None: J weighs no entropy of it.
    trade_offs : tuple of str
        What the change of J hides: sentences without a full stop.
    """

    recommended: str
    compared_with: str
    judged: str = ""
    present: str = ""
    reason: str = ""
    comparisons: tuple[VerdictComparison, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    judgements: tuple[JudgedText, ...] = ()
    sensitivity_peak_limit: float = NAN
    passing_peak_limit: float = NAN
    delay_margin_needed: float = NAN
    margin_slack: float = 0.0
    measures: tuple[MeasureChange, ...] = ()
    group: Group = "unforeseen"
    costliest: CostliestDraw | None = None
    split: tuple[tuple[str, float], ...] = ()
    same_damping: Estimate | None = None
    trade_offs: tuple[str, ...] = ()

    def peak_held(self, sensitivity_peak: float) -> bool:
        """Whether a sensitivity peak at rest keeps its limit, or there is none."""
        return self._held(sensitivity_peak, self.sensitivity_peak_limit)

    def passing_held(self, passing_peak: float) -> bool:
        """Whether a sensitivity peak in passing keeps its limit, or there is none."""
        return self._held(passing_peak, self.passing_peak_limit)

    def _held(self, peak: float, limit: float) -> bool:
        return not peak > 1.0 + (limit - 1.0) * (1.0 + self.margin_slack)

    def delay_held(self, delay_margin: float) -> bool:
        """Whether a delay margin is as long as needed, or none is needed."""
        return not delay_margin < self.delay_margin_needed * (1.0 - self.margin_slack)
