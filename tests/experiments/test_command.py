"""`sscq export`: files, manifest, exit codes, refusals."""

import hashlib
import json
from pathlib import Path

import pytest

from experiments import export
from experiments.report.living.page import TARGETS
from flcs.export.proof import Proof
from flcs.export.targets import Target
from tests.reference.exports import knowledge_base

pytestmark = pytest.mark.usefixtures("own_folder")

SITUATIONS = "situations.taught={up: {reference: 1.0, t_end: 0.5}}"
WORDS = ("step=0.01", SITUATIONS, "hostile=100")


@pytest.fixture
def kb_file():
    knowledge_base().save("kb.json")
    return "kb.json"


def exported(*words, output="run"):
    export.main([*words, f"output={output}", *WORDS])
    return json.loads((Path(output) / "manifest.json").read_text())


def fake(status):
    def prove(job, folder):
        assert (folder / "a.txt").read_text() == "text"
        return Proof("fake", "nobody", status, "not what was simulated", 1e-3)

    return Target("fake", "a fake", lambda _: {"a.txt": "text"}, prove)


def test_every_file_has_its_hash_and_runs_repeat(kb_file, monkeypatch, capsys):
    monkeypatch.setitem(TARGETS, "fake", fake("ok"))
    manifest = exported(f"kb={kb_file}", "to=[fake]")
    assert "fake" in capsys.readouterr().out
    for file in manifest["files"]:
        content = (Path("run") / file["path"]).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (file["bytes"], file["sha256"])
    assert [proof["status"] for proof in manifest["proofs"]] == ["ok"]
    assert manifest["situations"][0] == "up"
    exported(f"kb={kb_file}", "to=[fake]", output="again")
    assert Path("again/manifest.json").read_bytes() == Path("run/manifest.json").read_bytes()


def test_what_does_something_else_must_not_be_installed(kb_file, monkeypatch, capsys):
    monkeypatch.setitem(TARGETS, "fake", fake("failed"))
    with pytest.raises(SystemExit, match="fake does not do what was simulated") as stop:
        exported(f"kb={kb_file}", "to=[fake]")
    assert stop.value.code not in {0, None}
    assert "not what was simulated" in capsys.readouterr().out


def test_the_scheduler_alone_is_judged_with_other_blocks(kb_file, monkeypatch, capsys):
    monkeypatch.setitem(TARGETS, "fake", fake("ok"))
    manifest = exported(f"kb={kb_file}", "to=[fake]", "shape=scheduler", "vendor.unit=min", "vendor.longest=90")
    assert manifest["machine"] == "van_der_pol_scheduler"
    assert {s["name"]: (s["unit"], s["high"]) for s in manifest["outputs"]}["Ti_position"] == ("min", 90.0)
    assert len(manifest["pid_block"]["blocks"]) == 5
    page = Path("run/pid_block.md").read_text()
    assert "Ti and Td in min, at most 90." in page
    assert page in capsys.readouterr().out


def test_refusals(kb_file, refused):
    assert "did you mean 'c_float'" in refused("export", f"kb={kb_file}", "to=[c_flot]")
    assert "give a knowledge base" in refused("export", "to=[c]")
    assert "guard.ranges.position must be" in refused("export", f"kb={kb_file}", "guard.ranges.position=[1]")
    assert "give a target" in refused("export", f"kb={kb_file}", "to=[]")
    assert "no input 'positon'; did you mean 'position'" in refused(
        "export", f"kb={kb_file}", "guard.ranges.positon=[0,1]"
    )
    assert "no input 'r_position'" in refused(
        "export", f"kb={kb_file}", "shape=scheduler", "guard.ranges.r_position=[0,1]"
    )
    assert "a command for each channel (position)" in refused("export", f"kb={kb_file}", "guard.safe=[0,1]")
    assert "must be in -20 .. 20, got 21" in refused("export", f"kb={kb_file}", "guard.safe=[21]")
