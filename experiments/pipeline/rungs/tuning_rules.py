"""The six tuning rules as contenders: gains from a model of the plant's own step response, no search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from controllers import ConstantGains, Controller, gain_names
from experiments.pipeline.rungs.rung import Rungs
from sscq.baselines.tuned import Tuned
from sscq.baselines.tuning_rules import rule_gains

if TYPE_CHECKING:
    from experiments.pipeline.bench import Bench


def rungs(bench: Bench) -> Rungs:
    """Return the rules that apply, and a line for each kind of model or reason why there is none."""
    setup = bench.setup
    constant = Controller(setup.laws, ConstantGains(gain_names(setup.laws)))
    found: list[Tuned] = []
    said: dict[str, list[str]] = {}
    for rule in rule_gains(setup.plant, setup.laws[0].sample_time or setup.step, setup.laws):
        said.setdefault(rule.text, []).append(rule.rule)
        if rule.gains is not None:
            gains = np.array(rule.gains)
            found.append(Tuned(f"rule {rule.rule}", f"{rule.rule} rule", rule.text, constant, gains, 0, len(gains)))
    return Rungs(tuple(found), tuple(f"{', '.join(rules)}: {text}" for text, rules in said.items()))
