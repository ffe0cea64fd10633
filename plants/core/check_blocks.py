"""A plant's blocks one at a time: do they trace, have the right sizes, and give the same numbers everywhere."""

from __future__ import annotations

import math
import traceback
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.tape import Tape, TracingError
from plants.core.trace import Program, depends, differentiate, flat, names, symbols, trace
from plants.core.velocities import layout, n_accelerations

if TYPE_CHECKING:
    from collections.abc import Callable

    from plants.core.check import CheckReport
    from plants.core.plant import Plant, Quantity

_HERE = Path(__file__).resolve().parent
_NUMBERS = ("t", "h")  # arguments that are numbers, not tuples
_AGREE = 1e-9  # relative: powers and sums may round in another order, nothing else may differ


@dataclass(frozen=True)
class BlockForm:
    """How a block is called and how many numbers it gives.

    Attributes
    ----------
    groups : tuple of str
        Its arguments.
    size : int
    what : str
        What the numbers are, for messages.
    number : bool
        Whether it gives one number and no tuple.
    """

    groups: tuple[str, ...]
    size: int
    what: str
    number: bool = False

    def checked(self, name: str, result: Any) -> Any:
        """Return what the block gave, or raise where its form is not the block's."""
        if self.number and isinstance(result, (tuple, list)):
            message = f"{name} must return a number, got a {type(result).__name__} of {len(result)}"
            raise TracingError(message)
        if name == "mass_matrix" and not all(
            isinstance(row, (tuple, list)) and len(row) ** 2 == self.size for row in result
        ):
            message = f"mass_matrix must return {self.what}"
            raise TracingError(message)
        return result


def forms(plant: Plant) -> dict[str, BlockForm]:
    """Return the form of every block that `plant` gives, in the order in which they are checked."""
    usual = ("t", "x", "u", "w", "p")
    n_x, n_u, n_y = len(plant.states), len(plant.inputs), len(plant.measurements)
    n = n_accelerations(plant)
    known = {
        "mass_matrix": BlockForm(usual, n * n, f"{n} rows of {n} numbers"),
        "force": BlockForm(usual, n, "one number per acceleration"),
        "acceleration": BlockForm(("t", "x", "a", "u", "w", "p"), n, "one number per acceleration"),
        "kinematics": BlockForm(usual, n_x - n, f"one rate per state that is not accelerated ({_others(plant)})"),
        "derivative": BlockForm(usual, n_x, f"one rate per state ({_labels(plant.states)})"),
        "after_step": BlockForm((*usual, "h"), n_x, f"one value per state ({_labels(plant.states)})"),
        "advance": BlockForm((*usual, "h"), n_x, f"one value per state ({_labels(plant.states)})"),
        "outputs": BlockForm(usual, n_y, f"one number per measurement ({_labels(plant.measurements)})"),
        "energy": BlockForm(usual, 1, "one number [J]", number=True),
        "supplied_power": BlockForm(usual, 1, "one number [W]", number=True),
        "entropy_rate": BlockForm(usual, 1, "one number [W]", number=True),
        "allocate": BlockForm(("t", "x", "commands", "p"), n_u, f"one number per input ({_labels(plant.inputs)})"),
    }
    return {name: form for name, form in known.items() if getattr(plant, name) is not None}


def _others(plant: Plant) -> str:
    return _labels(tuple(plant.states[k] for k in layout(plant).others)) if plant.has_loop else "none"


def _labels(quantities: tuple[Quantity, ...]) -> str:
    return ", ".join(q.name for q in quantities) or "none"


def shape(plant: Plant, group: str) -> Any:
    """Return the names of the symbols of one argument of a block."""
    if group in _NUMBERS:
        return group
    counts = {
        "x": len(plant.states), "u": len(plant.inputs), "w": len(plant.disturbances), "p": len(plant.parameters),
        "a": n_accelerations(plant), "commands": len(plant.channels),
    }  # fmt: skip
    return names(group, counts[group])


def program(plant: Plant, name: str, form: BlockForm) -> Program:
    """Return a block as a program."""
    block = getattr(plant, name)

    def called(*arguments: Any) -> Any:
        return form.checked(name, block(*arguments))

    called.__qualname__ = name  # what errors call it
    return trace(called, *(shape(plant, group) for group in form.groups))


def check_sizes(report: CheckReport, plant: Plant) -> bool:
    """Trace every block and count what it gives; return whether all blocks can be used."""
    before, counts = len(report.problems), []
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
    if len(report.problems) == before:
        report.passed.append(f"all blocks can be compiled; operations: {', '.join(counts)}")
    return len(report.problems) == before


def _defined(plant: Plant, name: str) -> str:
    """Where a block begins: "file:line: ", or nothing where Python does not know."""
    code = getattr(getattr(plant, name), "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}: " if code else ""


def _told(plant: Plant, name: str, form: BlockForm, error: Exception) -> str:
    """The error with the line of the user's file, and what the block is called with."""
    if isinstance(error, TracingError):
        message = str(error)
        return f"{_defined(plant, name)}{message}" if message.startswith(name) else f"{name}: {message}"
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).resolve().parent != _HERE]
    place = f"{frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name}: " if frames else _defined(plant, name)
    sizes = [f"{group} of {len(shape(plant, group))}" for group in form.groups if group not in _NUMBERS]
    called = f"({', '.join(form.groups)}) with {', '.join(sizes)} numbers"
    return f"{name}: {place}{type(error).__name__}: {error}; the block is called as {called}"


@dataclass(frozen=True)
class Sample:
    """Points at which blocks are compared: arrays [n, n_points]; the first point is the nominal one."""

    t: np.ndarray
    x: np.ndarray
    u: np.ndarray
    w: np.ndarray
    p: np.ndarray
    commands: np.ndarray
    a: np.ndarray
    h: np.ndarray

    @classmethod
    def draw(cls, plant: Plant, points: int, rng: np.random.Generator) -> Sample:
        """Draw random states, inputs and disturbances inside their bounds."""
        channels = [(c.low, c.high) for c in plant.channels]
        inputs = plant.inputs
        if plant.allocate is None and len(channels) == len(inputs):
            pairs = zip(inputs, channels, strict=True)
            inputs = tuple(replace(q, low=max(q.low, low), high=min(q.high, high)) for q, (low, high) in pairs)
        n_commands, n = len(channels), n_accelerations(plant)
        commands = [np.clip(rng.standard_normal(points), low, high) for low, high in channels]
        return cls(
            t=np.concatenate([[0.0], rng.uniform(0.0, 100.0, points - 1)]),
            x=_drawn(plant.states, points, rng),
            u=_drawn(inputs, points, rng),
            w=_drawn(plant.disturbances, points, rng),
            p=np.repeat(np.array(plant.nominal())[:, None], points, axis=1),
            commands=np.array(commands).reshape(n_commands, points),
            a=np.concatenate([np.zeros((n, 1)), rng.standard_normal((n, points - 1))], axis=1),
            h=np.full(points, plant.step),
        )

    def group(self, name: str) -> np.ndarray:
        """Return one argument of all points."""
        return getattr(self, name)

    def arguments(self, form: BlockForm, point: int | None = None) -> list[Any]:
        """Return the arguments of a block: tuples of arrays, or of floats at one point."""
        if point is None:
            return [self.group(g) if g in _NUMBERS else tuple(self.group(g)) for g in form.groups]
        return [
            float(self.group(group)[point])
            if group in _NUMBERS
            else tuple(float(row[point]) for row in self.group(group))
            for group in form.groups
        ]


def _drawn(quantities: tuple[Quantity, ...], points: int, rng: np.random.Generator) -> np.ndarray:
    rows = [_drawn_one(q, points, rng) for q in quantities]
    return np.array(rows).reshape(len(quantities), points)


def _drawn_one(quantity: Quantity, points: int, rng: np.random.Generator) -> np.ndarray:
    low, high, nominal = quantity.low, quantity.high, quantity.nominal
    if math.isfinite(low) and math.isfinite(high):
        values = rng.uniform(low, high, points)
    elif math.isfinite(low):
        values = low + (nominal - low + 1.0) * rng.uniform(0.0, 2.0, points)
    elif math.isfinite(high):
        values = high - (high - nominal + 1.0) * rng.uniform(0.0, 2.0, points)
    else:
        values = nominal + (1.0 + abs(nominal)) * rng.standard_normal(points)
    values[0] = nominal
    return values


def check_values(report: CheckReport, plant: Plant, sample: Sample) -> None:
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
            _compare_arrays(report, name, values, block, sample.arguments(form))
    if len(report.problems) == before:
        count = len(sample.t)
        how = "finite, and equal as plain Python, on arrays and on the tape"
        report.passed.append(f"{how}, at {count} states inside the bounds")


def _report_infinite(report: CheckReport, plant: Plant, name: str, values: np.ndarray, sample: Sample) -> bool:
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


def _compare(report: CheckReport, name: str, how: str, values: np.ndarray, evaluate: Callable[[int], Any]) -> None:
    try:
        plain = np.array([evaluate(k) for k in range(len(values))], dtype=float).reshape(values.shape)
    except Exception as error:  # noqa: BLE001  (whatever a user's block raises is reported)
        report.problems.append(f"{name} fails as {how}: {type(error).__name__}: {error}")
        return
    _report_difference(report, name, how, values, plain)


def _compare_arrays(
    report: CheckReport, name: str, values: np.ndarray, block: Callable[..., Any], arguments: list[Any]
) -> None:
    try:
        leaves = [np.broadcast_to(leaf, len(values)) for leaf in flat(block(*arguments))]
    except Exception as error:  # noqa: BLE001  (whatever a user's block raises is reported)
        report.problems.append(f"{name} fails on arrays: {type(error).__name__}: {error}")
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
