"""A knowledge base with one rule that is unstable: the worst-case search finds it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from experiments import cli
from flcs import KnowledgeBase, RuleBase, Variable
from flcs.inference.rule_base import full_grid
from sscq.fitness import Fitness

pytestmark = pytest.mark.usefixtures("own_folder")

GOOD = (4.0, 1.0, 4.0)
SWINGING = (4.0, 1.0, 0.3)
# About q = 0 and with kd = 0.3: s^3 + (kd - 1) s^2 + (1 + kp) s + ki has two roots in the right half plane.
WORDS = ("step=0.02", "evaluations=150", "envelope.usual=false", "envelope.t_end=20", "envelope.reference={position: [0, 2]}",
         "envelope.initial={position: [-0.5, 0.5]}", "threads=1")  # fmt: skip


def saved(at_rest, path):
    """Good rules on e and e'; the rule at rest has gains of its own."""
    inputs = (
        Variable("e", "m", -2.0, 2.0, (-2.0, 0.0, 2.0)),
        Variable("e_rate", "m/s", -4.0, 4.0, (-4.0, 0.0, 4.0)),
    )
    rules = [replace(r, gains=at_rest) if r.terms == (1, 1) else r for r in full_grid([3, 3], GOOD)]
    base = RuleBase("position", inputs, tuple(rules), (0.0,) * 3, (10.0,) * 3, GOOD, law={"sample_time": 0.02})
    KnowledgeBase("van_der_pol", (base,), tick=0.04, fitness=Fitness().plain()).save(path)
    return str(path)


def test_the_worst_case_search_finds_the_instability(capsys):
    """References near 0 swing, those near 2 do not (there the plant damps itself): the search looks for the former."""
    bad = saved(SWINGING, Path("bad.json"))
    cli.main(["worst", f"kb={bad}", "output=bad", "against=reference", *WORDS])
    example = json.loads(Path("bad/counter_example.json").read_text())
    numbers = json.loads(Path("bad/metrics.json").read_text())
    assert numbers["search"]["cost"] > 5.0 * numbers["search"]["reference_cost"]
    assert abs(example["situation"]["reference.position"]) < 0.7  # Routh: kd - 1 + q^2 < ki / (1 + kp)
    capsys.readouterr()
    cli.main(["replay", "bad/counter_example.json"])
    assert "the same to the last bit" in capsys.readouterr().out
