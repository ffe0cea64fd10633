"""Recorded signals of simulated closed loops: what the controller saw in each sample, and what it answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from flcs import FuzzyController
from plants.core.names import identifier
from sscq.loop.closed_loop import ClosedLoop

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from flcs import KnowledgeBase
    from flcs.export.machine import Machine
    from plants import Plant
    from sscq.situations.situation import Situation

    Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Recording:
    """One situation as a machine sees it.

    Attributes
    ----------
    situation : str
    inputs : array [n_samples, n_inputs]
        Of the machine.
    outputs : array [n_samples, n_outputs]
        What the simulated controller gave; NaN where the simulation has no such signal.
    """

    situation: str
    inputs: Array
    outputs: Array


def recordings(
    kb: KnowledgeBase, plant: Plant, situations: Sequence[Situation], step: float, machine: Machine,
    integrator: str = "rk4",
) -> Iterator[Recording]:  # fmt: skip
    """Simulate the knowledge base's closed loop and yield what its controller saw and gave.

    A rollout that diverges is recorded up to there.
    """
    controller = FuzzyController(kb).frozen()
    taken_every = max(1, round(machine.sample_time / step))
    loop = ClosedLoop(plant, controller, situations, step, integrator=integrator, measures=("iae",), observe=True)
    columns = _columns(loop, machine)
    rows = [row for row, _ in columns.values()]
    for number, situation in enumerate(situations):
        outcome = loop.run(np.empty((1, 0)), [number], threads=1, record=rows, keep=True)
        taken = outcome.record[: int(outcome.steps[0]) : taken_every, :, 0]
        seen = {name: taken[:, k] for k, name in enumerate(columns)}
        yield Recording(situation.name, _of_inputs(machine, seen, len(taken)), _of_outputs(machine, seen, len(taken)))


def _columns(loop: ClosedLoop, machine: Machine) -> dict[str, tuple[int, str]]:
    """Rows of the kernel's workspace for the machine's signals, by name."""
    plant, spec, found = loop.plant, loop.spec, dict[str, tuple[int, str]]()

    def put(name: str, group: str, place: int) -> None:
        found.setdefault(identifier(name), (loop.design.rows.span(group).start + place, group))

    for i, channel in enumerate(plant.channels):
        put(f"r_{channel.output}", "r", i)
        put(channel.output, "y", i)
        if channel.rate is not None and spec.measures_rate(i):
            put(channel.rate, "y_rate", i)
        put(f"command_{channel.output}", "command", i)
    for k, name in enumerate(f"{kind}_{c.output}" for c in plant.channels for kind in ("e", "e_rate")):
        put(name, "signals", k)
    for k, name in enumerate(spec.controller.schedule.signals):
        put(name, "extra", k)
    for k, gain in enumerate(spec.controller.gain_names):
        put(f"gain_{gain}", "g", k)
    wanted = {signal.name for signal in machine.outputs}
    for k, quantity in enumerate(plant.inputs):
        if identifier(f"u_{quantity.name}") in wanted and not (
            spec.bounded or spec.delayed_input or loop.sampling.actuator.used
        ):
            put(f"u_{quantity.name}", loop.sampling.sent, k)
    return found


def _of_inputs(machine: Machine, seen: dict[str, Array], n: int) -> Array:
    constant = {"authority": 1.0}
    columns = [seen.get(s.name, np.full(n, constant.get(s.name, 0.0))) for s in machine.inputs]
    return np.stack(columns, axis=1)


def _of_outputs(machine: Machine, seen: dict[str, Array], n: int) -> Array:
    return np.stack([seen.get(s.name, np.full(n, np.nan)) for s in machine.outputs], axis=1)
