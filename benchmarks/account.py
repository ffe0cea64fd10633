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

IMPORTS, OTHER, START = "imports", "other", "Python's own start"


class Account:
    """Processor and wall time [s] by stage and kind of work.

    Parameters
    ----------
    places : mapping of "module:function" or "module:Class.method" to kind
        What is charged to which kind; within it, what has a kind of its own is not.
    stages : str
        "module:Class.method" whose second argument names the stage that it works on.

    Attributes
    ----------
    spent : dict of (stage, kind) to [processor, wall] time [s]
    inside : dict of (kind, kind) to processor time [s]
        Of the second kind, while the first was under way.
    calls : dict of place to int
    """

    def __init__(self, places: Mapping[str, str], stages: str) -> None:
        self.places, self.stages = dict(places), stages
        self.spent: dict[tuple[str, str], list[float]] = {}
        self.inside: dict[tuple[str, str], float] = {}
        self.calls: dict[str, int] = {}
        self._open = [("", OTHER)]
        self._last = _now()
        self.spent["", START] = [self._last[0], self._last[0]]

    @contextmanager
    def charging(self, kind: str, stage: str | None = None) -> Iterator[None]:
        """Charge what happens within to a kind of work, and to a stage if one is given."""
        self._settle()
        self._open.append((self._open[-1][0] if stage is None else stage, kind))
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
        kind = self._open[-1][1]
        for outer in {one for _, one in self._open[:-1]} - {kind}:
            self.inside[outer, kind] = self.inside.get((outer, kind), 0.0) + now[0] - self._last[0]
        self._last = now

    def _importing(self, name: str, *rest: Any, **options: Any) -> Any:
        names, level = rest[2:4] if len(rest) > 3 else (options.get("fromlist"), options.get("level", 0))
        known, before = None if level else sys.modules.get(name), len(sys.modules)
        if known is not None and all(hasattr(known, one) for one in names or ()):
            found = self._import(name, *rest, **options)  # nothing but a look-up
        else:
            with self.charging(IMPORTS):
                found = self._import(name, *rest, **options)
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
            setattr(owner, name, self._charged(inner, place, self.places.pop(place)))

    def _charged(self, inner: Callable[..., Any], place: str, kind: str) -> Callable[..., Any]:
        @functools.wraps(inner)
        def outer(*args: Any, **options: Any) -> Any:
            self.calls[place] = self.calls.get(place, 0) + 1
            with self.charging(kind):
                return inner(*args, **options)

        return outer

    def _staged(self, inner: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(inner)
        def outer(owner: Any, name: str, *args: Any, **options: Any) -> Any:
            with self.charging(OTHER, name):
                return inner(owner, name, *args, **options)

        return outer


def _now() -> tuple[float, float]:
    return time.process_time(), time.perf_counter()
