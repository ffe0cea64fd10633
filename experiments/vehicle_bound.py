"""What a schedule over `slip_seen` can do: two found in trials before the declared situations were drawn, judged there.

They are no contenders: the designs did not find them. They tell whether a missed aim lies in the controller or in its
search.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from experiments.comparison.survival import BASE, difference, fall_ratio, lines_of
from experiments.vehicle_drawn import kind_of, slippery
from experiments.vehicle_verdict import when_taught
from flcs import FuzzyController, Inference, KnowledgeBase, RuleBase, Variable
from flcs.rule_base import full_grid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from experiments.comparison.contenders import Contender
    from experiments.vehicle_declaration import Declaration
    from experiments.vehicle_verdict import Verdict

_TICK = 0.01  # s
# For each channel: the two terms' centres, the gains in rolling, the gains where slip is seen.
_FOUND = {
    "knowledge base of a trial, 1500 evaluations": (
        ((0.115, 0.453), (84.75, 0.0, 12.36), (80.83, 0.0, 13.02)),
        ((0.051, 0.549), (19.86, 2.43, 0.0), (1.76, 0.01, 0.0)),
        ((0.0, 0.524), (1.33, 6.81, 0.0), (1.44, 0.83, 0.0)),
    ),
    "searched gains in rolling, random ones where slip is seen": (
        ((0.0, 0.5), (73.24, 0.0, 15.73), (75.39, 0.0, 11.74)),
        ((0.0, 0.5), (26.57, 0.0, 0.0), (2.31, 0.36, 0.0)),
        ((0.0, 0.5), (4.99, 4.4, 0.0), (0.38, 0.0, 0.0)),
    ),
}


def bases(like: Contender) -> Mapping[str, KnowledgeBase]:
    """Return the schedules as knowledge bases for the plant of a contender."""
    channels = like.plant.channels
    found = {}
    for title, several in _FOUND.items():
        rules = []
        for channel, (centres, rolling, slipping) in zip(channels, several, strict=True):
            grid = full_grid([2], rolling)
            pair = (grid[0], replace(grid[1], gains=slipping))
            seen = Variable("slip_seen", "1", 0.0, 1.0, centres)
            assert channel.gains_low is not None  # noqa: S101  (this plant's are given; for the type checker)
            assert channel.gains_high is not None  # noqa: S101
            rules.append(RuleBase(channel.output, (seen,), pair, channel.gains_low, channel.gains_high, rolling))
        found[title] = KnowledgeBase(like.plant.name, tuple(rules), Inference(), _TICK)
    return found


def table(like: Contender, verdict: Verdict, declared: Declaration) -> list[str]:
    """Return their falls against the fixed PID of a design, and their errors on dry ground, as Markdown lines."""
    situations = declared.unforeseen()
    chosen, base, rows = np.array([slippery(kind_of(one)) for one in situations]), verdict.stood[BASE], []
    for title, kb in bases(like).items():
        controller = FuzzyController(kb, laws=like.controller.laws)
        one = replace(like, title=title, controller=controller, theta=np.asarray(controller.theta))
        stood = one.survives(situations)
        value, low, high = fall_ratio(stood[chosen], base[chosen])
        rows.append([
            title, str(int((~stood[chosen]).sum())),
            f"{100 * (value - 1):+.0f} % [{100 * (low - 1):+.0f}, {100 * (high - 1):+.0f}]",
            difference(stood[chosen], base[chosen]), str(int((~stood[~chosen]).sum())), f"{when_taught(one):.3f}",
        ])  # fmt: skip
    head = ("schedule", "falls on slippery ground", f"against {int((~base[chosen]).sum())} of the fixed PID",
            "difference of standing, points", "falls elsewhere", "dry error when taught")  # fmt: skip
    return lines_of(head, rows)
