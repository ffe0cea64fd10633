"""The parts of the documentation site that are the project's own."""

import importlib.util
import runpy
import sys
from pathlib import Path

import pytest
import yaml
from pygments.styles import get_style_by_name
from pygments.token import Token

from configs.rules import settings
from configs.store import SCHEMAS
from flcs.lint.findings import CODES

ROOT = Path(__file__).parents[1]
EXTENSIONS = ROOT / "docs/_extensions"


@pytest.fixture
def part(monkeypatch):
    """Load one of the site's own modules."""
    monkeypatch.syspath_prepend(str(EXTENSIONS))

    def load(name, needs="json"):
        pytest.importorskip(needs)
        spec = importlib.util.spec_from_file_location(name, EXTENSIONS / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        return module

    return load


def test_versions_stand_newest_first_and_the_start_leads_to_the_newest(part, tmp_path):
    for name in ("0.9.0", "0.10.0", "0.2.1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").touch()
    (tmp_path / "no_site").mkdir()
    part("versions").write(tmp_path)
    assert (tmp_path / "versions.js").read_text() == 'window.SITE_VERSIONS = ["0.10.0", "0.9.0", "0.2.1"];\n'
    assert 'href="0.10.0/index.html"' in (tmp_path / "index.html").read_text()


def test_a_notebook_becomes_a_page_with_what_it_printed_and_drew(part):
    drawn = {"output_type": "display_data", "data": {"image/svg+xml": ["<svg>", "</svg>"], "text/plain": ["Figure"]}}
    told = {"output_type": "stream", "name": "stdout", "text": ["a |b|\n"]}
    book = {
        "cells": [
            {"cell_type": "markdown", "source": ["# Head\n", "text"]},
            {"cell_type": "code", "source": ["print('a |b|')"], "outputs": [told, drawn]},
            {"cell_type": "code", "source": [], "outputs": []},
        ]
    }
    page = part("notebooks", "myst_parser").markdown(book)
    assert (
        page.index("# Head\ntext") < page.index("print('a |b|')") < page.index("\na |b|\n") < page.index("<svg></svg>")
    )
    assert "Figure" not in page
    assert page.count("````{code-block} python") == 1


@pytest.mark.parametrize("command", SCHEMAS)
def test_every_setting_stands_in_its_table_once(part, command):
    page = part("code_tables").table_of_settings(command)
    for leaf in settings(SCHEMAS[command]):
        assert page.count(f"\n| `{leaf.key}` |") == 1
    assert {line.count("|") for line in page.splitlines() if line.startswith("|")} == {6}


def test_every_finding_stands_in_its_table(part):
    page = part("code_tables").table_of_findings()
    assert all(f"\n| {name} | {code.severity} |" in page for name, code in CODES.items())


def test_attributes_that_share_a_line_get_entries_of_their_own(part):
    lines = ["low, high : float", "    Limits [N].", "    Both.", "", "text : str"]
    part("pages", "myst_parser").names_apart(None, "", "", None, None, lines)
    block = ["    Limits [N].", "    Both."]
    assert lines == ["low : float", *block, "high : float", *block, "", "text : str"]


def test_single_marks_are_code_and_bars_are_bars(part):
    lines = ["`x`[0] and |x| of :class:`Y`", "``|a|`` is |b|, `c|d`"]
    part("pages", "myst_parser").plain_marks(None, "", "", None, None, lines)
    assert lines == [r"``x``\ [0] and \|x\| of :class:`Y`", r"``|a|`` is \|b\|, ``c|d``"]


def test_links_out_of_the_pages_become_the_files_names(part):
    text = ["see [the licence](../LICENSE), [sweeps](guide/sweeps.md) and [no file](../nowhere.py)"]
    part("pages", "myst_parser").links_to_the_repository(None, "index", text)
    assert text == ["see the licence (`LICENSE`), [sweeps](guide/sweeps.md) and [no file](../nowhere.py)"]


@pytest.mark.parametrize("key", ["pygments_style", "pygments_dark_style"])
def test_every_colour_of_a_block_of_code_can_be_read(key):
    pytest.importorskip("furo")  # it brings the styles
    style = get_style_by_name(runpy.run_path(str(ROOT / "docs/conf.py"))[key])
    behind = luminance(style.background_color.lstrip("#"))
    unread = {Token.Error, Token.Text.Whitespace}
    lights = {str(kind): luminance(of["color"]) for kind, of in style if of["color"] and kind not in unread}
    contrasts = {kind: (max(one, behind) + 0.05) / (min(one, behind) + 0.05) for kind, one in lights.items()}
    assert len(contrasts) > 20
    assert {kind: ratio for kind, ratio in contrasts.items() if ratio < 4.5} == {}  # level AA of WCAG 2.2, 1.4.3


def luminance(colour):
    """Relative luminance of a colour of six hexadecimal digits, as WCAG 2.2 defines it."""
    parts = [int(colour[k : k + 2], 16) / 255.0 for k in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_page_and_lab_has_a_place_in_the_tree():
    tree = yaml.safe_load((ROOT / "docs/_toc.yml").read_text(encoding="utf-8"))
    named, folders, ahead = {tree["root"]}, set(), list(tree["subtrees"])
    while ahead:
        entry = ahead.pop()
        ahead += entry.get("entries", [])
        named |= {entry["file"]} if "file" in entry else set()
        folders |= {entry["glob"].removesuffix("/*")} if "glob" in entry else set()
    pages = [path.relative_to(ROOT / "docs") for kind in ("md", "ipynb") for path in ROOT.glob(f"docs/**/*.{kind}")]
    lost = [page for page in pages if str(page.with_suffix("")) not in named and str(page.parent) not in folders]
    assert lost == []
    assert [
        name for name in named if not any((ROOT / "docs" / f"{name}{end}").exists() for end in (".md", ".ipynb"))
    ] == []
