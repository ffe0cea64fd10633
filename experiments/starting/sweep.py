"""Runs of one command with -m: one that fails ends none of the others, and a sweep goes on where it was stopped.

The sweep's folder has one run folder for each job, ``sweep.json`` with the words of the command, and ``failed/`` with a
note for each job that came to nothing. Jobs may run in processes of their own: they share nothing but this folder.
"""

from __future__ import annotations

import math
import textwrap
import time
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from experiments.runtime import formats
from experiments.runtime.errors import INTERRUPTED, USER_ERROR, UserError, tell
from experiments.runtime.progress import duration
from experiments.starting.opening import key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

RECORD, FAILED = "sweep.json", "failed"
SCHEMA, VERSION = "sscq-sweep", 1
_FLAGS = ("-m", "--multirun")
_PLACE = "hydra.sweep.dir="
_LINE = 160  # of a reason, in the end


class SweepRecord(TypedDict):
    """What a sweep was asked for.

    Attributes
    ----------
    schema : str
        Says that it is one.
    version : int
        Of this format.
    command : str
        As in `sscq design`.
    words : list of str
        What was typed, with the folder.
    """

    schema: str
    version: int
    command: str
    words: list[str]


def words_of(name: str, words: Sequence[str]) -> list[str]:
    """Return the words of a command: of a sweep with its folder named, of one that is gone on with those it began with.

    Raises
    ------
    UserError
        If ``resume=`` names a sweep of another command, or one whose plant file would be executed without being named.
    """
    found = _stored(name, words)
    if not set(_FLAGS) & set(found) or any(word.startswith(_PLACE) for word in found):
        return found
    folder = Path("runs", f"{name}-sweep", time.strftime("%Y%m%d-%H%M%S"))
    number = 1
    while folder.exists():
        number += 1
        folder = folder.with_name(f"{folder.name.partition('_')[0]}_{number}")
    return [*found, f"{_PLACE}{folder}"]


def folder_of(words: Sequence[str]) -> Path | None:
    """Return the folder of a sweep, None for a single run."""
    if not set(_FLAGS) & set(words):
        return None
    return next((Path(word.removeprefix(_PLACE)) for word in words if word.startswith(_PLACE)), None)


def _stored(name: str, words: Sequence[str]) -> list[str]:
    place = next((word.partition("=")[2] for word in words if word.startswith("resume=")), None)
    if place is None or not (Path(place) / RECORD).is_file():
        return list(words)
    record = formats.read_json(Path(place) / RECORD, SCHEMA, VERSION)
    begun = record.get("words")
    if record.get("command") != name or not isinstance(begun, list) or not all(isinstance(w, str) for w in begun):
        raise UserError(f"{place} is no sweep of `sscq {name}`")
    now = [word for word in words if not word.startswith("resume=") and word not in _FLAGS]
    keys = {key_of(word) for word in now}
    files = [word for word in begun if key_of(word) == "plant_file" and key_of(word) not in keys]
    if files:
        raise UserError(f"{place} was begun with {files[0]}, which is executed: give it again to go on")
    own = keys | {"output", "resume"}  # where runs lie is the sweep's to say
    # Launchers are the machine's that goes on, not the sweep's.
    kept = [word for word in begun if key_of(word) not in own and not word.startswith(("-", "hydra"))]
    return ["-m", *kept, *now, f"{_PLACE}{place}"]


def begun_with(folder: Path) -> list[str] | None:
    """Return the words that a sweep was begun with, None where there is none in the folder."""
    return list(formats.read_json(folder / RECORD, SCHEMA, VERSION)["words"]) if (folder / RECORD).is_file() else None


def begin(folder: Path, name: str, words: Sequence[str]) -> None:
    """Keep what a sweep was asked for; nothing is kept of one whose words another one's folder has."""
    if not (folder / RECORD).exists():
        folder.mkdir(parents=True, exist_ok=True)
        record: SweepRecord = {"schema": SCHEMA, "version": VERSION, "command": name, "words": list(words)}
        formats.write_json(folder / RECORD, record, sort=False)


def attempt(place: Path, words: Sequence[str], job: Callable[[], float]) -> float:
    """Run one job of a sweep and return its value; infinite where it fails, and a note is left of it.

    Ctrl-C ends the whole sweep.

    Parameters
    ----------
    place : Path
        The job's run folder, inside the sweep's.
    words : sequence of str
        What the job was asked for.
    """
    note = place.parent / FAILED / f"{place.name}.json"
    try:
        value = job()
    except SystemExit as stop:
        if stop.code != USER_ERROR:
            raise
        reason = str(stop.__context__ or stop)
    except Exception as error:  # noqa: BLE001  (a defect in one run is no reason to lose the others)
        traceback.print_exc()
        reason = f"{type(error).__name__}: {error}"
    else:
        note.unlink(missing_ok=True)
        return value
    note.parent.mkdir(parents=True, exist_ok=True)
    formats.write_json(note, {"settings": " ".join(words), "reason": reason.splitlines()[0] if reason else ""})
    return math.inf


def failures(folder: Path) -> list[tuple[str, str, str]]:
    """Return number, settings and reason of the jobs that failed."""
    found = []
    for note in sorted((folder / FAILED).glob("*.json"), key=lambda path: (len(path.name), path.name)):
        told = formats.read_json(note, kind=dict[str, Any])
        found.append((note.stem, str(told.get("settings", "")), str(told.get("reason", ""))))
    return found


def runs(folder: Path) -> list[Path]:
    """Return the run folders of a sweep whose jobs did not fail, in the jobs' order."""
    failed = {number for number, _, _ in failures(folder)}
    found = [path for path in folder.iterdir() if (path / "config.json").is_file() and path.name not in failed]
    return sorted(found, key=lambda path: (len(path.name), path.name))


@contextmanager
def noted(folder: Path | None, name: str) -> Iterator[None]:
    """Say how a sweep goes on where it is interrupted."""
    try:
        yield
    except SystemExit as stop:
        if stop.code == INTERRUPTED and folder is not None:
            tell(f"the whole sweep goes on with: sscq {name} resume={folder}")
        raise


def end(folder: Path, name: str) -> None:
    """Say which jobs failed, and leave with exit code 2 if any did."""
    found = failures(folder)
    if not found:
        return
    tell(
        "",
        *(f"run {number} failed ({settings}): {textwrap.shorten(reason, _LINE)}" for number, settings, reason in found),
        f"mend what failed and go on with: sscq {name} resume={folder}",
    )
    raise SystemExit(USER_ERROR)


class SweepProgress:
    """How many runs of a sweep are over, and how long all are expected to take from here on."""

    def __init__(self) -> None:
        self.done = 0
        self._given: list[str] = []
        self._begun = 0.0

    def begin(self, words: Sequence[str]) -> None:
        """Forget an earlier call."""
        self._given = [word for word in words if "=" in word and not word.startswith("-")]
        self.done = 0

    def words(self, own: Sequence[str]) -> str:
        """Return which run of how many begins, what it is, and how long all are expected to take from here on."""
        from hydra.core.override_parser.overrides_parser import OverridesParser

        given = OverridesParser.create().parse_overrides(self._given)
        varied = [one for one in given if one.is_sweep_override()]
        total = math.prod(len(list(one.sweep_string_iterator())) for one in varied)
        keys = {one.key_or_group for one in varied}
        told = ", ".join(text for text in own if key_of(text) in keys)
        if not self.done:
            self._begun = time.monotonic()
        each = (time.monotonic() - self._begun) / self.done if self.done else 0.0
        left = f"; about {duration(each * (total - self.done))} left" if self.done else ""
        return f"run {self.done + 1} of {total}: {told}{left}"
