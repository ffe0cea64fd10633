"""Stability about the operating points as part of a design: of fixed gains, and while the gains of a schedule move.

`metrics.json` has it under ``assurance.stability``, by contender: ``outcome`` (see :class:`StabilityFinding`),
``loops``, ``decay`` [1/s], ``slowest``, ``authority`` (its own) and ``certified_authority`` (null: none), ``reason``
and ``text``, all that `sscq certify` says of it. A report has it in `Judgement.stability`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from controllers import ConstantGains, GainTable
from experiments.runtime import formats
from sscq.certificates.certify import certified, frozen_family, largest_authority, slowest_loop
from sscq.certificates.quadratic_lyapunov import SolverMissingError
from sscq.situations.situation_sets import at_delays

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from experiments.pipeline.bench import Bench
    from experiments.settings import Setup
    from sscq.baselines.tuned import Tuned
    from sscq.certificates.certify import SlowestLoop
    from sscq.situations.situation import Situation

STABLE, RESTING, UNSTABLE = "stable", "resting", "unstable"
HOLDS, NONE, NOT_FOUND, NOT_MADE = "holds", "none", "not found", "not made"

MOST = 60_000  # loops times squared states: some seconds of the solver; `sscq certify` has more patience
_GAINS = {"kp", "ki", "kd"}


@dataclass(frozen=True)
class StabilityFinding:
    """What is known of the stability of one controller about the operating points.

    Attributes
    ----------
    outcome : str
        Of fixed gains "stable", "resting" (a mode hardly moves, as with next to no ki) or "unstable". Of a schedule
        "holds": a common Lyapunov function exists; "none": it was proved that there is none; "not found"; "unstable"
        or "resting": one of its gain sets is, even if it stands still, so that there can be none. "not made": why is
        the `reason`.
    loops : int
        Gain sets times operating points, plants and delays.
    decay : float
        Of fixed gains that of the slowest loop, of a schedule that of the first Lyapunov function found (not the
        largest); 1/s.
    slowest : str
        Name of the slowest or worst loop.
    authority, certified_authority : float or None
        The knowledge base's own, and the largest one found at which a common function exists; None: none is asked
        for, or there is none at any.
    text : str
        The whole certificate.
    """

    outcome: str
    loops: int = 0
    decay: float = 0.0
    slowest: str = ""
    authority: float | None = None
    certified_authority: float | None = None
    reason: str = ""
    text: str = ""


def stability(bench: Bench, group: Sequence[Tuned], recommended: str) -> dict[str, StabilityFinding]:
    """Return what is known of the fixed gains, the recommended controller and the knowledge base that is exported.

    Empty where it is not asked for.
    """
    if not bench.setup.config.assurance.certificate:
        return {}
    wanted = {"fixed", recommended, "knowledge_base"}
    asked = [one for one in group if one.name in wanted]

    def compute(_: Path) -> dict[str, Any]:
        found = {}
        with bench.progress(len(asked), "certificate", "controllers") as progress:
            for one in asked:
                found[one.name] = asdict(finding(bench.setup, one))
                progress.advance()
        return found

    stored = bench.stage("stability", compute, *formats.as_json("stability.json"))
    return {name: StabilityFinding(**fields) for name, fields in stored.items()}


def finding(setup: Setup, one: Tuned) -> StabilityFinding:
    """Return what is known of one controller."""
    try:
        return _asked(setup, one)
    except SolverMissingError as error:
        return StabilityFinding(NOT_MADE, reason=str(error))
    except (ValueError, ArithmeticError) as error:  # no state of rest, or none about which the plant has a linear model
        return StabilityFinding(NOT_MADE, reason=_first_sentence(str(error)))


def _first_sentence(text: str) -> str:
    return text.strip().splitlines()[0].rstrip(".") if text.strip() else "the loops have no linear model"


def _asked(setup: Setup, one: Tuned) -> StabilityFinding:
    if one.plant is not None or not all(set(law.gain_names) >= _GAINS for law in _laws(one)):
        return StabilityFinding(NOT_MADE, reason="it is no PID, whose closed loops are affine in its gains")
    scheduled = hasattr(one.controller, "gain_hull")
    if not scheduled and not isinstance(one.controller.schedule, ConstantGains | GainTable):
        return StabilityFinding(NOT_MADE, reason="the gains that its schedule may give have no known hull")
    gains, situations = None if scheduled else one.theta, certified_situations(setup)
    family = frozen_family(setup.plant, one.controller, gains, situations, step=setup.step)
    if len(family.hull.gains) == 1:
        slowest = slowest_loop(family)
        outcome = _at_rest(slowest)
        return StabilityFinding(outcome, slowest.n_loops, slowest.decay, slowest.name.partition(" at ")[2])
    if family.n_members * len(family.states) ** 2 > MOST:
        size = f"its {family.n_members} loops of {len(family.states)} states"
        too_long = f"{size} would take longer than the rest of the design; `sscq certify` asks them"
        return StabilityFinding(NOT_MADE, family.n_members, reason=too_long)
    found = certified(family, by_point=False, largest=False)
    outcome = HOLDS if found.holds else NONE if found.excluded else NOT_FOUND
    if found.verdict == "unstable member":
        outcome = UNSTABLE if _at_rest(slowest_loop(family)) == UNSTABLE else RESTING
    own = one.controller.kb.inference.authority if scheduled else None
    less = None
    if scheduled and not found.holds:
        less = largest_authority(setup.plant, one.controller, situations, step=setup.step, largest=False)
    certified_at = None if less is None else less.authority
    return StabilityFinding(outcome, found.n_members, found.decay, found.worst, own, certified_at, text=found.text)


def _at_rest(slowest: SlowestLoop) -> str:
    """What the slowest loop says of gains that stand still."""
    if slowest.decay < -slowest.rounding:
        return UNSTABLE
    return STABLE if slowest.decay > slowest.rounding else RESTING


def _laws(one: Tuned) -> Sequence[Any]:
    laws = one.controller.laws
    return laws if isinstance(laws, tuple | list) else (laws,)


def certified_situations(setup: Setup) -> tuple[Situation, ...]:
    """Return the named taught situations, at their delays and at the least and largest that were taught."""
    taught = setup.sets["taught"]
    spans = {}
    for name in ("delay", "output_delay"):
        values = [getattr(situation, name) for situation in taught]
        spans[name] = (min(values), max(values))
    return at_delays(setup.named["taught"], spans)
