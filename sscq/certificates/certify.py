"""A stability certificate for everything that a gain schedule may do about a plant's operating points.

    certificate = certify(plant, FuzzyController(kb), situations=taught)
    print(certificate)

The frozen closed loops are those of all operating points, taught plants and vertices of the gains' hull, with all
channels closed. Their matrices are affine in the gains (:mod:`sscq.margins.affine_loop`), so a Lyapunov function that
the vertices share serves every gain set inside the hull, and the gains may move there as fast as they like. Frozen-gain
margins (:mod:`sscq.margins.operating`) say nothing of that, but they may pass where no common function exists.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.certificates.frozen_loops import closed, frozen_points, visible
from sscq.certificates.gain_hull import hull_of
from sscq.certificates.quadratic_lyapunov import common_lyapunov
from sscq.certificates.text import CertifiedFamily, describe
from sscq.loop.spec import LoopSpec
from sscq.situations.situation import Situation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants import Plant
    from sscq.certificates.certificate import Certificate
    from sscq.certificates.gain_hull import GainHull
    from sscq.margins.affine_loop import AffineLoop


def certify(
    plant: Plant,
    controller: Any,
    gains: Any = None,
    situations: Sequence[Situation] = (),
    *,
    step: float | None = None,
    sampled: bool | None = None,
    by_point: bool = True,
) -> Certificate:
    """Look for a quadratic Lyapunov function that all frozen closed loops of a schedule share.

    Parameters
    ----------
    plant : Plant
        With operating points.
    controller : FuzzyController, Controller, or law
    gains : GainHull, array [n_sets, n_gains] or [n_theta], optional
        Gain sets whose hull is meant; see :func:`sscq.certificates.gain_hull.hull_of`. A fuzzy controller has its own.
    situations : sequence of Situation
        Their parameters and delays say which plants are meant. Left out: the nominal one.
    step : float, optional
        Integration step [s], where the law has no sample time; the plant's by default.
    sampled : bool, optional
        Whether the loops are taken from sample to sample, with delay, hold and filter exactly as simulated; otherwise
        in continuous time, with a Pade approximation of order 2 of a delay. Left out: sampled where the law has a
        sample time, unless the longest delay makes more than 16 states of it; then in continuous time, with a filter
        of half a sample in place of a difference over one.
    by_point : bool
        Where all together have no certificate, say in the text at which operating points by themselves there is one.

    Raises
    ------
    ValueError
        If the plant has no operating points, a loop is not affine in the gains, or gains do not fit.
    """
    if not plant.operating_points:
        raise ValueError(
            f"plant {plant.name!r} declares no operating points, so there are no frozen loops to certify; "
            "declare operating_points"
        )
    hull = hull_of(controller, gains)
    spec = LoopSpec(plant, controller, tuple(situations) or (Situation(),), step or plant.step)
    n_gains = spec.gains_of(len(spec.laws) - 1).stop
    if hull.gains.shape[1] != n_gains:
        raise ValueError(f"gain sets must have {n_gains} entries {spec.controller.gain_names}, got {hull.gains.shape}")
    points, dropped = visible(list(frozen_points(spec, hull)))
    loops, how, note = closed(spec, points, n_gains, sampled=sampled)
    sets = zip(hull.names, hull.gains, strict=True)
    members = [(f"{name} at {loop.name}", loop.at(row)) for name, row in sets for loop in loops]
    found = common_lyapunov(
        np.array([matrix for _, matrix in members]),
        sample_time=how,
        names=[name for name, _ in members],
        states=loops[0].states,
    )
    alone = _alone(loops, hull, how) if by_point and found.verdict == "not found" and len(loops) > 1 else {}
    family = CertifiedFamily(plant.name, len(loops), hull, tuple(dropped), points, _resting(spec, hull), alone, note)
    return replace(found, text=describe(found, family))


def _alone(loops: Sequence[AffineLoop], hull: GainHull, sample_time: float | None) -> dict[str, float]:
    """Decay rate [1/s] of each operating point by itself: of gains that move there; 0 where none was found."""
    return {loop.name: common_lyapunov(loop.at(hull.gains), sample_time=sample_time).decay for loop in loops}


def _resting(spec: LoopSpec, hull: GainHull) -> tuple[str, ...]:
    """Names of gain sets without integral action where others have it: their integral stands still, for ever."""
    places = [k for k, name in enumerate(spec.controller.gain_names) if name.partition("_")[0] == "ki"]
    lazy = [(hull.gains[:, k] == 0.0) & hull.gains[:, k].any() for k in places]
    return tuple(name for k, name in enumerate(hull.names) if any(column[k] for column in lazy))
