"""Margins over the ranges in a design: whose gains are asked for, what speaks against a contender, what is stored."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID, ConstantGains, Controller, GainTable, TwoDegreePID, gain_names
from experiments.pipeline.assurance.margins_over_ranges import (
    ASKED,
    DRAWS,
    FORESEEN,
    Foresights,
    asked,
    draws,
    faults,
    over_ranges,
    plain,
)
from experiments.runtime import formats
from sscq.baselines.tuned import Tuned
from sscq.margins.drawn_plants import RangeMargins, WorstDraw, spread_out
from sscq.margins.margins import MarginLimits
from sscq.margins.operating import OperatingMargins
from sscq.worst.envelope import usual_envelope

PLANT, LIMITS = plants.get("fopdt"), MarginLimits(1.8)


class Folder:
    """Stages that are stored in a folder."""

    def __init__(self, path):
        self.path, self.computed = path, []

    def stage(self, name, compute, save, load):
        if not (self.path / "margins_over_ranges.json").exists():
            self.computed.append(name)
            save(self.path, compute(self.path))
        return load(self.path)


def bench(folder, seed=0):
    margins = OperatingMargins(PLANT, PID(), [sscq.Situation()], 0.1, [0.0] * 3, [3.0] * 3, LIMITS)
    setup = SimpleNamespace(
        plant=PLANT, laws=PID(), step=0.1, seed=seed, threads=1, ranges=usual_envelope(PLANT, 0.1), low=np.zeros(3),
        high=np.full(3, 3.0),
    )  # fmt: skip
    return SimpleNamespace(setup=setup, margins=margins, stage=folder.stage)


def group():
    gains, wild = (0.8, 0.7, 0.0), (2.4, 2.0, 0.0)
    two_degree = Controller(TwoDegreePID(), ConstantGains(gain_names(TwoDegreePID())))
    over_error = Controller(PID(), GainTable("error", (0.0, 1.0), transform="magnitude"))
    fixed = Controller(PID(), ConstantGains())
    known = [
        ("two_degree", two_degree, (*gains, 0.5)),  # the weight of the set point: no matter of margins
        ("fixed", fixed, gains), ("table", over_error, (*gains, *gains)), ("knowledge_base", over_error, (*gains, *wild)),
        ("wild_at_rest", over_error, (*wild, *gains)),
    ]  # fmt: skip
    asked = [Tuned(name, name, "", one, np.array(theta), margins_asked=True) for name, one, theta in known]
    return [*asked, Tuned("open_loop", "open loop", "", fixed, np.zeros(3))]


def test_every_contender_with_gains_is_judged_and_stored(tmp_path):
    folder = Folder(tmp_path)
    found, again = over_ranges(bench(folder), group()), over_ranges(bench(folder), group())
    assert folder.computed == ["margins_over_ranges"]
    assert found == again
    assert set(found) == {"fixed", "two_degree", "knowledge_base", "table", "wild_at_rest"}
    assert found["two_degree"] == found["fixed"]
    assert found["table"].sensitivity == pytest.approx(found["fixed"].sensitivity, rel=1e-12)
    assert found["table"].kept == found["fixed"].kept
    assert found["fixed"].pairs == DRAWS
    assert found["fixed"].stable == 1.0
    assert found["knowledge_base"].stable < 1.0
    assert found["knowledge_base"].sensitivity == found["table"].sensitivity  # at rest
    assert found["knowledge_base"].transient == np.inf
    assert found["wild_at_rest"].sensitivity == np.inf
    assert found["wild_at_rest"].unstable == found["knowledge_base"].unstable
    (reason, *_) = faults(found)["knowledge_base"]
    assert reason.startswith(f"it is unstable in {len(found['knowledge_base'].unstable)} of {DRAWS} drawn plants")
    assert '"transient": null' in formats.json_text(plain(found["knowledge_base"]))
    assert '"sensitivity": null' in formats.json_text(plain(found["wild_at_rest"]))


def test_without_margins_none_are_asked_over_ranges():
    assert over_ranges(SimpleNamespace(margins=None), group()) == {}


def test_searches_are_asked_for_what_the_fixed_gains_keep_at_drawn_plants(tmp_path):
    """The same gains keep all of it; wilder ones, which the named plant bears, do not; and it may be switched off."""
    one = bench(Folder(tmp_path))
    one.setup.config = SimpleNamespace(fitness=SimpleNamespace(margins_of="taught"))
    law, gains, wilder = Controller(PID(), ConstantGains()), np.array([0.8, 0.7, 0.0]), np.array([1.0, 0.9, 0.0])
    searched = asked(one, Tuned("fixed", "", "", law, gains))
    assert len(searched.points) == ASKED
    assert searched.keeps_of(law, gains)
    assert one.margins.keeps_of(law, wilder)
    assert searched.violation_of(law, wilder[None])[0] > one.margins.violation_of(law, wilder[None])[0]
    one.setup.config.fitness.margins_of = "first"
    assert asked(one, Tuned("fixed", "", "", law, gains)) is one.margins
    assert asked(SimpleNamespace(margins=None, setup=one.setup), Tuned("fixed", "", "", law, gains)) is None


def test_what_the_verdict_will_hold_against_a_contender_is_foreseen_on_other_draws(tmp_path, monkeypatch):
    one, seeds = bench(Folder(tmp_path)), []
    monkeypatch.setattr(
        "experiments.pipeline.assurance.margins_over_ranges.draws",
        lambda plant, ranges, seed, n=DRAWS: seeds.append(seed) or draws(plant, ranges, seed, n),
    )
    several = {contender.name: contender for contender in group()}
    ahead = Foresights(one, several["fixed"])
    judged = faults(over_ranges(one, list(several.values())))
    told = {name: ahead.held_against(FORESEEN, several[name]) for name in judged}
    assert told == {name: bool(reasons) for name, reasons in judged.items()}
    assert not ahead.held_against(FORESEEN, several["open_loop"])  # whose margins nobody asks
    assert len(seeds) == len(set(seeds)) == 2  # its plants are drawn once
    unknown = Foresights(SimpleNamespace(margins=None, setup=one.setup), several["fixed"])
    assert not unknown.held_against(FORESEEN, several["knowledge_base"])


def test_draws_are_those_of_the_seed():
    one, same, other = (draws(PLANT, usual_envelope(PLANT, 0.01), seed) for seed in (0, 0, 1))
    assert len(one) == DRAWS
    assert one == same != other
    assert len({s.delay for s in one}) > 2
    assert all(PLANT.values("parameters", s.parameters) for s in one)


WORST = WorstDraw(0, "rest", 0, {}, 0.0)
FIXED = RangeMargins(2.0, 1.7, 0.3, 0.93, 0.99, 200, 0, (5, 6), WORST, broken=tuple(range(14)))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, []),
        ({"unstable": (5,)}, []),
        ({"unstable": (5, 6, 7, 9)}, []),  # two pairs more than the fixed gains: by chance
        ({"unstable": (5, 6, 7, 9, 10)}, ["it is unstable in 3 of 200"]),
        ({"unstable": (7, 9, 10, 11)}, []),  # four for two
        ({"kept": 0.94}, []),
        ({"kept": 0.92, "broken": tuple(range(16))}, []),  # two pairs are lost by chance
        ({"kept": 0.92, "broken": tuple(range(2, 18))}, []),  # as are four against two
        (
            {"kept": 0.90, "broken": tuple(range(20))},
            ["it keeps the margins in 90.0 % of the drawn plants and points (the fixed gains: 93.0 %)"],
        ),
        ({"unstable": (1, 2, 3, 4, 5, 6), "kept": 0.5, "broken": tuple(range(100))}, ["it is unstable in 4 of 200", "it keeps the margins in 50.0 %"]),
    ],
)  # fmt: skip
def test_what_speaks_against_a_schedule(changes, words):
    found = faults({"fixed": FIXED, "other": replace(FIXED, **changes)})
    assert set(found) == {"other"}
    assert len(found["other"]) == len(words)
    assert all(text.startswith(start) for text, start in zip(found["other"], words, strict=True))


def test_no_pair_may_be_lost_where_the_fixed_gains_are_stable_throughout():
    base = replace(FIXED, unstable=())
    found = faults({"fixed": base, "other": replace(base, unstable=(3,))})
    assert found["other"][0].startswith("it is unstable in 1 of 200")


def test_fewer_than_the_fixed_gains_but_95_percent_is_enough():
    found = faults({"fixed": replace(FIXED, kept=1.0, broken=()), "other": replace(FIXED, kept=0.95)})
    assert found == {"other": ()}


def test_the_corners_of_a_hull_are_among_those_that_are_asked_for():
    corners = np.array([[0.0, 0.0, 1.0], [5.0, 0.0, 1.0], [0.0, 0.1, 1.0], [5.0, 0.1, 1.0]])
    inside = np.random.default_rng(0).dirichlet([1.0] * 4, 500) @ corners
    few = spread_out(np.vstack([inside, corners]), 6)
    assert few.shape == (6, 3)
    assert {tuple(row) for row in corners} <= {tuple(row) for row in few}
    assert spread_out(corners) is corners
