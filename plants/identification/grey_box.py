"""A plant of its own equations as a filter sees it: which of its parameters a log is to tell, and what is known before.

    box = GreyBox(two_tanks, ("upper hole", "lower hole"), step=4.0)
    box.parameters          # ("upper hole", "lower hole", "dead_time", "noise", "load", "walk", "load_time")

The command enters through the plant's own allocation, with dead time; a walking and a fading load are added to it, or
to a disturbance of the plant. All columns are in the plant's own units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.analysis.equilibrium import Equilibria
from plants.core.analysis.linearise import linearise
from plants.core.blocks import allocate_inputs, as_tuple
from plants.core.motion.integrators import INTEGRATORS, check_integrator
from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from plants.core.plant import Plant
    from plants.identification.record import LoopRecord

    Array = NDArray[np.float64]

LOADS = ("dead_time", "noise", "load", "walk", "load_time")
"""Parameters behind the fitted ones: [s], [y], [l], [l/sqrt(s)], [s], with l what is loaded: command or disturbance."""

_UNCERTAIN = 0.3  # of the span of a state that no output shows: its standard deviation at the start of a log
_VAGUE = 1.0  # of the command's span: standard deviation of the walking load at the start


@dataclass(frozen=True, eq=False)
class GreyBox:
    """A plant, and which of its parameters are searched.

    Attributes
    ----------
    plant : Plant
        With one channel; its output and its command are the columns of the log.
    fitted : tuple of str
        Names of parameters, positive ones.
    step : float
        Between rows [s].
    loaded : str
        The disturbance that the loads are added to; empty: the command.
    integrator : str
        The plant's between rows.

    Raises
    ------
    ValueError
        If the plant has not one channel, a parameter is unknown, not positive or the dead time's, or the plant changes
        its state at the end of a step.
    """

    plant: Plant
    fitted: tuple[str, ...]
    step: float
    loaded: str = ""
    integrator: str = "rk4"
    places: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Check."""
        plant, names = self.plant, tuple(q.name for q in self.plant.parameters)
        check_integrator(self.integrator)
        if len(plant.channels) != 1:
            raise ValueError(f"a log is of one loop, and {plant.name} has {len(plant.channels)} channels")
        if plant.after_step is not None:
            raise ValueError(f"{plant.name} has impacts or resets at the end of a step: no filter follows them")
        if self.loaded and self.loaded not in {q.name for q in plant.disturbances}:
            raise ValueError(unknown("disturbance", self.loaded, tuple(q.name for q in plant.disturbances)))
        if not self.fitted:
            raise ValueError(f"say which parameters the log is to tell: {', '.join(names)}")
        for name in self.fitted:
            if name not in names:
                raise ValueError(unknown("parameter", name, names))
            nominal = plant.parameters[names.index(name)].nominal
            if not nominal > 0.0:
                raise ValueError(f"only positive parameters are fitted, as logarithms; {name} is {nominal:g}")
            if name == plant.input_delay:
                raise ValueError(f"{name} is the dead time, which is fitted in any case; leave it out")
        if len(set(self.fitted)) < len(self.fitted):
            raise ValueError(f"a parameter is named twice: {', '.join(self.fitted)}")
        object.__setattr__(self, "places", tuple(names.index(name) for name in self.fitted))

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of what the filter is given."""
        return (*self.fitted, *LOADS)

    @property
    def nominal(self) -> Array:
        """Nominal values of the fitted parameters [n_fitted]."""
        return np.array([self.plant.parameters[k].nominal for k in self.places])

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Declared bounds of the fitted parameters [n_fitted]; the lower ones at least next to nothing."""
        several = [self.plant.parameters[k] for k in self.places]
        tiny = float(np.finfo(float).tiny)
        return np.array([max(q.low, tiny) for q in several]), np.array([q.high for q in several])

    @property
    def parts(self) -> int:
        """Integration steps between two rows, each no longer than the plant's own."""
        return max(1, math.ceil(self.step / self.plant.step - 1e-9))

    @cached_property
    def output(self) -> int:
        """Place of the measured output."""
        return self.plant.index("measurements", self.plant.channels[0].output)

    @property
    def unknowns(self) -> int:
        """States and both loads."""
        return len(self.plant.states) + 2

    def values(self, parameters: Array) -> Array:
        """Return all of the plant's parameters [n, n_parameters of the plant]; its own dead time is taken out."""
        table = np.tile([q.nominal for q in self.plant.parameters], (len(parameters), 1)).astype(float)
        table[:, list(self.places)] = parameters[:, : len(self.places)]
        if self.plant.input_delay is not None:
            table[:, [q.name for q in self.plant.parameters].index(self.plant.input_delay)] = 0.0
        return table

    def measured(self, t: Any, x: Sequence[Any], command: Any, load: Any, p: Sequence[Any]) -> Any:
        """Return the output; of numbers, and of the traced ones of a kernel."""
        u, w = self._inputs(t, tuple(x), command, load, tuple(p)), self._disturbances(load)
        values = self.plant.outputs(t, tuple(x), u, w, tuple(p))
        return as_tuple(values, len(self.plant.measurements), self.plant.name)[self.output]

    def moved(self, t: Any, x: Sequence[Any], command: Any, load: Any, p: Sequence[Any], h: Any) -> tuple[Any, ...]:
        """Return the state after `h` seconds under a held command and load."""
        plant, w = self.plant, self._disturbances(load)
        n, x, p = len(plant.states), tuple(x), tuple(p)
        if plant.advance is not None:
            return as_tuple(plant.advance(t, x, self._inputs(t, x, command, load, p), w, p, h), n, plant.name)

        def rates(time: Any, state: tuple[Any, ...]) -> tuple[Any, ...]:
            u = self._inputs(time, state, command, load, p)
            return as_tuple(plant.derivative(time, state, u, w, p), n, plant.name)  # type: ignore[misc]

        new: tuple[Any, ...] = INTEGRATORS[self.integrator](rates, t, x, h)
        return new

    def _inputs(self, t: Any, x: tuple[Any, ...], command: Any, load: Any, p: tuple[Any, ...]) -> tuple[Any, ...]:
        return allocate_inputs(self.plant, t, x, (command if self.loaded else command + load,), p)

    def _disturbances(self, load: Any) -> tuple[Any, ...]:
        names = [q.name for q in self.plant.disturbances]
        return tuple(
            rest + load if name == self.loaded else rest for name, rest in zip(names, self.plant.calm(), strict=True)
        )

    @cached_property
    def load_scale(self) -> float:
        """What moves the nominal plant as much as a unit of the command does, in units of what is loaded."""
        if not self.loaded:
            return 1.0
        rest = Equilibria(self.plant).at([self.plant.measurements[self.output].nominal])
        model = linearise(self.plant, rest.state.tolist(), input=rest.commands.tolist(), commands=True)
        spans, place = self._spans(rest.state), self.plant.index("disturbances", self.loaded)
        by_command, by_load = (float(np.linalg.norm(column / spans)) for column in (model.B[:, 0], model.E[:, place]))
        if not by_load > 0.0:
            raise ValueError(f"{self.loaded} does not move {self.plant.name} at rest; name another disturbance")
        return by_command / by_load

    def _spans(self, state: Array) -> Array:
        return np.array([_span(q.low, q.high, value) for q, value in zip(self.plant.states, state, strict=True)])

    def start(self, record: LoopRecord) -> tuple[Array, Array]:
        """Return mean [n] and covariance [n, n] of states and loads before the first row; not that of the fading load.

        The nominal plant is at rest at the first outputs, held there by a load that nobody knows; its states are within
        a share of their spans.
        """
        channel, first = self.plant.channels[0], float(record.input[0])
        rest = Equilibria(self.plant).at([record.origin[0]])
        load = 0.0 if self.loaded else float(rest.commands[0]) - first
        span = self.load_scale * _span(channel.low, channel.high, float(np.ptp(record.input)) + abs(load))
        mean = np.array([*rest.state, load, 0.0])
        return mean, np.diag([*(_UNCERTAIN * self._spans(rest.state)) ** 2, (_VAGUE * span) ** 2, 0.0])


def _span(low: float, high: float, value: float) -> float:
    """The span of a quantity, where it has bounds; else twice its value, or 1."""
    return high - low if math.isfinite(high - low) else max(2.0 * abs(value), 1.0)
