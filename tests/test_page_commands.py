"""Every command in the blocks of the pages is run: quick ones always, the others with `-m slow`, their budgets made small.

A page's lines are run in their order in one folder, so that each finds what those before it wrote. Lines that cannot be
run here are named with the reason. Commands named in sentences are tested to be accepted (`tests/test_docs.py`).
"""

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from experiments import cli
from experiments.front.words import spelt
from flcs.exchange import fis_writer, system_of
from plants.core import registry
from sscq.situations.situation import Situation
from tests.experiments.front import smallest
from tests.fences import COMMANDS, DOCS, PAGES, ROOT, commands_of, fences, printed
from tests.reference.exports import knowledge_base

QUICK = (
    r"sscq plants( (?!balancing_vehicle)\w+)?$",
    r"sscq --version$",
    r"sscq lint ",
    r"sscq import (rules|exported/)",
    r"sscq cache --list$",
    r"sscq reproduce --list$",
    r"sscq export .* to=\[(tables|fis|fcl)\]",
    r"make help$",
    r"eval ",
)
"""Below ten seconds, so in every run of the tests."""

NOT_HERE = {
    r"submitit_slurm": "needs a cluster with SLURM",
    r"device=cuda": "needs an NVIDIA GPU; the same words run on the processor without device=",
    r"hydra/sweeper=optuna": "needs the package hydra-optuna-sweeper, which asks for an older Optuna",
    r"heater\.csv": "needs a published record, which is not ours to copy",
    r"plant=turbine": "needs a package with plants: tests/experiments/test_installed_plants.py makes one",
    r"sscq surrogate (model|--plant-file mine)": "needs a reader's slow plant: tests/experiments/surrogate runs the command",
    r"sscq import theirs\.fis": "tests/test_blocks.py runs it with the settings of its page",
    r"sscq reproduce --all": "minutes: tests/experiments/reproduce runs the claims one by one",
    r"experiments\.benchmark suite=": "hours with any budget: tests/experiments/suites runs small ones",
    r"make (venv|wheel|docs|lock|supply|check|test|differential|kill|memory)\b": "builds or tests all of this itself",
    r"make bench": "compares speed, which says nothing beside other tests: tests/benchmarks runs the parts",
}
"""What cannot be run in a test, and why; searched for in the line."""

FILLED = {
    "sscq assess LOG.csv": "sscq assess sluggish.csv --loop loop.json",
    "sscq commission LOG.csv": "sscq commission sluggish.csv --output sluggish",
    "sscq design start=knowledge_base.json plant_file=": "sscq design start=knowledge_base.json",
    "sscq identify LOG.csv [MORE.csv ...] --output DIR": "sscq identify sluggish.csv tuned.csv --output both",
    "sscq identify LOG.csv [MORE.csv ...] --output DIR --plant": "sscq identify tanks.csv --output tanks --plant two_tanks "
    "--fit 'upper hole,lower hole' --load inflow",
    "sscq shadow LOG.csv": "sscq shadow sluggish.csv --sheet sluggish --output moves.csv",
    "sscq verify AFTER.csv": "sscq verify sluggish.csv --sheet sluggish --before sluggish.csv",
}
"""What stands for a synopsis, by how it begins (the longest that fits)."""

SMALLEST = {
    **{key: spelt(value) for key, value in smallest.SETTINGS.items() if key not in {"draws", "assurance"}},
    **{f"draws.{key}": spelt(value) for key, value in smallest.SETTINGS["draws"].items()},
    "ladder.further": "[]",
    "assurance.worst_evaluations": "20",
    "assurance.map_points": "4",
    "search.tries": "1",
}
"""Of designs, where the line does not say it itself; evaluations and seeds of the verdict are these in any case."""

OTHERS = {
    "worst": ["evaluations=60", "output=runs/worst/RUN"],
    "map": ["points=4", "margin_points=2"],
    "operate": ["windows=2", "moves=1", "evaluations=40", "relearn=false", "contenders=[never]"],
}
LONG, LONGEST = 4500, 1000  # steps of a situation
SWEEP = "runs/design-sweep/20260101-120000"  # as sweeps.md calls it
FINDINGS = {
    "lint": {0, 1},
    "certify": {0, 1},
    "assess": {0, 3},
    "commission": {0, 3},
    "identify": {0, 3},
    "verify": {0, 3},
}
"""Exit codes that are answers."""

SAMPLED = {"docs/guide/logs.md"}
"""Pages whose numbers are of plants that a sampler meets: another processor rounds otherwise, and it goes another way."""

NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?")
TUTORIAL = "docs/guide/tutorial.md"  # tests/test_blocks.py runs it, at its own budget


def typed():
    """Return page and line of all commands of the pages' blocks, in their order."""
    blocks = [fence for page in PAGES if page != TUTORIAL for fence in fences(page) if fence.language in COMMANDS]
    return [(fence.page, line) for fence in blocks for line in commands_of(fence)]


def reason(line):
    """Return why a line is not run; "" where it is."""
    if "hydra/launcher=joblib" in line and find_spec("hydra_plugins") is None:
        return "needs the extra cluster"
    return next((why for pattern, why in NOT_HERE.items() if re.search(pattern, line)), "")


def quick(line):
    return not reason(line) and any(re.match(pattern, line.partition("#")[0].rstrip()) for pattern in QUICK)


def prepared(folder, *, finished=None):
    """Put what the pages take for granted into a folder: a knowledge base, its run, files of others, logs.

    finished: Run that is copied; without one a knowledge base stands in its place.
    """
    (folder / "docs").symlink_to(DOCS)
    run = folder / "runs/design/RUN"
    if finished:
        shutil.copytree(finished, run)
        for name in ("knowledge_base.json", "teaching_signal.csv"):
            shutil.copy(run / name, folder)
    else:
        run.mkdir(parents=True)
        knowledge_base().save(run / "knowledge_base.json")
        knowledge_base().save(folder / "knowledge_base.json")
    rules = fis_writer.write(system_of(knowledge_base(), 0))
    (folder / "rules.fis").write_text(rules.replace("Name='z'", "Name='e_rate'"))  # as other programs write it
    (folder / "loop.json").write_text('{"output_limits": [0, 100]}')


def words_of(line):
    """Return the words after `sscq` of a line, with places filled in and its budget made small."""
    fitting = max((start for start in FILLED if line.startswith(start)), key=len, default=None)
    line = FILLED[fitting] if fitting else line
    words = [word.replace("runs/design/...", "runs/design/RUN") for word in shlex.split(line, comments=True)[1:]]
    small = smaller(words)
    keys = {word.partition("=")[0] for word in small}
    return [*(word for word in words if word.partition("=")[0] not in keys), *small]


def smaller(words):
    """Return what makes a command small."""
    if words[0] != "design":
        return OTHERS.get(words[0], [])
    if any(word.startswith("resume=") for word in words):
        return []
    told = [word.partition("=")[0] for word in words]
    settled = {*told, *(key.partition(".")[0] for key in told if key in {"draws", "assurance"})}
    more = [
        f"{key}={value}"
        for key, value in SMALLEST.items()
        if key in {"budget.evaluations", "budget.verdict_seeds"}
        or not settled & {key, key.partition(".")[0]}
    ]  # fmt: skip
    more += ["front.evaluations=60"] if any(key.startswith("front") for key in told) else []
    first = "-m" in words and not {"hydra.sweep.dir", "hydra/launcher"} & set(told)  # the one that is gone on with
    return more + ([f"hydra.sweep.dir={SWEEP}"] if first else [])


def run(line, folder):
    """Run a line in its folder; an exit code that is no answer fails."""
    if line.startswith("sscq "):
        words = words_of(line)
        code = 0
        try:
            cli.main(words)
        except SystemExit as stop:
            code = stop.code or 0
        assert code in FINDINGS.get(words[0], {0}), f"exit code {code}: {line}"
        return
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    if line.startswith("make "):
        line = line.replace(
            "make ", f"make -f {ROOT / 'Makefile'} -o .venv/installed BIN={Path(sys.executable).parent} ", 1
        )
    if "experiments.benchmark" in line:
        line = line.partition(" #")[0]  # further words behind it would be lost
        line = line.replace("seeds=5", "").replace("budget=standard", "")
        line += " seeds=1 budget=small " + " ".join(
            f"{key}={value}" for key, value in SMALLEST.items() if key.startswith(("budget", "draws", "network"))
        )  # fmt: skip
    subprocess.run(["bash", "-c", line], cwd=folder, env=env, check=True, capture_output=True)


def masked(line):
    return NUMBER.sub("#", re.sub("-{5,}", "-----", " ".join(line.split())))


def holds(shown, lines, numbers=True):
    """Whether a line of a page is among those that were printed: its words, and its numbers to 2 % where they count."""
    wanted = [float(number) for number in NUMBER.findall(shown)]
    return any(
        masked(line) == masked(shown)
        and (not numbers or [float(n) for n in NUMBER.findall(line)] == pytest.approx(wanted, rel=0.02, abs=0.02))
        for line in lines
    )


def test_every_line_of_a_block_is_a_command():
    lines = typed()
    assert len(lines) > 150
    assert [line for _, line in lines if not re.match(r"(sscq|python|make|eval) ", f"{line} ")] == []


@pytest.mark.parametrize("pattern", NOT_HERE)
def test_what_is_not_run_is_still_on_a_page(pattern):
    assert any(re.search(pattern, line) for _, line in typed())


@pytest.mark.parametrize("line", sorted({line for _, line in typed() if quick(line)}))
def test_a_quick_command_runs(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepared(tmp_path)
    if line.startswith("sscq import exported/"):
        run(f"sscq export kb=knowledge_base.json to=[{line.split('/')[1]}] output=exported", tmp_path)
    if "teaching_signal.csv" in line:
        (tmp_path / "teaching_signal.csv").write_text("e,z\n0.1,0.2\n-0.3,0.1\n")
    run(line, tmp_path)


@pytest.fixture(scope="module")
def own_cache(tmp_path_factory):
    """A cache of compiled simulations for all pages together: `sscq cache --limit` deletes."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("SSCQ_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="module")
def finished(own_cache, tmp_path_factory):
    """The run of a design that every page takes for granted."""
    run = tmp_path_factory.mktemp("finished") / "RUN"
    cli.main(words_of(f"sscq design output={run} quiet=true"))
    return run


@pytest.fixture(scope="module")
def short_rides():
    """Situations of plants whose rollouts take long, cut short: what is slow there is simulation, whatever the budget."""
    found = registry.snapshot()
    registry.restore({name: _shortened(plant) for name, plant in found.items()})
    yield
    registry.restore(found)


def _shortened(plant):
    """A plant's situations at most LONGEST steps long where one of them has more than LONG; others as they are."""
    ends = [one.get("t_end", Situation.t_end) for several in plant.situations.values() for one in several]
    if max(ends, default=0.0) <= LONG * plant.step:
        return plant
    return replace(plant, situations={
        kind: [{**one, "t_end": min(one.get("t_end", Situation.t_end), LONGEST * plant.step)} for one in several]
        for kind, several in plant.situations.items()
    })  # fmt: skip


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # of launchers and their processes
@pytest.mark.parametrize("page", sorted({page for page, line in typed() if not reason(line)}))
def test_the_commands_of_a_page_run_in_their_order(page, finished, short_rides, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["page"])
    prepared(tmp_path, finished=finished)
    if "logs" in page:
        for name in ("loop_logs", "tanks_log"):
            runpy.run_path(str(DOCS / f"examples/{name}.py"), run_name="__main__")
    if page.startswith("docs/reference/logs/") and "commission" not in page:  # each takes its sheet for granted
        run("sscq commission LOG.csv", tmp_path)
    shown = {line: lines for fence in fences(page) if fence.language == "console" for line, lines in printed(fence)}
    for line in [line for own, line in typed() if own == page and not reason(line)]:
        capfd.readouterr()
        run(line, tmp_path)
        found = capfd.readouterr().out.splitlines()
        wanted = [one for one in shown.get(line, []) if one.strip(".") and line.startswith("sscq ")]
        assert [one for one in wanted if not holds(one, found, numbers=page not in SAMPLED)] == []
