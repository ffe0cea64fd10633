"""The command `sscq lint`: what it prints, and its exit codes."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from experiments import cli
from experiments.report.sections.rules import knowledge_base as rules_section
from experiments.report.sections.view import PageView
from flcs import KnowledgeBase, RuleBase, Variable
from flcs.exchange.fcl_writer import write
from flcs.exchange.of_knowledge_base import system_of
from flcs.inference.rule_base import full_grid
from tests.experiments.report_example import example

ENDS = ((0.0, 0.0, 0.0), (10.0, 10.0, 10.0), (5.0, 1.0, 2.0))


def knowledge_base():
    inputs = tuple(Variable(name, "m", -2.0, 2.0, (-2.0, 0.0, 2.0)) for name in ("e", "e_rate"))
    return KnowledgeBase("van_der_pol", (RuleBase("position", inputs, full_grid((3, 3), (5.0, 1.0, 2.0)), *ENDS),))


@pytest.fixture
def files(tmp_path):
    """A clean base, one with a warning, one with an error, one that is cut off."""
    kb = knowledge_base()
    kb.save(tmp_path / "clean.json")
    kb.with_channel(0, kb.channels[0].switched([k != 4 for k in range(9)])).save(tmp_path / "hole.json")
    document = kb.document()
    document["channels"][0]["reference"][0] = 12.0
    (tmp_path / "error.json").write_text(json.dumps(document))
    (tmp_path / "cut.json").write_text(json.dumps(document)[:200])
    return tmp_path


def linted(capsys, *words):
    """Exit code, standard output and error."""
    code = 0
    try:
        cli.main(["lint", *map(str, words)])
    except SystemExit as stop:
        code = stop.code
    out, error = capsys.readouterr()
    assert "Traceback" not in out + error
    return code, out, error


@pytest.mark.parametrize(
    ("names", "options", "code"),
    [
        (["clean"], ["--strict"], 0),
        (["hole"], [], 0),
        (["hole"], ["--strict"], 1),
        (["clean", "error"], [], 1),
        (["error", "cut"], [], 2),
        (["missing"], [], 2),
        (["clean"], ["--data", "missing.csv"], 2),
        (["clean"], ["--limit", "step=1"], 2),
        ([], [], 2),
    ],
)
def test_the_exit_code_is_for_ci(capsys, files, names, options, code):
    assert linted(capsys, *(files / f"{name}.json" for name in names), *options)[0] == code


def test_findings_are_sentences_with_severity_code_and_advice(capsys, files):
    _, out, _ = linted(capsys, files / "clean.json", files / "hole.json")
    lines = out.splitlines()
    assert lines[0] == f"{files / 'clean.json'}: nothing found"
    assert lines[1] == f"{files / 'hole.json'}: 1 warning"
    assert lines[2].startswith("  warning L101  no rule fires where error is zero (")
    assert "-> add or switch on a rule for these terms" in out
    assert max(map(len, lines[2:])) <= 110


def test_a_file_that_cannot_be_read_is_one_sentence_and_the_others_are_inspected(capsys, files):
    code, out, error = linted(capsys, files / "cut.json", files / "hole.json")
    assert code == 2
    assert error.startswith(f"error: {files / 'cut.json'} is not complete JSON: ")
    assert len(error.splitlines()) == 1
    assert "L101" in out


def test_plain_data_are_printed(capsys, files):
    code, out, _ = linted(capsys, files / "error.json", files / "cut.json", "--json")
    one, other = json.loads(out)["files"]
    assert code == 2
    assert one["unreadable"] is None
    assert [finding["code"] for finding in one["findings"]] == ["L603", "L001"]
    assert set(one["findings"][0]) == {"code", "severity", "channel", "message", "advice", "numbers"}
    assert one["findings"][0]["numbers"] == {"gain": "kp", "value": 12.0}
    assert "not complete JSON" in other["unreadable"]


def test_data_are_looked_at(capsys, files):
    np.savez(files / "data.npz", e=[0.0, 3.0], e_rate=[0.0, 0.0])
    assert "error leaves its range -2 .. 2 in 1 of 2 rows" in linted(
        capsys, files / "clean.json", "--data", files / "data.npz"
    )[1].replace("\n" + " " * 16, " ")


def test_channels_are_named_where_there_are_several(capsys, files):
    base = knowledge_base().channels[0].switched([k != 4 for k in range(9)])
    KnowledgeBase("cart", (base, replace(base, name="angle"))).save(files / "two.json")
    _, out, _ = linted(capsys, files / "two.json")
    assert "L101  position: no rule fires" in out
    assert "L101  angle: no rule fires" in out


def test_a_code_is_explained(capsys):
    assert linted(capsys, "--explain", "L101")[1].startswith("L101, warning: hole in the coverage\n")
    assert "did you mean 'L101'" in linted(capsys, "--explain", "L1010")[2]


def test_a_rule_has_the_number_of_the_report_and_of_other_files(capsys, files):
    kb = knowledge_base()
    rules = [replace(rule, gains=(12.0, 1.0, 2.0)) if k == 5 else rule for k, rule in enumerate(kb.channels[0].rules)]
    kb = kb.with_channel(0, replace(kb.channels[0], rules=tuple(rules)).switched([k != 2 for k in range(9)]))
    kb.save(files / "outside.json")
    _, out, _ = linted(capsys, files / "outside.json")
    number, premise = re.search(r"rule (\d+) \(IF (.*?)\)", re.sub(r"\s+", " ", out)).groups()
    data = example(2.0, 0.02)
    page = rules_section(PageView(replace(data, knowledge=replace(data.knowledge, kb=kb, curve=None))))
    assert f'<li value="{number}">IF {premise} THEN kp = 12' in page
    assert re.search(rf'<th scope="row">{number}</th>(<td class="words">[^<]*</td>){{2}}<td [^>]*>12.00</td>', page)
    assert f"RULE {number} : if e is Z and e_rate is P then kp is" in write(system_of(kb))
