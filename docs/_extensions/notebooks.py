"""Notebooks as pages: their cells and the outputs that lie in them, written as Markdown. Nothing is executed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from myst_parser.parsers.sphinx_ import MystParser

if TYPE_CHECKING:
    from docutils import nodes


def _fenced(language: str, text: str) -> str:
    return f"````{{code-block}} {language}\n{text.rstrip()}\n````"


def _output(output: dict[str, Any]) -> str:
    """Return one output of a cell: what it printed, the picture that it drew, or the table that it shows."""
    data = output.get("data", {})
    for kind, name in (("image/svg+xml", "drawn"), ("text/html", "shown")):
        if kind in data:
            return f'````{{raw}} html\n<div class="{name}">{"".join(data[kind])}</div>\n````'
    text = "".join(output.get("text") or data.get("text/plain") or ())
    return f"````{{code-block}} none\n:class: printed\n\n{text.rstrip()}\n````" if text else ""


def markdown(notebook: dict[str, Any]) -> str:
    """Return a notebook as one Markdown text."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif source.strip():
            parts += [_fenced("python", source), *map(_output, cell["outputs"])]
    return "\n\n".join(filter(None, parts)) + "\n"


class NotebookParser(MystParser):  # type: ignore[misc]
    """Reads a notebook's JSON and hands it on as Markdown."""

    supported: ClassVar = ("notebook",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Parse the notebook into a document."""
        super().parse(markdown(json.loads(inputstring)), document)
