"""Stages of a run: each is computed once, stored whole, and skipped when the run is resumed.

A finished stage is a folder with the files it saved and ``stage.json``, which names their hashes and the hash of what
the stage was computed from. What a stage hands on is always what `load` reads back, in an uninterrupted run too: so
both kinds of run pass the very same numbers to the next stage.
"""

from __future__ import annotations

import hashlib
import re
import time
from contextlib import suppress
from copy import copy
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from experiments.runtime import formats
from experiments.runtime.errors import UserError
from plants.core import atomic_files
from plants.core.reading import files

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    Result = TypeVar("Result")


class StageRecord(TypedDict):
    """What ``stage.json`` holds: the hash of what the stage depends on, and those of its files."""

    inputs: str
    files: dict[str, str]


_SCHEMA, _VERSION = "sscq-stage", 1
_RECORD = "stage.json"


class Stages:
    """The finished and unfinished stages below one folder.

    Parameters
    ----------
    folder : Path
        Run folder; finished stages are in ``stages/NAME``, checkpoints of an unfinished one in ``checkpoints/NAME``.
    inputs : str
        Hash of what all stages depend on: the configuration and the user's input files.
    note_time : callable
        Takes the name of a stage that was computed, and how long that took [s].

    Attributes
    ----------
    note_time : callable
    chain : str
        Hash of all that the next stage depends on.
    passed : list of str
        Stages that were passed.
    alone : bool
        Whether no branch beside this one uses the folders.
    """

    def __init__(self, folder: Path, inputs: str, note_time: Callable[[str, float], None]) -> None:
        self._finished = folder / "stages"
        self._checkpoints = folder / "checkpoints"
        self.chain = inputs  # grows by the content of each stage that was passed
        self.passed: list[str] = []
        self.alone = True
        self.note_time = note_time

    def branch(self) -> Stages:
        """Return stages that go on from here and need nothing of other branches, which may run at the same time."""
        branch = copy(self)
        branch.passed, branch.alone = list(self.passed), False
        return branch

    def join(self, branches: Sequence[Stages]) -> None:
        """Go on from where all branches have come, in their order."""
        before = len(self.passed)
        for branch in branches:
            for name in branch.passed[before:]:
                self._check_name(name)
                self.passed.append(name)
        self.chain = digest_of([branch.chain for branch in branches])
        self._leave_nothing()

    def run(
        self,
        name: str,
        compute: Callable[[Path], Result],
        save: Callable[[Path, Result], object],
        load: Callable[[Path], Result],
        inputs: Any = None,
    ) -> Result:
        """Run a stage once; later sessions read its result back.

        Parameters
        ----------
        name : str
            Made of a-z, 0-9 and _; stages must come in the same order in every session.
        compute : callable
            Takes a folder for checkpoint files, which is the same one when the stage is entered again after a kill and
            goes when the stage is finished; returns the result.
        save, load : callable
            ``save(folder, result)`` writes files into an empty folder, ``load(folder)`` reads them back.
        inputs : JSON value, optional
            What the stage depends on beyond the configuration, the user's files and the stages before it.

        Returns
        -------
        result
            What `load` reads, in an uninterrupted run too.

        Raises
        ------
        UserError
            If a file of the finished stage was changed.
        """
        start = time.monotonic()
        self._check_name(name)
        digest = digest_of([name, self.chain, inputs])
        place = self._finished / name
        new = not self._is_finished(place, digest)
        if new:
            self._compute(place, digest, compute, save)
        self.passed.append(name)
        self.chain = digest_of([digest, formats.read_json(place / _RECORD)["files"]])
        if not new:
            return _loaded(place, load)
        result = load(place)
        self.note_time(name, time.monotonic() - start)
        return result

    def _compute(
        self,
        place: Path,
        digest: str,
        compute: Callable[[Path], Result],
        save: Callable[[Path, Result], object],
    ) -> None:
        checkpoints = self._checkpoints / f"{place.name}-{digest[:12]}"  # never one of other inputs
        checkpoints.mkdir(parents=True, exist_ok=True)
        result = compute(checkpoints)
        place.parent.mkdir(exist_ok=True)
        with atomic_files.filling(place) as folder:
            save(folder, result)
            record = {"schema": _SCHEMA, "version": _VERSION, "inputs": digest, "files": _hashes(folder)}
            formats.write_json(folder / _RECORD, record)
        self._forget_checkpoints(place.name)

    def _is_finished(self, place: Path, digest: str) -> bool:
        if not (place / _RECORD).is_file():
            return False
        record: StageRecord = formats.read_json(place / _RECORD, _SCHEMA, _VERSION, StageRecord)
        if record["inputs"] != digest:  # an earlier stage was deleted or came out otherwise
            return False
        changed = sorted(set(record["files"].items()) ^ set(_hashes(place).items()))
        if changed:
            raise UserError(
                f"{place / changed[0][0]} was changed since the run wrote it; "
                f"put it back, or delete {place} to have that stage computed again"
            )
        self._forget_checkpoints(place.name)  # killed between the two
        return True

    def _forget_checkpoints(self, name: str) -> None:
        for folder in self._checkpoints.glob(f"{name}-" + "[0-9a-f]" * 12):
            atomic_files.remove(folder)
        if self.alone:  # a branch beside it may be about to use the folder
            self._leave_nothing()

    def _leave_nothing(self) -> None:
        with suppress(OSError):  # not there, or not empty
            self._checkpoints.rmdir()

    def _check_name(self, name: str) -> None:
        if not re.fullmatch(r"[a-z0-9_]+", name):
            raise ValueError(f"a stage's name is made of a-z, 0-9 and _, got {name!r}")
        if name in self.passed:
            raise ValueError(f"stage {name!r} has been run already; names of stages must differ")


def _loaded(place: Path, load: Callable[[Path], Result]) -> Result:
    """Load what an earlier session wrote; what cannot be taken from it is the files' fault, not the program's."""
    try:
        return load(place)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        said = f"{type(error).__name__}: {error}"
        raise UserError(f"{place} is damaged ({said}); delete it to have that stage computed again") from error


def digest_of(value: Any) -> str:
    """Return the SHA-256 of a value's JSON text."""
    return hashlib.sha256(formats.json_text(value).encode()).hexdigest()


def digest_of_file(path: Path) -> str:
    """Return the SHA-256 of a regular file's content."""
    return files.digest(path)


def _hashes(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / _RECORD)
    return {path.relative_to(folder).as_posix(): digest_of_file(path) for path in files}
