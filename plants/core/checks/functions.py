"""A plant's functions one at a time: its blocks, its own measures, its moving picture.

Do they trace, have the right sizes, and give the same numbers everywhere: as plain Python, on arrays and on the
tape; and do the functions of the scene give what can be drawn.
"""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.blocks import _NUMBERS, forms, program, shape
from plants.core.scene_points import RecordedRun, body_level, body_points, view_points
from plants.core.tracing import calls
from plants.core.tracing.remedies import missing_name
from plants.core.tracing.tape import Tape, TracingError
from plants.core.tracing.trace import Program, depends, differentiate, flat, names, symbols, trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from plants.core.blocks import BlockForm, BlockSample
    from plants.core.checks.report import CheckReport
    from plants.core.measures import Measure
    from plants.core.plant import Plant
    from plants.core.quantities import Quantity


_HERE = Path(__file__).resolve().parents[1]
_SHOWN = 8  # names of an argument's numbers in a message
_AGREE = 1e-9  # relative: powers and sums may round in another order, nothing else may differ


def check_sizes(report: CheckReport, plant: Plant) -> bool:
    """Trace every block and count what it gives; return whether all blocks can be used."""
    before, counts, called = len(report.problems), list[str](), dict[str, calls.CalledFunction]()
    for name, form in forms(plant).items():
        if name == "derivative" and len(report.problems) > before:
            break  # made of the blocks before it
        try:
            result = program(plant, name, form)
        except Exception as error:  # noqa: BLE001  (whatever a user's block raises is reported)
            report.problems.append(_told(plant, name, form, error))
            continue
        if len(result.outputs) != form.size:
            report.problems.append(
                f"{_defined(plant, name)}{name} must return {form.size} ({form.what}), got {len(result.outputs)}"
            )
            continue
        counts.append(f"{name} {sum(result.counts().values())}")
        called |= {one.name: one for one in result.called()}
    if len(report.problems) == before:
        report.passed.append(f"all blocks can be compiled; operations: {', '.join(counts)}")
    report.advice += [
        f"{one.title} is compiled by numba as it stands: {one.remedy}. Its slopes are difference quotients; what needs "
        "its equations (code for elsewhere, a GPU) is refused"
        for one in called.values()
    ]
    return len(report.problems) == before


def _defined(plant: Plant, name: str) -> str:
    """Where a block begins: "file:line: ", or nothing where Python does not know."""
    code = getattr(getattr(plant, name), "__code__", None)
    if code is None or _HERE in Path(code.co_filename).resolve().parents:
        return ""
    return f"{code.co_filename}:{code.co_firstlineno}: "


def _told(plant: Plant, name: str, form: BlockForm, error: Exception) -> str:
    """The error with the line of the user's file, and what the block is called with."""
    if isinstance(error, TracingError):
        message = str(error)
        return f"{_defined(plant, name)}{message}" if message.startswith(name) else f"{name}: {message}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if _HERE not in Path(f.filename).resolve().parents]
    place = f"{frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name}: " if frames else _defined(plant, name)
    cure = missing_name(error)
    if cure:
        return f"{name}: {place}{type(error).__name__}: {error}; {cure}"
    sizes = [f"{group} of {_named(plant, group)}" for group in form.groups if group not in _NUMBERS]
    called = f"({', '.join(form.groups)}) with {', '.join(sizes)}; the first has index 0"
    return f"{name}: {place}{type(error).__name__}: {error}; the block is called as {called}"


def _named(plant: Plant, group: str) -> str:
    """How many numbers an argument has, and what they are."""
    kinds = {"x": "states", "u": "inputs", "w": "disturbances", "p": "parameters"}
    count = len(shape(plant, group))
    labels = [q.name for q in getattr(plant, kinds[group])] if group in kinds else []
    shown = [*labels[:_SHOWN], "..."] if len(labels) > _SHOWN else labels
    return f"{count} ({', '.join(shown)})" if shown else str(count)


def check_values(report: CheckReport, plant: Plant, sample: BlockSample) -> None:
    """Compare every block as plain Python, on arrays and on the tape, and require finite numbers."""
    before = len(report.problems)
    for name, form in forms(plant).items():
        block, tape = getattr(plant, name), program(plant, name, form)
        values = np.array([tape(*flat(sample.arguments(form, k))) for k in range(len(sample.t))], dtype=float).reshape(
            len(sample.t), form.size
        )
        if _report_infinite(report, plant, name, values, sample):
            continue
        _compare(report, name, "plain Python", values, lambda k: flat(block(*sample.arguments(form, k))))  # noqa: B023
        with np.errstate(all="ignore"):
            _compare_arrays(report, name, values, block, sample.arguments(form), _defined(plant, name))
    if len(report.problems) == before:
        count = len(sample.t)
        how = "finite, and equal as plain Python, on arrays and on the tape"
        report.passed.append(f"{how}, at {count} states inside the bounds")


def _report_infinite(report: CheckReport, plant: Plant, name: str, values: np.ndarray, sample: BlockSample) -> bool:
    bad = np.argwhere(~np.isfinite(values).all(axis=1))
    if not len(bad):
        return False
    point = int(bad[0][0])
    state = ", ".join(f"{q.name} = {v:.6g}" for q, v in zip(plant.states, sample.x[:, point], strict=True))
    where = "at the nominal initial state" if point == 0 else "inside the bounds"
    report.problems.append(
        f"{name} is not finite {where}, at {state}; narrow the bounds (low, high) of the states to where the model "
        "holds, or guard it, as in sqrt(maximum(level, 0.0))"
    )
    return True


_EDGES = (("x", "states"), ("u", "inputs"), ("w", "disturbances"), ("p", "parameters"))


def check_edges(report: CheckReport, plant: Plant, sample: BlockSample) -> None:
    """Look for numbers that are not finite (divisions by 0, roots of negatives) at the ends of what is declared.

    One quantity at a time is put to its low end, its high end and to 0 where that lies between, from the nominal point;
    drawn points hardly ever hit them.
    """
    for name, form in forms(plant).items():
        tape, nominal = program(plant, name, form), sample.arguments(form, 0)
        places = []
        for group, kind in _EDGES:
            if group not in form.groups:
                continue
            for row, quantity in enumerate(getattr(plant, kind)):
                for end in _ends(quantity):
                    arguments, place = list(nominal), form.groups.index(group)
                    arguments[place] = (*nominal[place][:row], end, *nominal[place][row + 1 :])
                    if not np.isfinite(tape(*flat(arguments))).all():
                        places.append(f"{quantity.name} = {end:g} {quantity.unit}".rstrip())
        if places:
            report.advice.append(
                f"{_defined(plant, name)}{name} is not finite at an end of what is declared, with the rest nominal: "
                f"{', '.join(places)}. Narrow low and high, or guard it, as in a / maximum(level, 1e-6) or "
                "sqrt(maximum(level, 0.0))"
            )


def _ends(quantity: Quantity) -> list[float]:
    """Where a quantity's range ends, and 0 where it lies between."""
    ends = {end for end in (quantity.low, quantity.high) if np.isfinite(end)}
    return sorted(ends | ({0.0} if len(ends) == 2 and quantity.low < 0.0 < quantity.high else set()))


def _compare(report: CheckReport, name: str, how: str, values: np.ndarray, evaluate: Callable[[int], Any]) -> None:
    try:
        plain = np.array([evaluate(k) for k in range(len(values))], dtype=float).reshape(values.shape)
    except Exception as error:  # noqa: BLE001  (whatever a user's block raises is reported)
        report.problems.append(f"{name} fails as {how}: {type(error).__name__}: {error}")
        return
    _report_difference(report, name, how, values, plain)


def _compare_arrays(
    report: CheckReport, name: str, values: np.ndarray, block: Callable[..., Any], arguments: list[Any], place: str
) -> None:
    try:
        leaves = [np.broadcast_to(leaf, len(values)) for leaf in flat(block(*arguments))]
    except Exception as error:  # noqa: BLE001  (whatever a user's block raises is reported)
        report.problems.append(f"{name} fails on arrays: {type(error).__name__}: {error}")
        return
    if len(leaves) != values.shape[1]:  # one array, taken for a tuple of its numbers
        report.problems.append(f"{place}{name} returns a number, not a tuple of one: write (value,), with the comma")
        return
    _report_difference(report, name, "arrays", values, np.array(leaves, dtype=float).T.reshape(values.shape))


def _report_difference(report: CheckReport, name: str, how: str, values: np.ndarray, other: np.ndarray) -> None:
    scale = np.abs(values).max(axis=0)
    apart = np.abs(values - other) > _AGREE * np.abs(values) + 1e-2 * _AGREE * scale
    if not (apart | np.isnan(other)).any():
        return
    point, place = (int(k) for k in np.argwhere(apart | np.isnan(other))[0])
    report.problems.append(
        f"{name} gives {values[point, place]:.9g} when traced and {other[point, place]:.9g} as {how} (number {place}): "
        "a block must depend on its arguments alone, without random numbers, counters or global variables that change"
    )


def check_measured_outputs(report: CheckReport, plant: Plant) -> None:
    """Require that what a channel measures does not depend on the input at once; energy neither."""
    tape = Tape()
    t, x, u, w, p = (symbols(tape, shape(plant, group)) for group in "txuwp")
    outputs = plant.outputs(t, x, u, w, p)
    outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
    slopes = differentiate([tape.lift(value) for value in outputs], [*u])
    for channel in plant.channels:
        for signal in filter(None, (channel.output, channel.rate)):
            row = slopes[plant.index("measurements", signal)]
            if depends(row):
                report.problems.append(
                    f"the measured output {signal!r} depends on an input: the command would be computed from itself. "
                    "Measure a state, or add the sensor's or actuator's lag as a state"
                )
    if plant.energy is not None:
        energy = tape.lift(flat(plant.energy(t, x, u, w, p))[0])
        if depends(differentiate([energy], [*u, *w])[0]):
            report.problems.append(
                "energy depends on an input or a disturbance, which may jump; it may depend on states"
            )


_GROUPS = ("t", "x", "u", "w", "p")


def check_measures(report: CheckReport, plant: Plant, sample: BlockSample) -> None:
    """Compare every measure's update as plain Python and on the tape, and read its value off."""
    before = len(report.problems)
    for measure in plant.measures:
        try:
            problem = _problem(plant, measure, sample)
        except Exception as error:  # noqa: BLE001  (whatever a user's measure raises is reported)
            problem = f"{type(error).__name__}: {error}"
        if problem:
            report.problems.append(f"measure {measure.name!r}: {problem}")
    if plant.measures and len(report.problems) == before:
        known = ", ".join(measure.name for measure in plant.measures)
        report.passed.append(f"own measures can be compiled and give finite numbers: {known}")


def _problem(plant: Plant, measure: Measure, sample: BlockSample) -> str:
    """What is wrong with a measure, or an empty string."""
    program, rng = _program(plant, measure), np.random.default_rng(0)
    with np.errstate(all="ignore"):
        for k in range(len(sample.t)):
            t, (x, u, w, p) = float(sample.t[k]), (tuple(sample.group(g)[:, k].tolist()) for g in _GROUPS[1:])
            m = tuple(value + (rng.uniform() if k else 0.0) for value in measure.initial)
            r = tuple(channel.scale * rng.uniform(-1.0, 1.0) for channel in plant.channels if measure.references)
            traced = np.array(program(*flat((t, x, u, w, p, m, r))))
            plain = np.array(measure.updated(t, x, u, w, p, m, plant.step, r), dtype=float)
            if not np.isfinite(traced).all():
                return f"update is not finite inside the bounds, at x = {x}"
            if not np.allclose(traced, plain, rtol=_AGREE, atol=_AGREE * np.abs(traced).max()):
                return (
                    f"update gives {traced.tolist()} when traced and {plain.tolist()} as plain Python: it must depend "
                    "on its arguments alone"
                )
        value = measure.value(tuple(np.array([each]) for each in measure.initial), np.array([plant.step]))
    return "" if np.isfinite(value).all() else f"its value is {float(np.asarray(value).ravel()[0])} at the start"


def _program(plant: Plant, measure: Measure) -> Program:
    def update(t: Any, x: Any, u: Any, w: Any, p: Any, m: Any, r: Any) -> Any:
        return measure.updated(t, x, u, w, p, m, plant.step, r)

    references = names("r", len(plant.channels) if measure.references else 0)
    return trace(update, *(shape(plant, group) for group in _GROUPS), names("m", measure.n_states), references)


def check_scene_points(report: CheckReport, plant: Plant, sample: BlockSample) -> None:
    """Call every function of the scene at the sampled states."""
    if plant.scene is None:
        return
    before = len(report.problems)
    x, u, w = (tuple(sample.group(group)) for group in ("x", "u", "w"))
    course = RecordedRun(np.asarray(sample.t, dtype=float), x, u, w, plant.nominal())
    for view in plant.scene.views:
        for body in view.bodies:
            where = f"scene, view {view.name!r}"
            try:
                view_points(view, course)
                body_points(body, course)
                if body.level is not None:
                    body_level(body, course)
            except Exception as error:  # noqa: BLE001  (whatever a user's scene raises is reported)
                report.problems.append(f"{where}: {type(error).__name__}: {error}")
    if len(report.problems) == before:
        report.passed.append("the scene can be drawn: " + ", ".join(view.name for view in plant.scene.views))
