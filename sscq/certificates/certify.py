"""A stability certificate for everything that a gain schedule may do about a plant's operating points.

    certificate = certify(plant, FuzzyController(kb), situations=taught)
    print(certificate)

The frozen closed loops are those of all operating points, taught plants and vertices of the gains' hull, with all
channels closed. Their matrices are affine in the gains (:mod:`sscq.margins.affine_loop`), so a Lyapunov function that
the vertices share serves every gain set inside the hull, and the gains may move there as fast as they like. Frozen-gain
margins (:mod:`sscq.margins.operating`) say nothing of that, but they may pass where no common function exists.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.analysis.linearise import linearise
from sscq.certificates.gain_hull import hull_of
from sscq.certificates.quadratic_lyapunov import common_lyapunov, slowest_member
from sscq.certificates.text import CertifiedFamily, describe
from sscq.loop.spec import LoopSpec
from sscq.margins.affine_loop import LinearPoint, Path, from_sample_to_sample, in_continuous_time, slots
from sscq.situations.situation import Situation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

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
    return certified(frozen_family(plant, controller, gains, situations, step=step, sampled=sampled), by_point=by_point)


@dataclass(frozen=True, eq=False)
class FrozenFamily:
    """The frozen closed loops of a schedule: every gain set of its hull at every operating point and plant.

    Attributes
    ----------
    spec : LoopSpec
    hull : GainHull
    points : list of LinearPoint
        Operating points times plants and delays, without the states that no law sees.
    dropped : tuple of str
        Those states.
    loops : list of AffineLoop
        One for each point.
    sample_time : float or None
        From sample to sample [s]; None: continuous time.
    note : str
        What was replaced in continuous time.
    """

    spec: LoopSpec
    hull: GainHull
    points: list[LinearPoint]
    dropped: tuple[str, ...]
    loops: list[AffineLoop]
    sample_time: float | None
    note: str

    @property
    def n_members(self) -> int:
        """Number of frozen loops."""
        return len(self.hull.gains) * len(self.loops)

    @property
    def states(self) -> tuple[str, ...]:
        """States of every loop."""
        return self.loops[0].states

    def members(self) -> tuple[list[str], NDArray[np.float64]]:
        """Return the names of the loops, and their matrices [n_members, n, n]."""
        sets = list(zip(self.hull.names, self.hull.gains, strict=True))
        names = [f"{name} at {loop.name}" for name, _ in sets for loop in self.loops]
        return names, np.array([loop.at(row) for _, row in sets for loop in self.loops])


def frozen_family(
    plant: Plant,
    controller: Any,
    gains: Any = None,
    situations: Sequence[Situation] = (),
    *,
    step: float | None = None,
    sampled: bool | None = None,
) -> FrozenFamily:
    """Return the frozen closed loops of a schedule; arguments and errors as of :func:`certify`."""
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
    return FrozenFamily(spec, hull, points, tuple(dropped), loops, how, note)


def certified(family: FrozenFamily, *, by_point: bool = True, largest: bool = True) -> Certificate:
    """Return the certificate of a family, as :func:`certify` does; not `largest`: with the first decay found."""
    names, matrices = family.members()
    loops, hull, how = family.loops, family.hull, family.sample_time
    found = common_lyapunov(matrices, sample_time=how, names=names, states=family.states, largest=largest)
    alone = _alone(loops, hull, how) if by_point and found.verdict == "not found" and len(loops) > 1 else {}
    resting = _resting(family.spec, hull)
    told = CertifiedFamily(
        family.spec.plant.name, len(loops), hull, family.dropped, family.points, resting, alone, family.note
    )
    return replace(found, text=describe(found, told))


@dataclass(frozen=True)
class SlowestLoop:
    """The slowest of some closed loops.

    Attributes
    ----------
    name : str
    decay : float
        Of its slowest mode [1/s]: all loops are asymptotically stable where it is above 0.
    rounding : float
        So much of it rounding explains [1/s]: within, nothing is known but that a mode hardly moves.
    n_loops : int
    """

    name: str
    decay: float
    rounding: float
    n_loops: int


def slowest_loop(family: FrozenFamily) -> SlowestLoop:
    """Return the slowest frozen loop by itself: all that needs to be asked of gains that never move."""
    names, matrices = family.members()
    slowest, decay, rounding = slowest_member(matrices, family.sample_time)
    return SlowestLoop(names[slowest], decay, rounding, len(names))


_BISECTIONS = 5  # of the authority


@dataclass(frozen=True)
class CertifiedAuthority:
    """An authority at which a certificate holds, and its decay rate [1/s]."""

    authority: float
    decay: float


def largest_authority(
    plant: Plant,
    controller: Any,
    situations: Sequence[Situation],
    *,
    step: float | None = None,
    sampled: bool | None = None,
    largest: bool = True,
) -> CertifiedAuthority | None:
    """Return the largest authority found at which a certificate holds; None: not even at 0, the reference gains.

    Less authority shrinks the hull towards the reference gains, so what holds at one holds at all below.

    Parameters
    ----------
    controller : FuzzyController
        Whose certificate does not hold at the authority of its knowledge base.
    plant, situations, step, sampled
        As for :func:`certify`.
    largest : bool
        Look for the largest decay rate there, too; else the first one found will do.
    """

    def family(share: float) -> FrozenFamily:
        less = replace(controller, authority=share)
        return frozen_family(plant, less, None, situations, step=step, sampled=sampled)

    def holds(loops: FrozenFamily) -> bool:
        return common_lyapunov(loops.members()[1], sample_time=loops.sample_time, largest=False).holds

    if not holds(family(0.0)):  # of its own: a reference without ki has no integral
        return None
    whole, low, high = family(controller.kb.inference.authority), 0.0, controller.kb.inference.authority
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)  # the loops are affine in the gains: only these change
        less = replace(whole, hull=hull_of(replace(controller, authority=middle)))
        low, high = (middle, high) if holds(less) else (low, middle)
    return CertifiedAuthority(low, certified(family(low), by_point=False, largest=largest).decay)


def _alone(loops: Sequence[AffineLoop], hull: GainHull, sample_time: float | None) -> dict[str, float]:
    """Decay rate [1/s] of each operating point by itself: of gains that move there; 0 where none was found."""
    return {loop.name: common_lyapunov(loop.at(hull.gains), sample_time=sample_time).decay for loop in loops}


def _resting(spec: LoopSpec, hull: GainHull) -> tuple[str, ...]:
    """Names of gain sets without integral action where others have it: their integral stands still, for ever."""
    places = [k for k, name in enumerate(spec.controller.gain_names) if name.partition("_")[0] == "ki"]
    lazy = [(hull.gains[:, k] == 0.0) & hull.gains[:, k].any() for k in places]
    return tuple(name for k, name in enumerate(hull.names) if any(column[k] for column in lazy))


MOST_STATES = 16  # of a sampled loop; beyond it a long delay is approximated in continuous time
_SHORT = 1e-2  # of the least delay: what stands for none beside it, so that all members have the same states


def frozen_points(spec: LoopSpec, hull: GainHull) -> Iterable[LinearPoint]:
    """Operating points times distinct plants and delays of the situations, all channels with their commands."""
    plant, sample = spec.plant, spec.timing.sample_time
    paths = [_channel(spec, hull, i) for i in range(len(spec.laws))]
    sets = dict.fromkeys(
        (plant.values("parameters", s.parameters), s.delay + s.output_delay + s.jitter * sample)
        for s in spec.situations
    )
    for number, (values, late) in enumerate(sets):
        for place in plant.operating_points:
            given = dict(zip((q.name for q in plant.parameters), values, strict=True)) | dict(place.parameters)
            model = linearise(plant, place.state, given, commands=True)
            of = {q: k for k, q in enumerate(model.outputs)}
            channels = tuple(
                replace(path, c=model.C[of[channel.output]], c_rate=None if rate is None else model.C[of[rate]])
                for (path, rate), channel in zip(paths, plant.channels, strict=True)
            )
            rows = [of[name] for (_, rate), c in zip(paths, plant.channels, strict=True) for name in (c.output, rate)
                    if name is not None]  # fmt: skip
            if np.abs(model.D[rows]).max(initial=0.0) > 0.0:
                raise ValueError(f"a measurement of plant {plant.name!r} depends on its input at once; none may")
            name = place.name if len(sets) == 1 else f"{place.name}, plant {number + 1}"
            yield LinearPoint(name, model.A, model.B, channels, model.delay + late, model.states)


def _channel(spec: LoopSpec, hull: GainHull, i: int) -> tuple[Path, str | None]:
    """A channel's path without its rows, and the rate output that its law reads."""
    law, channel, first = spec.laws[i], spec.plant.channels[i], spec.gains_of(i).start
    places = {name: first + k for k, name in enumerate(law.gain_names) if name in {"kp", "ki", "kd"}}
    used = {name: k for name, k in places.items() if hull.gains[:, k].any()}
    nothing = np.zeros(0)
    sense = 1.0 if getattr(law, "action", "direct") == "direct" else -1.0
    path = Path(channel.output, nothing, None, used, sense, getattr(law, "derivative_filter_time", 0.0))
    return path, channel.rate if spec.measures_rate(i) and "kd" in used else None


def visible(points: list[LinearPoint]) -> tuple[list[LinearPoint], list[str]]:
    """Leave out the states that no law sees at any point, such as the heading of a vehicle: no gain moves them."""
    names = points[0].states
    moves = np.any([p.A != 0.0 for p in points], axis=0)
    rows = [row for p in points for path in p.paths for row in (path.c, path.c_rate) if row is not None]
    seen = np.any([row != 0.0 for row in rows], axis=0)
    for _ in names:
        seen = seen | (moves & seen[:, None]).any(axis=0)
    kept = np.flatnonzero(seen)
    reduced = []
    for p in points:
        paths = tuple(
            replace(path, c=path.c[kept], c_rate=None if path.c_rate is None else path.c_rate[kept]) for path in p.paths
        )
        states = tuple(names[k] for k in kept)
        reduced.append(replace(p, A=p.A[np.ix_(kept, kept)], B=p.B[kept], paths=paths, states=states))
    return reduced, [name for name, there in zip(names, seen, strict=True) if not there]


def closed(
    spec: LoopSpec, points: list[LinearPoint], n_gains: int, *, sampled: bool | None
) -> tuple[list[AffineLoop], float | None, str]:
    """Return the loops, their sample time [s] or None for continuous time, and what was replaced in that."""
    h = spec.timing.sample_time
    past = max(slots(p.delay, h) for p in points)
    own = any(law.sample_time is not None for law in spec.controller.laws)
    few = len(points[0].states) + past * len(spec.laws) <= MOST_STATES
    if sampled or (sampled is None and own and few):
        return [from_sample_to_sample(p, n_gains, h, past) for p in points], h, ""
    note = ""
    if sampled is None and own:
        softer = [_softened(p, h) for p in points]
        changed = any(new.paths != old.paths for new, old in zip(softer, points, strict=True))
        points, note = softer, "differences over a sample are a filter of half a sample" if changed else ""
    late = [p.delay for p in points]
    if min(late) == 0.0 < max(late):
        least = min(value for value in late if value > 0.0)
        points = [replace(p, delay=p.delay or _SHORT * least) for p in points]
    return [in_continuous_time(p, n_gains) for p in points], None, note


def _softened(point: LinearPoint, sample_time: float) -> LinearPoint:
    """Let a difference over a sample be a filtered derivative: both lag by half a sample."""
    return replace(
        point,
        paths=tuple(
            replace(path, filter_time=0.5 * sample_time)
            if path.c_rate is None and path.filter_time == 0.0 and "kd" in path.gains
            else path
            for path in point.paths
        ),
    )
