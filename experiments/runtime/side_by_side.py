"""Branches of a job that need nothing of one another, side by side: each in a process of its own.

A branch's work is what it leaves in files. A forked process does it and ends; then the process that began it does the
same once more, and finds it done. So a branch gives the same numbers either way, what fails in it fails again where the
user sees it, and one that was killed is gone on with. A branch that has only a short answer may tell it as a message;
one whose answer does not come is asked again likewise.

No more processes compute at once than there are threads: whoever begins waits for a place, and whoever waits for
others, which may have branches themselves, gives its own place away meanwhile. They end with the process that began
them, however it ends. Where a system cannot promise that (all but Linux), nothing is done here.
"""

from __future__ import annotations

import ctypes
import json
import os
import selectors
import signal
import sys
import warnings
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Tell = Callable[[list[Any]], None]

POSSIBLE = sys.platform.startswith("linux")
_PARENT_DIED = 1  # prctl's PR_SET_PDEATHSIG
_BEGUN, _ENDED = ["begun"], ["ended"]
_PLACE = b"."
LINE = "line"
"""First word of a message that shows something: only those of one branch at a time are passed on."""


class _Places:
    """A pipe that holds a byte for each free place where a process may compute; not open: nothing is side by side."""

    def __init__(self) -> None:
        self.open, self._read, self._write = False, -1, -1

    def begin(self, places: int) -> None:
        self._read, self._write = os.pipe()
        self.open = True
        for _ in range(places):
            self.give()

    def end(self) -> None:
        os.close(self._read)
        os.close(self._write)
        self.open = False

    def give(self) -> None:
        os.write(self._write, _PLACE)

    def take(self) -> None:
        os.read(self._read, len(_PLACE))


_places = _Places()


def worthwhile(branches: int, threads: int) -> bool:
    """Return whether so many branches have processors to run on; inside a branch others may have become free."""
    return POSSIBLE and branches > 1 and (threads > 1 or _places.open)


def do(branches: Sequence[Callable[[Tell], object]], threads: int, heard: Tell) -> None:
    """Do all branches in forked processes, at most `threads` of them at once, and wait for them.

    Parameters
    ----------
    branches : sequence of callable
        Each takes what sends a message (a list for JSON) to `heard`. What one returns or raises is lost: whoever needs
        it does the branch again.
    threads : int
        Of the outermost call; inside a branch there are those that are left.
    heard : callable
        Is given the messages, in this process.
    """
    outermost = not _places.open
    if outermost:
        _places.begin(threads - 1)
    try:
        _places.give()  # our own, while we wait
        running = [_forked(branch) for branch in branches]
        try:
            _listen(running, heard)
        finally:
            for one in running:
                one.stop()
        _places.take()
    finally:
        if outermost:
            _places.end()


@dataclass
class _Branch:
    """A forked process, the pipe on which it tells things, and what of its last line has come."""

    process: int
    pipe: int
    text: bytes = field(default=b"")
    begun: bool = False
    ended: bool = False
    stopped: bool = False

    def messages(self) -> list[list[Any]] | None:
        """Return what has come; None at the end."""
        more = os.read(self.pipe, 1 << 16)
        if not more:
            return None
        *lines, self.text = (self.text + more).split(b"\n")
        return [json.loads(line) for line in lines]

    def stop(self) -> None:
        """End it if it still runs, and give back a place that it held; doing it twice does no harm."""
        if self.stopped:
            return
        self.stopped = True
        with suppress(ProcessLookupError):
            os.kill(self.process, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self.process, 0)
        os.close(self.pipe)
        if self.begun and not self.ended:
            _places.give()


def _forked(branch: Callable[[Tell], object]) -> _Branch:
    read, write = os.pipe()
    parent = os.getpid()
    with (
        warnings.catch_warnings()
    ):  # of threads, from Python 3.12 on: ours wait for work, and are made anew after a fork
        warnings.simplefilter("ignore", DeprecationWarning)
        process = os.fork()
    if process:
        os.close(write)
        return _Branch(process, read)
    try:
        os.close(read)
        _end_with(parent)

        def tell(message: list[Any]) -> None:
            os.write(write, json.dumps(message).encode() + b"\n")

        _places.take()
        tell(_BEGUN)
        branch(tell)
        tell(_ENDED)
        _places.give()
    except BaseException:  # noqa: BLE001, S110  (it is done again by whoever began it, and fails there)
        pass
    finally:
        os._exit(0)


def _end_with(parent: int) -> None:
    """Let the system kill this process when the one that forked it ends."""
    ctypes.CDLL(None).prctl(_PARENT_DIED, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def _listen(running: Sequence[_Branch], heard: Tell) -> None:
    """Pass on what branches tell until all have ended; of lines to be shown, those of the first that is not done."""
    alive = list(running)
    with selectors.DefaultSelector() as ready:
        for one in running:
            ready.register(one.pipe, selectors.EVENT_READ, one)
        while alive:
            for key, _ in ready.select():
                one = key.data
                several = one.messages()
                if several is None:
                    ready.unregister(one.pipe)
                    alive.remove(one)
                    one.stop()
                for message in several or ():
                    one.begun |= message == _BEGUN
                    one.ended |= message == _ENDED
                    if message not in (_BEGUN, _ENDED) and (message[0] != LINE or one is alive[0]):
                        heard(message)
