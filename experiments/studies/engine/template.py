"""Pages as Markdown templates: prose, with ``{{ name }}`` where a finding stands.

A template begins with what its study says of itself, in YAML between two lines of ``---``. The page follows; parts that
come more than once, such as a design's section, stand behind it, each below a line ``=== name ===``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).parents[1] / "templates"
_PLACE = re.compile(r"\{\{ (.+?) \}\}")
_PART = re.compile(r"^=== (\w+) ===\n", re.MULTILINE)


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
        _, head, text = (FOLDER / f"{name}.md").read_text(encoding="utf-8").split("---\n", 2)
        page, *others = _PART.split(text)
        return cls(yaml.safe_load(head), {"page": page, **dict(zip(others[::2], others[1::2], strict=True))})

    def lines(self, part: str, values: Mapping[str, Any]) -> list[str]:
        """Return a part as lines, its places filled in.

        Parameters
        ----------
        part : str
        values : mapping of name to value
            A place holds a name as ``str.format`` reads it: ``{{ grid.largest:g }}``. A list takes the whole line.
        """
        lines: list[str] = []
        for line in self.parts[part].rstrip("\n").split("\n"):
            alone = _PLACE.fullmatch(line)
            value = values.get(alone[1]) if alone else None
            lines += value if isinstance(value, list) else [_PLACE.sub(lambda place: _filled(place[1], values), line)]
        return lines

    def page(self, values: Mapping[str, Any]) -> str:
        """Return the whole page."""
        return "\n".join(self.lines("page", values)).rstrip() + "\n"


def _filled(place: str, values: Mapping[str, Any]) -> str:
    return f"{{{place}}}".format_map(values)
