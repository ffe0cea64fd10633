"""The page is drawn from the run's files alone, to the byte; what is missing or damaged is said in a sentence."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pytest

from experiments import cli
from experiments.report import files
from experiments.report.builders import recording
from experiments.report.plain_data import plain, record
from experiments.report.records.gains import MarginPoint, PointMargins
from experiments.report.records.results import Array, Estimate, NotAvailable
from experiments.runtime.errors import UserError
from experiments.runtime.run_folder import RunFolder
from tests.experiments import finished_run


@pytest.fixture
def run(run, place, tmp_path):
    """A copy of the run elsewhere, without its page."""
    path = tmp_path / "copy"
    shutil.copytree(place, path)
    (path / "report.html").unlink()
    return path


def test_the_command_draws_the_same_page_again(place, run, capsys):
    cli.main(["report", str(run)])
    assert (run / "report.html").read_bytes() == (place / "report.html").read_bytes()
    assert capsys.readouterr().out == f"report: {run / 'report.html'}\n"


def test_the_part_that_two_rules_tell_is_in_the_numbers_and_on_the_page(run):
    told = json.loads((run / "metrics.json").read_text(encoding="utf-8"))["told_by_two_rules"]
    arrays = np.load(run / files.RESPONSES)
    assert told["equal"] == [pytest.approx(np.mean([arrays[f"knowledge_base.{i}.by_two"] for i in (0, 1)]))]
    assert 0.5 < told["equal"][0] < 1.0  # four rules fire at most points: the two weaker ones have the rest
    assert set(told) == {"equal", "free"}
    page = files.draw(run).read_text(encoding="utf-8").replace("\u00a0", " ")
    assert f"the two strongest rules of each moment tell {100.0 * told['equal'][0]:.1f} % of what rules say" in page


def test_what_two_rules_tell_is_weighed_by_what_rules_say_at_all():
    shares = np.array([[0.5, 0.3, 0.2], [0.1, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert recording.told_by_two(shares) == pytest.approx(0.9 / 1.1)
    assert recording.told_by_two(shares[:, :1]) == 1.0
    assert np.isnan(recording.told_by_two(shares[2:]))


def test_drawing_takes_neither_the_plant_nor_the_results_of_the_design(place, run, monkeypatch):
    monkeypatch.setattr("plants.get", None)
    shutil.rmtree(run / "stages" / "judgement")
    for name in ("metrics.json", "seeds.json", "situations.csv", "knowledge_base_free_travel.json"):
        (run / name).write_text("not read", encoding="utf-8")
    assert files.draw(run).read_bytes() == (place / "report.html").read_bytes()


@pytest.mark.parametrize(
    "name",
    [
        files.NAME,
        files.RESPONSES,
        files.KNOWLEDGE_BASE,
        files.TEACHING,
        files.TRADE_OFF,
        "stages/imitation/knowledge_base.json",
    ],
)
@pytest.mark.parametrize("damage", ["missing", "cut", "empty"])
def test_missing_and_damaged_files_are_said(run, name, damage, capsys):
    path = run / name
    content = path.read_bytes()
    path.write_bytes({"cut": content[: len(content) // 2], "empty": b"", "missing": b""}[damage])
    if damage == "missing":
        path.unlink()
    with pytest.raises(SystemExit) as stop:
        cli.main(["report", str(run)])
    told = capsys.readouterr().err
    assert stop.value.code == 2
    assert told.startswith("error: ")
    assert path.name in told
    assert f"sscq design resume={run}" in told
    assert not (run / "report.html").exists()


def test_a_run_of_an_earlier_release_is_told_how_it_gets_its_page(run):
    (run / files.NAME).unlink()
    with pytest.raises(UserError, match="of an earlier release.*`sscq design resume="):
        files.draw(run)


def test_a_resumed_run_of_an_earlier_release_gets_its_page(place, run):
    (run / files.NAME).unlink()
    with RunFolder.resume(run, command="design") as folder:
        finished_run.written(folder)
    assert (run / "report.html").read_bytes() == (place / "report.html").read_bytes()
    assert (run / files.NAME).read_bytes() == (place / files.NAME).read_bytes()


def test_every_file_is_told_once_and_the_recommended_one_as_such(run):
    for name in ("knowledge_base_direct.json", "given.json"):
        (run / name).write_text("{}")
    told = files.provenance(run, "knowledge_base_direct").files
    assert len({name for name, _ in told}) == len(told)
    assert [name for name, text in told if text.endswith("(recommended)")] == ["knowledge_base_direct.json"]


def test_runs_of_other_commands_are_refused(tmp_path):
    RunFolder.create(tmp_path / "run", command="evaluate", config={}).close()
    with pytest.raises(UserError, match="is a run of `sscq evaluate`"):
        files.draw(tmp_path / "run")
    with pytest.raises(UserError, match="there is no run folder"):
        files.draw(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda r: r.pop("verdict"), "'verdict' among its fields"),
        (lambda r: r.update(titel="x"), "must be the fields title, plant"),
        (lambda r: r["verdict"].update(recommended="nobody"), "no recommended controller 'nobody'"),
        (lambda r: r["situations"][0].update(group="trained"), "must be 'taught' or 'validation' or 'unforeseen'"),
        (lambda r: r["controllers"][0].update(cost=[]), r"controllers\[0\].cost must be an object, got \[\]"),
        (lambda r: r["channels"][0].update(low="-oo"), r"channels\[0\].low must be a number, got '-oo'"),
    ],
)
def test_what_does_not_fit_the_schema_is_said_with_its_place(run, change, said):
    document = json.loads((run / files.NAME).read_text(encoding="utf-8"))
    change(document["report"])
    (run / files.NAME).write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(UserError, match=said):
        files.draw(run)


def test_a_response_that_lacks_a_part_is_said(run):
    arrays = dict(np.load(run / files.RESPONSES))
    del arrays["fixed.0.output"]
    np.savez(run / files.RESPONSES, **arrays)
    with pytest.raises(UserError, match="recorded response of 'fixed' must have 'output'"):
        files.draw(run)


def test_pickles_and_endless_nests_are_refused(run):
    np.savez(run / files.RESPONSES, **{"fixed.0.time": np.array([{"a": 1}], dtype=object)})
    with pytest.raises(UserError, match="no complete NPZ of plain arrays"):
        files.draw(run)
    (run / files.NAME).write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(UserError, match=r"report\.json is not complete JSON"):
        files.draw(run)


def manifest(run, **changes):
    proof = {"target": "html", "checker": "Node 20", "status": "failed", "reason": "y is lost", "bound": 1e-9,
             "samples": 5, "errors": {"y": None}, "numbers": {"page": "html/loop.html"}}  # fmt: skip
    (run / "exports").mkdir()
    document = {"schema": "sscq export", "version": 1, "proofs": [proof | changes]}
    (run / files.MANIFEST).write_text(json.dumps(document), encoding="utf-8")


def test_exports_are_read_from_their_manifest(run):
    manifest(run)
    (proof,) = files.load(run).exports
    assert proof.largest == float("inf")  # JSON has no such number: null
    assert '<a href="exports/html/loop.html">html</a>' in files.draw(run).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"numbers": {"page": "../../other.html"}}, "must lie below its folder"),
        ({"numbers": {"page": "/etc/passwd"}}, "must lie below its folder"),
        ({"speed": 3}, "speed"),
    ],
)
def test_a_manifest_that_leads_elsewhere_is_refused(run, changes, said):
    manifest(run, **changes)
    with pytest.raises(UserError, match=said):
        files.draw(run)


def test_words_of_a_file_are_no_markup(run):
    document = json.loads((run / files.NAME).read_text(encoding="utf-8"))
    document["report"]["title"] = "<script>alert(1)</script>"
    (run / files.NAME).write_text(json.dumps(document), encoding="utf-8")
    assert "<script>alert" not in files.draw(run).read_text(encoding="utf-8")


# --------------------------------------------------------------------------------------------------------- plain data


@dataclass(frozen=True, eq=False)
class Several:
    number: float
    pair: tuple[float, str]
    many: tuple[MarginPoint, ...]
    either: PointMargins | NotAvailable
    maybe: Estimate | None = None
    array: Array | None = None
    table: Mapping[str, float] = field(default_factory=dict)


def test_records_come_back_as_they_were():
    point = MarginPoint("up", float("inf"), 0.1 + 0.2)
    for either in (PointMargins((point,), "text"), NotAvailable("because")):
        one = Several(
            float("-inf"), (1.5, "nan"), (point, point), either, Estimate(0.5), np.array([[1.0, np.nan]]), {"a": 0.1}
        )
        back = record(Several, json.loads(json.dumps(plain(one), allow_nan=False)))
        assert (back.number, back.pair, back.many, back.either) == (one.number, one.pair, one.many, one.either)
        assert (back.maybe.value, back.table) == (0.5, {"a": 0.1})
        assert np.isnan(back.maybe.low)
        np.testing.assert_array_equal(back.array, one.array)
