"""Declared ranges of what situations may be, and the situations of a design that are drawn from them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from configs.schema.closed_loop import FEWEST_DRAWS
from experiments.runtime.errors import UserError
from experiments.settings.situations import common
from sscq.worst.drawing import drawn_situations
from sscq.worst.envelope import Envelope, usual_envelope

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from configs.schema import DesignConfig, EnvelopeConfig
    from plants import Plant
    from sscq.situations.situation import Situation

    Sets = Mapping[str, tuple[Situation, ...]]

CHOOSING = "choosing"
_NAMED = ("parameters", "initial", "reference", "load", "excitation", "noise")
_USES = {"taught": "to teach", "validation": "to validate", "drawn": "to judge in", CHOOSING: "to choose in"}
_OF_VERDICT = ("drawn", CHOOSING)
_SINGLE = ("delay", "authority", "rate_limit", "delay_step", "hold", "t_end")


def envelope(
    given: EnvelopeConfig,
    plant: Plant,
    sample_time: float,
    sets: Mapping[str, Sequence[Situation]] | None = None,
    own: Sequence[Situation] = (),
) -> Envelope:
    """Return the configured envelope: ranges that are given, and for the others those that the situations span.

    Parameters
    ----------
    sample_time : float
        Of the controller [s].
    sets : mapping of names to situations, optional
        Left out, the plant's usual ones.
    own : sequence of Situation
        Those that the user gives: the ranges that a plant declares are widened to hold them.
    """
    base = usual_envelope(plant, sample_time, sets, own)
    if not given.usual:
        base = Envelope(delay_step=base.delay_step, hold=base.hold, t_end=base.t_end)
    changes: dict[str, Any] = {"kinds": tuple(given.kinds)}
    for name in _NAMED:
        changes[name] = {**getattr(base, name), **{key: tuple(ends) for key, ends in getattr(given, name).items()}}
    for name in _SINGLE:
        value = getattr(given, name)
        if value is not None:
            changes[name] = tuple(value) if isinstance(value, list) else value
    return replace(base, **changes)


def drawn_sets(config: DesignConfig, plant: Plant, ranges: Envelope) -> dict[str, tuple[Situation, ...]]:
    """Return the situations that are drawn to teach and to validate, and, under "drawn", the fresh ones that judge.

    Under "choosing" are as many fresh ones again: who looks best in some looks a little better there than it is.
    """
    asked, parts = config.draws, {use: ranges_for(ranges, use) for use in _USES}
    found = {
        "taught": draws(config, plant, parts["taught"], asked.taught, "taught draw", evenly=True),
        "validation": draws(config, plant, parts["validation"], asked.validation, "validation draw", evenly=True),
        "drawn": draws(config, plant, parts["drawn"], asked.verdict, "drawn"),
        CHOOSING: draws(config, plant, parts[CHOOSING], asked.verdict, "choice"),
    }
    return {kind: several for kind, several in found.items() if several}


def ranges_for(ranges: Envelope, use: str) -> Envelope:
    """Return the ranges with the parameter sets of a use ("taught", "validation", "drawn", "choosing") alone.

    What teaches never judges; ranges without such sets stay as they are.
    """
    return ranges.shared_out(list(_USES).index(use), len(_USES))


def draws(
    config: DesignConfig, plant: Plant, ranges: Envelope, n: int, name: str, *, evenly: bool = False
) -> tuple[Situation, ...]:
    """Return situations drawn with a design's seed, see :func:`sscq.worst.drawing.drawn_situations`.

    What the configuration says of all situations at once holds of them, too.
    """
    found = drawn_situations(plant, ranges, n, config.seed, name, evenly=evenly, step=config.integration_step)
    loop = common(config)
    return tuple(replace(situation, **loop) for situation in found)


def skipped(config: DesignConfig, drawn: Sets) -> list[str]:
    """Return what is to be said of draws that were left out, because the plant cannot start or rest there.

    Raises
    ------
    UserError
        Where too few are left for a verdict.
    """
    asked = {"taught": config.draws.taught, "validation": config.draws.validation}
    asked |= dict.fromkeys(_OF_VERDICT, config.draws.verdict)
    lost = {kind: n - len(drawn.get(kind, ())) for kind, n in asked.items()}
    if not any(lost.values()):
        return []
    told = ", ".join(f"{lost[kind]} of {asked[kind]} {_USES[kind]}" for kind in asked if lost[kind])
    cure = "narrow their ranges (envelope.initial, envelope.parameters, envelope.reference)"
    if any(asked[kind] and len(drawn.get(kind, ())) < FEWEST_DRAWS for kind in _OF_VERDICT):
        raise UserError(
            f"the plant cannot start or rest in {told} situations that were drawn, and a verdict needs {FEWEST_DRAWS}; "
            f"{cure}"
        )
    return [f"the plant cannot start or rest in {told} situations that were drawn; they were skipped: {cure}"]


def with_draws(named: Sets, drawn: Sets) -> dict[str, tuple[Situation, ...]]:
    """Return named situations of each kind with the drawn ones behind them."""
    return {kind: (*named.get(kind, ()), *drawn.get(kind, ())) for kind in (*named, *(set(drawn) - set(named)))}
