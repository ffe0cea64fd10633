"""A gain schedule for the plants of a log: designed on some members, promised on others, advised where that says so.

The design is that of `sscq design ensemble=identified.json`, scheduled over the measured value, one table of three
columns that a block can hold. A schedule is advised only where the design's own verdict puts a knowledge base before
the best fixed gains, and its promise is above that of the fixed gains on the sheet, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sscq
from experiments import design
from experiments.cases.kb_case import contenders_of
from experiments.runtime import formats
from experiments.settings.ranges import ranges_for
from flcs import KnowledgeBase
from plants.excitation import Step
from sscq.identification import stored
from sscq.identification.advice import WORTH, told
from sscq.identification.design_plant import design_plant
from sscq.identification.loops import LoopQualities
from sscq.identification.promise import promised_of
from sscq.worst.envelope import usual_envelope

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from plants import Plant
    from sscq.identification.advice import Advice
    from sscq.identification.promise import Promise
    from sscq.identification.stored import StoredLoop

    Array = NDArray[np.float64]

TAUGHT, VALIDATION, JUDGED = 12, 20, 128
"""Members that teach, that choose, and that judge."""

_POINTS = 7  # of a table
_FILES = {"knowledge_base_free": "knowledge_base_free_travel"}


@dataclass(frozen=True, eq=False)
class ScheduleFinding:
    """Whether gains should be scheduled over the measured value.

    Attributes
    ----------
    advised : bool
    reason : str
        A sentence.
    promise : Promise or None
        Of the schedule against the present gains; None where none was found.
    places : array [n]
        Break points [y], in the log's own unit.
    gains : array [n, 3]
        kp, ki, kd there.
    """

    advised: bool
    reason: str
    promise: Promise | None = None
    places: Array | None = None
    gains: Array | None = None

    def document(self) -> dict[str, Any] | None:
        """Return what commissioning.json says of it; None without a schedule."""
        if not self.advised or self.places is None or self.gains is None:
            return None
        return {"variable": "measured", "points": self.places.tolist(), "gains": self.gains.tolist()}


def scheduled(folder: Path, advice: Advice, budget: str, *, seed: int = 0, quiet: bool = False) -> ScheduleFinding:
    """Run the design of an ensemble in `folder`/design, and say whether its schedule is to be used.

    Parameters
    ----------
    folder : Path
        With the identified.json.
    advice : Advice
        The fixed gains of the sheet.
    budget : str
        Of the design.
    """
    file, run = folder / "identified.json", folder / "design"
    draws = f"draws={{taught: {TAUGHT}, validation: {VALIDATION}, verdict: {JUDGED}}}"
    words = [f"ensemble={file}", f"budget={budget}", "seeds=1", f"seed={seed}", "network.inputs=[output]", draws]
    design.main([*words, f"output={run}", f"quiet={str(quiet).lower()}"])
    metrics = formats.read_json(run / "metrics.json")
    recommended = str(metrics["recommended"])
    if not recommended.startswith("knowledge_base"):
        title = metrics["controllers"][recommended]["title"]
        return ScheduleFinding(
            advised=False,
            reason=f"no schedule over the measured value is worth its place: the design recommends the {title}",
        )
    ensemble = stored.load(file)
    kb = KnowledgeBase.load(run / f"{_FILES.get(recommended, recommended)}.json")
    plant, loop = design_plant(ensemble), ensemble.loop
    if loop is None or loop.present is None:
        return ScheduleFinding(advised=False, reason="no present gains are known to promise anything against")
    found = promised_of(_qualities(plant, loop, kb))
    fixed = 0.0 if advice.promise is None else advice.promise.median
    places, gains = _table(plant, kb, loop)
    if found.low > WORTH and found.median > fixed and not found.lost:
        return ScheduleFinding(True, f"schedule the gains: {told(found)}", found, places, gains)
    reason = f"keep fixed gains: a schedule over the measured value promises {told(found)}"
    return ScheduleFinding(advised=False, reason=reason, promise=found, places=places, gains=gains)


def _qualities(plant: Plant, loop: StoredLoop, kb: KnowledgeBase) -> LoopQualities:
    """Error and travel of the present gains and of the schedule on members that judge [2, n]."""
    members = ranges_for(usual_envelope(plant), "drawn").together
    scenario = plant.situations["unforeseen"][0]
    several = [
        sscq.Situation(
            name="scenario",
            reference=loop.scenario.set_point,
            excitation=Step(loop.scenario.load, at=0.5 * scenario["t_end"]),
            noise=scenario["noise"],
            t_end=scenario["t_end"],
            parameters=member,
            seed=1,
        )
        for member in members[:JUDGED]
    ]
    assert loop.present is not None  # noqa: S101  (asked by the caller)
    contenders = {one.name: one for one in contenders_of(kb, [*loop.present])}
    found = []
    for name in ("own", "knowledge_base"):
        one = contenders[name]
        quality = sscq.evaluate(
            plant, one.controller, one.theta, several, plant.step, measures=("iae", "total_variation")
        )
        lost = quality.failed[:, 0]
        found.append([np.where(lost, np.inf, quality[measure][:, 0]) for measure in ("iae", "total_variation")])
    error, travel = np.array(found).transpose(1, 0, 2)
    return LoopQualities(error, travel)


def _table(plant: Plant, kb: KnowledgeBase, loop: StoredLoop) -> tuple[Array, Array]:
    """Break points [n] in the log's own unit, and gains [n, 3] there, as the block would interpolate them."""
    height = plant.channels[0].scale
    places = np.linspace(-2.0 * height, 2.0 * height, _POINTS)
    return loop.rest[0] + places, np.asarray(kb.gains(places[:, None]), float)
