"""Every block of code on the pages is run, here or where the table says; lines that are refused say what the page says.

What is typed into a shell is run by `tests/test_page_commands.py`. A block that nothing here knows makes a test fail.
"""

import json
import os
import runpy
import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

import plants
from experiments import cli
from flcs.exchange import fis_writer, system_of
from plants.adapters.fmu import FmuDeclaration
from plants.core import registry
from sscq.identification.loop_knowledge import LoopKnowledge
from tests.fences import COMMANDS, DOCS, PAGES, ROOT, Fence, blocks, fences, passages_of_examples
from tests.reference.exports import knowledge_base

FILES = {"docs/guide/logs.md": "loop_logs.py"}
"""Pages that read what an example writes: it is run first."""

SHORTER = {
    "docs/guide/gpu.md": (', device="cuda"', ""),  # most machines of the tests have no GPU; the call is the same
    "docs/guide/cookbook.md": (
        '"draws.verdict": 512}',
        '"draws.verdict": 40, "budget.evaluations": 100, "assurance.worst_evaluations": 0, "assurance.map_points": 0}',
    ),
    "docs/guide/own_plant.md": (
        '{"envelope.t_end": 60.0}',
        '{"envelope.t_end": 30.0, "draws.verdict": 40, "budget.evaluations": 100, "assurance.worst_evaluations": 0}',
    ),
}
"""What is left out or made small where a page's program is run; everything else stands as it is on the page."""

RUN = (
    "docs/guide/contacts.md",
    "docs/guide/gauss_function.md",
    "docs/guide/gpu.md",
    "docs/guide/loop_free.md",
    "docs/guide/mechanics.md",
    "docs/guide/noise_and_delay.md",
    "docs/guide/operation.md",
    "docs/guide/own_gains.md",
    "docs/reference/balancing_vehicle.md",
    "docs/reference/plants.md",
    pytest.param("docs/guide/cookbook.md", marks=pytest.mark.slow),  # a whole design, half a minute
    pytest.param("docs/guide/own_plant.md", marks=pytest.mark.slow),  # the same
    pytest.param("docs/guide/logs.md", marks=pytest.mark.slow),  # thousands of plants for a log, ten seconds
)
"""Pages whose blocks of Python are run here, however many there are."""

ADAPTERS = "docs/reference/adapters/"
"""All Python on these pages: tests/plants/adapters/test_pages.py."""

HERE = "tests/test_blocks.py"
EXPORTS = "tests/flcs/export"
COUNTED = {
    ("README.md", "python"): (2, "tests/test_docs.py"),
    ("docs/reference/fields.md", "python"): (1, "tests/test_docs.py"),
    ("docs/guide/tutorial.md", "python"): (1, HERE),
    ("docs/guide/tutorial.md", "text"): (1, HERE),
    ("docs/reference/errors.md", "text"): (10, HERE),
    ("docs/guide/sweeps.md", "python"): (1, "tests/experiments/front/test_sweeping.py"),
    ("docs/reference/exports/c.md", "c"): (1, f"{EXPORTS}/c/test_c_target.py"),
    ("docs/reference/exports/fcl.md", "python"): (1, f"{EXPORTS}/matlab/test_fuzzy_pages.py"),
    ("docs/reference/exports/fis.md", "python"): (1, f"{EXPORTS}/matlab/test_fuzzy_pages.py"),
    ("docs/reference/exports/fmu.md", "python"): (1, f"{EXPORTS}/fmu/test_fmu.py"),
    ("docs/reference/exports/javascript.md", "js"): (2, f"{EXPORTS}/scripts/test_javascript.py"),
    ("docs/reference/exports/javascript.md", "python"): (1, f"{EXPORTS}/scripts/test_javascript.py"),
    ("docs/reference/exports/matlab.md", "octave"): (1, f"{EXPORTS}/matlab/test_fuzzy_pages.py"),  # where Octave is
    ("docs/reference/exports/onnx.md", "python"): (1, f"{EXPORTS}/matlab/test_fuzzy_pages.py"),
    ("docs/reference/exports/python.md", "python"): (1, f"{EXPORTS}/scripts/test_python_file.py"),
    ("docs/reference/exports/scheduler.md", "python"): (1, f"{EXPORTS}/matlab/test_fuzzy_pages.py"),
    ("docs/reference/exports/skfuzzy.md", "python"): (1, f"{EXPORTS}/matlab/test_fuzzy_pages.py"),
    ("docs/reference/exports/structured_text.md", "python"): (1, f"{EXPORTS}/structured_text/test_structured_text.py"),
    ("docs/reference/exports/structured_text.md", "text"): (2, f"{EXPORTS}/structured_text/test_structured_text.py"),
    ("docs/reference/exports/tables.md", "python"): (1, f"{EXPORTS}/matlab/test_fuzzy_pages.py"),
    ("docs/guide/logs.md", "json"): (1, HERE),
    ("docs/reference/adapters/surrogate.md", "json"): (1, HERE),
    ("docs/reference/adapters/packages.md", "toml"): (1, HERE),
    ("docs/reference/exports/fis.md", "json"): (1, HERE),
    ("docs/reference/knowledge_base.md", "json"): (1, HERE),
    ("docs/guide/mechanics.md", "text"): (2, "tests/plants/mechanics/test_examples.py"),  # the second: of a day, dated
}
"""How many blocks of a page another test runs, or one of this file, and which: a new one has to be told here."""

NOT_RUN = {
    ("docs/guide/architecture.md", "text"): (1, "a picture"),
    ("docs/guide/logs.md", "text"): (2, "printed after minutes: what the commands before them come to"),
    ("docs/reference/exports/scheduler.md", "text"): (1, "a table that `sscq export` writes into pid_block.md"),
    ("docs/reference/logs/commission.md", "text"): (1, "the outline of a file, with dots in place of numbers"),
    ("docs/reference/logs/identify.md", "text"): (2, "the outline of a file, with dots in place of numbers"),
}
"""What is no code."""

TUTORIAL = "docs/guide/tutorial.md"
FOUND = {**os.environ, "PYTHONPATH": str(ROOT)}  # the packages, from a folder elsewhere


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def pages_run():
    return [page if isinstance(page, str) else page.values[0] for page in RUN]


def unknown(found):
    """Return what is said of blocks that no test knows, and of those that are not there any more."""
    run = set(pages_run())
    told = {key: count for key, (count, _) in (COUNTED | NOT_RUN).items()}
    counted = Counter(
        (fence.page, fence.language)
        for fence in found
        if fence.language not in COMMANDS  # tests/test_page_commands.py
        and not fence.language.startswith("{")  # directives of the site, which `make docs` carries out
        and not (fence.language == "python" and (fence.page in run or fence.page.startswith(ADAPTERS)))
    )
    return [
        f"{page}: {counted[page, language]} blocks of {language!r}, but tests know {told.get((page, language), 0)}"
        for page, language in sorted({*counted, *told})
        if counted[page, language] != told.get((page, language), 0)
    ]


def test_every_block_of_every_page_is_known():
    assert unknown([fence for page in PAGES for fence in fences(page)]) == []
    assert all((ROOT / test).exists() for _, test in COUNTED.values())


@pytest.mark.parametrize("language", ["python", "json", "octave", "text", "matlab"])
def test_a_new_block_is_refused_until_a_test_knows_it(language):
    found = [fence for page in PAGES for fence in fences(page)]
    (told,) = unknown([*found, Fence("docs/guide/verdict.md", language, "")])
    assert told.startswith("docs/guide/verdict.md: 1 blocks")


@pytest.mark.parametrize("page", RUN)
@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive:UserWarning")
def test_the_blocks_of_a_page_run(page, own_folder, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setattr(sys, "argv", ["page"])
    if page in FILES:
        runpy.run_path(str(DOCS / "examples" / FILES[page]), run_name="__main__")
    space, examples = {"__name__": page}, passages_of_examples()
    for number, block in enumerate(blocks(page, "python")):
        if "import" not in block and any(block in example for example in examples):
            continue  # it is run with the example that it is a passage of
        text = block.replace(*SHORTER.get(page, ("", "")))
        exec(compile(text, f"{page}, block {number + 1}", "exec"), space)
    if page == "docs/reference/plants.md":
        it_is_what_the_page_says(space)


def it_is_what_the_page_says(space):
    """The plants of reference/plants.md: blocks give what is asked of them, the picture can be drawn, the ball bounces."""
    assert [measure.name for measure in space["car"].measures][-1] == "flight"
    assert space["flight"].update(0.0, (0.0, 0.5, 0.0, 0.0, 0.0), (0.0,), (0.0,), space["car"].nominal(), (0.1, 0.2), 0.1) == (
        pytest.approx(0.2), pytest.approx(0.2),
    )  # fmt: skip
    assert plants.check(space["cart"]).ok
    assert plants.check(space["sleigh"]).ok
    height = space["bounces"]["height"]
    assert height.min() >= 0.0
    assert 0.6 < height[300:].max() < 0.65  # 0.8 of the speed is 0.64 of the height


def test_a_page_of_json_is_read_by_what_reads_such_a_file(own_folder):
    (loop,), (declared,) = blocks("docs/guide/logs.md", "json"), blocks("docs/reference/adapters/surrogate.md", "json")
    Path("loop.json").write_text(loop)
    assert LoopKnowledge.read("loop.json").measured_span == (0, 150)
    Path("model.json").write_text(declared)
    assert FmuDeclaration.from_file("model.json").name == "mass_damper"


def test_the_settings_of_the_page_on_fis_files_complete_a_file(own_folder):
    (settings,) = blocks("docs/reference/exports/fis.md", "json")
    Path("settings.json").write_text(settings)
    text = fis_writer.write(system_of(knowledge_base("van_der_pol")))
    for ours, theirs in (("e", "level error"), ("z", "its rate"), ("kp", "Kp"), ("ki", "Ki"), ("kd", "Kd")):
        text = text.replace(f"Name='{ours}'", f"Name='{theirs}'")
    Path("theirs.fis").write_text(text)
    (line,) = [one for one in blocks("docs/reference/exports/fis.md", "") if "theirs.fis" in one]
    cli.main(shlex.split(line)[1:])
    (channel,) = json.loads(Path("knowledge_base.json").read_text())["channels"]
    assert [variable["name"] for variable in channel["inputs"]] == ["e", "e_rate"]


def test_settings_of_other_programs_name_what_is_there():
    (entry,) = blocks("docs/reference/adapters/packages.md", "toml")
    assert set(tomllib.loads(entry)["project"]["entry-points"]) == {registry.GROUP}
    (editor,) = blocks("docs/reference/knowledge_base.md", "json")
    assert (ROOT / json.loads(f"{{{editor}}}")["json.schemas"][0]["url"]).exists()


def test_the_tutorials_plant_is_accepted_and_its_mistake_is_refused_as_it_says(own_folder, capsys):
    (source,) = blocks(TUTORIAL, "python")
    (said,) = blocks(TUTORIAL, "text")
    Path("tank.py").write_text(source)
    (plant,) = plants.load_plant_file("tank.py")
    assert plants.check(plant).ok
    Path("tank.py").write_text(source.replace("where(level, level, 0.0)", "where(level > 0.0, level, 0.0)"))
    cli.main(["check", "tank.py"])
    assert "tank.py:8 in derivative: comparison of a traced number; use where(level, level" in capsys.readouterr().out
    Path("tank.py").write_text(source.replace("return ((inflow", "return (inflow").replace("/ area,)", "/ area"))
    with pytest.raises(SystemExit) as exit_:
        cli.main(["check", "tank.py"])
    assert exit_.value.code == 1
    assert capsys.readouterr().out.startswith(said.rstrip())


@pytest.mark.parametrize("block", blocks("docs/reference/errors.md", "text"))
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
