"""A control loop closed in continuous time: the law's equations inside the plant's derivative.

The closed loop is an ordinary plant without inputs. Its states are the plant's, the laws' and the integrals asked for:
a fine RK4 run gives reference values for sampled loops, and linearising it gives the closed loop's poles.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from plants.core.analysis.closed_loop import Loop, ReferenceSignal, adopted_limits
from plants.core.analysis.integrands import INTEGRANDS
from plants.core.blocks import as_tuple
from plants.core.names import pick_values, unknown
from plants.core.plant import Plant
from plants.core.quantities import Quantity
from plants.core.signals.signal import as_signal

if TYPE_CHECKING:
    from collections.abc import Callable

    from plants.core.analysis.closed_loop import LoopMoment
    from plants.core.quantities import Channel
    from plants.core.signals.signal import Part, Signal


def close(
    plant: Plant,
    law: Any,
    gains: Mapping[str, float] | Sequence[float],
    reference: Signal | Part | float | Mapping[str, Any] | Sequence[Any] = 0.0,
    *,
    parameters: Mapping[str, float] | Sequence[float] | None = None,
    integrals: Sequence[str] = (),
    channel_limits: bool = True,
    entropy_scale: float = 1.0,
    name: str | None = None,
) -> Plant:
    """Return `plant` with its loops closed in continuous time.

    Parameters
    ----------
    plant : Plant
        With control channels and without dead time.
    law : law or sequence of laws
        Control law of each channel, such as `controllers.PID()`; one stands for all channels. It must have
        ``gain_names``, ``initial()`` and the block ``continuous(t, r, y, r_rate, y_rate, c, g) -> (command, c_rate)``.
    gains : mapping by name or sequence
        Constant gains of all channels; with several channels the names end in _1, _2, ... Gains other than 0 become
        parameters of the closed plant under these names, gains of 0 are left out of the equations.
    reference : number, signal, mapping by channel output, or sequence
        Constant or smooth; a bare one is the first channel's. Constants become the parameters "reference <output>".
    parameters : mapping by name or full sequence, optional
        Replace the plant's nominal values.
    integrals : sequence of str
        Names of :data:`plants.core.analysis.integrands.INTEGRANDS` to add as states that begin at 0.
    channel_limits : bool
        Whether a law without limits of its own takes its channel's, as it does in sampled loops.
    entropy_scale : float
        Factor on kd * e'^2 where a loop is not collocated.
    name : str, optional
        Of the closed plant.

    Returns
    -------
    Plant
        Outputs: the plant's, then "reference", "error" and "command" of each channel. Disturbances: the plant's. Its
        `after_step` comes along and changes the plant's states alone.

    Raises
    ------
    ValueError
        Where no continuous loop is defined: no channel, dead time, a reference that jumps or is random, or an
        unfiltered derivative of an output whose rate depends on the command at once.
    TypeError
        If `law` is no control law.
    """
    _check_plant(plant, integrals)
    p = plant.values("parameters", parameters)
    laws = _laws(plant, law, channel_limits=channel_limits)
    gain_names = _numbered([one.gain_names for one in laws])
    values = pick_values(f"gains of {', '.join(gain_names)}", [Quantity(g, "", math.nan) for g in gain_names], gains)
    references = _references(plant, reference)
    loop = Loop(plant, laws, values, references, entropy_scale, dead_time=_dead_time(plant, p))
    return _as_plant(loop, p, gain_names, integrals, name or f"{plant.name} closed")


def _as_plant(loop: Loop, p: Sequence[float], gain_names: Sequence[str], integrals: Sequence[str], name: str) -> Plant:
    plant = loop.plant
    n_x, n_c = len(plant.states), sum(len(initial) for initial in loop.initial)

    def moment(t: Any, x: Any, w: Any, p: Any) -> LoopMoment:
        return loop.moment(t, tuple(x[:n_x]), tuple(x[n_x : n_x + n_c]), w, p)

    def derivative(t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:
        now = moment(t, x, w, p)
        return (*now.rates, *now.law_rates, *(INTEGRANDS[label].rate(now) for label in integrals))

    def outputs(t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:
        now = moment(t, x, w, p)
        return (*now.output, *now.reference, *now.error, *now.command)

    def of_plant(block: Callable[..., Any] | None) -> Callable[..., Any] | None:
        if block is None:
            return None

        def closed(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
            now = moment(t, x, w, p)
            return block(t, tuple(x[:n_x]), now.input, w, now.parameters)

        return closed

    def after_step(t: Any, x: Any, u: Any, w: Any, p: Any, h: Any) -> tuple[Any, ...]:
        """The plant's own; laws and integrals go on as they are. The inputs are the commands before it."""
        now = moment(t, x, w, p)
        block = (t, tuple(x[:n_x]), now.input, w, now.parameters, h)
        return as_tuple(plant.after_step(*block), n_x, plant.name) + tuple(x[n_x:])  # type: ignore[misc]

    law_states = _numbered([getattr(law, "state_names", None) or _plain(law) for law in loop.laws])
    initial = [value for values in loop.initial for value in values]
    pairs = zip(law_states, initial, strict=True)
    states = [
        *plant.states,
        *(Quantity(label, "", value, text="state of the control law") for label, value in pairs),
        *(Quantity(label, "", text="integral over the run") for label in integrals),
    ]
    measurements = [*plant.measurements, *_channel_signals(plant)]
    return Plant(
        name=name,
        states=_distinct(states),
        parameters=_distinct(_parameters(loop, p, gain_names)),
        disturbances=plant.disturbances,
        measurements=_distinct(measurements),
        derivative=derivative,
        outputs=outputs,
        energy=of_plant(plant.energy),
        supplied_power=of_plant(plant.supplied_power),
        entropy_rate=of_plant(plant.entropy_rate),
        after_step=None if plant.after_step is None else after_step,
        text=f"{plant.text} With its loop closed in continuous time.",
    )


def _parameters(loop: Loop, p: Sequence[float], gain_names: Sequence[str]) -> list[Quantity]:
    own = [dataclasses.replace(q, nominal=v) for q, v in zip(loop.plant.parameters, p, strict=True)]
    if loop.dead_time is not None:
        del own[loop.dead_time]
    gains = [Quantity(label, "", loop.gains[k]) for k, label in enumerate(gain_names) if loop.gains[k]]
    channels = zip(loop.plant.channels, loop.references, strict=True)
    constants = [
        Quantity(f"reference {channel.output}", _unit(loop.plant, channel), reference.level)
        for channel, reference in channels
        if reference.level is not None
    ]
    return [*own, *gains, *constants]


def _channel_signals(plant: Plant) -> list[Quantity]:
    signals = []
    for kind in ("reference", "error", "command"):
        unit = "" if kind == "command" else None
        signals += [Quantity(f"{kind} {c.output}", _unit(plant, c) if unit is None else unit) for c in plant.channels]
    return signals


def _unit(plant: Plant, channel: Channel) -> str:
    return plant.measurements[plant.index("measurements", channel.output)].unit


def _plain(law: Any) -> tuple[str, ...]:
    return tuple(f"law_state{k}" for k in range(len(law.initial())))


def _numbered(labels: Sequence[Sequence[str]]) -> list[str]:
    """All labels in order; with several channels with _1, _2, ... behind."""
    if len(labels) == 1:
        return list(labels[0])
    return [f"{label}_{number}" for number, channel in enumerate(labels, 1) for label in channel]


def _distinct(quantities: Sequence[Quantity]) -> tuple[Quantity, ...]:
    """Quantities whose names differ: those of the loop step back where the plant has the name already."""
    taken: set[str] = set()
    result = []
    for quantity in quantities:
        label = quantity.name
        while label in taken:
            label = f"{label} of the loop"
        taken.add(label)
        result.append(dataclasses.replace(quantity, name=label))
    return tuple(result)


def _laws(plant: Plant, law: Any, *, channel_limits: bool) -> tuple[Any, ...]:
    laws = tuple(law) if isinstance(law, (tuple, list)) else (law,) * len(plant.channels)
    if len(laws) != len(plant.channels):
        message = f"plant {plant.name!r} has {len(plant.channels)} channels, got {len(laws)} laws; give one per channel"
        raise ValueError(message)
    for one in laws:
        missing = [label for label in ("gain_names", "initial", "continuous") if not hasattr(one, label)]
        if missing or isinstance(one, type):
            got = f"the class {one.__name__} itself; call it" if isinstance(one, type) else type(one).__name__
            lacks = f", which lacks {', '.join(missing)}" if missing else ""
            raise TypeError(f"expected a control law such as controllers.PID(), got {got}{lacks}")
    if not channel_limits:
        return laws
    found = [adopted_limits(one, channel) for one, channel in zip(laws, plant.channels, strict=True)]
    return tuple(
        one if limits is None else dataclasses.replace(one, limits=limits)
        for one, limits in zip(laws, found, strict=True)
    )


def _references(plant: Plant, given: Any) -> tuple[ReferenceSignal, ...]:
    names = [channel.output for channel in plant.channels]
    values: list[Any] = [0.0] * len(names)
    if isinstance(given, Mapping):
        for label, value in given.items():
            if label not in names:
                raise ValueError(unknown("reference for a channel", label, names))
            values[names.index(label)] = value
    elif isinstance(given, (tuple, list)):
        if len(given) != len(names):
            raise ValueError(f"reference must have {len(names)} entries ({', '.join(names)}), got {len(given)}")
        values = list(given)
    else:
        values[0] = given
    return tuple(ReferenceSignal(label, as_signal(value)) for label, value in zip(names, values, strict=True))


def _check_plant(plant: Plant, integrals: Sequence[str]) -> None:
    if not plant.channels:
        raise ValueError(f"plant {plant.name!r} declares no control channel, so there is no loop to close")
    for label in integrals:
        if label not in INTEGRANDS:
            raise ValueError(unknown("integral", label, tuple(INTEGRANDS)))
        if plant.entropy_rate is None and label.startswith("entropy") and label != "entropy_controller":
            message = f"integral {label!r} needs the plant's entropy_rate, which plant {plant.name!r} does not give"
            raise ValueError(message)


def _dead_time(plant: Plant, p: Sequence[float]) -> int | None:
    """Place of the dead time among the parameters; it must be 0."""
    if plant.input_delay is None:
        return None
    place = plant.index("parameters", plant.input_delay)
    if p[place] != 0.0:
        raise ValueError(
            f"plant {plant.name!r} has a dead time ({plant.input_delay} = {p[place]:g} s), which a loop closed in "
            f"continuous time cannot carry; use sscq.evaluate, or parameters={{{plant.input_delay!r}: 0.0}}"
        )
    return place
