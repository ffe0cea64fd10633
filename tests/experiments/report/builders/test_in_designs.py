"""A design writes the exports that its settings ask for, and its report shows their proofs."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from experiments import design
from experiments.report.page import render
from flcs.export.proof import Proof
from tests.experiments.front import smallest
from tests.experiments.report_example import example

QUICK = smallest.words(plant="van_der_pol")  # its loop is closed in the proofs, that of a dead time is not


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc")
def test_a_design_exports_its_knowledge_base(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    design.main([*QUICK, "output=run", "exports.to=[c]", "exports.hostile=100"])
    manifest = json.loads(Path("run/exports/manifest.json").read_text())
    stored = json.loads(Path("run/recommended.json").read_text())  # whatever is recommended: fixed gains too
    assert manifest["knowledge_base"] == stored["hash"]
    assert [(p["target"], p["status"]) for p in manifest["proofs"]] == [("c", "ok")]
    seeds = json.loads(Path("run/seeds.json").read_text())["situations"]
    assert sorted(manifest["situations"]) == sorted(name for kind in seeds.values() for name in kind)
    page = Path("run/report.html").read_text()
    assert 'id="exports"' in page
    assert "exports/manifest.json" in page
    assert "checked by" in capsys.readouterr().out


def test_unknown_targets_are_refused_before_anything_is_searched(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        design.main([*QUICK, "exports.to=[c_flot]"])
    assert "did you mean 'c_float'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        design.main([*QUICK, "exports.to=[c]", "exports.guard.safe=[0,0]"])
    assert "guard.safe must have a command for each channel" in capsys.readouterr().err
    assert not Path("runs").exists()


def test_the_page_tells_ok_from_failed_and_not_checked():
    proofs = (
        Proof("c", "gcc 12", "ok", "", 1e-12, 5000, {"u": 3e-16, "kp": 0.0}, {"rom_bytes": 2451}),
        Proof("c_float", "gcc 12", "failed", "u differs by 0.5 of its range", 2e-4, 5000, {"u": 0.5}),
        Proof("html", "Node 20", "ok", "", 1e-9, 500, {"y": 1e-15}, {"page": "html/loop.html"}),
    )
    page = render(replace(example(), exports=proofs))
    assert "2451 bytes" in page
    assert "▲ failed" in page
    assert '<a href="exports/html/loop.html">html</a>' in page
    assert "u differs by 0.5 of its range" in page
    assert 'id="exports"' not in render(example())
