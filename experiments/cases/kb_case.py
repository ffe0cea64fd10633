"""A stored knowledge base and what it is judged against: its reference gains and the user's own."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import plants
from controllers import ConstantGains, Controller, gain_names
from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.settings import situations
from experiments.starting.plant_choice import stored_step
from flcs import FuzzyController, KnowledgeBase, KnowledgeBaseError
from flcs.knowledge_base.valid_range import outside, share
from sscq.fitness import Fitness
from sscq.situations.situation_sets import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from configs.schema import EvaluateConfig, ExportConfig, MapConfig, OperateConfig, WorstConfig
    from plants import Plant
    from sscq.situations.situation import Situation

BASELINE = "reference"

KB_FILES = {
    "knowledge_base": "knowledge_base.json",
    "knowledge_base_free": "knowledge_base_free_travel.json",
    "knowledge_base_direct": "knowledge_base_direct.json",
    "given": "given.json",
}
"""Of a design's controllers those that are knowledge bases, and their files in its folder."""

RECOMMENDED = "recommended.json"
"""What a design recommends as a knowledge base, whatever it is: for exports. Left out where none is equal to it."""


@dataclass(frozen=True)
class StoredContender:
    """One controller: name, title, controller for sscq, and its parameters [n_theta].

    With `falls_back` a fuzzy controller returns to its reference gains outside its valid range, as installed.
    """

    name: str
    title: str
    controller: Any
    theta: np.ndarray
    falls_back: bool = False

    def within(self, situations: Sequence[Situation], plant: Plant) -> Iterator[tuple[Any, list[int]]]:
        """Yield the controllers that are installed in situations, each with the places of its own."""
        groups: dict[float, list[int]] = {}
        for place, situation in enumerate(situations):
            share = valid_share(self.controller.kb, situation, plant) if self.falls_back else 1.0
            groups.setdefault(share, []).append(place)
        for share, places in groups.items():
            whole = (
                self.controller
                if share == 1.0
                else replace(self.controller, authority=share * self.controller.schedule.authority)
            )
            yield whole, places


@dataclass(frozen=True)
class StoredCase:
    """What is to be judged.

    Attributes
    ----------
    kb : KnowledgeBase
    plant : Plant
    fitness : Fitness
        That of the design, as the knowledge base records it.
    contenders : tuple of StoredContender
        The reference gains first.
    blocks : mapping of kind to tuples of situations, one tuple for each seed
    warnings : tuple of str
    """

    kb: KnowledgeBase
    plant: Plant
    fitness: Fitness
    contenders: tuple[StoredContender, ...]
    blocks: dict[str, tuple[tuple[Situation, ...], ...]]
    warnings: tuple[str, ...]


def prepared(config: EvaluateConfig) -> StoredCase:
    """Return the case that a configuration describes.

    Raises
    ------
    ValueError
        If the knowledge base cannot be read or was made for another plant, or if gains or situations do not fit it.
    """
    kb, plant = loaded(config)
    sets, warnings = situations.declared_sets(config, plant)
    draw = situations.redrawing(config, plant, sets, {})
    kinds = KINDS if config.sets == "all" else (config.sets,)
    blocks = {k: tuple(draw(k, number) for number in range(1 if k == "taught" else config.seeds)) for k in kinds}
    declared = [s for k in kinds for s in sets[k]]
    contenders = contenders_of(kb, config.controller.own_gains)
    if any(valid_share(kb, situation, plant) < 1.0 for situation in declared):
        place = 1 + [c.name for c in contenders].index("knowledge_base")
        title = "knowledge base that falls back outside its valid range"
        further = replace(contenders[place - 1], name="falls_back", title=title, falls_back=True)
        contenders = (*contenders[:place], further, *contenders[place:])
    for contender in contenders:
        situations.check(config, plant, contender.controller, declared)
    notes = (*warnings, *other_plant(kb, plant), *_not_taught(kb, plant, declared))
    return StoredCase(kb, plant, fitness_of(kb), contenders, blocks, notes)


def loaded(
    config: EvaluateConfig | ExportConfig | MapConfig | OperateConfig | WorstConfig,
) -> tuple[KnowledgeBase, Plant]:
    """Return the knowledge base that a configuration names and its plant; a null step becomes that of the design.

    Where the knowledge base does not lie in a design's folder it becomes the plant's own.

    Raises
    ------
    ValueError
        If the knowledge base cannot be read or was made for another plant.
    """
    if config.kb is None:
        raise UserError("give a knowledge base: kb=PATH, such as kb=runs/design/.../knowledge_base.json")
    if Path(config.kb).is_dir():
        raise UserError(f"kb must be a file, got a folder; in a run's it is {Path(config.kb) / 'knowledge_base.json'}")
    kb = KnowledgeBase.load(config.kb)
    if config.plant is not None:
        kb.require_plant(plants.find(config.plant).name)
    plant = plants.find(kb.plant)
    config.step = config.step or stored_step(config.kb) or plant.step
    return kb, plant


def contenders_of(kb: KnowledgeBase, own: list[float] | None) -> tuple[StoredContender, ...]:
    """Return the reference gains, the knowledge base, and the user's own gains where there are any."""
    fuzzy = FuzzyController(kb)
    constant = Controller(fuzzy.laws, ConstantGains(gain_names(fuzzy.laws)))
    reference = np.array([gain for base in kb.channels for gain in base.reference])
    found = [
        StoredContender(BASELINE, "reference gains", constant, reference),
        StoredContender("knowledge_base", "knowledge base", fuzzy, fuzzy.theta),
    ]
    if own is not None:
        found.append(StoredContender("own", "your present gains", constant, _own(own, kb)))
    return tuple(found)


def _own(given: list[float], kb: KnowledgeBase) -> np.ndarray:
    names = kb.gain_names
    values = np.array(given if len(given) == len(names) else list(given) * len(kb.channels), float)
    if values.shape != (len(names),) or not np.isfinite(values).all():
        raise UserError(f"controller.own_gains must be finite numbers for {', '.join(names)}, got {given}")
    return values


def fitness_of(kb: KnowledgeBase) -> Fitness:
    """Return the fitness of the design, or raise KnowledgeBaseError."""
    known = {field.name for field in fields(Fitness)}
    foreign = sorted(kb.fitness.keys() - known)
    if foreign:
        raise KnowledgeBaseError(f"the knowledge base's fitness has {foreign[0]!r}, which this program does not know")
    try:
        return Fitness(**kb.fitness)
    except (TypeError, ValueError) as error:
        raise KnowledgeBaseError(f"the knowledge base's fitness cannot be used: {error}") from error


def other_plant(kb: KnowledgeBase, plant: Plant) -> list[str]:
    """Warn where the plant's parameters are not those of the design."""
    now = dict(zip((q.name for q in plant.parameters), plant.nominal(), strict=True))
    changed = [
        f"{name} = {now.get(name, float('nan')):g} (designed with {value:g})"
        for name, value in kb.plant_parameters.items()
        if now.get(name) != value
    ]
    return [f"the plant is not the one of the design: {', '.join(changed)}"] if changed else []


def other_recommended(file: Path) -> list[str]:
    """Warn where the design beside a knowledge base's file recommends something else than this one."""
    metrics = file.parent / "metrics.json"
    if file.name not in KB_FILES.values() or not metrics.is_file():
        return []
    told = formats.read_json(metrics, kind=dict[str, Any])
    recommended, controllers = told.get("recommended"), told.get("controllers")
    if not isinstance(recommended, str) or not isinstance(controllers, dict) or KB_FILES.get(recommended) == file.name:
        return []
    title = controllers.get(recommended, {}).get("title", recommended)
    files = [file.with_name(name) for name in (RECOMMENDED, KB_FILES.get(recommended)) if name]
    own = next((one for one in files if one.is_file()), None)
    instead = f"it is in {own}" if own else "its gains are in the report, to be typed in"
    return [f"the design recommends another controller, the {title}: {instead}"]


def _not_taught(kb: KnowledgeBase, plant: Plant, declared: Sequence[Situation]) -> list[str]:
    """Warn of situations with more delay or noise than was taught."""
    beyond: dict[str, list[str]] = {}
    for situation in declared:
        for name, (low, high) in outside(kb, conditions_of(situation, plant)).items():
            word = name.replace("_", " ")
            beyond.setdefault(f"{word} outside what was taught ({low:g} .. {high:g})", []).append(situation.name)
    return [f"{what}: {', '.join(names)}" for what, names in beyond.items()]


def conditions_of(situation: Situation, plant: Plant) -> dict[str, float]:
    """Return the conditions that a knowledge base states its valid range for."""
    noise = max([0.0, *situation.noise_levels(plant)])
    return {"delay": situation.delay, "output_delay": situation.output_delay, "noise": noise}


def valid_share(kb: KnowledgeBase, situation: Situation, plant: Plant) -> float:
    """Return which share of its authority a knowledge base keeps in a situation."""
    return share(kb, conditions_of(situation, plant))
