"""The PID law in parallel form: its settings, and one sample of it, everything that its final classes share.

The law (h: sample time, e = r - y, d: filtered rates)::

    d <- d + (h / tau_f) (rate - d)                       for the rates of r and of y
    v  = kp (b r - y) + w + kd (d_r - d_y)                demand
    u  = v inside the limits and the rate limit           command
    w <- w + h ki e                                       integral, with anti-windup

`w` stores the integral of ki * e in units of the command, not the integral of e: a change of ki makes no bump, and
one of kp or kd none beyond its own term (kp e + kd e'). Settings are checked where they are given.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, ClassVar

from controllers import settings, windup
from controllers.settings import setting
from plants.core.elementary import abs as magnitude
from plants.core.elementary import where

if TYPE_CHECKING:
    from controllers.protocols import Number, Numbers


@dataclass(frozen=True)
class LawSettings(ABC):  # noqa: B024  (abstract by its only subclass, which adds the law)
    """Settings of one channel's law; :class:`controllers.PID` documents them."""

    limits: tuple[float, float] | None = setting(None, "command limits [low, high]; null: none")
    rate_limit: float | None = setting(None, "largest rate of the command", unit="1/s", above=0)
    derivative_filter_time: float = setting(0.0, "time constant of the derivative's filter", unit="s", low=0)
    sample_time: float | None = setting(None, "sample time; null: the integration step", unit="s", above=0)
    action: str = setting("direct", "direct: more command raises the output", choices=("direct", "reverse"))
    derivative_on: str = setting("error", "what the derivative acts on", choices=("error", "measurement"))
    anti_windup: str = setting(
        "conditional", "how the integral is kept from winding up", choices=("conditional", "back_calculation", "none")
    )
    tracking_time: float | None = setting(None, "time constant of back calculation", unit="s", above=0, advanced=True)
    external_reset: bool = setting(False, "back calculation from the command that reached the plant")
    rate_source: str = setting(
        "output", "error rate from the plant's rate output or by differencing", choices=("output", "difference")
    )
    initial_command: float = setting(0.0, "command at rest before t = 0")
    hold_invalid: bool = setting(False, "hold command and states while a signal is not finite")
    frozen_after: float | None = setting(
        None, "hold them, too, once the measurement has stood still for so long; null: it may", unit="s", above=0
    )

    _own_gains: ClassVar[tuple[str, ...]] = ("kp", "ki", "kd")

    def __post_init__(self) -> None:
        """Check and coerce the settings."""
        settings.check(self, "PID")
        for name in ("rate_limit", "sample_time", "tracking_time", "frozen_after"):
            value = getattr(self, name)
            object.__setattr__(self, name, None if value is None else float(value))
        for name in ("derivative_filter_time", "initial_command"):
            object.__setattr__(self, name, settings.finite(name, getattr(self, name)))
        if self.limits is not None:
            object.__setattr__(self, "limits", settings.interval("limits", self.limits))
        self._check_initial_command()
        self._check_anti_windup()
        self._check_time_constants()

    def _check_initial_command(self) -> None:
        if self.initial_command != 0.0 and self.initial_command != self.at_rest():
            message = f"initial_command {self.initial_command} must lie inside the limits {self.limits}; set it there"
            raise ValueError(message)

    def at_rest(self) -> float:
        """Last command before t = 0: inside the limits even where 0, "not known", is not."""
        low, high = (-math.inf, math.inf) if self.limits is None else self.limits
        return min(max(self.initial_command, low), high)

    def _check_anti_windup(self) -> None:
        if self.anti_windup == "back_calculation" and self.tracking_time is None:
            message = (
                "anti_windup 'back_calculation' needs tracking_time [s]: the time constant with which the integral is "
                "led back (usual: between kd / kp and kp / ki)"
            )
            raise ValueError(message)
        if self.external_reset and self.anti_windup != "back_calculation":
            message = f"external_reset needs anti_windup 'back_calculation', got {self.anti_windup!r}"
            raise ValueError(message)

    def _check_time_constants(self) -> None:
        for name in ("derivative_filter_time", "tracking_time"):
            value = getattr(self, name)
            if self.sample_time is not None and value and value < self.sample_time:
                message = (
                    f"{name} {value} s is shorter than the sample time {self.sample_time} s: its discrete form would "
                    f"overshoot in every sample (and be unstable below half of it); use {name} >= {self.sample_time}"
                    + (" or 0 for no filter" if name == "derivative_filter_time" else "")
                )
                raise ValueError(message)

    @property
    def gain_names(self) -> tuple[str, ...]:
        """Names of the gains `g`; the last one is "applied" with ``external_reset``."""
        return self._own_gains + (("applied",) if self.external_reset else ())

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of the controller states `c`: only those that the settings need."""
        names = ["integral"]
        if self.derivative_filter_time > 0.0:
            names += ["reference_rate", "output_rate"]
        if self.rate_limit is not None or self.hold_invalid or self.frozen_after is not None:
            names.append("command")
        if self.frozen_after is not None:
            names += ["measurement", "unchanged"]
        return tuple(names)

    @property
    def n_states(self) -> int:
        """Number of controller states."""
        return len(self.state_names)

    def initial(self) -> tuple[float, ...]:
        """Return the state at rest: no rates, integral and last command at ``initial_command``."""
        rest = {"integral": self.initial_command, "command": self.at_rest(), "unchanged": -1.0}
        return tuple(rest.get(name, 0.0) for name in self.state_names)


_LARGEST = 1e300  # a finite sum of magnitudes is below it; NaN and infinity are not
_ROUNDING = 1e-9  # relative; a time that is a whole number of samples must not be rounded up to one more


@dataclass(frozen=True)
class ParallelLaw(LawSettings):
    """Samples of the parallel PID law; its final classes say which reference the proportional term sees."""

    def error_rate(self, r_rate: Number, y_rate: Number, c: Numbers) -> Number:
        """Return the filtered error rate r' - y' of this sample: what the law's derivative term and a schedule see."""
        of_reference, of_output = self._rates(r_rate, y_rate, self._named(c))
        return of_reference - of_output

    def law(
        self, t: Number, r: Number, y: Number, r_rate: Number, y_rate: Number, c: Numbers, g: Numbers
    ) -> tuple[Number, Numbers]:
        """One sample.

        Parameters
        ----------
        t : number
            Time [s]; not used.
        r, y, r_rate, y_rate : number
            Reference and measurement, and their rates [per s].
        c : tuple of number [n_states]
        g : tuple of number
            Gains in the order of ``gain_names``.

        Returns
        -------
        command : number
        c_new : tuple of number [n_states]
        """
        step, now = self._step(), self._named(c)
        rates = self._rates(r_rate, y_rate, now)
        demand = self._demand(r, y, rates, self._acting(now["integral"], g), g)
        travel = None if self.rate_limit is None else self.rate_limit * step
        low, high = windup.window(self.limits, travel, now.get("command"))
        command = windup.limited(demand, low, high)
        growth = step * g[1] * self._directed(r, y)
        if self.anti_windup == "conditional":
            growth = windup.conditional(growth, demand, low, high)
        elif self.anti_windup == "back_calculation":
            growth = growth + step / self._tracking() * (self._applied(command, g) - demand)
        new = self._filter_states(rates) | {"integral": now["integral"] + self._stored(growth, g), "command": command}
        trusted, watched = self._watch(now, (r, y, r_rate, y_rate), (demand, growth))
        if trusted is not None:
            command = where(trusted, command, now["command"])
            new = {name: where(trusted, value, now[name]) for name, value in new.items()}
        return command, self._ordered(new | watched)

    def follow(
        self, r: Number, y: Number, r_rate: Number, y_rate: Number, c: Numbers, g: Numbers, command: Number
    ) -> Numbers:
        """Return the state after a sample in which somebody else applied `command`.

        The filters move on and the integral becomes what is left of `command` without the proportional and derivative
        terms, so that the law takes over from there without a bump.
        """
        now = self._named(c)
        rates = self._rates(r_rate, y_rate, now)
        rest = self._demand(r, y, rates, 0.0, g)
        new = self._filter_states(rates) | {"integral": self._stored(command - rest, g)}
        trusted, watched = self._watch(now, (r, y, r_rate, y_rate), (rest, command))
        if trusted is not None:
            new = {name: where(trusted, value, now[name]) for name, value in new.items()}
        return self._ordered(new | watched | {"command": command})

    def continuous(
        self, t: Number, r: Number, y: Number, r_rate: Number, y_rate: Number, c: Numbers, g: Numbers
    ) -> tuple[Number, Numbers]:
        """Return the law for a loop closed in continuous time: the command and the rates of the states.

        Arguments as for :meth:`law`; the states are the integral and, with a filter, the two filtered rates, which the
        derivative term reads. The command is limited and the integral has its anti-windup.

        Raises
        ------
        ValueError
            If a setting is on that only a sampled law has: ``rate_limit``, ``hold_invalid``, ``frozen_after``.
        """
        self._refuse_sampled_settings()
        now, rates = self._named(c), (r_rate, y_rate)
        filter_rates = {}
        if self.derivative_filter_time > 0.0:
            rates = (now["reference_rate"], now["output_rate"])
            moving = ((r_rate - rates[0]), (y_rate - rates[1]))
            filter_rates = self._filter_states(tuple(rate / self.derivative_filter_time for rate in moving))
        demand = self._demand(r, y, rates, self._acting(now["integral"], g), g)
        low, high = windup.window(self.limits, None, None)
        command = windup.limited(demand, low, high)
        growth = g[1] * self._directed(r, y)
        if self.anti_windup == "conditional":
            growth = windup.conditional(growth, demand, low, high)
        elif self.anti_windup == "back_calculation":
            growth = growth + (self._applied(command, g) - demand) / self._tracking()
        return command, self._ordered(filter_rates | {"integral": self._stored(growth, g)})

    @abstractmethod
    def _weighted(self, r: Number, g: Numbers) -> Number:
        """Return the reference as the proportional term sees it."""

    def _acting(self, integral: Number, g: Numbers) -> Number:
        """Return the integral's part of the demand."""
        return integral

    def _stored(self, part: Number, g: Numbers) -> Number:
        """Return a part of the demand as the integral stores it."""
        return part

    def _directed(self, reference: Number, output: Number) -> Number:
        """Error in the sense of the action: positive asks for more command."""
        return reference - output if self.action == "direct" else output - reference

    def _demand(self, r: Number, y: Number, rates: Numbers, integral: Number, g: Numbers) -> Number:
        proportional = self._directed(self._weighted(r, g), y)
        derivative = self._directed(rates[0] if self.derivative_on == "error" else 0.0, rates[1])
        return g[0] * proportional + integral + g[2] * derivative

    def _rates(self, r_rate: Number, y_rate: Number, now: dict[str, Number]) -> tuple[Number, Number]:
        if self.derivative_filter_time == 0.0:
            return r_rate, y_rate
        share = self._step() / self.derivative_filter_time
        of_reference, of_output = now["reference_rate"], now["output_rate"]
        return of_reference + share * (r_rate - of_reference), of_output + share * (y_rate - of_output)

    def _filter_states(self, rates: Numbers) -> dict[str, Number]:
        if self.derivative_filter_time == 0.0:
            return {}
        return {"reference_rate": rates[0], "output_rate": rates[1]}

    def _applied(self, command: Number, g: Numbers) -> Number:
        """Command that reached the plant: the measured one with external reset, else this law's own."""
        return g[len(self._own_gains)] if self.external_reset else command

    def _watch(self, now: dict[str, Number], signals: Numbers, results: Numbers) -> tuple[Number, dict[str, Number]]:
        """Whether signals and results can be trusted (where > 0; None: nobody asked), and the watch's new states."""
        trusted, states = None, {}
        r, y, r_rate, y_rate = signals
        if self.frozen_after is not None:
            moved = magnitude(y - now["measurement"])
            unchanged = where(moved, 0.0, now["unchanged"] + 1.0)
            states = {"measurement": where(moved, y, now["measurement"]), "unchanged": unchanged}
            trusted = ceil(self.frozen_after / self._step() * (1.0 - _ROUNDING)) - 0.5 - unchanged
        if self.hold_invalid:
            finite = _LARGEST - sum(magnitude(v) for v in (r - y, r_rate - y_rate, *results))
            trusted = finite if trusted is None else where(trusted, finite, 0.0)
        return trusted, states

    def _named(self, c: Numbers) -> dict[str, Number]:
        return dict(zip(self.state_names, c, strict=True))

    def _ordered(self, states: dict[str, Number]) -> Numbers:
        return tuple(states[name] for name in self.state_names)

    def _step(self) -> float:
        if self.sample_time is None:
            message = (
                "sample_time is not set: a closed loop binds it to its own; elsewhere use "
                "dataclasses.replace(law, sample_time=0.01) [s]"
            )
            raise ValueError(message)
        return self.sample_time

    def _tracking(self) -> float:
        return self.tracking_time if self.tracking_time is not None else 1.0  # set wherever it is read: __post_init__

    def _refuse_sampled_settings(self) -> None:
        on = [name for name in ("rate_limit", "frozen_after") if getattr(self, name) is not None]
        on += ["hold_invalid"] if self.hold_invalid else []
        if on:
            message = (
                f"a law closed in continuous time has no samples, so {', '.join(on)} cannot be kept; "
                "switch it off with dataclasses.replace, or simulate the sampled loop"
            )
            raise ValueError(message)
