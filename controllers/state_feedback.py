"""State feedback with integral action (LQI) for all channels of a plant at once, as a schedule and a law.

The schedule sees all errors and any plant output, so the whole feedback stands there: its "gain" of a channel is the
channel's demand. The law passes the demand on inside its limits. So the closed loop is the one of every other
controller: the same sampling, noise, delays and limits. With deviations from the point of rest (x0, u0, y0), the
reference r' = r - y0, and the last m commands v::

    u = u0 + N_u r' - K (x - x0 - N_x r') - P (v - u0 - N_u r') + K_i q
    q <- q + h e,  where that does not drive a command further beyond its limit

N_x and N_u hold the state and the command at rest for a reference (G. F. Franklin, J. D. Powell, M. Workman, Digital
Control of Dynamic Systems, 3rd ed. (Addison-Wesley, 1998), sec. 8.4). P is there for dead time: the commands on their
way are states of the sampled plant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from controllers import settings, windup
from controllers.schedule import MemorylessSchedule
from plants.core.elementary import where

if TYPE_CHECKING:
    from controllers.protocols import Number, Numbers


@dataclass(frozen=True)
class DemandLaw:
    """Law of one channel that passes on the demand it is given, inside limits and rate limit.

    Its second gain, kd, acts on nothing: it tells which part of the demand acts on the output's rate, for the entropy
    that the controller gives.

    Attributes
    ----------
    limits : (low, high), optional
        Of the command; None: the closed loop gives it the channel's.
    rate_limit : float, optional
        Of the command [unit/s].
    sample_time : float, optional
        [s]; a closed loop binds it.
    rest : float
        Command before the first sample.
    """

    limits: tuple[float, float] | None = None
    rate_limit: float | None = None
    sample_time: float | None = None
    rest: float = 0.0

    def __post_init__(self) -> None:
        """Check."""
        object.__setattr__(self, "rate_limit", settings.optional_positive("rate_limit", self.rate_limit))
        if self.limits is not None:
            object.__setattr__(self, "limits", settings.interval("limits", self.limits))

    @property
    def gain_names(self) -> tuple[str, ...]:
        """The demand [unit of the command], and the part of it on the rate."""
        return "demand", "kd"

    @property
    def n_states(self) -> int:
        """The last command, where its rate is limited."""
        return 0 if self.rate_limit is None else 1

    def initial(self) -> tuple[float, ...]:
        """Return the command at rest."""
        low, high = windup.window(self.limits, None, None)
        return (float(windup.limited(self.rest, low, high)),) * self.n_states

    def error_rate(self, r_rate: Number, y_rate: Number, c: Numbers) -> Number:
        """Return the error rate r' - y'."""
        return r_rate - y_rate

    def law(
        self, t: Number, r: Number, y: Number, r_rate: Number, y_rate: Number, c: Numbers, g: Numbers
    ) -> tuple[Number, Numbers]:
        """Return the demand inside the limits, and it again where the next sample needs it."""
        travel = None if self.rate_limit is None else self.rate_limit * (self.sample_time or 0.0)
        low, high = windup.window(self.limits, travel, c[0] if c else None)
        command = windup.limited(g[0], low, high)
        return command, (command,) * self.n_states

    def continuous(
        self, t: Number, r: Number, y: Number, r_rate: Number, y_rate: Number, c: Numbers, g: Numbers
    ) -> tuple[Number, Numbers]:
        """Refuse: the demand is made of samples."""
        raise ValueError("state feedback with its schedule is a sampled controller; simulate the sampled loop")


@dataclass(frozen=True)
class StateFeedback(MemorylessSchedule):
    """Demands of all channels from measured states, integrals of the errors and commands on their way.

    theta: K [n_channels][n_x], P [n_channels][delay * n_channels] (the newest commands first), K_i [n_channels]
    [n_integrals], kd [n_channels]; see :attr:`theta_names`.

    Attributes
    ----------
    measured : tuple of str
        Plant outputs that are the states, in their order.
    outputs : tuple of str
        Controlled outputs, one per channel.
    rest_state, rest_command, rest_output : tuple of float
        x0, u0, y0.
    state_per_reference, command_per_reference : tuple of tuples [n_x][n_channels], [n_channels][n_channels]
        N_x and N_u.
    integrating : tuple of int
        Channels whose error is integrated, from 0.
    limits : tuple of (low, high)
        Of the commands, for the anti-windup.
    sample_time : float
        [s].
    delay : int
        Samples of dead time.
    """

    measured: tuple[str, ...]
    outputs: tuple[str, ...]
    rest_state: tuple[float, ...]
    rest_command: tuple[float, ...]
    rest_output: tuple[float, ...]
    state_per_reference: tuple[tuple[float, ...], ...]
    command_per_reference: tuple[tuple[float, ...], ...]
    integrating: tuple[int, ...]
    limits: tuple[tuple[float, float], ...]
    sample_time: float
    delay: int = 0

    @property
    def n_channels(self) -> int:
        """Number of channels."""
        return len(self.outputs)

    @property
    def gain_names(self) -> tuple[str, ...]:
        """Those of a DemandLaw for each channel."""
        n = self.n_channels
        return ("demand", "kd") if n == 1 else tuple(f"{w}_{i}" for i in range(1, n + 1) for w in ("demand", "kd"))

    @property
    def theta_names(self) -> tuple[str, ...]:
        """Feedback of every channel's demand: states, commands on their way, integrals, rate."""
        n = range(1, self.n_channels + 1)
        names = [f"k[{i},{state}]" for i in n for state in self.measured]
        names += [f"past[{i},{j}-{age}]" for i in n for age in range(1, self.delay + 1) for j in n]
        names += [f"ki[{i},{j + 1}]" for i in n for j in self.integrating]
        return tuple(names + [f"kd[{i}]" for i in n])

    @property
    def tick(self) -> None:
        """Every sample."""
        return

    @property
    def signals(self) -> tuple[str, ...]:
        """The states and the controlled outputs."""
        return tuple(dict.fromkeys((*self.measured, *self.outputs)))

    @property
    def highest_channel(self) -> int:
        """All channels' errors are read."""
        return self.n_channels

    @property
    def n_states(self) -> int:
        """Integrals, and commands on their way."""
        return len(self.integrating) + self.delay * self.n_channels

    def initial(self) -> tuple[float, ...]:
        """Return no integral, and commands at rest."""
        return (0.0,) * len(self.integrating) + self.rest_command * self.delay

    def gains(self, t: Number, s: Numbers, k: Numbers, theta: Numbers) -> tuple[Numbers, Numbers]:
        """Return the demands, each with its kd, and the new integrals and commands."""
        n, n_q = self.n_channels, len(self.integrating)
        errors = [s[2 * i] for i in range(n)]
        seen = dict(zip(self.signals, s[2 * n :], strict=True))
        goal = [e + seen[y] - y0 for e, y, y0 in zip(errors, self.outputs, self.rest_output, strict=True)]
        state = [
            seen[name] - x0 - _along(row, goal)
            for name, x0, row in zip(self.measured, self.rest_state, self.state_per_reference, strict=True)
        ]
        rest = [u0 + _along(row, goal) for u0, row in zip(self.rest_command, self.command_per_reference, strict=True)]
        past = [v - rest[j % n] for j, v in enumerate(k[n_q:])]
        of_state, of_past, of_integral, kd = self._parts(theta)
        demands, commands, growth = [], [], [self.sample_time * errors[i] for i in self.integrating]
        for i, (low, high) in enumerate(self.limits):
            back = sum((a * b for a, b in zip(of_state[i], state, strict=True)), 0.0)
            back = back + sum((a * b for a, b in zip(of_past[i], past, strict=True)), 0.0)
            demands.append(rest[i] - back + sum((a * q for a, q in zip(of_integral[i], k[:n_q], strict=True)), 0.0))
            commands.append(windup.limited(demands[i], low, high))
            growth = [_held(g, a, demands[i], low, high) for g, a in zip(growth, of_integral[i], strict=True)]
        integrals = tuple(q + g for q, g in zip(k[:n_q], growth, strict=True))
        moved = (*commands, *k[n_q:])[: self.delay * n]
        return tuple(v for pair in zip(demands, kd, strict=True) for v in pair), (*integrals, *moved)

    def _parts(self, theta: Numbers) -> tuple[list[Numbers], list[Numbers], list[Numbers], Numbers]:
        """K, P, K_i by rows, and kd."""
        n, first, found = self.n_channels, 0, []
        for width in (len(self.measured), self.delay * n, len(self.integrating)):
            found.append([tuple(theta[first + i * width : first + (i + 1) * width]) for i in range(n)])
            first += n * width
        return found[0], found[1], found[2], tuple(theta[first:])


def _along(row: tuple[float, ...], goal: list[Number]) -> Number:
    return sum((factor * value for factor, value in zip(row, goal, strict=True) if factor != 0.0), 0.0)


def _held(growth: Number, gain: Number, demand: Number, low: float, high: float) -> Number:
    """Growth of an integral, 0 where the demand is at a limit and the growth would drive it further out."""
    effect = gain * growth
    if math.isfinite(high):
        growth = where(high - demand, growth, where(effect, 0.0, growth))
    if math.isfinite(low):
        growth = where(demand - low, growth, where(-effect, 0.0, growth))
    return growth
