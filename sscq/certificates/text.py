"""What a certificate proves and what it does not, in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sscq.certificates.certificate import Certificate
    from sscq.certificates.gain_hull import GainHull
    from sscq.margins.affine_loop import LinearPoint

_WIDTH = 110

_STANDS = 1e-9  # 1/s: growth that rounding explains


@dataclass(frozen=True, eq=False)
class CertifiedFamily:
    """What was asked about.

    Attributes
    ----------
    plant : str
    n_points : int
        Operating points times plants and delays.
    hull : GainHull
    dropped : tuple of str
        States of the plant that no law sees.
    points : sequence of LinearPoint
    resting : tuple of str
        Gain sets whose integral stands still.
    alone : mapping of operating point to decay rate [1/s]
        Of the hull at each point by itself, where all together have no certificate; 0: none there either.
    note : str
        What was replaced in continuous time.
    """

    plant: str
    n_points: int
    hull: GainHull
    dropped: tuple[str, ...]
    points: Sequence[LinearPoint]
    resting: tuple[str, ...]
    alone: Mapping[str, float] = field(default_factory=dict)
    note: str = ""


def describe(found: Certificate, family: CertifiedFamily) -> str:
    """Return the certificate as text: verdict, what is proved, what is not."""
    parts = [_verdict(found, family)]
    if found.holds:
        parts += ["Proved: " + _proved(found, family), "Not covered: " + _not_covered(found, family)]
    else:
        parts += [_not_found(found, family), *_alone(family), "Asked of: " + _asked(found, family)]
    return "\n".join(fill(part, _WIDTH, subsequent_indent="  ") for part in parts)


def _verdict(found: Certificate, family: CertifiedFamily) -> str:
    members = (
        f"{found.n_members} frozen closed loops of {family.plant} "
        f"({family.n_points} operating points and plants x {len(family.hull.names)} gain sets)"
    )
    if found.holds:
        return (
            f"Certificate holds: one quadratic Lyapunov function for {members}; decay rate {found.decay:.4g} 1/s (the "
            f"slowest loop by itself: {found.bound:.4g} 1/s), condition {found.condition:.3g}; least decay: "
            f"{found.worst}."
        )
    if found.verdict == "unstable member":
        which = f"all of {' and '.join(family.resting)} are" if _stands(found, family) else f"one is, {found.worst},"
        return f"No certificate can exist: of the {members} {which} not asymptotically stable."
    return f"Certificate not found: no common quadratic Lyapunov function for {members}."


def _proved(found: Certificate, family: CertifiedFamily) -> str:
    check = "eigenvalues in float64 and in exact integer arithmetic" if found.exact else "eigenvalues in float64"
    return (
        f"V = x' P x falls at least as e^(-2 a t), a = {found.decay:.4g} 1/s, {_time(found)}, for every gain set in "
        f"the hull of {family.hull.text} and for gains that move inside it however fast, because the law stores the "
        "integral of ki e, so that the matrices are affine in the gains; also for any switching among the operating "
        f"points and plants. P was verified by {check}; the solver was not trusted."
    )


def _not_covered(found: Certificate, family: CertifiedFamily) -> str:
    return (
        "the plant between and beyond its operating points (these are linearisations there), limits of the command and "
        "anti-windup, noise, drop-outs, other plants and delays than those named; "
        + _delay(found, family)
        + _left_out(family)
    )


def _stands(found: Certificate, family: CertifiedFamily) -> bool:
    """Whether the worst that there is are integrals that stand still, of gain sets without ki."""
    return found.bound > -_STANDS and any(found.worst.startswith(f"{name} at ") for name in family.resting)


def _not_found(found: Certificate, family: CertifiedFamily) -> str:
    if found.verdict == "unstable member":
        if _stands(found, family):
            return (
                "Their ki is 0 while others' is not: where they act alone, the stored integral stands still, which is "
                "no asymptotic stability and so rules a proof out; nothing grows there. If a proof is needed, no rule "
                "may have ki = 0."
            )
        grows = "grows as" if found.bound < 0.0 else "does not decay:"
        return f"Its slowest mode {grows} e^({-found.bound:+.4g} t). Change this gain set, or leave out the plant."
    sure = (
        " It was proved that there is none (a dual solution, verified in exact arithmetic)."
        if found.excluded
        else " There may be one that the search did not find."
    )
    return (
        f"Each loop by itself is stable (the slowest, {found.worst}: {found.bound:.4g} 1/s). This does not say that "
        "the schedule is unstable: a function that is not quadratic, or slowly moving gains, may still be stable."
        + sure
    )


def _alone(family: CertifiedFamily) -> list[str]:
    if not family.alone:
        return []
    each = [f"{name}: {f'{decay:.4g} 1/s' if decay else 'none'}" for name, decay in family.alone.items()]
    return [f"Operating points by themselves, for gains that move in the same hull: {'; '.join(each)}."]


def _asked(found: Certificate, family: CertifiedFamily) -> str:
    return f"the hull of {family.hull.text}, {_time(found)}; {_delay(found, family)}{_left_out(family)}"


def _time(found: Certificate) -> str:
    return "in continuous time" if found.sample_time is None else f"from sample to sample ({found.sample_time:g} s)"


def _delay(found: Certificate, family: CertifiedFamily) -> str:
    late = sorted({point.delay for point in family.points})
    span = f"{late[0]:g}" if late[0] == late[-1] else f"{late[0]:g} .. {late[-1]:g}"
    how = "exact" if found.sample_time is not None else "a Pade approximation of order 2"
    parts = [f"the delay of {span} s is {how}" if late[-1] else "there is no delay"]
    if found.sample_time is None:
        parts += ["the hold of a sample is left out", *([family.note] if family.note else [])]
    return f"{'; '.join(parts)}."


def _left_out(family: CertifiedFamily) -> str:
    return f" Left out: {', '.join(family.dropped)}, which no law sees." if family.dropped else ""
