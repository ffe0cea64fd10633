"""What the site adds to Sphinx: pages made of the code, notebooks as pages, links that leave the folder of pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from code_tables import table_of_findings, table_of_settings
from notebooks import NotebookParser
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]


class SettingTable(SphinxDirective):
    """``{settings} COMMAND``: every setting of a command, read off the schema that the command itself checks."""

    required_arguments = 1
    option_spec: ClassVar = {}

    def run(self) -> list[nodes.Node]:
        """Return the tables, one for each part of the configuration."""
        return self.parse_text_to_nodes(table_of_settings(self.arguments[0]), allow_section_headings=True)


class FindingTable(SphinxDirective):
    """``{findings}``: what `sscq lint` may find."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        return self.parse_text_to_nodes(table_of_findings())


_TOGETHER = re.compile(r"^(\w+(?:, \w+)+)( : .*)?$")


def names_apart(_app: Sphinx, _what: str, _name: str, _item: object, _options: object, lines: list[str]) -> None:
    """Give each of the attributes "a, b : float" an entry of its own with the text of all: Sphinx takes one name."""
    parted: list[str] = []
    for number, line in enumerate(lines):
        found = _TOGETHER.match(line)
        text = []
        if found and number + 1 < len(lines) and lines[number + 1].startswith("    "):
            for following in lines[number + 1 :]:
                if not following.startswith("    "):
                    break
                text.append(following)
        if found and text:
            *before, last = found[1].split(", ")
            for name in before:
                parted += [f"{name}{found[2] or ''}", *text]
            line = f"{last}{found[2] or ''}"  # noqa: PLW2901  (its text follows as it stands)
        parted.append(line)
    lines[:] = parted


_LITERAL = re.compile(r"(``[^`]+``)")
_CODE = re.compile(r"(?<![`:\w])`([^`<>]+)`")


def plain_marks(_app: Sphinx, _what: str, _name: str, _item: object, _options: object, lines: list[str]) -> None:
    """Read `x` as code, and keep the bars of ``|x|``: docstrings mean magnitudes, reStructuredText substitutions."""
    for number, line in enumerate(lines):
        parts = _LITERAL.split(line)  # what is code already has odd places
        parts[::2] = map(_marked, parts[::2])
        lines[number] = "".join(parts)


def _marked(text: str) -> str:
    """Return text without literals as reStructuredText."""
    pieces = _CODE.split(text)  # code has odd places
    for place in range(1, len(pieces), 2):
        goes_on = re.match(r"[\w\[(]", pieces[place + 1])
        pieces[place] = f"``{pieces[place]}``" + ("\\ " if goes_on else "")
    pieces[::2] = [re.sub(r"(?<!\\)\|", r"\\|", piece) for piece in pieces[::2]]
    return "".join(pieces)


def links_to_the_repository(_app: Sphinx, page: str, source: list[str]) -> None:
    """Turn links to files of the repository that are no pages into plain code: a site has no such files."""
    folder = (ROOT / "docs" / page).parent

    def outside(link: re.Match[str]) -> str:
        target = (folder / link["path"]).resolve()
        known = target.is_relative_to(ROOT) and not target.is_relative_to(ROOT / "docs") and target.exists()
        return f"{link['text']} (`{target.relative_to(ROOT).as_posix()}`)" if known else link[0]

    source[0] = re.sub(r"\[(?P<text>[^\]\[]*)\]\((?P<path>\.\./[^)#\s:]+)(?:#[^)\s]*)?\)", outside, source[0])


def setup(app: Sphinx) -> dict[str, object]:
    """Tell Sphinx of all this."""
    app.add_directive("settings", SettingTable)
    app.add_directive("findings", FindingTable)
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    app.connect("autodoc-process-docstring", names_apart, priority=400)  # before napoleon reads the sections
    app.connect("autodoc-process-docstring", plain_marks)
    app.connect("source-read", links_to_the_repository)
    return {"parallel_read_safe": True}
