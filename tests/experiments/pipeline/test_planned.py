"""The plan of a design names its stages in their order, so that lines tell how far the whole is; a resumed run goes on there."""

import re
import shutil
from pathlib import Path

import pytest

from experiments import design
from experiments.runtime import formats, progress
from experiments.runtime.progress import JobProgress
from tests.experiments.front import smallest

# With two tries and inputs that are chosen: all stages that there are.
TINY = [word for word in smallest.words(seeds=2, quiet=False, output="run") if not word.startswith("network.inputs")]
SHORT = {"reference", "choice_of_fixed", "choice"}  # of no account


@pytest.fixture
def begun(monkeypatch, tmp_path):
    """Stages that are computed, each with whether the plan knows it; every line is shown."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(progress, "_SILENT_UNTIL", 0.0)
    monkeypatch.setattr(progress, "_PLAIN_EVERY", 0.0)
    found, begin = {}, JobProgress.begin

    def noted(self, stage):
        begin(self, stage)
        found[stage] = list(self._planned).index(stage) if stage in self._planned else None

    monkeypatch.setattr(JobProgress, "begin", noted)
    return found


def shares(text):
    return [int(number) for number in re.findall(r"^design (\d+)%, ", text, re.MULTILINE)]


def content(run):
    files = {file.relative_to(run) for file in Path(run).rglob("*") if file.is_file()} - {Path("times.json")}
    return {file: Path(run, file).read_bytes() for file in files}


def test_lines_tell_the_whole_design_and_a_resumed_one_counts_what_is_done(begun, capsys):
    design.main(TINY)
    known = [place for name, place in begun.items() if place is not None]
    assert known == sorted(known)
    unknown = {name for name, place in begun.items() if place is None}
    assert {name for name in unknown - SHORT if not name.startswith("worst_of_")} == set()
    told = shares(capsys.readouterr().err)
    assert told[0] < 20
    assert told[-1] >= 95
    assert len([share for share in told if 20 < share < 80]) > 10
    begun.clear()
    shutil.rmtree(Path("run/stages/responses"))
    design.main(["resume=run"])
    assert list(begun) == ["responses"]
    assert min(shares(capsys.readouterr().err)) >= 80


@pytest.mark.slow
def test_stages_at_once_are_those_one_after_the_other(begun, capsys):
    design.main(TINY)
    design.main([*TINY, "output=beside", "threads=3"])
    assert set(begun) >= set(formats.read_json(Path("beside/times.json")))
    assert shares(capsys.readouterr().err)[-1] >= 95
    assert content("beside") == content("run")  # stages and their hashes too
