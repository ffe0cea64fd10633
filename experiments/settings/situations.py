"""From a configuration to control situations: declared ones, or a plant's own, and their repetitions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from zlib import crc32

from configs.parts import built
from experiments.runtime.errors import UserError
from experiments.settings.excitations import excitation
from plants.core.motion.modes import check_mode
from plants.core.motion.simulate import count_steps
from plants.excitation import as_signal
from sscq.loop.spec import LoopSpec
from sscq.situations.situation import Situation
from sscq.situations.situation_sets import KINDS, SEED_STRIDE, repeated, standard_sets, varied

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from configs.schema import DesignConfig, EvaluateConfig, ExportConfig, SituationConfig
    from plants import Plant

    Config = DesignConfig | EvaluateConfig | ExportConfig
    Sets = Mapping[str, tuple[Situation, ...]]

REAL_LOOP = (
    "delay", "output_delay", "noise", "jitter", "quantisation", "dropout", "command_dropout", "rate_limit", "dead_zone",
    "backlash",
)  # fmt: skip
FEW_PLANTS = 12  # fewer taught plants than this do not pin the tail down, as a study of a first-order plant showed


def declared_sets(config: Config, plant: Plant) -> tuple[dict[str, tuple[Situation, ...]], list[str]]:
    """Return taught, validation and unforeseen situations, and warnings about them.

    Situations that the configuration leaves out are the plant's own.
    """
    given, warnings = config.situations, []
    sets = {kind: _declared(config, plant, kind) for kind in KINDS}
    if not all(sets.values()):
        own = standard_sets(plant)
        sets = {kind: sets[kind] or tuple(replace(s, **common(config)) for s in own[kind]) for kind in KINDS}
    sets["taught"] = _as_taught(config, plant, sets["taught"])
    if given.taught_spread > 0.0:
        if given.taught_plants < FEW_PLANTS:
            warnings.append(
                f"only {given.taught_plants} taught plants: the tail of other plants is not pinned down; "
                f"use situations.taught_plants={2 * FEW_PLANTS} or more"
            )
    elif given.unforeseen_spread > 0.0:
        warnings.append("plants vary in the verdict but not among the taught situations (situations.taught_spread)")
    return {kind: sets[kind] for kind in KINDS}, warnings


def of_user(config: Config, sets: Sets) -> tuple[Situation, ...]:
    """Return those of the sets that the configuration gives, or changes, in place of the plant's own."""
    given = config.situations
    changed = bool(given.taught_delays or given.taught_noises or given.taught_spread)
    return tuple(
        situation
        for kind in KINDS
        if getattr(given, kind) or (kind == "taught" and changed)
        for situation in sets[kind]
    )


def _as_taught(config: Config, plant: Plant, declared: Sequence[Situation]) -> tuple[Situation, ...]:
    """Return declared situations with all taught delays, noises and plants."""
    given, found = config.situations, ranged(config, declared)
    if given.taught_spread == 0.0 or not found:
        return found
    return varied(plant, found, given.taught_spread, given.taught_plants, config.seed + 1)


def ranged(config: Config, taught: Sequence[Situation]) -> tuple[Situation, ...]:
    """Return the taught situations, each repeated at every taught delay and sensor noise, where ranges are given.

    Each gets a name of its own, so that their noise differs.
    """
    delays, noises = config.situations.taught_delays, config.situations.taught_noises
    found = tuple(taught)
    if delays:
        found = tuple(replace(s, name=f"{s.name}, delay {d:g} s", delay=d) for s in found for d in delays)
    if noises:
        found = tuple(replace(s, name=f"{s.name}, noise {v:g}", noise=v) for s in found for v in noises)
    return found


def redrawing(config: Config, plant: Plant, sets: Sets, further: Sets) -> Callable[[str, int], tuple[Situation, ...]]:
    """Return a function of kind and number that gives the situations of a repetition; number 0: the declared ones.

    A repetition has its own random numbers and, where the configuration spreads them, its own plant parameters; taught
    plants stay the taught ones. Those in `further` come behind those of `sets`; they get other random numbers alone.
    """
    spread = config.situations.unforeseen_spread

    def draw(kind: str, number: int) -> tuple[Situation, ...]:
        others = repeated(further.get(kind, ()), number)
        if number == 0 or not sets.get(kind):
            return (*sets.get(kind, ()), *others)
        found = _declared(config, plant, kind, number)
        found = _as_taught(config, plant, found) if kind == "taught" else found
        found = found or repeated(sets[kind], number)
        if spread > 0.0 and kind != "taught":
            drawn = varied(plant, found, spread, 1, 7_919 * number + KINDS.index(kind))
            found = tuple(replace(d, name=s.name) for d, s in zip(drawn, found, strict=True))
        return (*found, *others)

    return draw


def check(config: Config, plant: Plant, controller: Any, situations: Sequence[Situation]) -> None:
    """Raise ValueError where these closed loops could not be built; nothing is compiled."""
    LoopSpec(plant, controller, situations, config.integration_step)
    check_mode(plant, config.algebraic_loop, config.integrator)
    for situation in situations:
        try:
            count_steps(situation.t_end, config.integration_step)
            plant.start(situation.initial, situation.parameters)
        except ValueError as error:
            raise UserError(f"situation {situation.name!r}: {error}") from error


def _declared(config: Config, plant: Plant, kind: str, number: int = 0) -> tuple[Situation, ...]:
    """Return the configured situations of one kind, redrawn for a repetition; none where the plant's own are used."""
    parts: Mapping[str, SituationConfig] = getattr(config.situations, kind)
    built = tuple(situation(name, part, plant, config.seed, number) for name, part in parts.items())
    return tuple(replace(s, **common(config)) for s in built)


def common(config: Config) -> dict[str, Any]:
    """Settings of the real loop that are given for all situations at once."""
    values = {name: getattr(config.situations, name) for name in REAL_LOOP}
    return {name: value for name, value in values.items() if value}


def situation(name: str, given: SituationConfig, plant: Plant, seed: int, repetition: int = 0) -> Situation:
    """Return a configured situation, with other random numbers for each repetition."""
    number = (seed if given.seed is None else given.seed) + SEED_STRIDE * repetition
    return built(
        Situation, given,
        name=name,
        reference=dict.fromkeys((c.output for c in plant.channels), _reference(name, given, number)),
        excitation=excitation(given.excitation, _drawn_from(name, given, number), given.t_end),
        parameters=given.parameters or None,
        initial=given.initial,
        seed=number,
    )  # fmt: skip


def _reference(name: str, given: SituationConfig, number: int) -> Any:
    """The constant, and what is added to it; numbers that are drawn here are not those of the disturbance."""
    if given.reference_signal.kind == "none":
        return given.reference
    drawn = _drawn_from(name, given, number) + crc32(b"reference")
    return as_signal(given.reference) + excitation(given.reference_signal, drawn, given.t_end)


def _drawn_from(name: str, given: SituationConfig, number: int) -> int:
    """Seed of an excitation that is drawn here: without a seed of its own, one that hangs on the situation's name."""
    return number if given.seed is not None else number + crc32(name.encode())
