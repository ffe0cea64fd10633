"""What a plant is: named quantities, blocks, control channels. Nothing else is needed to use one everywhere.

The constructor fills what follows from the rest and checks the declaration itself; :mod:`plants.core.checks` runs
the blocks.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from html import escape
from typing import TYPE_CHECKING, Any

from plants.core.accelerations import check_velocities, solved_derivative
from plants.core.measures import check_names
from plants.core.names import pick_values, position, unknown
from plants.core.presentation import Presentation, check_scene, listed
from plants.core.quantities import ControlTask
from plants.core.user_functions.block import BLOCKS, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plants.core.measures import Measure
    from plants.core.presentation import PlottedSignal, Scene
    from plants.core.quantities import Channel, OperatingPoint, OperatingRanges, Quantity, Rival

    Block = Callable[..., Any]


def _no_disturbance_outputs(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
    return tuple(x)


_COMPANIONS: dict[str, tuple[type[ControlTask | Presentation], dict[str, str]]] = {
    "task": (ControlTask, {entry.name: entry.name for entry in fields(ControlTask)}),
    "presentation": (Presentation, {"scene": "scene", "shown": "signals"}),
}
"""Fields of a plant that take keywords for it: of what class, and their names there by keyword."""


def _takes_entries(plant: type[Plant]) -> type[Plant]:
    """Let the entries of a plant's companions be given to the plant itself."""
    assign = plant.__init__

    @functools.wraps(assign)
    def initialise(self: Plant, *values: Any, **keywords: Any) -> None:
        for name, (kind, entries) in _COMPANIONS.items():
            own = {entry: keywords.pop(word) for word, entry in entries.items() if word in keywords}
            if own:
                keywords[name] = replace(keywords.get(name, kind()), **own)
        assign(self, *values, **keywords)

    plant.__init__ = initialise  # type: ignore[method-assign]
    return plant


_MOVED = 1e-6  # of 1 + a state's size: what a start may move, or miss its constraints by, without a word


class StartWarning(UserWarning):
    """A start that was given broke the plant's constraints and was moved onto them."""


@_takes_entries
@dataclass(frozen=True)
class Plant:
    """A plant: names and blocks.

    Every block is a plain function ``(t, x, u, w, p)`` of numbers and flat tuples: time [s], state, input, disturbance,
    parameters. ``derivative`` gives the state rates; where the accelerations are mutually dependent, give
    ``acceleration`` ``(t, x, a, u, w, p)`` or ``mass_matrix`` and ``force`` instead. Then the state is positions
    followed by velocities, unless `kinematics` and `velocities` say otherwise.

    Attributes
    ----------
    name : str
    states, parameters, inputs, disturbances, measurements : tuple of Quantity
        ``measurements`` name the outputs; left empty they are the states.
    channels : tuple of Channel
    derivative : callable, optional
        ``(t, x, u, w, p)`` to the state rates; made of the accelerations where these are given.
    outputs : callable
        ``(t, x, u, w, p)`` to the measurements; left out, they are the states.
    mass_matrix, force : callable, optional
        ``(t, x, u, w, p)`` to M (a tuple of rows) and f of M a = f.
    acceleration : callable, optional
        ``(t, x, a, u, w, p)`` to every acceleration from the others.
    energy, supplied_power, entropy_rate : callable, optional
        Stored energy [J], power through inputs and disturbances [W], T0 * dS/dt [W].
    allocate : callable, optional
        ``(t, x, commands, p)`` to plant inputs; left out, commands are the inputs in order.
    kinematics : callable, optional
        Rates of all states that are not accelerated, in state order. For coordinates whose rates are not the velocities
        themselves (quasi-velocities, q' = D(q) w) and for states that are no coordinates (filters, friction bristles).
    velocities : tuple of str
        The states whose rates are the accelerations, in the order of the equations; with `kinematics` they must be
        named. Left empty: the second half of the states, whose rates are the accelerations of the first half.
    after_step : callable, optional
        ``(t, x, u, w, p, h)`` to the state [n_x] to go on with after an integration step of `h` [s]: impacts,
        projections onto constraints, resets. `t` is the step's end, `u` and `w` are those of the step there. The region
        is tested after it; the initial state and the integrals of power and entropy do not pass through it.
    advance : callable, optional
        ``(t, x, u, w, p, h)`` to the state [n_x] after a step `h` [s] that begins at `t`: a step map of the plant's own
        in place of every integrator, for what none of them carries (friction and contact that a step must solve
        together). `derivative` stays what it approximates: linear models, checks and continuous loops use that. `u` and
        `w` are those of the step's start; integrals of power and entropy are left sums. Loop modes do not apply.
    input_delay : str, optional
        Name of the parameter that is the dead time of all inputs [s].
    loses_at_rest : bool
        It dissipates while it rests on its set points, as a heater or a magnet does: measures of entropy production
        then count the excess over the loss at the equilibrium of the present reference (`sscq`).
    constraints : callable, optional
        ``(t, x, u, w, p)`` to what must be 0 in every state that the plant can be in, such as the gaps of a closed
        chain. It needs `admissible`.
    admissible : callable, optional
        ``(x, p, held) -> x`` of floats: the state nearest to `x` that fulfils the constraints with parameters `p`;
        the states numbered in `held` keep their values where they can. ValueError where there is none. Every run
        begins with what it gives (:meth:`start`).
    equations : Equations, optional
        What it was derived from: observers, layout, counts (:mod:`plants.mechanics`).
    step : float
        Integration step [s] that suits its motion under control; `plants.check` advises one.
    text : str
        What it is and where the equations come from.
    task : ControlTask
        What it is for: situations, ranges, operating points, measures and rivals (:mod:`plants.core.quantities`).
    presentation : Presentation
        How reports show it (:mod:`plants.core.presentation`).

    Notes
    -----
    The entries of `task` and `presentation` can be given, replaced and read as the plant's own, too:
    ``Plant(..., situations=..., scene=...)``, ``dataclasses.replace(plant, rivals=())``, ``plant.measures``; the
    presentation's `signals` are called `shown` there.
    """

    name: str
    states: tuple[Quantity, ...]
    parameters: tuple[Quantity, ...] = ()
    inputs: tuple[Quantity, ...] = ()
    disturbances: tuple[Quantity, ...] = ()
    measurements: tuple[Quantity, ...] = ()
    channels: tuple[Channel, ...] = ()
    derivative: Block | None = None
    outputs: Block = _no_disturbance_outputs
    energy: Block | None = None
    supplied_power: Block | None = None
    entropy_rate: Block | None = None
    allocate: Block | None = None
    mass_matrix: Block | None = None
    force: Block | None = None
    acceleration: Block | None = None
    kinematics: Block | None = None
    velocities: tuple[str, ...] = ()
    after_step: Block | None = None
    advance: Block | None = None
    input_delay: str | None = None
    loses_at_rest: bool = False
    constraints: Block | None = None
    admissible: Callable[..., tuple[float, ...]] | None = None
    equations: Any = None
    step: float = 0.01
    text: str = ""
    task: ControlTask = field(default_factory=ControlTask)
    presentation: Presentation = field(default_factory=Presentation)

    def __post_init__(self) -> None:
        """Fill what follows from the rest and check the declaration itself (`plants.check` runs the blocks)."""
        if not self.measurements:
            object.__setattr__(self, "measurements", self.states)
        if self.derivative is None or getattr(self.derivative, "solved", False):
            object.__setattr__(self, "derivative", solved_derivative(self))
        for name in BLOCKS:
            block = getattr(self, name)
            if block is not _no_disturbance_outputs and not getattr(block, "solved", False):
                object.__setattr__(self, name, wrapped(block, name, self))
        check_velocities(self)
        _check_declaration(self)
        if (self.constraints is None) != (self.admissible is None):
            raise ValueError(
                f"plant {self.name!r}: constraints(t, x, u, w, p) and admissible(x, p, held) go together; give both"
            )
        check_rivals(self)
        if self.scene is not None:
            check_scene(self.scene, self.name)
        check_shown(self)

    @property
    def situations(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The task's situations."""
        return self.task.situations

    @property
    def ranges(self) -> OperatingRanges:
        """The task's ranges."""
        return self.task.ranges

    @property
    def operating_points(self) -> tuple[OperatingPoint, ...]:
        """The task's operating points."""
        return self.task.operating_points

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The task's own quality measures."""
        return self.task.measures

    @property
    def trade_off(self) -> tuple[str, ...]:
        """Names of the measures that the task trades off."""
        return self.task.trade_off

    @property
    def rivals(self) -> tuple[Rival, ...]:
        """The task's rival laws."""
        return self.task.rivals

    @property
    def scene(self) -> Scene | None:
        """The presentation's moving picture."""
        return self.presentation.scene

    @property
    def shown(self) -> tuple[PlottedSignal, ...]:
        """The presentation's plotted signals."""
        return self.presentation.signals

    @property
    def has_loop(self) -> bool:
        """Whether the accelerations are declared as mutually dependent."""
        return self.acceleration is not None or self.mass_matrix is not None

    def __repr__(self) -> str:
        """As in ``<Plant two_tanks: 2 states, 1 channel>``; all of it shows a notebook, or `sscq plants NAME`."""
        counts = ((len(self.states), "state"), (len(self.channels), "channel"))
        told = ", ".join(f"{n} {what}{'' if n == 1 else 's'}" for n, what in counts)
        return f"<Plant {self.name}: {told}>"

    def _repr_html_(self) -> str:
        """What it is and all its quantities, for notebooks."""
        kinds = ["states", "parameters", "inputs", "disturbances"]
        kinds += ["measurements"] if self.measurements != self.states else []
        known = [(kind.removesuffix("s"), getattr(self, kind)) for kind in kinds]
        return f"<p><b>{escape(self.name)}</b> {escape(self.text)}</p>{listed(known)}"

    def nominal(self) -> tuple[float, ...]:
        """Return the parameters' nominal values."""
        return tuple(q.nominal for q in self.parameters)

    def initial(self) -> tuple[float, ...]:
        """Return the nominal initial state."""
        return tuple(q.nominal for q in self.states)

    def calm(self) -> tuple[float, ...]:
        """Return the disturbances' values where nothing is given."""
        return tuple(q.rest for q in self.disturbances)

    def values(self, kind: str, given: Mapping[str, float] | Sequence[float] | None) -> tuple[float, ...]:
        """Return all values of `kind` ("states", "parameters") with those `given` replaced.

        Raises
        ------
        ValueError
            For an unknown name (with the near miss), a wrong length, or a parameter outside its bounds.
        """
        quantities = getattr(self, kind)
        values = pick_values(f"{kind} of plant {self.name!r}", quantities, given)
        if kind == "parameters":
            for quantity, value in zip(quantities, values, strict=True):
                if not quantity.low <= value <= quantity.high:
                    raise ValueError(
                        f"parameter {quantity.name!r} of plant {self.name!r} must lie in "
                        f"[{quantity.low:g}, {quantity.high:g}] {quantity.unit}, got {value}"
                    )
        return values

    def start(
        self,
        initial: Mapping[str, float] | Sequence[float] | None = None,
        parameters: Mapping[str, float] | Sequence[float] | None = None,
    ) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the state and the parameters that a run begins with: nominal values with those given replaced.

        A plant with constraints begins in a state that fulfils them with these parameters: states that are given by
        name keep their values, the others follow; where that is impossible, or all are given, all may move.

        Raises
        ------
        ValueError
            As :meth:`values`, and where no state fulfils the constraints.

        Warns
        -----
        StartWarning
            Where states that were given had to move.
        """
        x, p = self.values("states", initial), self.values("parameters", parameters)
        if self.admissible is None:
            return x, p
        names = [q.name for q in self.states]
        given = [] if initial is None else list(initial) if isinstance(initial, Mapping) else names
        places = tuple(names.index(name) for name in given)
        begun = self.admissible(x, p, places)
        moved = [names[k] for k in places if abs(begun[k] - x[k]) > _MOVED * (1.0 + abs(x[k]))]
        if moved and not (len(places) == len(x) and self.fulfils(x)):  # with other parameters a whole state must move
            warnings.warn(
                f"plant {self.name!r}: the start that was given breaks its constraints, so {', '.join(moved)} moved "
                "onto them; plant.start(initial, parameters) shows where to, and naming fewer states keeps those named",
                StartWarning,
                stacklevel=3,
            )
        return begun, p

    def fulfils(self, x: Sequence[float], p: Sequence[float] | None = None) -> bool:
        """Whether a state fulfils the constraints, with nominal parameters or those given."""
        if self.constraints is None:
            return True
        u = tuple(q.nominal for q in self.inputs)
        found = self.constraints(0.0, tuple(x), u, self.calm(), self.nominal() if p is None else tuple(p))
        return all(abs(value) <= _MOVED for value in found)

    def index(self, kind: str, name: str) -> int:
        """Return the position of the quantity called `name` among `kind`; unknown names raise with the near miss."""
        return position(f"{kind} of plant {self.name!r}", [q.name for q in getattr(self, kind)], name)


def _check_declaration(plant: Plant) -> None:
    for kind in ("states", "parameters", "inputs", "disturbances", "measurements"):
        labels = [q.name for q in getattr(plant, kind)]
        if len(set(labels)) != len(labels):
            raise ValueError(f"plant {plant.name!r}: names of {kind} must differ, got {labels}")
    if not plant.states:
        raise ValueError(f"plant {plant.name!r} needs at least one state")
    if not 0.0 < plant.step < float("inf"):
        raise ValueError(f"plant {plant.name!r}: the integration step must be above 0 s, got {plant.step}")
    for name, (companion, _) in _COMPANIONS.items():
        if not isinstance(getattr(plant, name), companion):
            given = type(getattr(plant, name)).__name__
            raise TypeError(f"plant {plant.name!r}: {name} must be a {companion.__name__}, got {given}")
    _check_channels(plant)
    if plant.input_delay is not None:
        plant.index("parameters", plant.input_delay)
    if plant.loses_at_rest and plant.entropy_rate is None:
        raise ValueError(f"plant {plant.name!r} says loses_at_rest but has no entropy_rate(t, x, u, w, p): give one")
    check_names(plant.measures, plant.name)
    own = [measure.name for measure in plant.measures]
    if plant.trade_off and (len(set(plant.trade_off)) < 2 or not set(plant.trade_off) <= set(own)):
        raise ValueError(
            f"plant {plant.name!r}: trade_off must name two or more of its own measures ({', '.join(own) or 'none'}), "
            f"got {plant.trade_off}"
        )


def _check_channels(plant: Plant) -> None:
    measured = [q.name for q in plant.measurements]
    for channel in plant.channels:
        for signal in (channel.output, channel.rate):
            if signal is not None and signal not in measured:
                message = f"plant {plant.name!r}: channel output {signal!r} is not among its measurements {measured}"
                raise ValueError(message)
        if not channel.low < channel.high:
            message = f"plant {plant.name!r}: command limits must satisfy low < high, got {channel.low}, {channel.high}"
            raise ValueError(message)
    if plant.allocate is None and plant.channels and len(plant.channels) != len(plant.inputs):
        raise ValueError(
            f"plant {plant.name!r} has {len(plant.channels)} channels and {len(plant.inputs)} inputs: "
            "give allocate(t, x, commands, p), which turns commands into inputs"
        )


_PLOTTED_KINDS = ("measurements", "states", "inputs", "disturbances")


def plotted_quantity(plant: Plant, name: str) -> tuple[str, Quantity]:
    """Return what a shown signal is called in a record, and its quantity."""
    for kind in _PLOTTED_KINDS:
        for one in getattr(plant, kind):
            if one.name == name:
                return (f"output {name}" if kind == "measurements" else name), one
    names = [one.name for kind in _PLOTTED_KINDS for one in getattr(plant, kind)]
    raise ValueError(unknown(f"signal of plant {plant.name!r} that could be shown:", name, names))


def check_shown(plant: Plant) -> None:
    """Raise where a plant names a signal that it has not, or ranges that cannot be drawn."""
    for one in plant.shown:
        plotted_quantity(plant, one.signal)
        what = f"plant {plant.name!r}: shown signal {one.signal!r}"
        if not one.span >= 0.0:
            raise ValueError(f"{what}: span must be 0 s or more, got {one.span}")
        if not 0.0 <= one.spectrum < math.inf:
            raise ValueError(f"{what}: spectrum must be a highest frequency in Hz, or 0 for none, got {one.spectrum}")
        if one.weighting is not None and not one.weighting_name:
            raise ValueError(f"{what}: say what its weighting is called, weighting_name='Wk of ISO 2631-1'")


def check_rivals(plant: Plant) -> None:
    """Raise where a plant's rivals cannot be tuned in its loop."""
    names = [rival.name for rival in plant.rivals]
    if len(set(names)) != len(names):
        raise ValueError(f"plant {plant.name!r}: names of rivals must differ, got {names}")
    for rival in plant.rivals:
        if len(rival.constants) > len(plant.channels):
            raise ValueError(
                f"rival {rival.name!r} of plant {plant.name!r} may have up to {len(plant.channels)} constants "
                f"(commands of the plant's channels carry them), got {len(rival.constants)}"
            )
        for constant in rival.constants:
            if not -1e300 < constant.low < constant.high < 1e300:
                raise ValueError(
                    f"rival {rival.name!r} of plant {plant.name!r}: constant {constant.name!r} needs finite bounds "
                    f"low < high to be tuned in, got {constant.low}, {constant.high}"
                )


def with_rival(plant: Plant, rival: Rival) -> Plant:
    """Return the plant driven by a rival: the commands of its first channels are the rival's constants.

    Outputs, references and measures stay the plant's own, so that both are judged alike.
    """
    count = len(rival.constants)

    def allocate(t: Any, x: Any, commands: Any, p: Any) -> Any:
        return rival.allocate(t, x, tuple(commands[:count]), p)

    carried = [
        replace(channel, low=constant.low, high=constant.high)
        for channel, constant in zip(plant.channels, rival.constants, strict=False)
    ]
    channels = (*carried, *plant.channels[count:])
    task = replace(plant.task, operating_points=(), rivals=())
    return replace(plant, allocate=allocate, channels=channels, task=task)


def pick_measures(plant: Plant, names: Sequence[str]) -> tuple[Measure, ...]:
    """Return the plant's measures that are among `names`, in the plant's order."""
    return tuple(measure for measure in plant.measures if measure.name in names)


def keywords() -> tuple[str, ...]:
    """Return all that :class:`Plant` takes by name, entries of its companions included."""
    return (*(one.name for one in fields(Plant)), *(word for _, entries in _COMPANIONS.values() for word in entries))
