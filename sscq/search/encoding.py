"""Encodings: which numbers a search varies, in which box and on which scale, and the gains they stand for.

An encoding belongs to a gain schedule: ``schedule()`` gives it, ``decode(genomes)`` its parameters theta.

>>> encoding = FixedGains(low=(0.01, 0.0, 0.0), high=(10.0, 5.0, 4.0))
>>> encoding.box.scale
('log', 'linear', 'linear')

Genes of gains may also be bent (:class:`GainScale`). A box that holds every gain a plant might need is far wider than
the neighbourhood worth searching: steps that are a fair share of the box are many times a small gain.
K = low + (high - low) u^gamma, with gamma such that the reference stands at u = 1/2, makes equal steps of a gene equal
shares of the gain, and still reaches the whole box. References in the upper half of their box are left where they are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from controllers import settings
from controllers.schedule import ConstantGains, TimeGains
from sscq.search.box import Box, check_bounds
from sscq.search.method import not_negative

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


LOG_FROM = 100.0
"""A gain whose bounds are further apart than this ratio is searched on a log scale."""


@dataclass(frozen=True, kw_only=True)
class Encoding(ABC):
    """What the encodings share: bounds of each gain.

    A gain keeps one sign, that of its bounds. It is searched on a log scale if its bounds differ by a factor of more
    than 100; a range that starts or ends at 0 is searched linearly. Equal bounds fix a gain.

    Attributes
    ----------
    low, high : tuple of float
        Bounds of each gain of all channels.
    gain_names : tuple of str
        :func:`controllers.gain_names` gives them for laws.
    any_sign : bool
        Let gains with low < 0 < high through, for plants whose controller may need either sign.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    gain_names: tuple[str, ...] = ("kp", "ki", "kd")
    any_sign: bool = False

    def __post_init__(self) -> None:
        """Check names and bounds."""
        object.__setattr__(self, "gain_names", settings.distinct("gain_names", self.gain_names))
        low, high = check_bounds(self.low, self.high, self.gain_names, "gain")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        for name, below, above in zip(self.gain_names, low, high, strict=True):
            if below < 0.0 < above and not self.any_sign:
                raise ValueError(
                    f"the bounds of gain {name!r} must have one sign, got {below} and {above}; "
                    "end them at 0, or give any_sign=True if the plant may need either sign"
                )

    @cached_property
    def gains_box(self) -> Box:
        """Box of one set of gains."""
        scales = tuple(_scale(below, above) for below, above in zip(self.low, self.high, strict=True))
        return Box(self.low, self.high, scales, self.gain_names)

    @property
    @abstractmethod
    def box(self) -> Box:
        """Box of the genomes."""

    @abstractmethod
    def schedule(self) -> ConstantGains | TimeGains:
        """Return the gain schedule whose parameters theta are encoded."""

    def decode(self, genomes: ArrayLike) -> NDArray[np.float64]:
        """Return theta [n, n_theta] of genomes [n, n_genes], moved into the box."""
        return self.box.clip(genomes)

    def start(self, gains: ArrayLike) -> NDArray[np.float64]:
        """Return genomes [5, n_genes] to start from: these gains [n_gains] throughout, and four neighbours."""
        constant = np.tile(self.gains_box.clip(gains)[0], self.box.n_genes // self.gains_box.n_genes)
        return np.vstack((constant, self.box.neighbours(constant)))


def _scale(low: float, high: float) -> str:
    smaller, larger = sorted((abs(low), abs(high)))
    return "log" if low * high > 0.0 and larger > LOG_FROM * smaller else "linear"


@dataclass(frozen=True, kw_only=True)
class FixedGains(Encoding):
    """Gains that do not change: one gene a gain.

    Examples
    --------
    >>> FixedGains(low=(0, 0, 0), high=(10, 10, 10)).decode([[3.62, 0.59, 11.0]])
    array([[ 3.62,  0.59, 10.  ]])
    """

    @property
    def box(self) -> Box:
        """Box of the gains."""
        return self.gains_box

    def schedule(self) -> ConstantGains:
        """Return constant gains."""
        return ConstantGains(self.gain_names)


@dataclass(frozen=True, kw_only=True)
class TimeWindows(Encoding):
    """Gains at knots in time: genes are the gains at the first knot, then at the second, ...

    Attributes
    ----------
    times : tuple of float
        Knots [s], strictly increasing.
    kind : {"piecewise", "linear"}
        Constant from each knot on, or linear between knots.
    tick : float, optional
        Time between two updates of the gains [s].
    """

    times: tuple[float, ...]
    kind: str = "piecewise"
    tick: float | None = None

    def __post_init__(self) -> None:
        """Check the knots as well."""
        super().__post_init__()
        object.__setattr__(self, "times", self.schedule().times)

    @cached_property
    def box(self) -> Box:
        """Box of the gains at all knots."""
        n, one = len(self.times), self.gains_box
        return Box(one.low * n, one.high * n, one.scale * n, self.schedule().theta_names)

    def schedule(self) -> TimeGains:
        """Return gains over time."""
        return TimeGains(self.times, self.kind, self.gain_names, self.tick)


@dataclass(frozen=True, kw_only=True)
class RecedingWindow(Encoding):
    """Gains of one window of a search that goes through time window after window.

    Distances from the previous window's gains are in units of the box: 1 from bound to bound, on each gain's scale.

    Attributes
    ----------
    previous : tuple of float
        Gains of the window before, in the first window those of the reference controller.
    shrink : float
        Weight of the squared distance from them in the fitness, so that gains stay where the fitness does not care.
    """

    previous: tuple[float, ...]
    shrink: float = 0.01

    def __post_init__(self) -> None:
        """Check the previous gains as well, and move them into the box."""
        super().__post_init__()
        if np.shape(self.previous) != (len(self.gain_names),):
            raise ValueError(
                f"previous must have one entry for each gain ({', '.join(self.gain_names)}), got {self.previous}"
            )
        object.__setattr__(self, "previous", tuple(self.gains_box.clip(self.previous)[0].tolist()))
        not_negative("shrink", self.shrink)

    @property
    def box(self) -> Box:
        """Box of the gains."""
        return self.gains_box

    def schedule(self) -> ConstantGains:
        """Return the gains of the window, constant in it."""
        return ConstantGains(self.gain_names)

    def penalty(self, genomes: ArrayLike) -> NDArray[np.float64]:
        """Return what is to be added to the fitness of genomes [n, n_genes]: the weighted squared distance [n]."""
        distance = self.gains_box.encode(self.decode(genomes)) - self.gains_box.encode(self.previous)
        return self.shrink * (distance**2).sum(axis=1)

    def towards(self, gains: ArrayLike, weight: float) -> NDArray[np.float64]:
        """Return the gains [n_gains] a part `weight` (0 to 1) of the way from the previous ones to `gains`."""
        if not 0.0 <= weight <= 1.0:
            raise ValueError(f"weight must lie in [0, 1] (0: the previous gains, 1: the given ones), got {weight}")
        if weight in {0.0, 1.0}:  # exactly those gains
            return self.gains_box.clip(gains if weight else self.previous)[0]
        before, after = self.gains_box.encode(self.previous), self.gains_box.encode(gains)
        return self.gains_box.decode(before + weight * (after - before))[0]

    def following(self, gains: ArrayLike) -> RecedingWindow:
        """Return the encoding of the next window, after one with these gains [n_gains]."""
        return replace(self, previous=tuple(self.gains_box.clip(gains)[0].tolist()))


_LEAST, _MOST = 0.01, 0.5  # shares of the box at which the reference counts: never extreme, and large gains not bent


@dataclass(frozen=True)
class GainScale:
    """Bent coordinates of gains.

    Attributes
    ----------
    low, high, middle : ndarray [n_gains]
        Box, and the gains at u = 1/2 where they are in the lower half of the box.
    """

    low: np.ndarray
    high: np.ndarray
    middle: np.ndarray

    @property
    def _span(self) -> np.ndarray:
        return np.where(self.high > self.low, self.high - self.low, 1.0)

    @property
    def _gamma(self) -> np.ndarray:
        share = np.clip((np.asarray(self.middle) - self.low) / self._span, _LEAST, _MOST)
        return np.log(share) / np.log(0.5)

    def gains(self, genes: np.ndarray) -> np.ndarray:
        """Return gains [..., n_gains] for genes in [0, 1]."""
        return np.clip(self.low + self._span * np.clip(genes, 0.0, 1.0) ** self._gamma, self.low, self.high)

    def genes(self, gains: np.ndarray) -> np.ndarray:
        """Return genes [..., n_gains] in [0, 1] for gains, clipped into the box."""
        share = np.clip((np.asarray(gains, float) - self.low) / self._span, 0.0, 1.0)
        return share ** (1.0 / self._gamma)
