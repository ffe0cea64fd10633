"""What a study has found, design by design, in a file that stays with its page: a study of hours is run in parts.

Each line is JSON: the name of a design, the hash of what was asked of it, the commits at which it was begun and judged,
and what was found. It is added by one write as soon as a design is judged, so that several processes may share a study;
of two lines with one name the later counts. A design whose line answers the same question is not made again: whoever
wants it made by today's code deletes its line, or the file.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.runtime.stages import digest_of
from experiments.runtime.versions import versions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FOLDER = Path("docs/studies/found")
_KEYS = ("name", "asked", "commit", "found")
_DIGITS = 6  # of numbers: pages show two to five
_SHORT = 8  # of a commit's hash


class StudyRecord:
    """What was found of a study's designs so far.

    Parameters
    ----------
    study : str
        Its name, which names the file.

    Raises
    ------
    UserError
        For a file that is none of these.
    """

    def __init__(self, study: str) -> None:
        self.path = FOLDER / f"{study}.jsonl"
        self._lines = {line["name"]: line for line in self._read()}

    def _read(self) -> list[dict[str, Any]]:
        text = self.path.read_text(encoding="utf-8") if self.path.is_file() else ""
        found = []
        for number, line in enumerate(text.splitlines(), 1):
            try:
                one = json.loads(line)
                found.append({key: one[key] for key in _KEYS} | {"judged_by": one.get("judged_by")})
            except (ValueError, TypeError, KeyError) as error:
                raise UserError(
                    f"{self.path}, line {number} is no design of a study: expected an object with name, asked, commit "
                    f"and found, got {line[:60]!r}; delete it to have its design made again"
                ) from error
        return found

    def has(self, name: str, asked: Any) -> bool:
        """Whether a design was judged, as it is asked for: `asked` is numbers, strings, lists and mappings."""
        return name in self._lines and self._lines[name]["asked"] == digest_of(asked)

    def get(self, name: str) -> Any:
        """Return what was found of a design that is in the file."""
        return self._lines[name]["found"]

    def found(self, name: str, asked: Any, made: Callable[[], Path], judged: Callable[[Path], Any]) -> Any:
        """Return what was found of a design; one that is not in the file is made and judged first.

        Parameters
        ----------
        name : str
        asked : numbers, strings, lists and mappings
            What the design and what was found of it depend on.
        made : callable
            Makes the design, returns its run folder.
        judged : callable
            Takes the run folder, returns what can be written as JSON. Numbers are kept to six digits.
        """
        if not self.has(name, asked):
            run = made()
            value = _rounded(json.loads(formats.json_text(judged(run))))
            commits = {"commit": _commit_of(run), "judged_by": versions()["commit"]}
            line = {"name": name, "asked": digest_of(asked), **commits, "found": value}
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _append(self.path, _text(line))
            self._lines[name] = line
        return self.get(name)

    def commits(self, names: Iterable[str]) -> str:
        """Return at which commits some designs were begun, and judged where that is another, and how many, in words."""
        counts = Counter(_in_words(self._lines[name]) for name in names)
        return ", ".join(f"{commit} ({count})" for commit, count in counts.items())


def _in_words(line: dict[str, Any]) -> str:
    begun, judged = (str(line.get(key) or "unknown")[:_SHORT] for key in ("commit", "judged_by"))
    return begun if "unknown" in {begun, judged} or judged == begun else f"{begun}, gone on with and judged by {judged}"


def _text(line: dict[str, Any]) -> str:
    return json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n"


def _append(path: Path, text: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{_DIGITS}g}")
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value


def _commit_of(run: Path) -> str | None:
    file = run / "versions.json"
    return formats.read_json(file).get("commit") if file.is_file() else None
