"""What the report recommends: the verdict, its conditions, and the changes of cost behind it."""

from __future__ import annotations

from dataclasses import dataclass

from experiments.report.records.situations import NAN, Estimate, Group


@dataclass(frozen=True)
class VerdictComparison:
    """Change of the cost J of one controller against another: J / J_against - 1, negative is better.

    Attributes
    ----------
    controller, against : str
        Keys of controllers.
    change : Estimate
        Relative change with its interval.
    equal_travel : bool
        Whether both were held to the same total variation of u.
    group : {"taught", "validation", "unforeseen"}
        Over which situations.
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
class Criterion:
    """One condition of the verdict: what was asked, whether it held (None: could not be judged), and the numbers."""

    text: str
    passed: bool | None
    detail: str = ""


@dataclass(frozen=True)
class JudgedText:
    """How one controller fared against the one that all are compared with.

    Attributes
    ----------
    controller : str
        Its key.
    criteria : tuple of Criterion
        The same conditions in the same order for all.
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
    reason : str
        One or two sentences.
    headline : str
        Empty: "Recommend: " and the label of the recommended controller.
    comparisons : tuple of VerdictComparison
        Of the recommended (or judged) controller against every other; the page picks what it needs.
    criteria : tuple of Criterion
        The conditions of the verdict.
    judgements : tuple of JudgedText
        The conditions for every controller that was judged.
    sensitivity_peak_limit, delay_margin_needed : float
        The constraints in force; NaN: none.
    margin_slack : float
        Relative miss of the constraints (of Ms - 1, of the delay margin) that still counts as held.
    """

    recommended: str
    compared_with: str
    judged: str = ""
    present: str = ""
    reason: str = ""
    headline: str = ""
    comparisons: tuple[VerdictComparison, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    judgements: tuple[JudgedText, ...] = ()
    sensitivity_peak_limit: float = NAN
    delay_margin_needed: float = NAN
    margin_slack: float = 0.0

    def peak_held(self, sensitivity_peak: float) -> bool:
        """Whether a sensitivity peak keeps its limit, or there is none."""
        bound = 1.0 + (self.sensitivity_peak_limit - 1.0) * (1.0 + self.margin_slack)
        return not sensitivity_peak > bound

    def delay_held(self, delay_margin: float) -> bool:
        """Whether a delay margin is as long as needed, or none is needed."""
        return not delay_margin < self.delay_margin_needed * (1.0 - self.margin_slack)
