"""Several control loops about one operating point, all closed by their laws: the plant that they share, as sampled.

Nothing is approximated: the laws of all channels act at the same samples, commands are held in between and act after
the same delay. The loop of channel i is opened where its command enters the plant; the others stay closed, with gains
of their own. With L the matrix of all loops, L_ij from the command of channel j to what law i makes of its answer,

    1 + L_i = det(I + L) / det(I + L without row and column i)

Source: S. Skogestad and I. Postlethwaite, Multivariable Feedback Control, 2nd ed. (Wiley, 2005), sec. 3.7 (one loop at
a time) and 4.9 (det(I + L)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.margins.affine_loop import LinearPoint, Path, from_sample_to_sample, slots
from sscq.margins.hold import hold_late_inputs, integral_of_exponential
from sscq.margins.linear_loop import require, visible_to_all

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sscq.margins.affine_loop import AffineLoop
    from sscq.margins.linear_loop import LoopSettings

    Array = NDArray[np.float64]
    Complex = NDArray[np.complex128]

GAINS = 3  # of a channel: kp, ki, kd
_NEVER = 1e9  # times: an open loop that is larger at rest is an integrator, by rounding


@dataclass(frozen=True)
class CoupledPlant:
    """A plant, linear about an operating point, with all its channels: x' = A x + B u(t - delay), y = C x.

    Attributes
    ----------
    A, B, C : arrays [n_x, n_x], [n_x, n_channels], [n_channels, n_x]
        B from the channels' commands, C to their controlled outputs.
    C_rate : array [n_channels, n_x], optional
        To the outputs' rates; rows of channels whose loop does not measure it are not read.
    delay : float
        Of the plant itself, the same for all channels [s].
    name : str
        Operating point.

    Raises
    ------
    ValueError
        Where shapes do not fit, or a number is not finite.
    """

    A: ArrayLike
    B: ArrayLike
    C: ArrayLike
    C_rate: ArrayLike | None = None
    delay: float = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        """Check and coerce."""
        A, B, C = (np.atleast_2d(np.asarray(m, dtype=float)) for m in (self.A, self.B, self.C))
        rate = np.zeros_like(C) if self.C_rate is None else np.atleast_2d(np.asarray(self.C_rate, dtype=float))
        n, m = len(A), len(C)
        found = [A.shape, B.shape, C.shape, rate.shape]
        require(found == [(n, n), (n, m), (m, n), (m, n)], f"A, B, C, C_rate must fit together, got shapes {found}")
        for key, matrix in (("A", A), ("B", B), ("C", C), ("C_rate", rate)):
            require(bool(np.isfinite(matrix).all()), f"{key} must be finite: linearise inside the plant's region")
            object.__setattr__(self, key, matrix)
        require(0.0 <= self.delay < math.inf, f"delay must be a finite time >= 0 [s], got {self.delay}")


@dataclass(frozen=True, eq=False)
class SampledLoops:
    """The part of a plant that its laws together see and move, from sample to sample.

    Attributes
    ----------
    loops : tuple of LoopSettings
        One for each channel, of equal sample time and delay.
    name : str
    poles : array [n], complex
        Of the continuous plant [1/s].
    hidden_growth : float
        Largest growth rate of what no law sees or no command moves [1/s].
    closed : AffineLoop
        The matrix of the closed loops, affine in all gains.
    """

    loops: tuple[LoopSettings, ...]
    name: str
    poles: Complex
    hidden_growth: float
    closed: AffineLoop
    delta: Array
    b_now: Array
    b_before: Array
    C: Array
    C_rate: Array
    samples: int

    @property
    def sample_time(self) -> float:
        """Of all laws [s]."""
        return self.loops[0].sample_time

    def answers(self, s: Complex) -> Complex:
        """Return what the laws make of unit commands at z = e^(s h), per unit gain.

        Returns
        -------
        array [2, n_channels, n_channels, n_s]
            For kp and for kd; rows are laws, columns are commands.
        """
        h = self.sample_time
        slope, delayed = np.expm1(s * h) / h, np.exp(-s * h)
        b = self.b_now + self.b_before * delayed[:, None, None]
        states = np.linalg.solve(slope[:, None, None] * np.eye(len(self.delta)) - self.delta, b)
        states = states * np.exp(-s * h * self.samples)[:, None, None]
        y, rates = self.C @ states, self.C_rate @ states
        rows = []
        for i, loop in enumerate(self.loops):
            rate = rates[:, i] if loop.rate_measured else y[:, i] * (slope * delayed)[:, None]
            share = loop.filter_share
            rows.append((y[:, i] * loop.sense, rate * (loop.sense * share / (1.0 - (1.0 - share) * delayed))[:, None]))
        return np.asarray(np.moveaxis(np.array(rows), (1, 0, 3, 2), (0, 1, 2, 3)), dtype=complex)

    def matrices(self, gains: Array) -> Array:
        """Return the closed loops' matrices [..., n, n] for gains [..., 3 n_channels].

        An integral that is not used (ki = 0) is held at zero, since it takes no part.
        """
        matrix = self.closed.at(gains)
        first = len(self.closed.states) - len(self.loops)  # the integrals come last
        for i in range(len(self.loops)):
            unused = gains[..., GAINS * i + 1] == 0.0
            matrix[..., first + i, first + i] = np.where(unused, 0.0, matrix[..., first + i, first + i])
        return matrix

    def growth(self, gains: Array) -> Array:
        """Return the growth rate of the fastest growing mode [...], 1/s; below 0 where all decay."""
        radius = np.abs(np.linalg.eigvals(self.matrices(gains))).max(axis=-1)
        rate = np.log(np.maximum(radius, 1e-300)) / self.sample_time
        return np.maximum(rate, self.hidden_growth) if self.hidden_growth > 0.0 else rate

    def determinants(self, gains: Array) -> Any:
        """Return det(I - M) as ``sign`` and ``logabsdet`` [...], M the closed loops' matrix.

        Below 0 a mode grows without swinging.
        """
        return np.linalg.slogdet(np.eye(len(self.closed.states)) - self.matrices(gains))

    def at_rest(self, gains: Array, whole: Any = None) -> Array:
        """Return each channel's loop at zero frequency [n, n_channels], the others closed; -infinity: an integrator.

        `whole` are the gains' determinants, where they are known already.
        """
        found = np.full((len(gains), len(self.loops)), -np.inf)
        if gains[:, 1::GAINS].all():
            return found
        whole = self.determinants(gains) if whole is None else whole
        for i in range(found.shape[1]):
            part = slice(GAINS * i, GAINS * (i + 1))
            still = gains[:, part.start + 1] == 0.0
            if not still.any():
                continue
            opened = gains[still].copy()
            opened[:, part] = 0.0
            other = self.determinants(opened)
            known = whole.logabsdet[still] - other.logabsdet < np.log(_NEVER)
            ratio = np.exp(np.where(known, whole.logabsdet[still] - other.logabsdet, 0.0))
            found[still, i] = np.where(known, whole.sign[still] * other.sign * ratio - 1.0, -np.inf)
        return found


def sample_together(plant: CoupledPlant, loops: tuple[LoopSettings, ...]) -> SampledLoops:
    """Sample a plant with all its loops, exactly.

    Raises
    ------
    ValueError
        If the loops do not fit the plant or one another, or no command reaches the output of a channel.
    """
    A, B, C, C_rate = (np.asarray(m) for m in (plant.A, plant.B, plant.C, plant.C_rate))
    require(len(loops) == len(C), f"there must be one loop for each of the {len(C)} channels, got {len(loops)}")
    timing = {(loop.sample_time, loop.delay) for loop in loops}
    require(len(timing) == 1, f"all loops must have one sample time and one delay, got {sorted(timing)}")
    measured = [i for i, loop in enumerate(loops) if loop.rate_measured]
    A, B, rows, hidden = visible_to_all(A, B, [*C, *C_rate[measured]])
    C, C_rate = np.array(rows[: len(C)]), np.zeros((len(C), len(A)))
    C_rate[measured] = np.array(rows[len(C) :]).reshape(len(measured), len(A))
    for i, row in enumerate(C):
        require(bool(row.any()), f"no command of {plant.name or 'the plant'} reaches the output of channel {i + 1}")
    h, delay = loops[0].sample_time, plant.delay + loops[0].delay
    paths = tuple(
        Path(
            f"{i}", C[i], C_rate[i] if loop.rate_measured else None,
            {name: GAINS * i + k for k, name in enumerate(("kp", "ki", "kd"))}, loop.sense, loop.derivative_filter_time,
        )
        for i, loop in enumerate(loops)
    )  # fmt: skip
    point = LinearPoint(plant.name, A, B, paths, delay, tuple(f"x{k}" for k in range(len(A))))
    now, before, samples = hold_late_inputs(A, B, h, delay)
    return SampledLoops(
        loops=loops, name=plant.name, poles=np.linalg.eigvals(A).astype(complex), hidden_growth=hidden,
        closed=from_sample_to_sample(point, GAINS * len(loops), h, slots(delay, h)),
        delta=A @ integral_of_exponential(A, h) / h, b_now=now / h, b_before=before / h, C=C, C_rate=C_rate,
        samples=samples,
    )  # fmt: skip
