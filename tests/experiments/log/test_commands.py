"""Commands on logs: what they print, write and exit with, on a sound loop and on logs that tell nothing."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import plants
from experiments import cli
from experiments.log import identified
from experiments.runtime.errors import UserError
from sscq.identification.design_plant import design_plant
from sscq.identification.stored import load_ensemble
from tests import schemas
from tests.fuzz.readers import OF_EQUATIONS
from tests.plants.identification.reference_logs import R1, R2


def written(path, loop, rows=600, names="time,sp,pv,op"):
    r, y, u = loop.run()
    lines = [f"{k},{r[k]:.9g},{y[k]:.9g},{u[k]:.9g}" for k in range(rows)]
    path.write_text("\n".join([names, *lines]) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def commissioned(tmp_path_factory):
    """A commissioned loop: its folder."""
    folder = tmp_path_factory.mktemp("loop")
    log = written(folder / "log.csv", R2)
    (folder / "loop.json").write_text(
        json.dumps({"present": {"kp": R2.kp, "ki": R2.ki}, "measured_span": [0, 100]}), encoding="utf-8"
    )
    cli.main(["commission", log, "--loop", str(folder / "loop.json"), "--output", str(folder / "out"), "--quiet"])
    return folder / "out"


def test_a_sheet_says_what_to_type_and_what_it_gains(commissioned):
    found = schemas.read("commissioning", commissioned / "commissioning.json")
    assert found["schema"] == 1
    assert found["status"] == "advised"
    assert found["present"] == {"form": "parallel", "kp": 2.0, "ki": 0.02, "kd": 0.0}
    assert found["controller"]["kp"] == float(f"{found['controller']['kp']:.3g}") > 2.0
    improvement = found["improvement"]
    assert 0.3 < improvement["low"] < improvement["median"] < improvement["high"] < 0.6
    assert improvement["level"] == 0.9
    assert found["discrepancy"] == 0.08
    assert found["tests"]["input_evidence"] > 12.0
    assert set(found["abort"]) == {"error", "output"}
    page = (commissioned / "sheet.html").read_text(encoding="utf-8")
    for words in (
        "Use these gains",
        "What to type",
        "How to go there",
        "What to expect",
        "When to stop",
        "Go back to kp 2",
    ):
        assert words in page
    assert f"{found['controller']['kp']:.4g}" in page
    assert "<script" not in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    report = (commissioned / "report.html").read_text(encoding="utf-8")
    for words in ("The log", "The plants", "Both loops", "What was left over", found["reason"]):
        assert words in report
    assert report.count("<svg") >= 2 * 14  # each chart has its plot in it
    assert "NaN" not in report


def test_a_later_log_is_held_against_the_sheet(commissioned, capsys):
    """Of the same plant; and of one that has changed, with exit code 3."""
    found = schemas.read("commissioning", commissioned / "commissioning.json")
    later = replace(R2, kp=found["controller"]["kp"], ki=found["controller"]["ki"], seed=44)
    log = written(commissioned.parent / "after.csv", later)
    before = str(commissioned.parent / "log.csv")
    cli.main(["verify", log, "--sheet", str(commissioned), "--before", before])
    printed = capsys.readouterr().out
    assert "the plants of the sheet still explain the loop" in printed
    assert "before: mean |error|" in printed
    other = written(commissioned.parent / "changed.csv", replace(later, slope=0.3 * later.slope, dead_time=15.0))
    with pytest.raises(SystemExit) as stop:
        cli.main(["verify", other, "--sheet", str(commissioned)])
    assert stop.value.code == 3
    assert "loop, loads or noise have changed; commission it again" in capsys.readouterr().out


def test_nothing_is_overwritten(commissioned, capsys):
    log = written(commissioned.parent / "again.csv", R2, 120)
    with pytest.raises(SystemExit) as stop:
        cli.main(["commission", log, "--output", str(commissioned)])
    assert stop.value.code == 2
    assert "commissioning.json exists; give another --output" in capsys.readouterr().err


def test_a_log_that_tells_nothing_has_a_sheet_as_well(tmp_path, capsys):
    """Exit code 3, the reason in words, on the terminal, in both files."""
    log = written(tmp_path / "short.csv", R1, 90)
    with pytest.raises(SystemExit) as stop:
        cli.main(["commission", log, "--output", str(tmp_path / "out"), "--quiet"])
    assert stop.value.code == 3
    printed = capsys.readouterr().out
    assert "no gains from this log: 90 measured rows are too few (at least 100)" in printed
    found = schemas.read("commissioning", tmp_path / "out" / "commissioning.json")
    assert (found["status"], found["controller"], found["improvement"]) == ("refused", None, None)
    assert "The log cannot tell" in (tmp_path / "out" / "sheet.html").read_text(encoding="utf-8")


def test_assess_exits_with_what_it_found(tmp_path, capsys):
    log = written(tmp_path / "short.csv", R1, 90, "t,TIC1.SP,TIC1.PV,TIC1.OP")
    named = "sp=TIC1.SP,pv=TIC1.PV,op=TIC1.OP"
    with pytest.raises(SystemExit) as stop:
        cli.main(["assess", log, "--columns", named, "--present", "0.8,0.02", "--quiet"])
    assert stop.value.code == 3
    printed = capsys.readouterr().out
    assert "warning the loop did not run with the given gains: kp 0.8 on the sheet, 0.4 in the log" in printed
    assert "present gains: kp 0.4, ki 0.02, kd 0" in printed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--columns", "pv"], "--columns must be like measured=TIC101.PV"),
        (["--present", "1"], "--present must be kp,ki or kp,ki,kd, got '1'"),
        (["--present", "a,b"], "--present must be kp,ki or kp,ki,kd"),
        (["--loop", "none.json"], "no such file or directory: none.json"),
    ],
)
def test_options_that_are_none(tmp_path, capsys, words, message):
    log = written(tmp_path / "log.csv", R1, 120)
    with pytest.raises(SystemExit) as stop:
        cli.main(["assess", log, *words])
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_foreign_names_are_escaped(tmp_path):
    """A file's name and a column's are texts on the page."""
    path = tmp_path / "<img src=x>.csv"
    log = written(path, R1, 90)
    with pytest.raises(SystemExit):
        cli.main(["commission", log, "--output", str(tmp_path / "out"), "--quiet"])
    page = (tmp_path / "out" / "sheet.html").read_text(encoding="utf-8")
    assert "<img" not in page
    assert "&lt;img" in page
    assert np.char.count(page, "<body>") == 1


def test_several_logs_of_one_loop_tell_more(tmp_path, capsys):
    """Two logs of the same plant with noise of their own; the file is a plant of the design chain."""
    first, second = (written(tmp_path / f"{seed}.csv", replace(R2, seed=seed), 250) for seed in (8, 9))
    present = ["--present", f"{R2.kp},{R2.ki}", "--quiet"]
    cli.main(["identify", first, "--output", str(tmp_path / "one"), *present])
    cli.main(["identify", first, second, "--output", str(tmp_path / "both"), *present])
    assert "2 log(s), 500 rows of 1 s" in capsys.readouterr().out
    one, both = (load_ensemble(tmp_path / name / "identified.json") for name in ("one", "both"))
    spread = [float(np.log(found.members[0].column("slope")).std()) for found in (one, both)]
    assert spread[1] < spread[0]
    assert both.loop.present == (2.0, 0.02, 0.0)
    assert plants.check(design_plant(both)).ok


def test_gains_of_a_sheet_run_along_a_log(commissioned, capsys, tmp_path):
    log = str(commissioned.parent / "log.csv")
    cli.main(["shadow", log, "--sheet", str(commissioned), "--output", str(tmp_path / "moves.csv")])
    printed = capsys.readouterr().out
    assert "with the sheet's gains" in printed
    assert len((tmp_path / "moves.csv").read_text(encoding="utf-8").splitlines()) == 601
    with pytest.raises(SystemExit) as left:
        cli.main(["shadow", log, "--sheet", str(tmp_path)])
    assert left.value.code == 2
    assert "no such file" in capsys.readouterr().err


def levels(path):
    """A log of two tanks, in their units, whose level follows a set point."""
    rng = np.random.default_rng(1)
    voltage = np.repeat([0.0, 1.5, -2.0, 0.5], 50)
    level = 0.15 + 5e-4 * rng.standard_normal(len(voltage))
    rows = [f"{k},0.15,{y:.6g},{u:.6g}" for k, (y, u) in enumerate(zip(level, voltage, strict=True))]
    path.write_text("\n".join(["time,sp,pv,op", *rows]) + "\n", encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--plant", "two_tanks"], "say which parameters of the plant the log is to tell: --fit NAME,NAME"),
        (["--fit", "pump"], "--fit and --load belong to a plant with equations"),
        (["--plant", "two_tanks", "--fit", "pumps"], "no parameter 'pumps'; did you mean 'pump'?"),
        (["--plant", "two_tank", "--fit", "pump"], "no plant 'two_tank'; did you mean 'two_tanks'?"),
        (["--plant", "two_tanks", "--fit", "pump", "--load", "flow"], "no disturbance 'flow'"),
    ],
)
def test_a_plant_of_known_equations_is_named_with_what_to_fit(tmp_path, capsys, words, message):
    with pytest.raises(SystemExit) as stop:
        cli.main(["identify", levels(tmp_path / "log.csv"), *words, "--output", str(tmp_path / "out"), "--quiet"])
    assert stop.value.code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_plant_of_known_equations_needs_a_schedule_to_commission(tmp_path, capsys):
    words = ["--plant", "two_tanks", "--fit", "pump", "--output", str(tmp_path / "out"), "--quiet"]
    with pytest.raises(SystemExit):
        cli.main(["commission", levels(tmp_path / "log.csv"), *words])
    assert "add --schedule, or see `sscq identify`" in capsys.readouterr().err


def test_a_plant_that_does_not_explain_its_log_is_written_with_the_reason(tmp_path, capsys):
    words = ["--plant", "two_tanks", "--fit", "pump", "--load", "inflow", "--output", str(tmp_path / "out"), "--quiet"]
    with pytest.raises(SystemExit) as stop:
        cli.main(["identify", levels(tmp_path / "log.csv"), *words])
    assert stop.value.code == 3
    out = capsys.readouterr().out
    assert "two_tanks that explains the log" in out
    assert "no gains from these logs: " in out
    with pytest.raises(UserError, match="no controller follows from this log"):
        identified.load(str(tmp_path / "out/identified.json"))


def test_the_users_own_plant_is_executed_only_where_it_was_before(tmp_path, monkeypatch):
    monkeypatch.setenv("SSCQ_CACHE", str(tmp_path / "cache"))
    own = tmp_path / "own.py"
    own.write_text("raise SystemError('executed')\n", encoding="utf-8")
    file = tmp_path / "identified.json"
    document = OF_EQUATIONS | {"grey_box": OF_EQUATIONS["grey_box"] | {"plant_file": str(own)}}
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(UserError, match=r"of a content that was never executed here.*naming it: sscq check .*own\.py"):
        identified.load(str(file))
    own.unlink()
    with pytest.raises(UserError, match="is not there: put it back, or identify again"):
        identified.load(str(file))


def test_members_of_members_are_refused(tmp_path):
    file = tmp_path / "identified.json"
    document = OF_EQUATIONS | {"grey_box": OF_EQUATIONS["grey_box"] | {"plant_file": str(file)}}
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(UserError, match="which is no Python file"):
        identified.load(str(file))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--plant", "two_tanks", "--fit", "pumps"], "no parameter 'pumps'"),
        (["--plant-file", "identified.json", "--fit", "pump"], "--plant-file must be a Python file"),
    ],
)
def test_what_cannot_be_fitted_is_said_before_anything_is_written(tmp_path, capsys, words, message):
    with pytest.raises(SystemExit):
        cli.main(["commission", levels(tmp_path / "log.csv"), "--schedule", *words, "--output", str(tmp_path / "out")])
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
