"""`sscq reproduce`: the claims, what becomes of cheap ones, the page, and what is said where something is wrong."""

from __future__ import annotations

import csv
import importlib
import inspect
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

from experiments import cli
from experiments.report.drawing.svg import Bars, Chart, SvgLine
from experiments.reproduce import command, page
from experiments.reproduce.attempt import ClaimRun, attempted
from experiments.reproduce.registry import FOLDER, SUBJECTS, PublishedClaim, claims
from experiments.reproduce.results import ClaimTable, ClaimVerdict, Compared, Reproduction, judged
from experiments.runtime.errors import UserError

ROOT = Path(__file__).parents[3]
AGREES, DIFFERS, WRONG, MISSING = ClaimVerdict
CHEAP = {
    "car_equations": WRONG,
    "car_errata": WRONG,
    "car_loop_gain": AGREES,
    "elimination_order": AGREES,
    "forming_filter_limit": AGREES,
    "forming_filter_portrait_with": MISSING,
    "forming_filter_position": MISSING,
    "gauss_pinned_body": AGREES,
    "gauss_plane_body": AGREES,
    "gauss_rigid_body": AGREES,
    "unicycle_coefficients": WRONG,
    "unicycle_loop_gain": DIFFERS,
    "vehicle_contact": AGREES,
}


def test_every_declared_claim_has_a_function_and_every_function_a_claim():
    declared = {subject: {c.name for c in claims().values() if c.subject == subject} for subject in SUBJECTS}
    assert {path.stem for path in FOLDER.glob("*.yaml")} == set(SUBJECTS)
    for subject, names in declared.items():
        module = importlib.import_module(f"experiments.reproduce.claims.{subject}")
        functions = {
            name
            for name, one in inspect.getmembers(module, inspect.isfunction)
            if one.__module__ == module.__name__ and one.__annotations__.get("return") == "Reproduction"
        }
        public = {name for name in functions if not name.startswith("_")} - {"run_times"}
        assert public == names


def test_claims_say_all_that_is_asked_of_them():
    assert len(claims()) >= 45
    for one in claims().values():
        assert one.claim.endswith(".")
        assert all((one.title, one.source, one.published))
    assert len({one.title for one in claims().values()}) == len(claims())


def test_one_name_for_two_claims_is_refused(monkeypatch):
    claims.cache_clear()
    monkeypatch.setattr("experiments.reproduce.registry.SUBJECTS", ("gauss", "gauss"))
    with pytest.raises(ValueError, match="unique"):
        claims()
    claims.cache_clear()


@pytest.mark.parametrize("name", CHEAP)
def test_what_becomes_of_a_cheap_claim(name, tmp_path):
    run = attempted(claims()[name], tmp_path)
    assert run.error == ""
    assert run.found.verdict is CHEAP[name]
    assert run.found.reason.endswith(".")
    assert run.found.ours
    assert (tmp_path / f"{name}.svg").read_text(encoding="utf-8").startswith("<svg")
    (first, *_) = sorted(tmp_path.glob(f"{name}*.csv"))
    assert len(list(csv.reader(first.read_text(encoding="utf-8").splitlines()))) > 1


def made(verdict=AGREES, **more):
    return Reproduction("1.5", verdict, "A reason.", (Chart("t", "x", "y", (SvgLine("c", (0, 1), (2, 3)),)),), **more)


class _Failing(PublishedClaim):
    def reproduce(self):
        raise RuntimeError("the motor is missing")


class _Fine(PublishedClaim):
    def reproduce(self):
        return made(tables=(ClaimTable("list", "A list", ("what", "n"), [("a | b", "1")]),))


def claim_of(kind, name):
    return kind(name=name, title=f"Title of {name}", subject="gauss", source="somewhere", claim="It is.", published="1")


def test_one_failing_claim_does_not_stop_the_others(tmp_path, monkeypatch, capsys):
    several = {name: claim_of(kind, name) for name, kind in (("a", _Fine), ("b", _Failing), ("c", _Fine))}
    monkeypatch.setattr(command, "claims", lambda: several)
    with pytest.raises(SystemExit) as left:
        command.main(None, tmp_path, everything=True)
    assert left.value.code == 1
    out, err = capsys.readouterr()
    assert "3 claims: 2 agrees, 0 differs, 0 wrong in print, 0 not reproducible, 1 failed" in out
    assert "b: RuntimeError: the motor is missing" in err
    html = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "the motor is missing" in html
    assert "http" not in html.replace("http-equiv", "").replace("http_equiv", "")
    assert html.count("data:image/svg+xml") == 2
    table = (tmp_path / "reproduce.md").read_text(encoding="utf-8")
    assert table.count("**agrees**: A reason.") == 2
    assert "failed: b: RuntimeError" in table
    assert {path.name for path in tmp_path.glob("a*")} == {"a.svg", "a.csv", "a_list.csv"}


def test_a_claims_name_is_found_or_the_nearest_is_said(tmp_path, capsys):
    with pytest.raises(UserError, match="did you mean 'gauss_plane_body'"):
        command.main("gauss_plane_bodi", tmp_path)
    cli.main(["reproduce", "gauss_plane_body", "--output", str(tmp_path)])
    out = capsys.readouterr().out
    assert "published  the formula" in out
    assert "verdict    agrees." in out
    assert (tmp_path / "gauss_plane_body.svg").exists()


def test_the_list_has_every_name_once(capsys):
    cli.main(["reproduce", "--list"])
    names = [line.split("  ")[0].strip() for line in capsys.readouterr().out.splitlines()]
    assert names == list(claims())


@pytest.mark.parametrize("words", [[], ["--list", "--all"], ["car_errata", "--all"]])
def test_one_thing_must_be_asked_for(words, capsys):
    with pytest.raises(SystemExit):
        cli.main(["reproduce", *words])
    assert "reproduce" in capsys.readouterr().err


def test_the_page_counts_the_four_words():
    one = claim_of(_Fine, "a")
    runs = [ClaimRun(replace(one, name=f"n{k}"), made(verdict), 0.1) for k, verdict in enumerate(ClaimVerdict)]
    assert page.counted(runs) == "4 claims: 1 agrees, 1 differs, 1 wrong in print, 1 not reproducible"


def test_numbers_are_judged_by_their_tolerance():
    near, far, lost = Compared("a", 1.0, 1.05, 0.1), Compared("b", 2.0, 2.5, 0.1), Compared("c", 1.0, math.nan, 1.0)
    assert judged([near], "t", "T")[0] is AGREES
    verdict, reason, table = judged([near, far, lost], "t", "T")
    assert verdict is DIFFERS
    assert "2 of 3" in reason
    assert [row[-1] for row in table.rows] == ["yes", "no", "no"]


def test_the_data_of_a_picture_are_those_drawn():
    found = replace(made(), panels=(*made().panels, Bars("B", "N", {"g": {"n": 2.5}})))
    rows = list(csv.reader(found.data()[""].splitlines()))
    assert rows == [
        ["panel", "curve", "x", "y"],
        ["t: y over x", "c", "0.0", "2.0"],
        ["t: y over x", "c", "1.0", "3.0"],
        ["B [N]", "n", "g", "2.5"],
    ]


def test_the_page_of_gauss_function_is_that_of_its_claim_and_its_program_prints_what_it_says(capsys):
    text = (ROOT / "docs/guide/gauss_function.md").read_text(encoding="utf-8")
    assert text == claims()["gauss_pinned_body"].reproduce().page
    exec("\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL)), {})
    first, _, second, _ = capsys.readouterr().out.splitlines()
    assert f"    {first}\n" in text
    assert f"    {second}\n" in text
