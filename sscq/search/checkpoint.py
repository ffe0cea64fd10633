"""Checkpoints of a search: one NPZ file without pickling, replaced as a whole, with the one before kept beside it."""

from __future__ import annotations

import json
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core import atomic_files
from plants.core.reading import formats
from plants.core.reading.files import FileError
from sscq.search.method import not_negative

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

SCHEMA = "sscq.search/2"
_NOTES = "notes"  # name of the JSON text among the arrays
_MISSING = "(absent)"


class CheckpointError(ValueError):
    """A checkpoint that cannot be gone on from: damaged, of another search, or of another version."""


@dataclass
class Checkpoint:
    """Where a search stores its state and goes on from.

    The state is that after a completed generation, so that a search killed at any moment and started again with the
    same arguments gives the result of an uninterrupted one, bit for bit.

    Attributes
    ----------
    path : path of the file
        The state before is kept as ``<path>.previous``: a damaged file costs some generations, not the search.
    every : float
        Least time between two writes [s].
    problem : str
        What is searched, in words or as a digest of plant, situations and fitness; compared when going on, because
        an `evaluate` function cannot be.
    clock : callable
        Gives the time [s].
    """

    path: Path | str
    every: float = 2.0
    problem: str = ""
    clock: Callable[[], float] = time.monotonic
    _written: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the settings."""
        self.path = Path(self.path)
        not_negative("every (time between two writes of the checkpoint, s)", self.every)
        self._written = self.clock()

    @property
    def previous(self) -> Path:
        """File with the state before the last one written."""
        return Path(f"{self.path}.previous")

    @property
    def due(self) -> bool:
        """Whether it is time to write."""
        return self.clock() - self._written >= self.every

    def write(self, identity: Mapping[str, Any], notes: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Replace the file: written beside its place, flushed to disk, renamed."""
        path = Path(self.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"schema": SCHEMA, "identity": {**identity, "problem": self.problem}, "notes": notes})
        content: dict[str, Any] = {_NOTES: np.array(text), **arrays}
        with atomic_files.writing(path, previous=self.previous) as stream:
            np.savez(stream, **content)
        self._written = self.clock()

    def read(self, identity: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
        """Return the notes and arrays of the last state written, or None if there is none.

        Raises
        ------
        CheckpointError
            If no undamaged file is left, or if it is that of another search: the message says what differs.
        """
        stored = self._stored()
        if stored is None:
            return None
        header, arrays = stored
        if header.get("schema") != SCHEMA:
            raise CheckpointError(
                f"checkpoint {self.path} has schema {header.get('schema')!r}, this version reads {SCHEMA!r}; "
                "delete the file to start again"
            )
        ours = json.loads(json.dumps({**identity, "problem": self.problem}))
        changes = [f"{name} was {old}, is {new}" for name, old, new in _differences(header["identity"], ours)]
        if changes:
            raise CheckpointError(
                f"checkpoint {self.path} belongs to another search: {'; '.join(changes)}; "
                "give the search its own checkpoint file, or delete this one"
            )
        return header["notes"], arrays

    def _stored(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
        path = Path(self.path)
        files = [file for file in (path, self.previous) if file.exists()]
        for file in files:
            stored = _parsed(file)
            if stored is None:
                continue
            if file != path:
                self._fall_back(lost=path.exists())
            return stored
        if files:
            raise CheckpointError(
                f"checkpoint {files[0]} is damaged (truncated or altered) and no earlier one is left; "
                "delete it to start again"
            )
        return None

    def _fall_back(self, *, lost: bool) -> None:
        if lost:
            warnings.warn(
                f"checkpoint {self.path} is damaged; going on from the one before, {self.previous}", stacklevel=2
            )
        self.previous.replace(self.path)  # else the next write would keep the damaged file as the previous one


def _parsed(file: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]] | None:
    """Header and arrays; None if the content is damaged (each array has a check sum)."""
    try:
        arrays = formats.read_npz(file)
        header = formats.json_value(str(arrays.pop(_NOTES, "")), str(file), dict[str, Any])
    except FileError:
        return None
    parts = [header.get(name) for name in ("identity", "notes")]
    return (header, arrays) if all(isinstance(part, dict) for part in parts) else None


def _differences(old: Any, new: Any, name: str = "") -> Iterator[tuple[str, str, str]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted({*old, *new}):
            yield from _differences(old.get(key, _MISSING), new.get(key, _MISSING), f"{name}.{key}" if name else key)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (before, now) in enumerate(zip(old, new, strict=True)):
            yield from _differences(before, now, f"{name}[{number}]")
    elif old != new:
        yield name, _short(old), _short(new)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:60]}... ({len(value) if isinstance(value, list) else len(text)} long)"
