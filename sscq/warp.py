"""Genes of gains: a unit interval bent so that known good gains stand in its middle.

A box that holds every gain a plant might need is far wider than the neighbourhood worth searching: steps that are a
fair share of the box are many times a small gain. K = low + (high - low) u^gamma, with gamma such that the reference
stands at u = 1/2, makes equal steps of a gene equal shares of the gain, and still reaches the whole box. References in
the upper half of their box are left where they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_LEAST, _MOST = 0.01, 0.5  # shares of the box at which the reference counts: never extreme, and large gains not bent


@dataclass(frozen=True)
class Warp:
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
