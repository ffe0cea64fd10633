"""Pages as Markdown templates: prose, with ``{{ name }}`` where a finding stands.

A template may begin with what its study says of itself, in YAML between two lines of ``---``. The page follows; parts
that come more than once, such as a design's section, stand behind it, each below a line ``=== name ===``.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).parents[1] / "templates"
_PLACE = re.compile(r"\{\{ (.+?) \}\}")
_PART = re.compile(r"^=== (\w+) ===\n", re.MULTILINE)
_NO_PROSE = ("", "#", "-", "|", "!", " ")  # what begins headings, lists, tables, pictures, formulas


@dataclass(frozen=True)
class Template:
    """A study's words.

    Attributes
    ----------
    head : mapping
        What the study says of itself.
    parts : mapping of name to str
        Markdown with places; the page itself is "page".
    """

    head: Mapping[str, Any]
    parts: Mapping[str, str]

    @classmethod
    def of(cls, name: str) -> Template:
        """Read a study's template by the study's name."""
        return cls.read(FOLDER / f"{name}.md")

    @classmethod
    def read(cls, path: Path) -> Template:
        """Read a template; without a head it says nothing of itself.

        Raises
        ------
        ValueError
            If braces are left that are no place; a page would show them.
        """
        text = path.read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), 1):
            if "{{" in _PLACE.sub("", line):
                raise ValueError(
                    f"{path}, line {number}: expected places as {{{{ name }}}}, both blanks too, got {line!r}"
                )
        _, head, text = text.split("---\n", 2) if text.startswith("---\n") else ("", "{}", text)
        page, *others = _PART.split(text)
        return cls(yaml.safe_load(head), {"page": page, **dict(zip(others[::2], others[1::2], strict=True))})

    def lines(self, part: str, values: Mapping[str, Any], *, wrap: bool = False) -> list[str]:
        """Return a part as lines, its places filled in.

        Parameters
        ----------
        part : str
        values : mapping of name to value
            A place holds a name as ``str.format`` reads it: ``{{ grid.largest:g }}``. A list takes the whole line.
        wrap : bool
            Whether paragraphs with places are broken anew, at 120 characters.
        """
        lines: list[str] = []
        for _, block in groupby(self.parts[part].rstrip("\n").split("\n"), bool):
            given = list(block)
            found = [one for line in given for one in _line(line, values)]
            prose = wrap and found[0][:1] not in _NO_PROSE and _PLACE.search("".join(given))
            lines += textwrap.wrap(" ".join(found), 120, break_on_hyphens=False) if prose else found
        return lines

    def page(self, values: Mapping[str, Any], *, wrap: bool = False) -> str:
        """Return the whole page."""
        return "\n".join(self.lines("page", values, wrap=wrap)).rstrip() + "\n"


def _line(line: str, values: Mapping[str, Any]) -> list[str]:
    alone = _PLACE.fullmatch(line)
    value = values.get(alone[1]) if alone else None
    return value if isinstance(value, list) else [_PLACE.sub(lambda place: _filled(place[1], values), line)]


def _filled(place: str, values: Mapping[str, Any]) -> str:
    return f"{{{place}}}".format_map(values)
