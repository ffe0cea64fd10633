"""The fenced blocks of the pages for readers: where they stand, in which language, and which of them are commands."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(page.relative_to(ROOT).as_posix() for page in (*ROOT.glob("*.md"), *DOCS.glob("**/*.md")))
COMMANDS = ("", "console")
"""Languages of blocks that are typed into a shell; "console": with the prompt ``$ ``, and what is printed below it."""

_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_MARK = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)


class Fence(NamedTuple):
    """A fenced block."""

    page: str
    language: str
    text: str


def fences(page):
    """Return the fenced blocks of a page (its path below the root); marks that belong to none raise ValueError."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = [Fence(page, language, block) for language, block in _FENCE.findall(text)]
    if len(_MARK.findall(text)) != 2 * len(found):
        raise ValueError(f"{page}: a fence is indented, longer than three marks, or not closed")
    return found


def blocks(page, language):
    """Return the texts of a page's blocks of one language."""
    return [fence.text for fence in fences(page) if fence.language == language]


def commands_of(fence):
    """Return the command lines of a block, without prompts, and with lines that go on made one."""
    text = fence.text.replace("\\\n", " ")
    if fence.language == "console":
        return [line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ ")]
    return text.splitlines()


def printed(fence):
    """Return command lines with the lines that the page shows below each."""
    found = []
    for line in fence.text.splitlines():
        if line.startswith("$ "):
            found.append((line.removeprefix("$ "), []))
        else:
            found[-1][1].append(line)
    return found


def passages_of_examples():
    """Return the texts of the examples, whose passages stand on pages."""
    return [path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("examples/*.py"))]
