"""Bytes and text of files that somebody else may have made: regular files alone, of a limited size, text in UTF-8.

A device, a FIFO or a socket is refused without waiting for it: a file is opened without blocking and looked at before
it is read.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXT = 32 * 2**20
"""Largest size of a text [bytes]."""
HASHED = 2**30
"""Largest size of a file whose digest is taken [bytes]."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_CHUNK = 2**20


class FileError(ValueError):
    """A file from elsewhere that cannot be used; the message names it and says what is wrong with it."""


@contextmanager
def opened(path: str | Path, *, links: bool = True) -> Iterator[BinaryIO]:
    """Open a regular file for reading.

    Parameters
    ----------
    path : path
    links : bool
        Whether the file may be a symbolic link.

    Raises
    ------
    FileError
        If it is a device, a FIFO or a socket.
    OSError
        If it cannot be opened, or is a folder; where `links` is false, if it is a link.
    """
    if "\0" in str(path):
        raise FileError(f"no file has a name with a zero byte, got {str(path)!r}")
    handle = os.open(path, _FLAGS if links else _FLAGS | getattr(os, "O_NOFOLLOW", 0))
    try:
        _check_kind(path, os.fstat(handle).st_mode)
        stream = os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise
    with stream:
        yield stream


def _check_kind(path: str | Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise FileError(f"{path} is no regular file but a device, a pipe or a socket; give a file")


def read_bytes(path: str | Path, limit: int = TEXT, *, links: bool = True) -> bytes:
    """Return the content of a regular file of at most `limit` bytes.

    Raises
    ------
    FileError
        If it is none, or larger.
    OSError
        If it cannot be opened.
    """
    with opened(path, links=links) as stream:
        size = os.fstat(stream.fileno()).st_size
        _check_size(path, size, limit)
        content = stream.read(size + 1)
        if size < len(content) <= limit:  # some files of the system do not say their size
            content += stream.read(limit + 1 - len(content))
    _check_size(path, len(content), limit)
    return content


def read_text(path: str | Path, limit: int = TEXT, encoding: str = "utf-8") -> str:
    """Return the text of a regular file of at most `limit` bytes; line ends stay as they are.

    Parameters
    ----------
    path : path
    limit : int
    encoding : {"utf-8", "utf-8-sig"}
        The latter leaves a byte order mark out.

    Raises
    ------
    FileError
        If it is no such file, or no UTF-8.
    OSError
        If it cannot be opened.
    """
    try:
        return read_bytes(path, limit).decode(encoding)
    except UnicodeDecodeError as error:
        raise FileError(f"{path} is no UTF-8 text: {error.reason} at byte {error.start}") from None


def digest(path: str | Path) -> str:
    """Return the SHA-256 of a regular file's content.

    Raises
    ------
    FileError
        If it is none, or larger than :data:`HASHED`.
    OSError
        If it cannot be opened.
    """
    found, total = hashlib.sha256(), 0
    with opened(path) as stream:
        _check_size(path, os.fstat(stream.fileno()).st_size, HASHED)
        while chunk := stream.read(_CHUNK):
            total += len(chunk)
            _check_size(path, total, HASHED)
            found.update(chunk)
    return found.hexdigest()


def _check_size(path: str | Path, size: int, limit: int) -> None:
    if size > limit:
        raise FileError(f"{path} is larger than {limit / 2**20:g} MiB, which is more than is read of such a file")
