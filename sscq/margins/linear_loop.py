"""What margins are asked of: one channel of a plant, linear about an operating point, and the loop that controls it.

The part that a loop can move and see: the position behind a speed loop, or the heading of a vehicle whose tilt is
balanced, is at rest for that loop, an eigenvalue at 1 that no gain moves and that is no failure. Such modes are left
out, by Krylov subspaces of (A, b) and then of the transpose; what grows among them is reported.
Source: T. Kailath, Linear Systems (Prentice Hall, 1980), sec. 2.4.

One channel while the others are closed (:func:`one_channel`): the others are closed in continuous time, without the
hold of their samples, exact as their sample time goes to zero. The channel itself keeps its exact sampled loop. This
is for designs, in which the others stand still while one channel is looked at; :mod:`sscq.margins.coupled.margins`
judges all of them exactly, for any gains.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy  # loads scipy.linalg when it is first used

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from plants.core.analysis.linearise import LinearModel
    from sscq.loop.spec import LoopSpec

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
class LoopSettings:
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


_HIDDEN = 1e-10  # relative: directions that a Krylov step adds with less than this are rounding
_MARGINAL = 1e-7  # relative growth that rounding of a multiple pole at rest explains


def visible_part(plant: LinearPlant, *, with_rate: bool) -> tuple[Array, Array, list[Array], float]:
    """Reduce a plant to what is reachable from the command and seen in the outputs (its minimal realisation).

    Parameters
    ----------
    plant : LinearPlant
    with_rate : bool
        Whether the rate output is looked at beside the output.

    Returns
    -------
    A, b : arrays [n, n], [n]
    rows : list of array [n]
        Output, and rate if asked for.
    growth : float
        Largest growth rate of what is left out [1/s]; 0 where that is at rest or decays.

    Raises
    ------
    ValueError
        If no path leads from the command to the outputs.
    """
    rows = [np.asarray(row) for row in ((plant.c, plant.c_rate) if with_rate else (plant.c,))]
    A, B, rows, growth = visible_to_all(np.asarray(plant.A), np.asarray(plant.b)[:, None], rows)
    require(any(row.any() for row in rows), f"the command of {plant.name or 'the plant'} does not reach its output")
    return A, B[:, 0], rows, growth


def visible_to_all(A: Array, B: Array, rows: list[Array]) -> tuple[Array, Array, list[Array], float]:
    """Reduce a plant to what any of several commands can move and any of several laws sees.

    Parameters
    ----------
    A, B : arrays [n_x, n_x], [n_x, n_channels]
    rows : list of array [n_x]
        Everything that laws read.

    Returns
    -------
    A, B : arrays [n, n], [n, n_channels]
    rows : list of array [n]
    growth : float
        As in :func:`visible_part`.
    """
    whole = np.linalg.norm(A)
    A, scaling = scipy.linalg.matrix_balance(A, permute=False)
    B, rows = np.linalg.inv(scaling) @ B, [row @ scaling for row in rows]
    reached = _invariant(A, list(B.T))
    hidden = [_outside(A, reached)]
    A, B, rows = reached @ A @ reached.T, reached @ B, [row @ reached.T for row in rows]
    seen = _invariant(A.T, rows)
    hidden.append(_outside(A.T, seen))
    A, B, rows = seen @ A @ seen.T, seen @ B, [row @ seen.T for row in rows]
    growth = max(float(np.max(part.real, initial=0.0)) for part in hidden)
    return A, B, rows, growth if growth > _MARGINAL * whole else 0.0


def _invariant(A: Array, starts: list[Array]) -> Array:
    """Orthonormal rows that span the smallest subspace which holds `starts` and is invariant under A (Krylov)."""
    scale = np.linalg.norm(A, 2) or 1.0
    basis = np.zeros((0, len(A)))
    queue = [start / (np.linalg.norm(start) or 1.0) for start in starts]
    while queue and len(basis) < len(A):
        direction = queue.pop(0)
        for _ in range(2):  # twice is enough (Kahan, Parlett)
            direction = direction - basis.T @ (basis @ direction)
        size = np.linalg.norm(direction)
        if size > _HIDDEN:
            basis = np.vstack([basis, direction / size])
            queue.append(A @ direction / size / scale)
    return np.eye(len(A)) if len(basis) == len(A) else basis


def _outside(A: Array, basis: Array) -> NDArray[np.complex128]:
    """Eigenvalues of A that belong to no direction of the invariant subspace."""
    if len(basis) == len(A):
        return np.zeros(0, dtype=complex)
    rest = scipy.linalg.null_space(basis) if len(basis) else np.eye(len(A))
    return np.linalg.eigvals(rest.T @ A @ rest).astype(complex)


_NOTHING = 1e-12


def one_channel(spec: LoopSpec, model: LinearModel, channel: int, others: ArrayLike | None, name: str) -> LinearPlant:
    """Return what a channel's law sees of a plant.

    Parameters
    ----------
    spec : LoopSpec
        Plant and laws.
    model : LinearModel
        Of the plant with its commands as inputs, at an operating point.
    channel : int
        The one that stays open.
    others : array [n_channels, 3] or None
        kp, ki, kd of all channels (the open one's are not read); None: the other commands stand still.
    name : str
        Of the operating point.

    Raises
    ------
    ValueError
        Where another channel cannot be closed: its derivative term would need a command at once, or there is dead time.
    """
    rows = [_rows(spec, model, i) for i in range(len(spec.laws))]
    A, B = model.A, model.B
    if others is not None:
        for other, gains in enumerate(np.asarray(others, dtype=float)):
            if other != channel and gains.any():
                A, B = _closed(spec, A, B, rows[other], other, gains, model.delay)
    wide = [None if row is None else np.concatenate([row, np.zeros(len(A) - len(row))]) for row in rows[channel]]
    return LinearPlant(A, B[:, channel], wide[0], wide[1], model.delay, name)  # type: ignore[arg-type]


def _rows(spec: LoopSpec, model: LinearModel, i: int) -> tuple[Array, Array | None]:
    """Rows of a channel's output and, where its law reads one, of the measured rate."""
    channel = spec.plant.channels[i]
    rate = model.row(channel.rate) if channel.rate is not None and spec.measures_rate(i) else None
    return model.row(channel.output), rate


def _closed(
    spec: LoopSpec, A: Array, B: Array, rows: tuple[Array, Array | None], i: int, gains: Array, delay: float
) -> tuple[Array, Array]:
    """Close channel `i`: one state more for its integral, and one for the filter of its derivative term."""
    law = spec.laws[i]
    name = spec.plant.channels[i].output
    if delay > 0.0:
        raise ValueError(f"channel {name!r} cannot be closed in continuous time: the plant has dead time")
    n, tau = len(A), getattr(law, "derivative_filter_time", 0.0)
    sense = 1.0 if getattr(law, "action", "direct") == "direct" else -1.0
    c = np.concatenate([rows[0], np.zeros(n - len(rows[0]))])
    rate = c @ A if rows[1] is None else np.concatenate([rows[1], np.zeros(n - len(rows[1]))])
    if rows[1] is None and gains[2] and np.abs(c @ B).max() > _NOTHING * np.abs(c).max() * np.abs(B).max():
        raise ValueError(f"channel {name!r} cannot be closed: a command acts on the rate of its output at once")
    extra = 2 if tau else 1
    wide = np.zeros((n + extra, n + extra))
    wide[:n, :n] = A
    wide[n, :n] = -sense * gains[1] * c
    command = np.zeros(n + extra)
    command[:n] = -sense * gains[0] * c
    command[n] = 1.0
    if tau:
        wide[n + 1, :n], wide[n + 1, n + 1] = rate / tau, -1.0 / tau
        command[n + 1] = -sense * gains[2]
    else:
        command[:n] -= sense * gains[2] * rate
    inputs = np.vstack([B, np.zeros((extra, B.shape[1]))])
    return wide + np.outer(inputs[:, i], command), inputs
