"""One process at a time in a folder. The system gives the lock back when its holder dies, however it dies."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from experiments.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

try:
    import fcntl
except ImportError:  # a platform without it: no lock
    fcntl = None  # type: ignore[assignment]

_NAME = ".lock"


class FolderLock:
    """Holds a folder until `release`; the lock file names the process that holds it.

    Raises
    ------
    UserError
        If another process holds the folder.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _NAME
        self._handle: int | None = None
        while self._handle is None:
            self._handle = self._take()

    def _take(self) -> int | None:
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            if fcntl is not None:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(handle, 32).decode(errors="replace").strip() or "unknown"
            os.close(handle)
            raise UserError(
                f"{self._path.parent} is in use by process {holder}; wait for it, stop it, or choose another folder"
            ) from None
        if not self._is_in_place(handle):  # its last holder removed it between our open and our lock
            os.close(handle)
            return None
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        return handle

    def _is_in_place(self, handle: int) -> bool:
        try:
            return self._path.stat().st_ino == os.fstat(handle).st_ino
        except FileNotFoundError:
            return False

    def release(self) -> None:
        """Give the folder back; doing it twice does no harm."""
        if self._handle is not None:
            self._path.unlink(missing_ok=True)  # while it is held, so that nobody else's is removed
            os.close(self._handle)
            self._handle = None
