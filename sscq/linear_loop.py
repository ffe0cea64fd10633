"""What margins are asked of: one channel of a plant, linear about an operating point, and the loop that controls it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True)
class LinearPlant:
    """One channel of a plant, linear about an operating point: x' = A x + b u(t - delay), y = c x.

    Attributes
    ----------
    A : array [n_x, n_x]
    b : array [n_x]
        From the channel's command.
    c : array [n_x]
        To the controlled output.
    c_rate : array [n_x], optional
        To the output's rate, where it is measured.
    delay : float
        Of the plant itself, input and output together [s].
    name : str
        Operating point, as reports name it.

    Raises
    ------
    ValueError
        Where shapes do not fit, or a number is not finite.
    """

    A: ArrayLike
    b: ArrayLike
    c: ArrayLike
    c_rate: ArrayLike | None = None
    delay: float = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        """Check and coerce."""
        A = np.atleast_2d(np.asarray(self.A, dtype=float))
        require(A.ndim == 2 and A.shape[0] == A.shape[1] > 0, f"A must be a square matrix, got shape {A.shape}")
        object.__setattr__(self, "A", _finite("A", A))
        for key in ("b", "c", "c_rate"):
            if getattr(self, key) is not None:
                vector = np.asarray(getattr(self, key), dtype=float).ravel()
                require(vector.shape == (len(A),), f"{key} must have {len(A)} entries as A has, got {vector.size}")
                object.__setattr__(self, key, _finite(key, vector))
        require(0.0 <= self.delay < math.inf, f"delay must be a finite time >= 0 [s], got {self.delay}")


@dataclass(frozen=True)
class Loop:
    """How the channel is controlled: everything about the loop that is neither plant nor gains.

    Attributes
    ----------
    sample_time : float
        h [s], of the law; the command is held in between.
    derivative_filter_time : float
        tau_f [s], at least one sample, or 0: no filter.
    delay : float
        Added to the plant's: input and output delay of the loop together [s].
    rate_measured : bool
        The derivative term reads the plant's rate output; otherwise the backward difference of the sampled output.
    action : {"direct", "reverse"}
        Sense of the plant, as in the law: "reverse" where more command lowers the output.
    """

    sample_time: float
    derivative_filter_time: float = 0.0
    delay: float = 0.0
    rate_measured: bool = False
    action: str = "direct"

    def __post_init__(self) -> None:
        """Check."""
        h, tau = self.sample_time, self.derivative_filter_time
        require(0.0 < h < math.inf, f"sample_time must be a finite time > 0 [s], got {h}")
        require(
            tau == 0.0 or h <= tau < math.inf,
            f"derivative_filter_time must be 0 or at least one sample ({h:g} s), got {tau:g}",
        )
        require(0.0 <= self.delay < math.inf, f"delay must be a finite time >= 0 [s], got {self.delay}")
        require(self.action in {"direct", "reverse"}, f"action must be 'direct' or 'reverse', got {self.action!r}")

    @property
    def sense(self) -> float:
        """1 for a direct plant, -1 for a reverse one."""
        return 1.0 if self.action == "direct" else -1.0

    @property
    def filter_share(self) -> float:
        """h / tau_f: share of the new rate in the filtered one, 1 without a filter."""
        return self.sample_time / self.derivative_filter_time if self.derivative_filter_time else 1.0


def require(condition: bool, message: str) -> None:
    """Raise ValueError with the message unless the condition holds."""
    if not condition:
        raise ValueError(message)


def _finite(key: str, array: Array) -> Array:
    require(bool(np.isfinite(array).all()), f"{key} must be finite: linearise at a point inside the plant's region")
    return array
