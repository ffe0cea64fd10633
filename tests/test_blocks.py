"""Every block of code on the pages is run, here or where the page says; lines that are refused say what the page says."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import plants
from experiments import cli
from tests.reference.exports import knowledge_base

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
RUN = (
    "docs/guide/contacts.md",
    "docs/guide/gauss_function.md",
    "docs/guide/loop_free.md",
    "docs/guide/noise_and_delay.md",
    "docs/guide/operation.md",
    "docs/guide/own_gains.md",
)
ELSEWHERE = {  # pages whose blocks another test runs
    "README.md": "tests/test_docs.py",
    "docs/reference/fields.md": "tests/test_docs.py",
    "docs/guide/mechanics.md": "tests/plants/mechanics/test_examples.py",
    "docs/reference/adapters": "tests/plants/adapters/test_pages.py",
    "docs/reference/exports": "tests/flcs/export",
}
FRAGMENTS = {  # what a reader puts into a file of his own, or what needs minutes: these are held to be Python
    "docs/guide/logs.md",
    "docs/reference/balancing_vehicle.md",
    "docs/reference/plants.md",
}
TUTORIAL = DOCS / "guide/tutorial.md"
FOUND = {**os.environ, "PYTHONPATH": str(ROOT)}  # the packages, from a folder elsewhere


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def blocks(path, language):
    """Return the fenced blocks of a language ("" for none)."""
    fences = re.findall(r"^```([^\n]*)\n(.*?)^```$", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [block for name, block in fences if name == language]


def with_python():
    """Return the names of all pages that have blocks of Python."""
    pages = [*ROOT.glob("*.md"), *DOCS.glob("**/*.md")]
    return [page.relative_to(ROOT).as_posix() for page in pages if blocks(page, "python")]


def test_every_page_with_python_is_run_somewhere():
    known = {*RUN, *FRAGMENTS, *ELSEWHERE, "docs/guide/tutorial.md"}
    assert [page for page in with_python() if page not in known and str(Path(page).parent) not in known] == []
    assert all((ROOT / test).exists() for test in ELSEWHERE.values())


@pytest.mark.parametrize("page", RUN)
def test_the_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    space = {"__name__": page}
    for number, block in enumerate(blocks(ROOT / page, "python")):
        exec(compile(block, f"{page}, block {number + 1}", "exec"), space)


@pytest.mark.parametrize("page", sorted(FRAGMENTS))
def test_fragments_are_python(page):
    for block in blocks(ROOT / page, "python"):
        compile(block, page, "exec")


def test_the_tutorials_plant_is_accepted_and_its_mistake_is_refused_as_it_says(own_folder, capsys):
    (source,) = blocks(TUTORIAL, "python")
    (said,) = blocks(TUTORIAL, "text")
    Path("tank.py").write_text(source)
    (plant,) = plants.load_plant_file("tank.py")
    assert plants.check(plant).ok
    compared = source.replace("where(level, level, 0.0)", "where(level > 0.0, level, 0.0)")
    Path("compared.py").write_text(compared.replace('name="tank"', 'name="compared"'))
    cli.main(["check", "compared.py"])
    assert "compiled by numba as it stands: compared.py:8 in derivative: comparison" in capsys.readouterr().out
    Path("tank.py").write_text(source.replace("(area, hole) = x", "(area,) = x"))
    with pytest.raises(SystemExit) as exit_:
        cli.main(["check", "tank.py"])
    assert exit_.value.code == 1
    assert capsys.readouterr().out.startswith(said.rstrip())


@pytest.mark.parametrize("block", blocks(DOCS / "reference/errors.md", "text"))
def test_a_refusal_reads_as_the_page_has_it(block, own_folder, capsys):
    knowledge_base("van_der_pol").save("knowledge_base.json")
    line, *said = block.strip().splitlines()
    with pytest.raises(SystemExit) as exit_:
        cli.main(shlex.split(line.removeprefix("$ sscq ")))
    assert exit_.value.code == 2
    assert capsys.readouterr().err.startswith("\n".join(said).removesuffix("..."))


@pytest.mark.slow
def test_the_tutorials_commands_run_in_their_order(own_folder):
    (source,) = blocks(TUTORIAL, "python")
    Path("tank.py").write_text(source)
    lines = [line for block in blocks(TUTORIAL, "") for line in block.splitlines()]
    assert len(lines) == 5
    for line in lines:
        folders = sorted(Path("runs/design").glob("*"))
        words = shlex.split(line.replace("RUN", folders[-1].name if folders else ""))
        subprocess.run([sys.executable, "-m", "experiments.cli", *words[1:]], check=True, env=FOUND)
    assert sorted(Path("runs").glob("export/**/*.c"))
