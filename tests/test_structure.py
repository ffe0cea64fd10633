"""The rules of the house hold in this tree, but for what tests/structure.toml excuses; each rule is seen to be broken."""

import tomllib
from pathlib import Path

import pytest

from benchmarks.structure import graphs
from benchmarks.structure.command import table
from benchmarks.structure.measures import MEASURES, measures, unreached
from benchmarks.structure.rules import RULES, complaints
from benchmarks.structure.source import of_folder, of_revision, of_texts

EXCUSED = tomllib.loads((Path(__file__).parent / "structure.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def tree():
    return of_folder()


def test_every_excuse_belongs_to_a_rule():
    assert set(EXCUSED) <= set(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_the_rule_holds_in_this_tree(tree, rule):
    found = complaints(rule, tree, EXCUSED.get(rule, {}))
    assert not found, "\n".join(found)


BROKEN = {
    "crowded_folders": ({f"sscq/word{k}.py": "" for k in range(16)}, {"sscq": 16}),
    "undescribed_folders": (
        {"sscq/__init__.py": "x = 1", "flcs/__init__.py": '"""Said."""', "plants/core/tape.py": '"""A tape."""'},
        {"sscq": 1, "plants/core": 1},
    ),
    "prefix_families": (
        {"sscq/step.py": "", "sscq/step_rules.py": "", "sscq/step_map.py": "", "sscq/stepping.py": "", "flcs/step.py": ""},
        {"sscq/step": 3},
    ),
    "repeated_class_names": (
        {"sscq/a.py": "class Part:\n    class Inner: ...\nclass Other: ...", "flcs/b.py": "def f():\n    class Part: ..."},
        {"Part": 2},
    ),
    "private_names_in_tests": (
        {
            "sscq/__init__.py": "",
            "sscq/a.py": "",
            "tests/sscq/test_a.py": "import numpy as np\nfrom sscq import a\nfrom sscq.a import _one, two, __doc__\na._three()\na.four._five",
        },
        {"tests/sscq": 2},
    ),
    "imports_of_tests": (
        {"benchmarks/a.py": "def f():\n    from tests.reference.twin import slow", "tests/reference/twin.py": ""},
        {"benchmarks.a": 1},
    ),
    "imports_in_functions": (
        {
            "sscq/a.py": "from sscq import b\ndef f():\n    if x:\n        from sscq import b, c\n    import torch\n    from .d import e",
            "sscq/__init__.py": "", "sscq/b.py": "", "sscq/c.py": "", "sscq/d.py": "",
        },
        {"sscq.a": 3},
    ),
    "long_files": (
        {"sscq/a.py": "x = 1\n" * 450, "sscq/b.py": "x = 1\n" * 451, "tests/test_a.py": "x = 1\n" * 451},
        {"sscq/b.py": 1, "tests/test_a.py": 1},
    ),
    "unformatted_places": ({"sscq/a.py": "A = (\n    1, 2,\n)  # fmt: skip\n"}, {"sscq": 1}),
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_what_breaks_a_rule_is_found_and_an_excuse_must_be_exact(rule):
    texts, expected = BROKEN[rule]
    source = of_texts(texts)
    assert RULES[rule](source) == expected
    assert len(complaints(rule, source, {})) == len(expected)
    assert not complaints(rule, source, expected)
    assert len(complaints(rule, source, {**expected, "gone": 1})) == 1


def test_circles_count_annotations_and_functions_and_folders_among_neighbours():
    graph = of_texts(
        {
            "sscq/__init__.py": "",
            "sscq/a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from sscq.b import B",
            "sscq/b.py": "def f():\n    import sscq.c",
            "sscq/c.py": "from .a import A",
            "sscq/d.py": "from sscq import c",
            "sscq/room/__init__.py": "",
            "sscq/room/e.py": "from ..d import x",
            "sscq/room/f.py": "from .. import g",
            "sscq/g.py": "from sscq.room.e import y",
        }
    ).graph
    assert graphs.circles(graph) == [["sscq.a", "sscq.b", "sscq.c"]]
    assert graphs.circles(graphs.neighbours(graph)["sscq"]) == [["a", "b", "c"], ["g", "room"]]


def test_circles_of_two_that_hang_together_by_one_arrow_are_two():
    assert graphs.circles({"a": ["b"], "b": ["a", "c"], "c": ["d"], "d": ["c"], "e": ["a"]}) == [["a", "b"], ["c", "d"]]


def test_what_no_command_reaches_is_found():
    source = of_texts(
        {
            "experiments/__init__.py": "",
            "experiments/cli.py": "JOBS = ['design']",
            "experiments/design.py": "from experiments.runtime import launch\nLATER = 'experiments.later'",
            "experiments/runtime/__init__.py": "",
            "experiments/runtime/launch.py": "",
            "experiments/later.py": "",
            "experiments/studies/page.py": "import experiments.design",
        }
    )
    assert [module.name for module in unreached(source)] == ["experiments.studies.page"]


def test_figures_of_two_trees_stand_side_by_side():
    one = of_texts({"experiments/cli.py": "", "sscq/a.py": "", "sscq/b.py": "from sscq import a\nhead = '|---|'"})
    figures = measures(one)
    assert set(figures) == set(MEASURES)
    assert figures["package code without tests: files / lines"] == "3 / 2"
    assert figures["places that write a Markdown table by hand"] == "1 in 1 files"
    lines = table({"before": figures, "after": figures}).splitlines()
    assert len(lines) == 2 + len(MEASURES)
    assert {line.count("|") for line in lines} == {4}


def test_an_unknown_commit_is_refused():
    with pytest.raises(ValueError, match="no-such-commit"):
        of_revision("no-such-commit")
