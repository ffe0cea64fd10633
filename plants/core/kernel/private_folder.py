"""A folder of this user alone, with files that this user's own processes sealed.

What is in the folder is executed, so it counts only where nobody else can have put it there: the folder belongs to this
user and cannot be written by others, a file is a regular one of this user with one name, and its seal fits. A seal is
an HMAC-SHA256 over the file's label and content, with a random key that lies in the folder and that this user alone can
read. So a file that came another way (unpacked from an archive, copied from another cache, put there by a program that
cannot read the key) is not taken, nor one file's content under another's name. It is no protection against programs
that run as this user: those can read the key.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from typing import TYPE_CHECKING

from plants.core import atomic_files

if TYPE_CHECKING:
    from pathlib import Path

_MAGIC = b"sscq sealed file 1\n"
_LARGEST = 256 * 2**20
_KEY, _KEY_SIZE = "key", 32
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def make(folder: Path) -> None:
    """Make the folder where it is not there, and see that it is this user's alone.

    Raises
    ------
    PermissionError
        If it belongs to somebody else, or if others can write there: what lies in it may be theirs.
    OSError
        If it cannot be made.
    """
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.stat()
    if _is_of_another(found):
        raise PermissionError(0, "it belongs to another user")
    if found.st_mode & _OTHERS_WRITE:
        raise PermissionError(0, f"others can write there, its mode is {stat.S_IMODE(found.st_mode):04o}: make it 0700")
    if found.st_mode & 0o777 != 0o700 and all(_is_kept(path.name) for path in folder.iterdir()):
        folder.chmod(0o700)


def _is_kept(name: str) -> bool:
    return name.startswith(("kernel_", "mechanism_", "executed_", ".", "__")) or name == _KEY


def _is_of_another(found: os.stat_result) -> bool:
    return hasattr(os, "geteuid") and found.st_uid != os.geteuid()


def read(path: Path) -> bytes | None:
    """Return the content of a regular file of this user that nobody else can write to; None where there is none."""
    try:
        handle = os.open(path, _READ)
    except OSError:
        return None
    try:
        found = os.fstat(handle)
        own = stat.S_ISREG(found.st_mode) and not _is_of_another(found) and found.st_nlink == 1
        if not own or found.st_mode & _OTHERS_WRITE or found.st_size > _LARGEST:
            return None
        with os.fdopen(handle, "rb", closefd=False) as stream:
            return stream.read(found.st_size)
    except OSError:
        return None
    finally:
        os.close(handle)


def write(path: Path, content: bytes | str) -> None:
    """Write a file that this user alone can read, into a folder that is this user's alone.

    Raises
    ------
    OSError
        If that cannot be done.
    """
    make(path.parent)
    atomic_files.write(path, content, mode=0o600)


def write_sealed(path: Path, label: str, content: bytes) -> None:
    """Write a file with a label of one line and a seal; see :func:`write`."""
    make(path.parent)
    body = label.encode() + b"\n" + content
    write(path, _MAGIC + _seal(_key(path.parent), path.name, body).encode() + b"\n" + body)


def read_sealed(path: Path, label: str) -> bytes | None:
    """Return the content of a sealed file with this name and label; None where there is none.

    Raises
    ------
    OSError
        If the folder is not this user's alone.
    """
    make(path.parent)
    whole = read(path)
    if whole is None or not whole.startswith(_MAGIC):
        return None
    seal, _, body = whole[len(_MAGIC) :].partition(b"\n")
    if not hmac.compare_digest(seal, _seal(_key(path.parent), path.name, body).encode()):
        return None
    said, _, content = body.partition(b"\n")
    return content if said == label.encode() else None


def _seal(key: bytes, name: str, body: bytes) -> str:
    return hmac.new(key, name.encode() + b"\n" + body, hashlib.sha256).hexdigest()


def _key(folder: Path) -> bytes:
    """The folder's key; made where there is none, or none that is this user's alone."""
    path = folder / _KEY
    found = read(path)
    if found is None or len(found) != _KEY_SIZE:
        found = secrets.token_bytes(_KEY_SIZE)
        atomic_files.write(path, found, mode=0o600)
    return found
