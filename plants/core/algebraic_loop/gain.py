"""Gain of an algebraic loop, and what loop-free simulation adds to the plant's damping.

With the accelerations declared as a = f(t, x, a, u, w, p), the loop's gain is the spectral radius of G = df/da; for
M a = f that is G = I - diag(M)^-1 M. Substituting a <- f(a), all at once (Jacobi's method) or once a step (loop-free
simulation), converges where it is below 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from plants.core.accelerations import accelerations, layout
from plants.core.blocks import shape
from plants.core.names import pick_values
from plants.core.replay import replay
from plants.core.tracing.tape import Tape
from plants.core.tracing.trace import Program, differentiate, flat, symbols

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from plants.core.plant import Plant

    Array = NDArray[np.float64]
    Given = Mapping[str, float] | Sequence[float] | None

_STILL = 1e-9  # of the fastest mode: what is slower is no oscillation (free positions)


class EvaluationPoints(NamedTuple):
    """Where a plant is looked at: time, state, input, disturbance, parameters; numbers, or arrays of points."""

    t: Any
    x: Sequence[Any]
    u: Sequence[Any]
    w: Sequence[Any]
    p: Sequence[Any]


def loop_slopes(plant: Plant, *by: str) -> Program:
    """Return d accelerations / d a as a program of (t, x, a, u, w, p); other groups (`by`) behind it, in columns."""
    tape = Tape()
    names = ("t", "x", "a", "u", "w", "p")
    shapes = tuple(shape(plant, group) for group in names)
    given = dict(zip(names, (symbols(tape, one) for one in shapes), strict=True))
    results = [tape.lift(value) for value in accelerations(plant, *given.values())]
    slopes = flat(differentiate(results, [*given["a"], *(symbol for group in by for symbol in given[group])]))
    return Program(tape, tuple(flat(shapes)), tuple(tape.lift(slope).index for slope in slopes))


def slopes_of(program: Program, *block: Any) -> list[list[Any]]:
    """Return the slopes at ``(t, x, a, u, w, p)`` as rows: floats, arrays of points or traced numbers."""
    t, x, a, u, w, p = block
    values = replay(program, t, *x, *a, *u, *w, *p)
    width = len(values) // len(a)
    return [list(values[k : k + width]) for k in range(0, len(values), width)]


def gain_matrices(plant: Plant, at: EvaluationPoints, *by: str) -> Array:
    """Return G, and slopes by other groups beside it, at many points [n_points, n, n + ...].

    The accelerations are the solved ones there; where the equations are affine in them G does not depend on them.
    """
    count = np.size(at.t)
    with np.errstate(all="ignore"):
        a = layout(plant).of(plant.derivative(at.t, tuple(at.x), tuple(at.u), tuple(at.w), tuple(at.p)))  # type: ignore[misc]
        return stacked(slopes_of(loop_slopes(plant, *by), at.t, at.x, a, at.u, at.w, at.p), count)


def stacked(rows: list[list[Any]], count: int) -> Array:
    """Return slopes at many points as matrices [count, n, ...]."""
    table = [[np.broadcast_to(np.asarray(value, float), count) for value in row] for row in rows]
    return np.moveaxis(np.array(table), -1, 0)


def spectral_radius(matrices: Array) -> Array:
    """Return the largest magnitude of the eigenvalues [n_points]; NaN where a matrix is not finite."""
    if matrices.shape[-1] == 1:
        return np.asarray(np.abs(matrices[:, 0, 0]))
    finite = np.isfinite(matrices).all(axis=(1, 2))
    values = np.full(len(matrices), np.nan)
    values[finite] = np.abs(np.linalg.eigvals(matrices[finite])).max(axis=1)
    return values


class MatrixGain(NamedTuple):
    """Spectral radius of G = I - D^-1 K and the largest real part of its eigenvalues."""

    radius: float
    real: float


def gain_of_split(own: Array, matrix: Array) -> MatrixGain:
    """Return the gain of K [n, n] where D [n, n] is what each pass solves."""
    values = np.linalg.eigvals(np.eye(len(matrix)) - np.linalg.solve(own, matrix))
    return MatrixGain(float(np.abs(values).max()), float(values.real.max()))


def gain_of(matrix: Array, together: Sequence[Sequence[int]] = ()) -> MatrixGain:
    """Return the gain of K [n, n] where each unknown is solved for itself, those of each group together."""
    own = np.diag(np.diag(matrix))
    for group in together:
        own[np.ix_(group, group)] = matrix[np.ix_(group, group)]
    return gain_of_split(own, matrix)


def loop_gain(
    plant: Plant,
    state: Given = None,
    parameters: Given = None,
    *,
    inputs: Given = None,
    disturbances: Given = None,
    t: float = 0.0,
) -> float:
    """Return the gain of the plant's algebraic loop at one state.

    Parameters
    ----------
    plant : Plant
    state, parameters, inputs, disturbances : mapping by name or full sequence, optional
        What differs from the nominal values (disturbances: from 0).
    t : float
        Time [s].

    Returns
    -------
    float
        Spectral radius of G = d accelerations / d a, by the tape's exact derivative. At 1 and above, raw loop-free
        simulation diverges whatever the step.

    Raises
    ------
    ValueError
        Where the plant declares no mutually dependent accelerations, or a value is not known.
    """
    return float(spectral_radius(gain_matrices(plant, _point(plant, state, parameters, inputs, disturbances, t)))[0])


def _point(
    plant: Plant, state: Given, parameters: Given, inputs: Given, disturbances: Given, t: float
) -> EvaluationPoints:
    if not plant.has_loop:
        raise ValueError(f"plant {plant.name!r} has no algebraic loop: it declares no mutually dependent accelerations")
    u = pick_values(f"inputs of plant {plant.name!r}", plant.inputs, inputs)
    if disturbances is None or isinstance(disturbances, Mapping):
        disturbances = {q.name: q.rest for q in plant.disturbances} | dict(disturbances or {})
    w = pick_values(f"disturbances of plant {plant.name!r}", plant.disturbances, disturbances)
    x, p = plant.start(state, parameters)
    return EvaluationPoints(t, x, u, w, p)


class SpuriousDamping(NamedTuple):
    """What a delay of the accelerations does to the modes of a plant, slowest first.

    Attributes
    ----------
    eigenvalues : ndarray of complex [n_modes]
        Of the plant linearised as it is [1/s]; of conjugate pairs the one above the real axis.
    growth : ndarray [n_modes]
        What the delay adds to their real parts [1/s]; positive: energy is fed in.
    """

    eigenvalues: NDArray[np.complex128]
    growth: Array


def spurious_damping(
    plant: Plant,
    delay: float,
    state: Given = None,
    parameters: Given = None,
    *,
    inputs: Given = None,
    t: float = 0.0,
) -> SpuriousDamping:
    """Return the damping that feeding accelerations back late adds to the modes about one state.

    Parameters
    ----------
    plant : Plant
    delay : float
        Of the accelerations [s]: `plants.core.algebraic_loop.loop_free.loop_delay`, the step in the raw form.
    state, parameters, inputs : mapping by name or full sequence, optional
        What differs from the nominal values.

    Notes
    -----
    With a = F x + G a the delayed loop has a = F x + G (a - delay da/dt); a mode r of the plant, velocities r_v, then
    moves by -delay lambda^2 l_v'(I - G)^-1 G r_v / (l'r), l the left eigenvector. Without damping, for M a = f with
    M = diag(M) + N, this is sigma = -Ne delay Omega^2 / (2 Me) with modal values Ne and Me. Exact to first order in
    delay times |lambda|.
    """
    from scipy.linalg import eig

    at = _point(plant, state, parameters, inputs, None, t)
    places, table = layout(plant), gain_matrices(plant, at, "x")[0]
    gain, by_state = table[:, : places.n], table[:, places.n :]
    solved, moving = np.linalg.inv(np.eye(places.n) - gain), list(places.velocities)
    matrix = np.zeros((len(plant.states),) * 2)
    matrix[list(places.others)], matrix[moving] = _kinematic_slopes(plant, at), solved @ by_state
    values, left, right = eig(matrix, left=True, right=True)
    size = np.abs(values)
    kept = [k for k in np.argsort(size, kind="stable") if size[k] > _STILL * size.max() and values[k].imag >= 0.0]
    growth = []
    for k in kept:
        late = -delay * values[k] ** 2 * (solved @ gain @ right[moving, k])
        growth.append((left[moving, k].conj() @ late / (left[:, k].conj() @ right[:, k])).real)
    return SpuriousDamping(values[kept], np.array(growth))


def _kinematic_slopes(plant: Plant, at: EvaluationPoints) -> Array:
    """Slopes by the state of the rates of all states that are not accelerated [n_x - n, n_x], at one point."""
    tape, groups = Tape(), ("t", "x", "u", "w", "p")
    shapes = tuple(shape(plant, group) for group in groups)
    given = dict(zip(groups, (symbols(tape, one) for one in shapes), strict=True))
    rates = [tape.lift(rate) for rate in layout(plant).other_rates(*given.values())]
    slopes = [tape.lift(slope).index for slope in flat(differentiate(rates, given["x"]))]
    values = replay(Program(tape, tuple(flat(shapes)), tuple(slopes)), at.t, *at.x, *at.u, *at.w, *at.p)
    return np.array(values, float).reshape(len(rates), len(plant.states))
