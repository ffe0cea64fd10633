"""What a study found stays in a file, design by design, and is found again by what was asked."""

import json

import pytest

from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.studies.engine.record import StudyRecord

ASKED = ["plant=fopdt", 3]


@pytest.fixture
def run(own_folder):
    """A run folder that knows its commit."""
    folder = own_folder / "run"
    folder.mkdir()
    formats.write_json(folder / "versions.json", {"commit": "1a2b3c4d5e6f"})
    return folder


def test_a_design_is_made_once_for_what_is_asked(run):
    made, judged = [], {"J": -1 / 3, "rows": [1, "x", None, float("nan")]}

    def found(asked):
        return StudyRecord("chain").found("fopdt-3", asked, lambda: made.append(asked) or run, lambda _: judged)

    assert found(ASKED) == found(ASKED) == {"J": -0.333333, "rows": [1, "x", None, None]}
    assert made == [ASKED]
    found([*ASKED, "more"])
    assert len(made) == 2
    record = StudyRecord("chain")
    assert record.has("fopdt-3", [*ASKED, "more"])
    assert not record.has("fopdt-3", ASKED)  # the later line counts
    assert not record.has("fopdt-4", ASKED)
    assert record.get("fopdt-3")["J"] == -0.333333


def test_processes_side_by_side_lose_no_line(run):
    one, other = StudyRecord("chain"), StudyRecord("chain")
    for number in range(3):
        for name, record in (("a", one), ("b", other)):
            record.found(f"{name}-{number}", ASKED, lambda: run, lambda _: 1.0)
    assert all(StudyRecord("chain").has(f"{name}-{number}", ASKED) for name in "ab" for number in range(3))


def test_commits_are_counted(run, own_folder, monkeypatch):
    """Also where a design was begun by an older commit than judged it, and where a line does not say who judged."""
    monkeypatch.setattr("experiments.studies.engine.record.versions", lambda: {"commit": "1a2b3c4d5e6f-dirty"})
    record = StudyRecord("chain")
    for number in range(3):
        record.found(f"fopdt-{number}", ASKED, lambda: run, lambda _: 1.0)
    record.found("old", ASKED, lambda: own_folder, lambda _: 1.0)
    assert record.commits(["fopdt-0", "fopdt-1"]) == "1a2b3c4d (2)"
    assert record.commits(["old"]) == "unknown (1)"
    text = record.path.read_text(encoding="utf-8")
    without = [json.loads(line) for line in text.splitlines()]
    for line in without:
        del line["judged_by"]
    record.path.write_text("".join(json.dumps(line) + "\n" for line in without), encoding="utf-8")
    assert StudyRecord("chain").commits(["fopdt-0", "old"]) == "1a2b3c4d (1), unknown (1)"
    record.path.write_text(text.replace('"judged_by": "1a2b', '"judged_by": "9f8e'), encoding="utf-8")
    assert StudyRecord("chain").commits(["fopdt-0"]) == "1a2b3c4d, gone on with and judged by 9f8e3c4d (1)"


@pytest.mark.parametrize("line", ["{", "3", json.dumps({"name": "fopdt-3"})])
def test_a_line_that_is_no_design_is_refused_by_its_number(run, line):
    record = StudyRecord("chain")
    record.found("fopdt-3", ASKED, lambda: run, lambda _: 1.0)
    record.path.write_text(record.path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"chain\.jsonl, line 2 is no design of a study"):
        StudyRecord("chain")
