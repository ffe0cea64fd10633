"""One sample of a controller as operations on named numbers: receive, schedule, act.

Laws and schedule are put together here and nowhere else. The kernel of a closed loop traces these operations on the
rows of its lanes, an export on the slots of its machine's memory: so the proof of an export tests what prints it, not a
second law. The numbers, each with a place (a channel, where nothing else is said):

=====================  =============================================================
``r``, ``y``           reference and measurement of this sample
``r_before``, ...      those of the sample before, where the rate is a difference
``r_rate``, ``y_rate`` their rates
``extra``              plant outputs that the schedule reads besides, in its order
``g``                  gains in force, of all channels in turn
``k``, ``theta``       states and parameters of the schedule
``c0``, ``c1``, ...    states of each channel's law
``command``            what each law asks for
``fresh``              one number: 1 in the first sample, then 0
=====================  =============================================================

What is not the same on both sides stays there: how ``r`` and ``y`` come (sensors and delays of a simulation; the trust
in signals of an installation), when the schedule is due (a condition of the kernel, a count of the machine), who else
may set gains (authority, a sum over a grid in loops of its own), and what follows the commands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from plants.core.elementary import where

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from controllers.protocols import Law, Number, Numbers
    from sscq.loop.spec import LoopSpec


class NamedNumbers(Protocol):
    """A memory of numbers by name and place."""

    def __getitem__(self, place: tuple[str, int]) -> Any:
        """Return a number as it is now."""

    def __setitem__(self, place: tuple[str, int], value: Any) -> None:
        """Write a number."""


class SampledController:
    """Laws and schedule of a closed loop, sample by sample.

    Parameters
    ----------
    spec : LoopSpec
    laws : sequence of Law, optional
        In place of the spec's own, with the same gains first: stations around them.
    """

    def __init__(self, spec: LoopSpec, laws: Sequence[Law] | None = None) -> None:
        self.spec, self.laws = spec, spec.laws if laws is None else tuple(laws)
        self._per_second = 1.0 / spec.timing.sample_time

    def receive(self, m: NamedNumbers, kind: str, i: int, now: Number, rate: Number | None = None) -> None:
        """Note channel `i`'s reference ("r") or measurement ("y") of this sample, and its rate.

        Parameters
        ----------
        now : number
        rate : number, optional
            As it is measured; left out, the backward difference, 0 in the first sample.
        """
        m[kind, i] = now
        if rate is None:
            rate = (now - where(m["fresh", 0], now, m[f"{kind}_before", i])) * self._per_second
            m[f"{kind}_before", i] = now
        m[f"{kind}_rate", i] = rate

    def signals(self, m: NamedNumbers) -> Numbers:
        """Return the scheduling signals: e and filtered e' of every channel, then the extra outputs as measured."""
        values: list[Number] = []
        for i, (law, (r, y, r_rate, y_rate)) in enumerate(zip(self.laws, self._seen(m), strict=True)):
            values += [r - y, law.error_rate(r_rate, y_rate, self._states(m, i))]
        return (*values, *_several(m, "extra", len(self.spec.controller.schedule.signals)))

    def asked(
        self, m: NamedNumbers, t: Number, signals: Numbers | None = None
    ) -> tuple[Number, Numbers, Numbers, Numbers]:
        """Return what a schedule is asked with: time, signals (those of the laws, or given ones), state, parameters."""
        controller = self.spec.controller
        signals = self.signals(m) if signals is None else signals
        k = _several(m, "k", controller.schedule.n_states)
        return t, signals, k, _several(m, "theta", controller.n_theta)

    def schedule(self, m: NamedNumbers, t: Number, signals: Numbers | None = None) -> Numbers:
        """Return the gains that the schedule gives, and renew its state; the arguments are those of :meth:`asked`."""
        gains, state = self.spec.controller.schedule.gains(*self.asked(m, t, signals))
        self.renew(m, state)
        return gains

    def renew(self, m: NamedNumbers, state: Numbers) -> None:
        """Note the new state of the schedule."""
        for j, value in enumerate(state):
            m["k", j] = value

    def act(self, m: NamedNumbers, t: Number, more: Callable[[int], Numbers] | None = None) -> Numbers:
        """Note the command of every channel and the new states of its law; return the commands as the laws give them.

        Parameters
        ----------
        more : callable, optional
            From a channel to what its law reads behind the scheduled gains.
        """
        commands = []
        for i, (law, seen) in enumerate(zip(self.laws, self._seen(m), strict=True)):
            span = self.spec.gains_of(i)
            gains = tuple(m["g", j] for j in range(span.start, span.stop))
            beside = () if more is None else more(i)
            command, states = law.law(t, *seen, self._states(m, i), (*gains, *beside))
            for j, value in enumerate(states):
                m[f"c{i}", j] = value
            m["command", i] = command
            commands.append(command)
        return tuple(commands)

    def _seen(self, m: NamedNumbers) -> list[tuple[Number, Number, Number, Number]]:
        """Reference, measurement and their rates, of each channel."""
        return [(m["r", i], m["y", i], m["r_rate", i], m["y_rate", i]) for i in range(len(self.laws))]

    def _states(self, m: NamedNumbers, i: int) -> Numbers:
        return _several(m, f"c{i}", self.laws[i].n_states)


def _several(m: NamedNumbers, name: str, count: int) -> Numbers:
    return tuple(m[name, j] for j in range(count))
