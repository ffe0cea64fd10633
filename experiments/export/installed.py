"""The whole controller as it is installed: schedule and laws of a knowledge base, an operator's station, a guard.

In each sample: receive (trust, rates), at its tick schedule (gains), act (laws, station, allocation). These are the
order and the operations of the simulated loop; a station in automatic and signals that are trusted change nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.export.guard import Guard, still, trusted, watch
from experiments.export.installed_layout import Layout
from experiments.export.machine import Machine, part
from plants.core.elementary import where

if TYPE_CHECKING:
    from experiments.export.machine import Slots
    from flcs import KnowledgeBase
    from plants import Plant


def installed(kb: KnowledgeBase, plant: Plant, step: float, guard: Guard | None = None, name: str = "") -> Machine:
    """Return the whole controller of a knowledge base.

    Parameters
    ----------
    kb : KnowledgeBase
    plant : Plant
        Its channels, limits and allocation; the knowledge base must have been made for it.
    step : float
        Integration step of the simulation [s]: the sample time where the law has none of its own.
    guard : Guard, optional
    name : str
        Of the machine; left out, the plant's with ``_controller`` behind.

    Returns
    -------
    Machine
        Inputs: a reference for each channel (``r_`` before its name), the measurements, ``authority`` (1: the schedule
        as it is, 0: the reference gains), and for each channel ``manual_`` (above 0: manual) and ``track_`` (the
        command asked for in manual). Outputs: plant inputs where their allocation needs nothing but commands,
        ``command_`` of each channel, all gains, ``fault`` and ``tripped``.

    Raises
    ------
    ValueError
        If the guard's safe commands do not fit the channels, or two signals' names give the same identifier.
    """
    return _Installed(kb, plant, step, guard or Guard()).machine(name or f"{plant.name}_controller")


class _Installed(Layout):
    """The parts of a machine."""

    def machine(self, name: str) -> Machine:
        """Put the parts together."""
        known = tuple(self.memory)
        parts = (
            part("receive", self._receive, known),
            part("schedule", self._schedule, known, self.spec.timing.tick),
            part("act", self._act, known),
        )
        text = f"Fuzzy gain-scheduled PID controller for {self.plant.name}, {self.kb.n_rules} rules"
        used = {signal.name for signal in (*self.inputs, *self.outputs)}
        used |= {slot for p in parts for slot in (*p.program.inputs, *p.writes)}
        memory = {slot: value for slot, value in self.memory.items() if slot in used}
        return Machine(name, text, self.inputs, self.outputs, memory, parts, self.h)

    def _receive(self, m: Slots) -> None:
        """Trust, and the rates of references and measurements."""
        good: Any = 1.0
        moved = [still(m, c.output, c.unmoved, m[f"last_{c.output}"], self.guard, self.h) for c in self.channels]
        checks = [trusted(m, q.name, self.guard, f"last_{q.name}") for q in self.measured]
        checks += [trusted(m, f"r_{c.output}", self.guard, c.last_r) for c in self.channels]
        for check in (*checks, *moved):
            good = good if isinstance(check, float) else where(check, good, 0.0)
        watch(m, good, self.guard, self.h)
        for c in self.channels:
            trusted(m, c.track, self.guard, c.last_track)
            m[c.rate_r] = self._difference(m, m[c.last_r], c.before_r)
            m[c.rate_y] = m[f"last_{c.rate}"] if c.rate else self._difference(m, m[f"last_{c.output}"], c.before_y)
        m["last_authority"] = where(m["authority"], where(1.0 - m["authority"], m["authority"], 1.0), 0.0)

    def _difference(self, m: Slots, now: Any, before: str) -> Any:
        rate = (now - where(m["fresh"], now, m[before])) * (1.0 / self.h)
        m[before] = now
        return rate

    def _seen(self, m: Slots) -> list[tuple[Any, Any, Any, Any]]:
        """Reference, measurement and their rates, of each channel."""
        return [(m[c.last_r], m[f"last_{c.output}"], m[c.rate_r], m[c.rate_y]) for c in self.channels]

    def _states(self, m: Slots, i: int) -> tuple[Any, ...]:
        return tuple(m[f"{self.channels[i].law}_{k}"] for k in range(self.stations[i].n_states))

    def _schedule(self, m: Slots) -> None:
        """Gains at a tick."""
        signals: list[Any] = []
        for i, (r, y, r_rate, y_rate) in enumerate(self._seen(m)):
            signals += [r - y, self.stations[i].error_rate(r_rate, y_rate, self._states(m, i))]
        signals += [m[f"last_{name}"] for name in self.schedule.signals]
        k = tuple(m[f"k_{j}"] for j in range(self.schedule.n_states))
        gains, k_new = self.schedule.gains(0.0, tuple(signals), k, ())
        for j, value in enumerate(k_new):
            m[f"k_{j}"] = value
        reference = [gain for base in self.kb.channels for gain in base.reference]
        share = m["last_authority"]
        for gain, value, rest in zip(self.kb.gain_names, gains, reference, strict=True):
            m[f"gain_{gain}"] = where(1.0 - share, rest + share * (value - rest), value)

    def _act(self, m: Slots) -> None:
        """Laws with their stations, and what goes to the plant."""
        commands = []
        for i, (c, station, seen) in enumerate(zip(self.channels, self.stations, self._seen(m), strict=True)):
            gains = tuple(m[f"gain_{gain}"] for gain in self.kb.gain_names[self.spec.gains_of(i)])
            safe = self._states(m, i)[-1] if self.guard.safe is None else self.guard.safe[i]
            manual = where(m["tripped"], 1.0, m[c.manual])
            track = where(m["tripped"], safe, m[c.last_track])
            command, new = station.law(0.0, *seen, self._states(m, i), (*gains, manual, track))
            for k, value in enumerate(new):
                m[f"{c.law}_{k}"] = value
            m[c.command] = command
            commands.append(command)
        if self.allocated:
            u = _allocated(self.plant, 0.0, self.plant.initial(), tuple(commands), self.plant.nominal())
            for q, value in zip(self.plant.inputs, u, strict=True):
                m[f"u_{q.name}"] = value
        m["fresh"] = 0.0


def _allocated(plant: Plant, t: Any, x: Any, commands: tuple[Any, ...], p: Any) -> tuple[Any, ...]:
    return commands if plant.allocate is None else tuple(plant.allocate(t, x, commands, p))
