"""Schedules that break margins at drawn plants: moved back before they are judged, where that mends it."""

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID, ConstantGains, Controller, GainTable
from experiments import design
from experiments.pipeline.assurance import margins_over_ranges, moved_inside
from experiments.pipeline.assurance.margins_over_ranges import Foresights, asked, faults, over_ranges
from experiments.runtime import formats
from flcs import FuzzyController, Inference, KnowledgeBase
from sscq.baselines.tuned import Tuned
from sscq.margins.margins import MarginLimits
from sscq.margins.operating import OperatingMargins
from sscq.worst.envelope import usual_envelope
from tests.experiments.front import smallest
from tests.flcs.rule_bases import nine_rules

PLANT, LIMITS = plants.get("fopdt"), MarginLimits(1.8)
FIXED, BEYOND = (0.8, 0.7, 0.0), (2.0, 1.8, 0.0)


class Stages:
    """Stages that are kept in a folder, and how often each was computed."""

    def __init__(self, path):
        self.path, self.computed = path, []

    def stage(self, name, compute, save, load, inputs=None):
        place = self.path / name
        if not place.exists():
            place.mkdir()
            self.computed.append(name)
            save(place, compute(place))
        return load(place)


@pytest.fixture
def bench(tmp_path):
    margins = OperatingMargins(PLANT, PID(), [sscq.Situation()], 0.1, [0.0] * 3, [3.0] * 3, LIMITS)
    setup = SimpleNamespace(
        plant=PLANT, laws=PID(), step=0.1, seed=0, threads=1, ranges=usual_envelope(PLANT, 0.1), low=np.zeros(3),
        high=np.full(3, 3.0), config=SimpleNamespace(fitness=SimpleNamespace(margins_of="taught"), assurance=SimpleNamespace(authority="margins")),
        task=lambda fitness: None,
    )  # fmt: skip
    stages = Stages(tmp_path)
    found = SimpleNamespace(
        setup=setup, margins=margins, asked=margins, stage=stages.stage, stages=stages,
        progress=lambda *_: nullcontext(SimpleNamespace(advance=lambda: None)),
    )  # fmt: skip
    found.answers = lambda questions, *_: [question(found) for question in questions]
    return found


def kept_inside(bench, group):
    return moved_inside.kept_inside(bench, None, group[0], group, Foresights(bench, group[0]))


def fixed():
    return Tuned("fixed", "", "", Controller(PID(), ConstantGains()), np.array(FIXED), margins_asked=True)


def over_error(name, at_rest, far):
    table = Controller(PID(), GainTable("error", (0.0, 1.0), transform="magnitude"))
    return Tuned(name, name, "searched", table, np.array([*at_rest, *far]), 100, margins_asked=True)


def test_what_the_verdict_would_turn_down_is_moved_back_and_passes(bench):
    """The verdict draws other plants than those that were looked at."""
    group = [fixed(), over_error("table", FIXED, BEYOND)]
    before = faults(over_ranges(bench, group))["table"]
    assert before
    moved = kept_inside(bench, group)
    assert moved[0] is group[0]
    assert moved[1].evaluations == 100
    assert moved[1].text == "searched; moved back inside the margins at drawn plants"
    other = SimpleNamespace(**{**vars(bench), "stage": Stages(bench.stages.path / "moved_inside").stage})
    assert not faults(over_ranges(other, moved))["table"]
    again = kept_inside(bench, group)
    assert again[1].theta.tolist() == moved[1].theta.tolist()
    assert bench.stages.computed.count(moved_inside.STAGE) == 1


def test_what_passes_stays_as_it_was_searched(bench):
    group = [fixed(), over_error("table", FIXED, FIXED), over_error("imitation", FIXED, BEYOND)]
    assert kept_inside(bench, group) == group


def test_what_cannot_be_mended_stays(bench, monkeypatch):
    monkeypatch.setattr(moved_inside, "moved_back", lambda candidate, margins: candidate.start[0])
    group = [fixed(), over_error("table", FIXED, BEYOND)]
    assert kept_inside(bench, group)[1] is group[1]


def with_rules(bench):
    """A group whose rule for no error asks for the fixed gains, the other eight for more than the margins bear."""
    gains = np.tile(BEYOND, (9, 1))
    gains[4] = FIXED
    kb = KnowledgeBase("fopdt", (nine_rules(gains, FIXED),), Inference(), training={"rules": 9})
    bench.setup.laws, bench.setup.network = (PID(),), SimpleNamespace(mirrored=False)
    bench.asked = asked(bench, fixed())
    controller = FuzzyController(kb, laws=bench.setup.laws)
    return [fixed(), Tuned("knowledge_base", "", "", controller, controller.theta, 100, margins_asked=True)]


def test_a_knowledge_base_is_moved_as_well(bench):
    group = with_rules(bench)
    given = group[1].controller.kb
    assert faults(over_ranges(bench, group))["knowledge_base"]
    moved = kept_inside(bench, group)
    other = SimpleNamespace(**{**vars(bench), "stage": Stages(bench.stages.path / "moved_inside").stage})
    assert not faults(over_ranges(other, moved))["knowledge_base"]
    found = moved[1].controller.kb
    assert found.training == given.training
    assert [rule.terms for rule in found.channels[0].rules] == [rule.terms for rule in given.channels[0].rules]
    again = kept_inside(bench, group)[1].controller.kb
    assert again == found != given


def test_a_certificate_that_is_asked_for_is_asked_for_again(bench, monkeypatch):
    """Rules that were moved may have no common Lyapunov function at the authority that they had."""

    def less(setup, task, kb):
        return replace(kb, inference=replace(kb.inference, authority=0.5))

    monkeypatch.setattr(moved_inside.authority, "held", less)
    group = with_rules(bench)
    moved = kept_inside(bench, group)[1]
    assert moved.controller.kb.inference.authority == 0.5


def test_without_margins_nothing_is_asked(bench):
    bench.asked, group = None, [fixed(), over_error("table", FIXED, BEYOND)]
    assert kept_inside(bench, group) == group
    assert not bench.stages.computed


def test_files_of_a_design_hold_what_was_moved(tmp_path, monkeypatch):
    """Of every schedule: the knowledge bases that are exported, and the numbers of the table in the metrics."""
    mark = 0.512345  # last digits that a moved number has

    def held_against(_, one):
        return abs(1e3 * one.theta[0] % 1.0 - mark) > 1e-6

    def moved(candidate, margins):
        theta = candidate.decode(candidate.start[:1])[0]
        theta[0] = (np.floor(1e3 * theta[0]) + mark) / 1e3
        return theta

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(margins_over_ranges.Foresight, "held_against", held_against)
    monkeypatch.setattr(margins_over_ranges.Foresight, "lost", lambda *_: {0})
    monkeypatch.setattr(moved_inside, "moved_back", moved)
    monkeypatch.setattr(moved_inside, "certified", lambda kb, margins, laws: kb)
    monkeypatch.setattr(OperatingMargins, "keeps_of", lambda *_: True)
    design.main([*smallest.words(), "ladder.further=[direct]", "output=run"])
    run = tmp_path / "run"
    for file, stage in (("knowledge_base", "knowledge_base_equal"), ("knowledge_base_direct", "knowledge_base_direct")):
        found, searched = (
            FuzzyController(KnowledgeBase.load(path))
            for path in (run / f"{file}.json", run / "stages" / stage / "knowledge_base.json")
        )
        assert found.theta[0] == pytest.approx((np.floor(1e3 * searched.theta[0]) + mark) / 1e3, rel=1e-12)
        assert found.theta[1:] == pytest.approx(searched.theta[1:], rel=1e-9)
    metrics = formats.read_json(run / "metrics.json")
    stored = formats.read_json(run / "stages" / moved_inside.STAGE / moved_inside.FILE)
    assert stored.keys() == {*moved_inside.NAMES}
    assert metrics["controllers"]["table"]["theta"] == stored["table"][0]
