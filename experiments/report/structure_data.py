"""What the page knows about how the structure of the knowledge base was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from experiments.report.situations import NAN

if TYPE_CHECKING:
    from experiments.report.situations import Array


@dataclass(frozen=True, eq=False)
class TradeOffView:
    """Number of rules against cost, from all rules down to one.

    Attributes
    ----------
    rules : array [n]
        Rules that are left, decreasing.
    taught : array [n]
        Cost J in the taught situations.
    chosen : int
        Place of the base that is kept.
    loss : float
        Relative loss that was allowed.
    text : str
        The choice in words.
    validation : array [n] or None
        Cost J in the validation situations.
    """

    rules: Array
    taught: Array
    chosen: int
    loss: float
    text: str
    validation: Array | None = None

    def __post_init__(self) -> None:
        """Check the lengths."""
        for name in ("taught", "validation"):
            value = getattr(self, name)
            if value is not None and np.shape(value) != np.shape(self.rules):
                raise ValueError(
                    f"{name} of a trade-off must have shape {np.shape(self.rules)} as its numbers of rules, "
                    f"got {np.shape(value)}"
                )
        if not 0 <= self.chosen < len(self.rules):
            raise ValueError(f"chosen of a trade-off must be 0 .. {len(self.rules) - 1}, got {self.chosen}")


@dataclass(frozen=True)
class InputRow:
    """What one input is worth.

    Attributes
    ----------
    name : str
        With the channel, where there are several.
    kept : bool
    information, threshold : float
        Mutual information with the gains and what shifted copies reach by chance [nat].
    taught, validation : float
        Relative change of the cost without it; NaN: not tried.
    text : str
        Why it stays or went.
    """

    name: str
    kept: bool
    information: float = NAN
    threshold: float = NAN
    taught: float = NAN
    validation: float = NAN
    text: str = ""


@dataclass(frozen=True, eq=False)
class StructureView:
    """How terms, inputs and rules were chosen; what was not searched is empty.

    Attributes
    ----------
    trade_off : TradeOffView or None
    inputs : tuple of InputRow
    terms : str
        How number and shape of the terms were chosen.
    """

    trade_off: TradeOffView | None = None
    inputs: tuple[InputRow, ...] = ()
    terms: str = ""
