"""`sscq operate`: a knowledge base in operation, as a page and numbers."""

import json
import re
import shlex
from pathlib import Path

import pytest

from experiments import cli
from experiments.operate import case, page
from experiments.runtime import formats
from experiments.studies import operation
from sscq.operation.contest import CONTENDERS
from tests import schemas

pytestmark = pytest.mark.usefixtures("own_folder")

GUIDE = Path(__file__).parents[3] / "docs/guide/operation.md"
SHORT = ("windows=2", "moves=1", "evaluations=40", "relearn=false", "threads=1", "quiet=true", "output=run")
DRIFT = "drift=mu:[0=1,20=4]"


def test_the_command_of_the_guide_writes_a_page_and_numbers(capsys, kb_file):
    (line,) = re.findall(r"^sscq operate .*$", GUIDE.read_text(), re.MULTILINE)
    words = [word for word in shlex.split(line)[2:] if not word.startswith(("kb=", "windows="))]
    cli.main(["operate", f"kb={kb_file}", *words, *SHORT, "contenders=[knowledge_base,never]"])
    told = capsys.readouterr().out
    found = schemas.read("operation", Path("run/operation.json"))
    assert [*found["runs"][0]["timelines"]] == ["knowledge_base", "never"]
    assert found["drift"] == "mu:[0=1,80=1,560=6]"
    assert "knowledge base, never renewed" in told
    shown = Path("run/operation.html").read_text()
    assert shown == page.page(found)
    for title in ("What changed", "IAE of a window", "What was decided: knowledge base, renewed"):
        assert title in shown


def test_a_finished_run_is_shown_again_from_its_stages(kb_file):
    cli.main(["operate", f"kb={kb_file}", DRIFT, *SHORT, "contenders=[never]", "seeds=2"])
    first = Path("run/operation.json").read_bytes()
    cli.main(["operate", "resume=run"])
    assert Path("run/operation.json").read_bytes() == first
    assert [run["seed"] for run in json.loads(first)["runs"]] == [0, 1_000_003]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "say what drifts: drift=NAME:[TIME=VALUE"),
        (("drift=mu:0=1",), "a drift is NAME:[TIME=VALUE"),
        (("drift=nu:[0=1]",), "'nu'"),
        (("drift=mu:[0=11]",), "must lie in"),
        ((DRIFT, "contenders=[nobody]"), "contenders are knowledge_base, never, fixed, renewed, oracle, got 'nobody'"),
        ((DRIFT, "+wrong.nu=2"), "instruments tell what drifts, mu"),
        ((DRIFT, "estimate=identified", "loaded=wind"), "'wind'"),
        ((DRIFT, "max_sensitivity=1"), "max_sensitivity"),
        ((DRIFT, "parts=9999"), "whole ticks"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(refused, kb_file, words, message):
    assert message in refused("operate", f"kb={kb_file}", *words)


def test_the_study_declares_three_plants_that_drift_and_two_cases_in_which_nothing_may_happen():
    declared = operation.declared()
    assert declared["seeds"] == 5
    runs = {(one.plant, one.run) for one in declared["plants"]}
    drifting = {(plant, "operation") for plant in ("van_der_pol", "equal_percentage_valve", "balancing_vehicle")}
    assert runs == drifting | {("van_der_pol", "constant"), ("van_der_pol", "wrong_model")}
    assert len(runs) == len(declared["plants"])


def test_the_study_page_has_losses_beside_gains(tmp_path):
    counted = {"travel": 9.0, "lost": 1, "handovers": 2, "rolled_back": 0, "unstable": 0}
    totals = {name: {"iae": 1.0 + place, **counted} for place, name in enumerate(CONTENDERS)}
    window = {"decision": "kept", "words": "no", "time": 1.0}
    run = {"totals": totals, "timelines": {"knowledge_base": [window, {**window, "decision": ""}]}}
    document = {"windows": 2, "window": 80.0, "plant": "van_der_pol", "drift": "mu:[0=1]", "runs": [run, run]}
    formats.write_json(tmp_path / "operation.json", document)
    written = operation.page([(operation.declared()["plants"][0], operation.told_of(tmp_path))], 2, "1a2b (1)")
    assert "| gain table over time by an oracle | 5 | +150.0 % LOSS | 9 | 2 | 4 | 0 | 0 |" in written
    assert "| 2 | 1 | 2 | 3 | 4 | 5 |" in written
    assert "- kept: 2" in written
    assert "Of 8 handovers 0 made" in written


def test_without_torch_the_network_is_refused_before_anything_is_run(kb_file, monkeypatch, refused):
    monkeypatch.setattr(case, "find_spec", lambda _: None)
    words = [word for word in SHORT if not word.startswith("relearn")]
    assert "or relearn=false" in refused("operate", f"kb={kb_file}", DRIFT, *words)
