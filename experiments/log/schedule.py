"""A gain schedule for the plants of a log: designed on some members, promised on others, advised where that says so.

The design is that of `sscq design ensemble=identified.json`, its knowledge base scheduled over the measured value, so
that one table is all that a block needs. A schedule is advised only where the design's own verdict puts a knowledge
base or a gain table before the best fixed gains, and its promise is above that of the fixed gains on the sheet, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

import sscq
from controllers import ConstantGains, Controller, gain_names
from controllers.forms import Gains
from experiments import design
from experiments.cases.kb_case import KB_FILES
from experiments.cases.stored_controllers import stored_controller
from experiments.log import identified
from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.runtime.run_folder import read_record
from experiments.settings import setup
from experiments.settings.ranges import ranges_for
from experiments.starting.opening import stored_settings
from flcs import FuzzyController
from sscq.identification.advice import TRAVEL, WORTH, told
from sscq.identification.assessing.assessment import sense_of
from sscq.identification.grey_box.stored import is_grey
from sscq.identification.loops import LoopQualities
from sscq.identification.promise import promised_of

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from experiments.settings import Setup
    from plants import Plant
    from sscq.identification.advice import Advice
    from sscq.identification.promise import Promise

    Array = NDArray[np.float64]

TAUGHT, VALIDATION, JUDGED = 12, 20, 128
"""Members that teach, that choose, and that judge."""

_POINTS = 7  # of a table
_OF_ERROR = {"error": "absolute_error", "error_rate": "error_rate"}


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
    variable : {"measured", "absolute_error", "error_rate"}
        Over which gains are scheduled; of the rate its magnitude.
    places : array [n], or None
        Break points [y, or y/s], in the log's own unit; None where no schedule is advised.
    gains : array [n, 3], or None
        kp, ki, kd there.
    """

    advised: bool
    reason: str
    promise: Promise | None = None
    variable: str = "measured"
    places: Array | None = None
    gains: Array | None = None


def scheduled(
    folder: Path,
    advice: Advice,
    budget: str,
    *,
    travel: float = TRAVEL,
    seed: int = 0,
    quiet: bool = False,
    derivative: bool = False,
    plants_in: str = "identified.json",
) -> ScheduleFinding:
    """Run the design of an ensemble in `folder`/design, and say whether its schedule is to be used.

    Parameters
    ----------
    folder : Path
        With the plants' file.
    advice : Advice
        The fixed gains of the sheet.
    budget : str
        Of the design.
    travel : float
        Times as far as with the present gains that the output may travel, as for the gains on the sheet.
    derivative : bool
        Whether gains may have one; without it, as on the sheet, noise moves the output less.
    plants_in : str
        Name of that file. With plants of known equations the fixed gains of the sheet are judged on these, too.
    """
    file, run = folder / plants_in, folder / "design"
    of_equations = is_grey(file)
    draws = f"draws={{taught: {TAUGHT}, validation: {VALIDATION}, verdict: {JUDGED}}}"
    (plant,) = identified.load(str(file))
    over = f"network.inputs=[{plant.channels[0].output}]"
    words = [] if derivative else _without_derivative(plant)
    words += [f"ensemble={file}", f"budget={budget}", "seeds=1", f"seed={seed}", over]
    words += [] if of_equations else [draws]  # over several levels a design needs more to learn from
    design.main([*words, f"output={run}", f"quiet={str(quiet).lower()}"])
    metrics = formats.read_json(run / "metrics.json")
    name = str(metrics["recommended"])
    told_of = metrics["controllers"][name]
    if name not in {*KB_FILES, "table"}:
        return ScheduleFinding(
            advised=False, reason=f"no schedule is worth its place: the design recommends the {told_of['title']}"
        )
    job = setup(stored_settings("design", read_record(run)["config"]))
    controller, theta = stored_controller(run, job, name, told_of)
    found = promised_of(_qualities(job, controller, theta, over_levels=of_equations))
    fixed = 0.0 if advice.promise is None else advice.promise.median
    if advice.gains is not None and of_equations:  # the sheet's promise is of plants without equations
        signed = _sense(job) * np.array(advice.gains)
        fixed = promised_of(_qualities(job, _constant(job), signed, over_levels=True)).median
    title = told_of["title"]
    if found.travel > travel:
        reason = f"keep fixed gains: with the {title} the output travels {found.travel:.1f} times as far"
        return ScheduleFinding(advised=False, reason=f"{reason} (at most {travel:g})", promise=found)
    if not (found.low > WORTH and found.median > fixed and not found.lost):
        return ScheduleFinding(
            advised=False, reason=f"keep fixed gains: the {title} promises {told(found)}", promise=found
        )
    return ScheduleFinding(True, f"the {title}: {told(found)}", found, *table_of(job.plant, controller, theta))


def _without_derivative(plant: Plant) -> list[str]:
    """Settings of a design whose gains have no derivative."""
    channel = plant.channels[0]
    ends = {"low": channel.gains_low, "high": channel.gains_high}
    return [f"controller.{name}=[{kp!r},{ki!r},0.0]" for name, (kp, ki, _) in ends.items()]


def _qualities(job: Setup, controller: Any, theta: Array, *, over_levels: bool) -> LoopQualities:
    """Error and travel of the present gains and of others on members that judge [2, n].

    In the first of the plant's own scenarios; `over_levels`: summed over all, both ways and to the log's levels.
    """
    if job.own is None:
        raise UserError("no present gains are known to promise anything against")
    scenarios = job.named["unforeseen"] if over_levels else job.named["unforeseen"][:1]
    members = ranges_for(job.ranges, "drawn").together[:JUDGED]
    several = [
        replace(scenario, name=f"{scenario.name}, member {k}", parameters=member)
        for scenario in scenarios
        for k, member in enumerate(members)
    ]
    found = []
    for law, numbers in ((_constant(job), job.own), (controller, theta)):
        measures = ("iae", "total_variation")
        quality = sscq.evaluate(
            job.plant, law, numbers[None], several, job.step, **job.options, measures=measures, threads=job.threads
        )
        lost = quality.failed[:, 0]
        each = [np.where(lost, np.inf, quality[measure][:, 0]) for measure in measures]
        found.append([values.reshape(len(scenarios), -1).sum(axis=0) for values in each])
    error, travel = np.array(found).transpose(1, 0, 2)
    return LoopQualities(error, travel)


def _sense(job: Setup) -> float:
    """Of the present gains: those of an advice are magnitudes."""
    return 1.0 if job.own is None else sense_of(Gains(*np.asarray(job.own, float).tolist()[:3])) or 1.0


def _constant(job: Setup) -> Controller:
    return Controller(job.laws, ConstantGains(gain_names(job.laws)))


def table_of(plant: Plant, controller: Any, theta: Array) -> tuple[str, Array, Array]:
    """Return the variable, its break points [n] and gains [n, 3] there, as a block would interpolate them."""
    low, high = plant.ranges.reference[plant.channels[0].output] if plant.ranges.reference else (0.0, 0.0)
    levels = np.linspace(low, high, _POINTS)
    if isinstance(controller, FuzzyController):
        return "measured", levels, np.asarray(controller.kb.gains(levels[:, None]), float)
    table = controller.schedule
    if table.signal in _OF_ERROR:  # of its magnitude, the distance of the nodes behind their gains
        nodes = theta[-1] * np.asarray(table.nodes)
        return _OF_ERROR[table.signal], nodes, theta[:-1].reshape(len(nodes), -1)
    return "measured", levels, np.array([table.gains(0.0, (level,), (), theta)[0] for level in levels], float)
