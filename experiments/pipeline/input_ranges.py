"""Where the fixed PID takes the plant in the taught situations: ranges that a knowledge base must know its way in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controllers import ConstantGains, Controller, gain_names
from flcs.inference.rule_base import OWN_INPUTS
from sscq.loop.record import visited

if TYPE_CHECKING:
    from experiments.settings import Setup
    from sscq.baselines.tuned import Tuned
    from sscq.loop.record import Visited


def seen_by_fixed(setup: Setup, fixed: Tuned) -> Visited:
    """Return where the fixed PID takes the plant in the taught situations."""
    constant = Controller(setup.laws, ConstantGains(gain_names(setup.laws)))
    # All kinds of situations, so that it is the kernel that the verdict uses; only the taught ones are run.
    every = [s for kind in ("taught", "validation", "unforeseen") for s in setup.sets[kind]]
    return visited(
        setup.plant, constant, fixed.theta, every, setup.step, setup.tick, count=len(setup.sets["taught"]),
        options=setup.options,
    )  # fmt: skip


def ranges(setup: Setup, fixed: Tuned) -> tuple[dict[str, tuple[float, float]], ...]:
    """Return the extremes that the fixed PID meets, of each channel's inputs by name.

    The rows of a teaching signal stand at the windows' beginnings and miss what passes between: the largest rates
    above all.
    """
    seen, found = seen_by_fixed(setup, fixed), []
    for channel in range(len(setup.laws)):
        extremes = {}
        for name in setup.network.inputs:
            if name in OWN_INPUTS:
                column = seen.own[:, channel, OWN_INPUTS.index(name)]
            else:
                column = seen.outputs[:, setup.plant.index("measurements", name)]
            if len(column):
                extremes[name] = (float(column.min()), float(column.max()))
        found.append(extremes)
    return tuple(found)
