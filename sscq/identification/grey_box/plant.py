"""Members of a plant of known equations as one plant of the design chain.

    plant = grey_plant(load_grey("identified.json"), two_tanks)

Beside the plant's own parameters it has the dead time of the command, and the command that holds a member where the
loop rests: commands count from there, so that every member can rest there; all begin in the state of the middle one.
Teaching, validating and judging draw members; the situations are steps about the levels that the logs saw, with the
loads that they had.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.analysis.equilibrium import Equilibria
from plants.core.blocks import allocate_inputs, forms
from plants.core.quantities import ControlTask, OperatingPoint, OperatingRanges, Quantity
from plants.excitation import Step
from plants.identification.grey_box import GreyBox
from sscq.identification.design_plant import NAME, NOISE, medoid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from plants.core.plant import Plant
    from sscq.identification.grey_box.stored import StoredGrey

    Array = NDArray[np.float64]

DEAD_TIME, AT_REST = "identified dead time", "identified command at rest"
_SPREAD_SEED = 7
_SAME_LEVEL = 0.05  # of a step of the set point: levels nearer than this are one
_MOST = 480  # members that equilibria are looked for


def grey_plant(members: StoredGrey, base: Plant) -> Plant:
    """Return the plant of the members.

    Parameters
    ----------
    members : StoredGrey
    base : Plant
        Whose equations they have.

    Raises
    ------
    ValueError
        If the members may not be used, or rest nowhere at the level of the log.
    """
    if members.refusal:
        raise ValueError(f"no controller follows from this log: {members.refusal}")
    box, loop = GreyBox(base, members.fitted, members.step, loaded=members.loaded), members.loop
    sets = _sets(members, box)
    middle = medoid(sets)
    channel = replace(
        base.channels[0],
        rate=None,  # nobody measured it
        scale=abs(loop.scenario.set_point),
        low=max(base.channels[0].low, loop.limits[0]) - middle[AT_REST],
        high=min(base.channels[0].high, loop.limits[1]) - middle[AT_REST],
    )
    if not channel.low < 0.0 < channel.high:
        raise ValueError(f"a command of {middle[AT_REST]:.4g} holds the plant where the log begins: beyond its limits")
    own = _with_two_more(base, middle)
    near = _SAME_LEVEL * abs(loop.scenario.set_point)
    low, high = (loop.rest[0] + (level if abs(level) > near else 0.0) for level in loop.levels)
    levels = (low, high)
    states = {level: _at(base, middle, level) for level in dict.fromkeys((loop.rest[0], *levels))}
    return replace(
        own,
        name=NAME,
        channels=(channel,),
        step=loop.sample_time / math.ceil(loop.sample_time / base.step - 1e-9),
        task=_task(members, box, sets, middle, states, levels),
        text=f"{base.name} with the parameters that explain a log; the command counts from where the loop rests.",
    )


def _sets(members: StoredGrey, box: GreyBox) -> list[dict[str, float]]:
    """Parameters of the members by name, spread by the discrepancy; without those that rest nowhere."""
    rng = np.random.default_rng([0, _SPREAD_SEED])
    picked = members.members[np.linspace(0, len(members.members) - 1, min(_MOST, len(members.members))).astype(int)]
    n, s = len(members.fitted), members.discrepancy
    values = picked[:, :n] * np.exp(s * rng.standard_normal((len(picked), n)))
    late = picked[:, n] + s * rng.standard_normal(len(picked)) * (picked[:, n] + 0.5 * members.step)
    found = []
    for row, dead in zip(values.tolist(), np.maximum(late, 0.0).tolist(), strict=True):
        one = dict(zip(members.fitted, row, strict=True))
        rest = _rest(box.plant, one, members.loop.rest[0])
        if rest is not None:
            own = {} if box.plant.input_delay is None else {box.plant.input_delay: 0.0}
            found.append({**one, **own, DEAD_TIME: dead, AT_REST: rest[1]})
    if 2 * len(found) < len(picked):
        raise ValueError(
            f"{len(picked) - len(found)} of {len(picked)} members cannot rest at {members.loop.rest[0]:.4g}, where the "
            "log begins: is the output in the plant's unit?"
        )
    return found


def _rest(plant: Plant, parameters: dict[str, float], level: float) -> tuple[Array, float] | None:
    """State and command at rest on a level; None where there is none."""
    own = {name: value for name, value in parameters.items() if name not in {DEAD_TIME, AT_REST}}
    try:
        found = Equilibria(plant, own).at([level])
    except ValueError:
        return None
    return (found.state, float(found.commands[0])) if found.reached == 1.0 else None


def _at(plant: Plant, parameters: dict[str, float], level: float) -> tuple[float, ...]:
    found = _rest(plant, parameters, level)
    if found is None:
        raise ValueError(f"the plant of the log cannot rest at {level:.4g}, where the log led it")
    return tuple(float(value) for value in found[0])


def _with_two_more(base: Plant, middle: dict[str, float]) -> Plant:
    """The plant with dead time and command at rest as parameters behind its own."""
    n = len(base.parameters)

    def without(block: Callable[..., Any], place: int) -> Callable[..., Any]:
        def own(*arguments: Any) -> Any:
            return block(*arguments[:place], arguments[place][:n], *arguments[place + 1 :])

        return own

    blocks: dict[str, Any] = {
        name: without(getattr(base, name), form.groups.index("p"))
        for name, form in forms(base).items()
        if getattr(base, name) is not None and "p" in form.groups and name != "allocate"
    }
    admissible = base.admissible
    if admissible is not None:
        blocks["admissible"] = lambda x, p, held: admissible(x, p[:n], held)

    def allocate(t: Any, x: Any, commands: Any, p: Any) -> tuple[Any, ...]:
        return allocate_inputs(base, t, x, (commands[0] + p[n + 1],), p[:n])

    own = tuple(replace(q, nominal=middle.get(q.name, q.nominal)) for q in base.parameters)
    more = (
        Quantity(DEAD_TIME, "s", middle[DEAD_TIME], 0.0, text="of the command"),
        Quantity(AT_REST, base.inputs[0].unit, middle[AT_REST], text="command that holds the loop where it rests"),
    )
    return replace(base, parameters=own + more, allocate=allocate, input_delay=DEAD_TIME, **blocks)


def _task(
    members: StoredGrey,
    box: GreyBox,
    sets: Sequence[dict[str, float]],
    middle: dict[str, float],
    states: dict[float, tuple[float, ...]],
    levels: tuple[float, float],
) -> ControlTask:
    """The scenario of the log both ways, the way to the levels that it saw, and the members to draw from."""
    plant, loop, rest = box.plant, members.loop, members.loop.rest[0]
    height, disturbance = loop.scenario.set_point, _loaded(box)
    load = 0.0 if disturbance is None else _load(disturbance, loop.scenario.load)
    noise = float(np.median(members.column("noise")))
    horizon = loop.sample_time * max(2, round(loop.scenario.horizon / loop.sample_time))
    names = [q.name for q in plant.states]
    begin = dict(zip(names, states[rest], strict=True))

    def situation(name: str, reference: float, seed: int) -> dict[str, Any]:
        step = Step(math.copysign(load, reference - rest), at=0.5 * horizon)
        return {
            "name": name,
            "reference": reference,
            "initial": begin,
            "excitation": {disturbance.loaded: step} if disturbance else {},
            "noise": noise,
            "t_end": horizon,
            "seed": seed,
        }

    ways = {"to the lowest level": levels[0], "to the highest level": levels[1]}
    ways = {name: level for name, level in ways.items() if level != rest}
    far, far_again = (
        [situation(name, level, seed + k) for k, (name, level) in enumerate(ways.items())] for seed in (3, 13)
    )
    steps = {"step and load": rest + height, "step down and load": rest - height}
    steps = {name: level for name, level in steps.items() if _rest(plant, middle, level) is not None}
    if not steps:
        raise ValueError(
            f"the plant of the log can rest neither {abs(height):.4g} above nor below where the log begins"
        )
    first, reached = next(iter(steps.items())), [*levels, *steps.values()]
    taught, unforeseen = (
        [situation(name, level, seed + k) for k, (name, level) in enumerate(steps.items())] for seed in (1, 11)
    )
    return ControlTask(
        operating_points=tuple(
            OperatingPoint(f"{plant.channels[0].output} {level:.4g}", state) for level, state in states.items()
        ),
        situations={
            "taught": [*taught, *far],
            "validation": [situation(*first, 6)],
            "unforeseen": [*unforeseen, *far_again],
        },
        ranges=OperatingRanges(
            parameters={},
            initial={name: (value, value) for name, value in begin.items()},
            reference={plant.channels[0].output: (min(reached), max(reached))},
            load={disturbance.loaded: (-abs(load), abs(load))} if disturbance else {},
            excitation={},
            noise={plant.channels[0].output: (NOISE[0] * noise, NOISE[1] * noise)},
            delay=(0.0, 0.0),
            authority=(1.0, 1.0),
            together=tuple(sets),
        ),
    )


def _load(box: GreyBox, of_command: float) -> float:
    """A load in units of the disturbance, within its bounds."""
    quantity = box.plant.disturbances[box.plant.index("disturbances", box.loaded)]
    most = min(quantity.high - quantity.rest, quantity.rest - quantity.low)
    return min(of_command * box.load_scale, most)


def _loaded(box: GreyBox) -> GreyBox | None:
    """The box with its loads on a disturbance: its own, or the first that moves the plant; None where none does."""
    if box.loaded:
        return box
    for quantity in box.plant.disturbances:
        one = GreyBox(box.plant, box.fitted, box.step, loaded=quantity.name)
        try:
            scale = one.load_scale
        except ValueError:
            continue
        if math.isfinite(scale):
            return one
    return None
