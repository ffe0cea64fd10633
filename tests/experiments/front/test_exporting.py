"""`sscq.export`: the files of the command, silently, with a proof for each target."""

import hashlib
from dataclasses import replace

import pytest

import sscq
from experiments import export
from experiments.front.result import DesignResult
from experiments.report.exports import table
from experiments.runtime.errors import UserError
from flcs import KnowledgeBase, RuleBase, Variable
from flcs.export.proof import Proof
from flcs.inference.rule_base import full_grid

pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.fixture
def kb(own_folder):
    inputs = (
        Variable("e", "1", -1.0, 1.0, (-1.0, 0.0, 1.0)),
        Variable("e_rate", "1/s", -2.0, 2.0, (-2.0, 0.0, 2.0)),
    )
    grid = full_grid((3, 3), (2.0, 1.0, 0.3))
    rules = tuple(replace(rule, gains=(2.0 + 0.1 * k, 1.0, 0.3)) for k, rule in enumerate(grid))
    base = RuleBase("output", inputs, rules, (0.0, 0.0, 0.0), (9.0, 9.0, 9.0), (2.0, 1.0, 0.3))
    path = own_folder / "knowledge_base.json"
    KnowledgeBase("fopdt", (base,), tick=0.05).save(path)
    return path


def digests(folder):
    return {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(folder.glob("*")) if file.is_file()
    }


def test_the_files_are_those_of_the_command(kb, own_folder, capsys):
    proofs = sscq.export(kb, ["python", "st"], folder=own_folder / "python")
    out, err = capsys.readouterr()
    assert not out
    assert not [line for line in err.splitlines() if line.strip()]
    assert list(proofs) == ["python", "st"]
    assert {proof.status for proof in proofs.values()} == {"ok"}
    export.main([f"kb={kb}", "to=[python,st]", f"output={own_folder / 'command'}", "quiet=true"])
    mine, theirs = digests(own_folder / "python"), digests(own_folder / "command")
    assert mine.keys() == theirs.keys()
    different = {name for name in mine if mine[name] != theirs[name]}
    assert different <= {"config.json", "versions.json"}  # where it went


def test_of_a_design_its_knowledge_base_leaves(kb, own_folder):
    (own_folder / "metrics.json").write_text('{"recommended": "fixed", "controllers": {}}')
    with pytest.warns(UserWarning, match="recommends another controller, the fixed"):
        proofs = sscq.export(DesignResult(own_folder), "st")
    assert proofs["st"].status == "ok"
    assert len(list((own_folder / "runs/export").iterdir())) == 1


def test_what_does_not_fit_is_refused_before_a_folder_is_made(kb, own_folder):
    with pytest.raises(TypeError, match="'to' is an argument of export itself"):
        sscq.export(kb, "st", settings={"to": ["c"]})
    with pytest.raises(TypeError, match="'output' is an argument of export itself; give it as folder="):
        sscq.export(kb, "st", settings={"output": "x"})
    with pytest.raises(TypeError, match="'quiet' is of the command alone; leave it out"):
        sscq.export(kb, "st", settings={"quiet": False})
    with pytest.raises((UserError, ValueError), match="stt"):
        sscq.export(kb, "stt", folder=own_folder / "x")
    with pytest.raises(UserError, match="give a target"):
        sscq.export(kb, [], folder=own_folder / "x")
    assert not (own_folder / "x").exists()


def test_what_the_design_does_not_recommend_is_exported_with_a_warning(kb, own_folder):
    (own_folder / "metrics.json").write_text(
        '{"recommended": "two_degree", "controllers": {"two_degree": {"title": "two-degree-of-freedom PID"}}}'
    )
    with pytest.warns(UserWarning, match="recommends another controller, the two-degree-of-freedom PID: its gains are"):
        sscq.export(kb, "st", folder=own_folder / "out")


def test_at_the_terminal_too_and_of_what_is_recommended_there_is_none(kb, own_folder, capsys):
    (own_folder / "metrics.json").write_text('{"recommended": "knowledge_base_direct", "controllers": {}}')
    export.main([f"kb={kb}", "to=[st]", "output=typed", "quiet=true"])
    assert "its gains are in the report, to be typed in" in capsys.readouterr().out
    for name in ("knowledge_base_direct.json", "recommended.json"):  # of an earlier release, of today's
        (own_folder / name).write_bytes(kb.read_bytes())
        export.main([f"kb={kb}", "to=[st]", f"output={name}_out", "quiet=true"])
        assert f"it is in {own_folder / name}" in capsys.readouterr().out
    (own_folder / "metrics.json").write_text('{"recommended": "knowledge_base", "controllers": {}}')
    export.main([f"kb={kb}", "to=[st]", "output=other", "quiet=true"])
    assert "recommends" not in capsys.readouterr().out


def test_a_target_that_closed_no_loop_says_why():
    left = {"near": "the plant has a dead time", "far": "the plant has a dead time"}
    proof = Proof("c", "gcc", "ok", numbers={"closed_loop": {}, "closed_loop_left_out": left})
    assert "c: the controller was proved along recorded signals; no loop was closed" in table([proof])
    assert table([proof]).count("the plant has a dead time") == 1
    assert "no loop was closed" not in table([replace(proof, numbers={"closed_loop": {"near": 1e-9}})])
