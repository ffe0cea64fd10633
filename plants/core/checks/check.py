"""Whether a plant keeps its contract: accepted, or told exactly why not.

The blocks are traced, run as plain Python, on arrays and on the tape, and simulated; what they give is compared with
what the plant declares. Nothing of this needs a controller.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from plants.core import blocks
from plants.core.analysis.linearise import linearise
from plants.core.checks import constraints, functions, loop, motion
from plants.core.checks.functions import check_measures, check_scene_points
from plants.core.checks.ranges import check_ranges
from plants.core.checks.report import CheckReport
from plants.core.checks.set_points import check_set_points
from plants.core.checks.units import unit_complaint
from plants.core.names import alike
from plants.core.plant import Plant as Kind
from plants.core.user_functions.block import UntracedWarning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants.core.analysis.linearise import LinearModel
    from plants.core.plant import Plant
    from plants.core.quantities import OperatingPoint, Quantity


_NO_LOSS = 1e-9  # W, or of an input: rounding at rest
_KINDS = ("states", "parameters", "inputs", "disturbances", "measurements")


def check(plant: Plant, *, points: int = 64, seed: int = 0) -> CheckReport:
    """Check everything about `plant` that can be checked without its author.

    Parameters
    ----------
    plant : Plant
    points : int
        Number of random states inside the bounds at which the blocks are compared.
    seed : int
        Of these states.

    Returns
    -------
    CheckReport
        Nothing that a plant's blocks do is raised; it becomes a problem of the report.

    Raises
    ------
    TypeError
        If `plant` is no Plant.
    """
    given: object = plant
    if not isinstance(given, Kind):
        raise TypeError(f"check takes a Plant, got {type(given).__name__}")
    report = CheckReport(plant.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UntracedWarning)  # the report says so, with the remedy
        _run(report, plant, points, seed)
    return report


def _run(report: CheckReport, plant: Plant, points: int, seed: int) -> None:
    _check_declaration(report, plant)
    check_ranges(report, plant)
    _advise_on_gaps(report, plant)
    if functions.check_sizes(report, plant) and report.ok:
        sample = blocks.BlockSample.draw(plant, points, np.random.default_rng(seed))
        functions.check_values(report, plant, sample)
        functions.check_edges(report, plant, sample)
        functions.check_measured_outputs(report, plant)
        check_measures(report, plant, sample)
        check_scene_points(report, plant, sample)
        loop.check_loop(report, plant, sample)
        if report.ok:
            constraints.check_starts(report, plant)
            _check_operating_points(report, plant)
            check_set_points(report, plant)
            motion.check_motion(report, plant, sample)


def _check_declaration(report: CheckReport, plant: Plant) -> None:
    for kind in _KINDS:
        for quantity in getattr(plant, kind):
            _check_quantity(report, kind, quantity)
    for quantity in plant.states:
        if not quantity.low < quantity.nominal < quantity.high:
            report.problems.append(
                f"the initial value {quantity.nominal:g} of state {quantity.name!r} must lie inside its bounds "
                f"({quantity.low:g}, {quantity.high:g}), or every rollout ends before it begins"
            )
    if same := alike(q.name for q in (*plant.measurements, *plant.inputs)):
        report.problems.append(
            f"measurements and inputs must differ in letters and digits, or no export can name them: {same}"
        )
    for channel in plant.channels:
        if not (np.isfinite(channel.scale) and channel.scale > 0.0):
            report.problems.append(f"the scale of channel {channel.output!r} must be positive, got {channel.scale}")


def _check_quantity(report: CheckReport, kind: str, quantity: Quantity) -> None:
    label = f"{kind[:-1]} {quantity.name!r}"
    if not quantity.name or quantity.name != quantity.name.strip():
        report.problems.append(f"names of {kind} must not be empty or have spaces around them, got {quantity.name!r}")
    if not np.isfinite(quantity.nominal):
        report.problems.append(f"{label} must have a finite nominal value, got {quantity.nominal}")
    if not quantity.low < quantity.high:
        report.problems.append(f"{label} must have low < high, got {quantity.low:g} and {quantity.high:g}")
    elif kind != "states" and not quantity.low <= quantity.nominal <= quantity.high:
        report.problems.append(
            f"the nominal value {quantity.nominal:g} of {label} is outside its bounds "
            f"[{quantity.low:g}, {quantity.high:g}]"
        )
    if not quantity.unit:
        report.advice.append(f"{label} has no unit; write '1' where it has none")
    elif wrong := unit_complaint(quantity.unit):
        report.advice.append(f"unit of {label}: {wrong}")


def _advise_on_gaps(report: CheckReport, plant: Plant) -> None:
    gaps = {
        "entropy_rate": "its entropy production counts as 0 in every fitness, so that the controller's, |kd| e'^2 of "
        "its derivative action, is all that counts there; fitness.entropy_weight=0 leaves it out where that means "
        "nothing",
        "energy": "its energy balance cannot be tested",
        "supplied_power": "its energy balance cannot be tested",
    }
    for block, consequence in gaps.items():
        if getattr(plant, block) is None and not (block == "supplied_power" and not _driven(plant)):
            report.advice.append(f"there is no {block}(t, x, u, w, p): {consequence}")
    if not plant.channels:
        report.advice.append("there is no control channel: it can be simulated, not controlled")
    elif not plant.operating_points:
        report.advice.append("there are no operating_points: margins of stability are not computed")
    for channel in plant.channels:
        if channel.rate is None:
            report.advice.append(f"channel {channel.output!r} has no rate output: its samples are differenced instead")
    unbounded = [q.name for q in plant.states if not (np.isfinite(q.low) and np.isfinite(q.high))]
    if unbounded:
        report.advice.append(
            f"the region of {', '.join(map(repr, unbounded))} has no bounds: a rollout counts as diverged only when it "
            "is practically infinite; give low and high where the model holds"
        )
    if not plant.text:
        report.advice.append("text is empty: say what the plant is and where its equations come from")


def _driven(plant: Plant) -> bool:
    return bool(plant.inputs or plant.disturbances)


def _check_operating_points(report: CheckReport, plant: Plant) -> None:
    needed = []
    for point in plant.operating_points:
        try:
            held = linearise(plant, constraints.closed(plant, point), commands=True)
        except ValueError as error:
            report.problems.append(f"operating point {point.name!r}: {error}")
        else:
            needed.append(_inputs(plant, point, held))
            _advise_on_loss(report, plant, point, held)
    _advise_on_start(report, plant, needed)
    if plant.operating_points and report.ok:
        report.passed.append(f"{len(plant.operating_points)} operating points are equilibria")


def _inputs(plant: Plant, point: OperatingPoint, held: LinearModel) -> tuple[float, ...]:
    """What the commands at an operating point make of the plant's inputs."""
    p = plant.values("parameters", point.parameters)
    return tuple(blocks.allocate_inputs(plant, 0.0, tuple(held.state.tolist()), tuple(held.input.tolist()), p))


def _advise_on_start(report: CheckReport, plant: Plant, needed: Sequence[Sequence[float]]) -> None:
    """Until the first command has come through a dead time, the inputs have their nominal values."""
    if plant.input_delay is None or not needed:
        return
    dead = plant.parameters[plant.index("parameters", plant.input_delay)]
    for quantity, values in zip(plant.inputs, zip(*needed, strict=True), strict=True):
        low, high = min(values), max(values)
        if not low - _NO_LOSS <= quantity.nominal <= high + _NO_LOSS:
            report.advice.append(
                f"a rollout begins with input {quantity.name!r} at its nominal {quantity.nominal:g} until the first "
                f"command arrives ({dead.name}: {dead.nominal:g} s), but the operating points are held by {low:.4g} to "
                f"{high:.4g}: declare one of these as its nominal, and controller.initial_command for the integral"
            )


def _advise_on_loss(report: CheckReport, plant: Plant, point: OperatingPoint, held: LinearModel) -> None:
    """A plant that dissipates where it stands still prefers the set point that costs least, unless it says so."""
    if plant.entropy_rate is None or plant.loses_at_rest:
        return
    p, x, inputs = plant.values("parameters", point.parameters), tuple(held.state.tolist()), _inputs(plant, point, held)
    loss = float(plant.entropy_rate(0.0, x, inputs, plant.calm(), p))
    if abs(loss) > _NO_LOSS:
        report.advice.append(
            f"operating point {point.name!r} loses {loss:.4g} W at rest: say loses_at_rest=True, or a fitness with "
            "entropy production prefers set points that cost less to the demanded one"
        )
