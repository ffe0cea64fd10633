"""Pages for readers are true: links lead somewhere, commands are accepted, examples run."""

import importlib.util
import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

import plants
from benchmarks.__main__ import BENCHMARKS
from experiments import cli
from experiments.starting.opening import configured
from experiments.studies.__main__ import STUDIES
from experiments.suites.suite import options
from tests.fences import COMMANDS, commands_of, fences
from tests.reference.exports import knowledge_base

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONFIGURED = ("design", "simulate", "evaluate", "worst", "export")
TREE = ("docs/guide/architecture.md", "docs/guide/extending.md", "CONTRIBUTING.md")  # pages that say where code is
COMMANDED = (
    "README.md",
    "CONTRIBUTING.md",
    "docs/studies/README.md",
    "docs/labs/README.md",
    "docs/gallery/README.md",
    *sorted(page.relative_to(ROOT).as_posix() for page in ROOT.glob("docs/guide/*.md")),
    *sorted(page.relative_to(ROOT).as_posix() for page in ROOT.glob("docs/reference/**/*.md")),
)
FEWEST_NAMED = {TREE[0]: 40, TREE[1]: 20, TREE[2]: 2}
MADE_UP = {"tasks.py", "plants/mine.py", "mine.py", "summary.py"}
SHORTEST_COOKBOOK = 42  # lines of command that it took over from the README


def blocks(text, language):
    """Return the fenced blocks of a language ("" for none)."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def prose(text):
    """Return a page without its fenced blocks."""
    return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(path):
    """Return the names that headings of a page have as link targets."""
    headings = re.findall(r"^#+ (.*)$", prose(path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dead_links(page):
    """Return links of a page that lead to no file or no heading."""
    found = []
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page.read_text(encoding="utf-8"))):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            found.append(link)
    return found


def commands():
    """Return the command lines of the pages that show them: in blocks, and in code marks of tables and sentences."""
    found = {}
    for name in COMMANDED:
        text = (ROOT / name).read_text(encoding="utf-8")
        lines = [line for fence in fences(name) if fence.language in COMMANDS for line in commands_of(fence)]
        marked = [" ".join(code.split()) for code in re.findall(r"`([^`]+)`", prose(text))]
        lines += [code for code in marked if not re.fullmatch(r"sscq \w+", code)]  # only a command's name
        lines = [re.sub(r" \[(?:--|[A-Z])[^\]]*\]", "", line).partition(" | ")[0] for line in lines]  # of a synopsis
        found |= {line: name for line in lines if re.match(r"(sscq \w|python -m |make \w)", line)}
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    assert dead_links(page) == []


def test_a_dead_link_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A heading\n\n[here](#a-heading) [there](missing.md) [not here](#other)\n")
    assert dead_links(page) == ["missing.md", "#other"]


def test_every_page_below_docs_is_reached_from_the_readme():
    reached, ahead = set(), [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        if page in reached:
            continue
        reached.add(page)
        links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose(page.read_text(encoding="utf-8")))
        targets = [(page.parent / link).resolve() for link in links if "://" not in link]
        for target in targets:
            ahead += [target] if target.suffix == ".md" else []
            ahead += target.glob("*.md") if target.is_dir() else []
    assert {page.relative_to(ROOT).as_posix() for page in PAGES} - {
        page.relative_to(ROOT).as_posix() for page in reached
    } <= {"CHANGELOG.md"}


@pytest.mark.parametrize("line", commands())
def test_a_command_is_accepted(line):
    words = shlex.split(line, comments=True)
    if words[0] == "sscq" and "-m" in words:  # a sweep: each run takes one of the values
        single = [re.sub(r"=(?:\w+\()?([^,\[\]()]+)[,)].*", r"=\1", word) for word in words[2:]]
        configured(words[1], [word for word in single if word != "-m" and not word.startswith("hydra")])
    elif words[0] == "sscq" and words[1] in CONFIGURED and "--help" not in words:
        configured(words[1], words[2:])
    elif words[0] == "sscq" and words[1] not in CONFIGURED:
        assert cli.parser().parse_args(words[1:]).run
    elif words[:3] == ["python", "-m", "experiments.benchmark"] and not any(w.startswith("suite=") for w in words):
        assert options(words[3:]).plants
    elif words[:3] == ["python", "-m", "experiments.studies"]:
        assert set(words[3:4]) <= set(STUDIES)
    elif words[0] == "python":
        assert importlib.util.find_spec(words[2])
    elif words[:2] == ["make", "bench"]:
        assert set(words[2].removeprefix("ARGS=").split() if words[2:] else ()) <= set(BENCHMARKS)
    elif words[0] == "make":
        assert f"\n{words[1]}:" in (ROOT / "Makefile").read_text()


@pytest.mark.parametrize("page", TREE)
def test_places_in_the_tree_are_there(page):
    named = re.findall(r"`([\w./]+(?:/|\.py|\.yaml|\.toml))`", prose((ROOT / page).read_text(encoding="utf-8")))
    assert len(named) >= FEWEST_NAMED[page]
    missing = [name for name in named if not (ROOT / name).exists() and name not in MADE_UP]
    assert missing == []


@pytest.mark.parametrize("test", re.findall(r"pytest (tests/[\w./]+)", (ROOT / TREE[1]).read_text(encoding="utf-8")))
def test_tests_of_a_recipe_are_there(test):
    assert (ROOT / test).exists()


def test_the_cookbook_is_read():
    assert sum(page == "docs/guide/cookbook.md" for page in commands().values()) >= SHORTEST_COOKBOOK


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 100


def test_the_citation_has_what_its_format_asks_for():
    """Citation File Format 1.2: these four are required; the version is the project's."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(cited)
    assert cited["cff-version"] == "1.2.0"
    assert all("name" in author or "family-names" in author for author in cited["authors"])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert cited["version"] == project["version"]


def test_the_readmes_plant_is_accepted(tmp_path):
    file = tmp_path / "swing.py"
    file.write_text(blocks(README, "python")[0])
    (plant,) = plants.load_plant_file(file)
    assert plants.check(plant).ok


def test_the_readmes_program_runs(tmp_path, monkeypatch, capsys):
    knowledge_base("van_der_pol").save(tmp_path / "knowledge_base.json")
    monkeypatch.chdir(tmp_path)
    exec(compile(blocks(README, "python")[1], "README.md", "exec"), {})
    both, one = capsys.readouterr().out.splitlines()
    assert len(both.split()) == 2
    assert len(one.split()) == 1


def test_the_page_of_fields_is_that_of_the_docstrings():
    """Every field and elementary function stands there; made anew by `python docs/reference/fields.py`."""
    spec = importlib.util.spec_from_file_location("fields_page", ROOT / "docs/reference/fields.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    assert made.PAGE.read_text(encoding="utf-8") == made.page(), "run python docs/reference/fields.py"
    lines = made.page().splitlines()
    empty = [line for line in lines if line.startswith("| `") and line.split("|")[-2].strip() == ""]
    assert not empty, "these have no text in a docstring"


def test_the_program_of_the_page_of_fields_runs():
    (program,) = blocks((ROOT / "docs/reference/fields.md").read_text(encoding="utf-8"), "python")
    exec(compile(program, "fields.md", "exec"), {})
