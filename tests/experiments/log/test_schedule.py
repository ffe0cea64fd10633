"""Schedules from a log: what the design of an ensemble is given, and when its answer is advised."""

from __future__ import annotations

import shutil
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from controllers import PID, Controller, GainTable
from controllers.forms import Gains
from experiments.log import schedule, sheet
from experiments.log.schedule import scheduled, table_of
from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.runtime.run_folder import RunFolder
from experiments.settings import begun
from experiments.starting.opening import configured, spelt_out
from experiments.starting.plant_choice import find_plant, load
from flcs import KnowledgeBase, RuleBase, Variable
from flcs.inference.rule_base import full_grid
from plants.identification.record import LoopRecord
from sscq.identification.advice import Advice
from sscq.identification.ensemble import identify
from sscq.identification.promise import LoopScenario, Promise
from sscq.identification.stored import StoredLoop, document
from tests import schemas
from tests.plants.identification.reference_logs import R2

PRESENT = (2.0, 0.02, 0.0)
LOOP = StoredLoop((50.0, 40.0), (0.0, 100.0), 1.0, PRESENT, LoopScenario(200.0, 4.0, 2.0))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where an identified loop lies."""
    _, y, u = R2.run()
    place = tmp_path_factory.mktemp("loop")
    formats.write_json(place / "identified.json", document(identify([LoopRecord(y, u, 1.0)]), loop=LOOP))
    return place


def kb(*gains):
    """Gains of three terms of the measured value."""
    terms = (Variable("output", "1", 42.0, 58.0, (42.0, 50.0, 58.0)),)
    rules = tuple(replace(rule, gains=row) for rule, row in zip(full_grid([3], gains[1], 0), gains, strict=True))
    return KnowledgeBase(
        "identified", (RuleBase("output", terms, rules, (0.0,) * 3, (9.0, 1.0, 9.0), gains[1]),), tick=4.0
    )


def answered(monkeypatch, recommended, *gains):
    """Let the design answer so; return the words that it is given."""
    given = []

    def main(words):
        given.extend(words)
        run = Path(next(word.partition("=")[2] for word in words if word.startswith("output=")))
        run.mkdir()
        config = configured("design", [f"plant_file={run.parent / 'identified.json'}"])
        find_plant(config, typed=True)
        with RunFolder.create(run, command="design", config=asdict(config), overrides=[]):
            pass
        told = {"title": TITLES.get(recommended, recommended)}
        if len(gains) == 3:
            kb(*gains).save(run / "knowledge_base.json")
        elif gains:
            told["theta"] = [*gains[0], *gains[1], 8.0]
        formats.write_json(run / "metrics.json", {"recommended": recommended, "controllers": {recommended: told}})

    monkeypatch.setattr(schedule.design, "main", main)
    return given


@pytest.fixture
def copy(folder, tmp_path):
    shutil.copy(folder / "identified.json", tmp_path)
    return tmp_path


def advice(median):
    return Advice("advised", "", promise=Promise(median, median, median, np.array([median]), 0, 0, 1.0))


TITLES = {"fixed": "fixed PID", "table": "gain table over the error's magnitude"}
STRONG = ((3.2, 0.07, 0.0), (3.4, 0.075, 0.0), (3.2, 0.07, 0.0))
"""Less than the fixed gains of this loop may have: the output travels 1.7 times as far."""


def test_a_schedule_is_advised_where_its_promise_is_above_that_of_fixed_gains(copy, monkeypatch):
    words = answered(monkeypatch, "knowledge_base", *STRONG)
    found = scheduled(copy, advice(0.05), "small")
    assert f"ensemble={copy / 'identified.json'}" in words
    assert "network.inputs=[output]" in words
    (high,) = (word for word in words if word.startswith("controller.high="))
    assert high.endswith(",0.0]")  # no derivative, as on the sheet
    assert found.advised
    assert 0.25 < found.promise.low < found.promise.median < found.promise.high < 0.45
    assert found.variable == "measured"
    assert found.places[0] == pytest.approx(46.0)  # in the log's unit
    assert found.gains[3] == pytest.approx(STRONG[1])


def test_a_derivative_is_designed_where_it_is_asked_for(copy, monkeypatch):
    words = answered(monkeypatch, "knowledge_base", *STRONG)
    scheduled(copy, advice(0.05), "small", derivative=True)
    assert not any(word.startswith("controller.") for word in words)


def test_a_schedule_is_turned_down_where_fixed_gains_promise_as_much(copy, monkeypatch):
    answered(monkeypatch, "knowledge_base", *STRONG)
    found = scheduled(copy, advice(0.9), "small")
    assert not found.advised
    assert "keep fixed gains: the knowledge_base promises" in found.reason
    assert found.gains is None


def test_a_gain_table_is_a_schedule_too(copy, monkeypatch):
    answered(monkeypatch, "table", STRONG[1], STRONG[0])
    found = scheduled(copy, advice(0.05), "small")
    assert found.variable == "absolute_error"
    assert found.places.tolist() == [0.0, 8.0]
    assert found.gains.tolist() == [[*STRONG[1]], [*STRONG[0]]]


def test_a_table_over_the_square_of_the_output_is_told_at_levels(copy):
    """Between its two gain sets by the square of the measured value over the distance of its nodes, 2700 here."""
    (plant,) = load(str(copy / "identified.json"))
    schedule = GainTable("output", (0.0, 1.0), transform="square", search_scale=True)
    theta = np.array([*PRESENT, *STRONG[0], 2700.0])
    variable, places, gains = table_of(plant, Controller((PID(sample_time=1.0),), schedule), theta)
    share = np.clip(places**2 / 2700.0, 0.0, 1.0)[:, None]
    assert variable == "measured"
    np.testing.assert_allclose(gains, (1.0 - share) * PRESENT + share * STRONG[0], rtol=1e-12)


def test_a_schedule_that_drives_the_valve_too_far_is_turned_down(copy, monkeypatch):
    answered(monkeypatch, "knowledge_base", *STRONG)
    found = scheduled(copy, advice(0.05), "small", travel=1.01)
    assert not found.advised
    assert found.promise.travel > 1.01
    assert "times as far (at most 1.01)" in found.reason


def test_gains_as_they_are_promise_nothing(copy, monkeypatch):
    answered(monkeypatch, "knowledge_base", PRESENT, PRESENT, PRESENT)
    found = scheduled(copy, advice(0.0), "small")
    assert not found.advised
    assert found.promise.median == pytest.approx(0.0, abs=1e-9)


def test_what_the_design_turns_down_is_not_promised(copy, monkeypatch):
    answered(monkeypatch, "fixed")
    found = scheduled(copy, advice(0.05), "small")
    assert found.reason.endswith("the design recommends the fixed PID")


def test_a_design_takes_plants_gains_and_sample_time_from_the_file(folder):
    file = str(folder / "identified.json")
    config = configured("design", [f"plant_file={file}"])
    find_plant(config, typed=True)
    assert (config.plant, config.controller.sample_time, config.controller.own_gains) == ("identified", 1.0, [*PRESENT])
    job = begun(config)
    kinds = ("taught", "validation", "drawn")
    drawn = [{s.parameters["slope"] for s in job.sets[kind] if s.parameters} for kind in kinds]
    assert [len(one) for one in drawn] == [8, 16, pytest.approx(147, abs=16)]  # 256 draws of 240 members
    assert len(set.union(*drawn)) == sum(map(len, drawn))


def test_words_of_the_command():
    assert spelt_out(["ensemble=a/b.json", "seed=1"]) == ["plant_file=a/b.json", "seed=1"]


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "cannot be read: no such file"), ("{", "is no JSON|JSON"), ("{}", "its schema is None")],
)
def test_files_that_are_none(tmp_path, content, message):
    file = tmp_path / "identified.json"
    if content is not None:
        file.write_text(content, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        load(str(file))


@pytest.mark.parametrize(("discrepancy", "told"), [(0.05, True), (0.9, False)])
def test_a_sheet_holds_the_schedule_that_is_advised(copy, monkeypatch, tmp_path, discrepancy, told):
    answered(monkeypatch, "knowledge_base", *STRONG)
    found = scheduled(copy, advice(discrepancy), "small")
    change = SimpleNamespace(proposed=Gains(1.0, 0.1, 0.0), abort={"error": 1.0, "output": 2.0})
    assessed = SimpleNamespace(present=None, discrepancy=0.1, ensemble=None, findings=())
    case = SimpleNamespace(
        advice=SimpleNamespace(status="change", reason="r", promise=None, to_be_typed=True),
        found=assessed, change=change, scenario=None, schedule=found,
    )  # fmt: skip
    formats.write_json(tmp_path / "sheet.json", sheet.document(case))
    table = schemas.read("commissioning", tmp_path / "sheet.json")["controller"]["schedule"]
    assert (table is not None) == told == found.advised
    assert not told or table["gains"] == found.gains.tolist()
