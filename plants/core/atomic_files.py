"""Files that are whole or absent: written under a temporary name beside their place, flushed to disk, renamed.

A process killed at any moment leaves either the old file or the new one, and perhaps a temporary that `sweep` removes.
"""

from __future__ import annotations

import itertools
import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_MARK = ".tmp-"
_numbers = itertools.count()


def temporary(path: Path) -> Path:
    """Return an unused hidden name beside `path`, on the same file system."""
    while True:
        hidden = path.with_name(f".{path.name}{_MARK}{os.getpid()}-{next(_numbers)}")
        if not hidden.exists():  # left by a killed process that had the same number, as in containers
            return hidden


@contextmanager
def writing(path: Path, previous: Path | None = None, mode: int | None = None) -> Iterator[BinaryIO]:
    """Open a binary file that takes the place of `path` when the block ends without an error.

    Parameters
    ----------
    path : Path
    previous : Path, optional
        Where the file that was at `path` is kept; between the two renames there is none at `path`.
    mode : int, optional
        Who may do what with the file, whatever the process's mask says; left out, that decides.

    Raises
    ------
    OSError
        If the file cannot be written; what was at `path` stays, and nothing is left beside it.
    """
    hidden = temporary(path)
    try:
        with open(hidden, "xb", opener=_opener(mode)) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if previous is not None and path.exists():
            path.replace(previous)
        hidden.replace(path)
    except BaseException:
        hidden.unlink(missing_ok=True)
        raise
    sync(path.parent)


def _opener(mode: int | None) -> Callable[[str, int], int] | None:
    """What opens a new file with a mode, from its first moment on."""
    if mode is None:
        return None

    def opened(name: str, flags: int) -> int:
        handle = os.open(name, flags, mode)
        os.chmod(name, mode)  # noqa: PTH101  (the mask may have taken from it)
        return handle

    return opened


def write(path: Path, content: bytes | str, mode: int | None = None) -> None:
    """Write a whole file at once; text as UTF-8 with the line ends it has. See :func:`writing`."""
    with writing(path, mode=mode) as stream:
        stream.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def filling(folder: Path) -> Iterator[Path]:
    """Give an empty hidden folder that takes the place of `folder` when the block ends without an error.

    An existing `folder` is removed first: for a moment there is none, never half of one.
    """
    hidden = temporary(folder)
    hidden.mkdir()
    try:
        yield hidden
        for path in sorted(hidden.rglob("*")):
            sync(path)
        sync(hidden)
        remove(folder)
        hidden.rename(folder)
    except BaseException:
        remove(hidden)
        raise
    sync(folder.parent)


def remove(folder: Path) -> None:
    """Remove a folder with all that is in it, if it is there; a kill halfway leaves only hidden leftovers."""
    if not folder.exists():
        return
    doomed = folder if _MARK in folder.name else temporary(folder)
    if doomed != folder:
        folder.rename(doomed)
    shutil.rmtree(doomed)


def sweep(folder: Path) -> None:
    """Remove the temporaries that killed processes left anywhere below `folder`."""
    for path in sorted(folder.rglob(f".*{_MARK}*")):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Flush a file or a folder's list of names to disk."""
    if os.name != "posix":  # elsewhere folders cannot be opened
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
