"""Several knowledge bases, blended by a small gate: K = sum_s pi_s(x) K_s(x) with pi_s >= 0 and sum_s pi_s = 1.

One base a situation, each with few rules, beside one pooled base with as many rules in all. A blend of gains in their
box is in the box.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from flcs.fuzzy_controller import FuzzyController, FuzzySchedule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from flcs.gate import Gate
    from flcs.knowledge_base import KnowledgeBase
    from flcs.membership import Number, Numbers
    from flcs.teaching_rows import TeachingRows


@dataclass(frozen=True)
class BlendedSchedule:
    """Gains of all channels from several knowledge bases; see :class:`controllers.Schedule`.

    Attributes
    ----------
    kbs : tuple of KnowledgeBase
        Of the same channels, gains and tick; all their numbers are compiled in.
    gate : Gate
    """

    kbs: tuple[KnowledgeBase, ...]
    gate: Gate

    def __post_init__(self) -> None:
        """Check that the bases fit together."""
        if not self.kbs or len(self.gate.weights) != len(self.kbs):
            raise ValueError(f"a gate of {len(self.gate.weights)} shares needs as many bases, got {len(self.kbs)}")
        first = self.kbs[0]
        for kb in self.kbs:
            if (kb.gain_names, kb.tick) != (first.gain_names, first.tick) or kb.signals:
                raise ValueError(
                    f"blended knowledge bases need the same gains and tick, and error inputs only, got "
                    f"{kb.gain_names}, {kb.tick}, {kb.signals} beside {first.gain_names}, {first.tick}"
                )

    @cached_property
    def parts(self) -> tuple[FuzzySchedule, ...]:
        """The schedules of the bases."""
        return tuple(FuzzySchedule(kb, kb.inference.authority, ()) for kb in self.kbs)

    @property
    def gain_names(self) -> tuple[str, ...]:
        """Names of the gains it gives."""
        return self.kbs[0].gain_names

    @property
    def theta_names(self) -> tuple[str, ...]:
        """No parameters."""
        return ()

    @property
    def tick(self) -> float | None:
        """Time between two updates [s]."""
        return self.kbs[0].tick

    @property
    def signals(self) -> tuple[str, ...]:
        """No extra plant outputs."""
        return ()

    @property
    def n_states(self) -> int:
        """Number of states: those of all bases."""
        return len(self.initial())

    def initial(self) -> tuple[float, ...]:
        """Return the states at t = 0, base after base."""
        return tuple(value for part in self.parts for value in part.initial())

    def gains(self, t: Number, s: Numbers, k: Numbers, theta: Numbers) -> tuple[Numbers, Numbers]:
        """Return the gains at this tick and the new state: a block."""
        values: list[Numbers] = []
        states: list[Number] = []
        for part in self.parts:
            own, state = part.gains(t, s, k[len(states) : len(states) + part.n_states], theta)
            values.append(own)
            states += state
        shares = self.gate.shares(s)
        return tuple(_mixed(shares, column) for column in zip(*values, strict=True)), tuple(states)


def _mixed(shares: Sequence[Number], values: Sequence[Number]) -> Number:
    products = [share * value for share, value in zip(shares, values, strict=True)]
    return sum(products[1:], products[0])


@dataclass(frozen=True)
class BlendedController:
    """A controller for :func:`sscq.evaluate`: PID laws whose gains follow blended knowledge bases.

    Attributes
    ----------
    kbs : tuple of KnowledgeBase
    gate : Gate
    laws : tuple of laws, optional
        One per channel; left out, those that the first base was designed for.
    """

    kbs: tuple[KnowledgeBase, ...]
    gate: Gate
    laws: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        """Complete the laws."""
        object.__setattr__(self, "laws", FuzzyController(self.kbs[0], laws=self.laws).laws)

    @cached_property
    def schedule(self) -> BlendedSchedule:
        """The gain schedule."""
        return BlendedSchedule(self.kbs, self.gate)


def per_situation(kb_of: Callable[[TeachingRows], KnowledgeBase], signal: Any) -> list[KnowledgeBase]:
    """Return one knowledge base for the rows of each situation: ``kb_of(rows)`` makes it, as :func:`flcs.design`."""
    from flcs.teaching_rows import TeachingRows

    rows = TeachingRows.of(signal)
    return [kb_of(rows.chosen(rows.situation == number)) for number in np.unique(rows.situation)]
