"""An account of a process's time: every moment belongs to the innermost piece of work that has a name.

Functions are named before their modules are there; they are wrapped as soon as these have been imported, so that the
account changes neither what is imported nor when. Imports are a piece of work too. Processor time counts all threads of
the process, and so hardly depends on what else the machine does; wall time is what a user waits.
"""

from __future__ import annotations

import builtins
import functools
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

IMPORTS = "imports"


class Account:
    """Processor and wall time [s] by stage and kind of work.

    Parameters
    ----------
    places : mapping of "module:function" or "module:Class.method" to kind
        What is charged to which kind; within it, what has a kind of its own is not.
    stages : str
        "module:Class.method" whose second argument names the stage that it works on.
    """

    def __init__(self, places: Mapping[str, str], stages: str) -> None:
        self.places, self.stages = dict(places), stages
        self.spent: dict[tuple[str, str], list[float]] = {}
        self.calls: dict[tuple[str, str], int] = {}
        self._open = [("", "other")]
        self._last = _now()

    @contextmanager
    def charging(self, kind: str, stage: str | None = None) -> Iterator[None]:
        """Charge what happens within to a kind of work, and to a stage if one is given."""
        self._settle()
        where = (self._open[-1][0] if stage is None else stage, kind)
        self.calls[where] = self.calls.get(where, 0) + 1
        self._open.append(where)
        try:
            yield
        finally:
            self._settle()
            self._open.pop()

    def open(self) -> None:
        """Begin: watch imports from here on."""
        self._settle()
        self._import = builtins.__import__
        builtins.__import__ = self._importing
        self._wrap_all()

    def close(self) -> None:
        """End."""
        self._settle()
        builtins.__import__ = self._import

    def _settle(self) -> None:
        now = _now()
        entry = self.spent.setdefault(self._open[-1], [0.0, 0.0])
        for k in range(2):
            entry[k] += now[k] - self._last[k]
        self._last = now

    def _importing(self, name: str, *args: Any, **options: Any) -> Any:
        absolute = not (args[3] if len(args) > 3 else options.get("level", 0))
        if absolute and name in sys.modules and not (len(args) > 2 and args[2]):
            return self._import(name, *args, **options)
        before = len(sys.modules)
        if absolute and name in sys.modules:
            found = self._import(name, *args, **options)
        else:
            with self.charging(IMPORTS):
                found = self._import(name, *args, **options)
        if len(sys.modules) != before:
            self._wrap_all()
        return found

    def _wrap_all(self) -> None:
        for place in [*self.places, self.stages]:
            module = sys.modules.get(place.partition(":")[0])
            if module is not None and not getattr(module.__spec__, "_initializing", False):
                self._wrap(module, place)

    def _wrap(self, module: Any, place: str) -> None:
        *path, name = place.partition(":")[2].split(".")
        owner = functools.reduce(getattr, path, module)
        inner = getattr(owner, name)
        if place == self.stages:
            setattr(owner, name, self._staged(inner))
            self.stages = ""
        else:
            setattr(owner, name, self._charged(inner, self.places.pop(place)))

    def _charged(self, inner: Callable[..., Any], kind: str) -> Callable[..., Any]:
        @functools.wraps(inner)
        def outer(*args: Any, **options: Any) -> Any:
            with self.charging(kind):
                return inner(*args, **options)

        return outer

    def _staged(self, inner: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(inner)
        def outer(owner: Any, name: str, *args: Any, **options: Any) -> Any:
            with self.charging("other", name):
                return inner(owner, name, *args, **options)

        return outer


def _now() -> tuple[float, float]:
    return time.process_time(), time.perf_counter()
