"""A counter-example: one situation in which a controller was found wanting, as a file that can be run again.

The file is plain JSON: the situation with its units, the envelope it is from, plant, step, fitness, the hash of the
knowledge base and of the compiled simulation, and what was found. Reading it checks everything and executes nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

import plants
from experiments.cases import kb_case
from experiments.runtime import formats
from experiments.runtime.errors import UserError
from flcs import KnowledgeBase
from flcs.knowledge_base.files import content_hash
from sscq.fitness import Fitness
from sscq.worst.envelope import Envelope
from sscq.worst.genome import EnvelopeGenes
from sscq.worst.trials import TrialLoops

if TYPE_CHECKING:
    from plants import Plant

SCHEMA, VERSION = "sscq-counter-example", 1


class FileReference(TypedDict):
    """A knowledge base: the name of its file, and the hash of its content."""

    file: str
    hash: str


class OutcomeRecord(TypedDict):
    """What came of the situation with one controller.

    Attributes
    ----------
    cost : float
        J, with what a lost loop costs.
    failed : bool
        Whether the loop was lost, or J above `fail_above`.
    diverged_at : float or None
        When it was lost [s]; null: it was not.
    measures : mapping
        Up to there, by their names.
    """

    cost: float
    failed: bool
    diverged_at: float | None
    measures: dict[str, float]


class CounterExampleRecord(TypedDict):
    """What `counter_example.json` holds.

    Attributes
    ----------
    schema : str
        Says that it is one.
    version : int
        Of this format.
    plant, judged : str
        Names of the plant and of the controller that was found wanting.
    gains : list of float or None
        Fixed gains to judge beside; null: the knowledge base's reference gains.
    fitness : mapping
        Its settings, with what its terms are divided by.
    fail_above : float or None
        A larger J counts as a failure; null: only a lost loop does.
    step : float
        Of the simulation [s].
    integrator, algebraic_loop : str
        How it is simulated.
    seed : int
        Of the noise.
    envelope : mapping
        The ranges that were searched.
    situation : mapping
        The values of the situation, by the names of the ranges.
    units : mapping
        Of these values.
    found : mapping of controller to OutcomeRecord
        "judged" and "reference".
    simulation : str
        Hash of the compiled closed loop.
    hash : str
        Of all else: what was changed is refused.
    """

    schema: str
    version: int
    knowledge_base: FileReference
    plant: str
    judged: str
    gains: list[float] | None
    fitness: dict[str, Any]
    fail_above: float | None
    step: float
    integrator: str
    algebraic_loop: str
    seed: int
    envelope: dict[str, Any]
    situation: dict[str, float]
    units: dict[str, str]
    found: dict[str, OutcomeRecord]
    simulation: str
    hash: str


_KEYS: dict[str, Any] = {
    "schema": str, "version": int, "knowledge_base": dict, "plant": str, "judged": str, "gains": (list, type(None)),
    "fitness": dict, "fail_above": (int, float, type(None)), "step": (int, float), "integrator": str,
    "algebraic_loop": str, "seed": int, "envelope": dict, "situation": dict, "units": dict, "found": dict,
    "simulation": str, "hash": str,
}  # fmt: skip


@dataclass(frozen=True)
class CounterExample:
    """Everything that one rollout depends on.

    Attributes
    ----------
    kb, kb_file : KnowledgeBase and the file it is in
    plant, envelope, fitness, fail_above, step, integrator, algebraic_loop
        As for :func:`sscq.worst_case`.
    judged : {"knowledge_base", "reference", "own"}
    gains : list of float, optional
        The user's own ones.
    seed : int
        Of the search that found it.
    values : mapping
        The situation: a value for each axis of the envelope.
    """

    kb: KnowledgeBase
    kb_file: str
    plant: Plant
    envelope: Envelope
    judged: str
    gains: list[float] | None
    fitness: Fitness
    fail_above: float | None
    step: float
    integrator: str
    algebraic_loop: str
    seed: int
    values: dict[str, float]

    @cached_property
    def genes(self) -> EnvelopeGenes:
        """The envelope's genes."""
        return EnvelopeGenes(self.plant, self.envelope)

    @cached_property
    def bench(self) -> TrialLoops:
        """How it is simulated."""
        options = {"integrator": self.integrator, "algebraic_loop": self.algebraic_loop}
        return TrialLoops(self.genes, self.fitness, self.step, self.fail_above, options, threads=1)

    def controller(self, name: str) -> tuple[Any, Any]:
        """Return a controller and its gains by name."""
        found = {c.name: c for c in kb_case.contenders_of(self.kb, self.gains)}
        return found[name].controller, found[name].theta

    def outcome(self, name: str) -> dict[str, Any]:
        """Run the situation with one controller; return cost, failure and measures as plain data."""
        controller, gains = self.controller(name)
        genome = self.genes.genome(self.values)[None]
        quality = self.bench.quality(controller, gains, genome)
        costs = self.bench.costs(quality, 1)
        diverged = float(costs.diverged_at[0])
        return {
            "cost": float(costs.cost[0]), "failed": bool(costs.failed[0]),
            "diverged_at": diverged if math.isfinite(diverged) else None,
            "measures": {name: float(values[0, 0]) for name, values in quality.until_lost.items()},
        }  # fmt: skip

    def found(self) -> dict[str, Any]:
        """Run the situation with the judged controller and the reference gains."""
        return {"judged": self.outcome(self.judged), "reference": self.outcome(kb_case.BASELINE)}

    def simulation(self) -> str:
        """Return a digest of the judged controller's compiled closed loop."""
        return self.bench.kernel_digest(self.controller(self.judged)[0])


def document(example: CounterExample) -> dict[str, Any]:
    """Return the counter-example as plain data, with what is found in it."""
    content = {
        "schema": SCHEMA, "version": VERSION,
        "knowledge_base": {"file": example.kb_file, "hash": example.kb.content_hash},
        "plant": example.plant.name, "judged": example.judged, "gains": example.gains,
        "fitness": example.fitness.plain(), "fail_above": example.fail_above, "step": example.step,
        "integrator": example.integrator, "algebraic_loop": example.algebraic_loop, "seed": example.seed,
        "envelope": example.envelope.document(), "situation": example.values,
        "units": {axis.name: axis.unit for axis in example.genes.axes},
        "found": example.found(), "simulation": example.simulation(),
    }  # fmt: skip
    return {**content, "hash": content_hash(content)}


def read(path: Path) -> dict[str, Any]:
    """Return the checked content of a file.

    Raises
    ------
    UserError
        If it is no counter-example, or was changed after it was written.
    """
    content: dict[str, Any] = formats.read_json(path, SCHEMA, VERSION)
    for key, kind in _KEYS.items():
        if key not in content or not isinstance(content[key], kind) or isinstance(content[key], bool):
            raise UserError(f"{path}: {key!r} is missing or of the wrong kind; take an intact copy")
    unknown = sorted(content.keys() - _KEYS.keys())
    if unknown:
        raise UserError(f"{path}: no counter-example has {unknown[0]!r}; take an intact copy")
    if content_hash(content) != content["hash"]:
        raise UserError(f"{path} was changed after it was written; take an intact copy")
    if not all(isinstance(content["knowledge_base"].get(key), str) for key in ("file", "hash")):
        raise UserError(f"{path}: 'knowledge_base' must name a file and a hash; take an intact copy")
    return content


def load(path: Path, kb_file: Path | None = None) -> tuple[CounterExample, dict[str, Any]]:
    """Return the counter-example in a file, and the file's content.

    Parameters
    ----------
    path : Path
    kb_file : Path, optional
        The knowledge base; left out, the file that was named, else the copy in the run folder.

    Raises
    ------
    ValueError
        If the file is damaged, or the knowledge base or the plant are not those of the search.
    """
    content = read(path)
    kb, place = _knowledge_base(path, content["knowledge_base"], kb_file)
    kb.require_plant(content["plant"])
    example = CounterExample(
        kb=kb, kb_file=place, plant=plants.find(content["plant"]), envelope=Envelope.from_document(content["envelope"]),
        fitness=_fitness(path, content["fitness"]), values=content["situation"],
        **{key: content[key] for key in (
            "judged", "gains", "fail_above", "step", "integrator", "algebraic_loop", "seed",
        )},
    )  # fmt: skip
    _check(path, example)
    return example, content


def _knowledge_base(path: Path, named: dict[str, str], given: Path | None) -> tuple[KnowledgeBase, str]:
    places = [given] if given else [Path(named["file"]), *path.parent.glob(f"inputs/*-{Path(named['file']).name}")]
    place = next((place for place in places if place.is_file()), None)
    if place is None:
        raise UserError(f"the knowledge base {places[0]} is not there; say where it is with --kb FILE")
    kb = KnowledgeBase.load(place)
    if kb.content_hash != named["hash"]:
        raise UserError(
            f"{place} is not the knowledge base of {path}: expected {named['hash']}, got {kb.content_hash}; give the "
            "one of the search with --kb FILE, or search again"
        )
    return kb, str(place)


def _fitness(path: Path, given: dict[str, Any]) -> Fitness:
    try:
        return Fitness(**given)
    except (TypeError, ValueError, AttributeError) as error:
        raise UserError(f"{path}: its fitness cannot be used: {error}") from error


def _check(path: Path, example: CounterExample) -> None:
    """Raise UserError where the values are not those of a situation in the envelope."""
    if example.judged not in {c.name for c in kb_case.contenders_of(example.kb, example.gains)}:
        raise UserError(f"{path}: there is no controller {example.judged!r}; take an intact copy")
    names = [axis.name for axis in example.genes.axes]
    numbers = [example.values.get(name) for name in names]
    good = [isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v) for v in numbers]
    if not all(good) or len(names) != len(example.values):
        raise UserError(f"{path}: 'situation' must give a finite number for each of {', '.join(names)}")
    genome = example.genes.genome(example.values)
    box = example.genes.box
    outside = (genome < np.array(box.low)) | (genome > np.array(box.high))
    if outside.any():
        raise UserError(f"{path}: {names[int(np.argmax(outside))]} lies outside the file's envelope")
