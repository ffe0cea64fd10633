"""A user's own plants from a Python file. The file is code: it is executed."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import traceback
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import TYPE_CHECKING

from plants.core import registry
from plants.core.plant import Plant
from plants.core.reading import files
from plants.core.slow import SlowPlant

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType


class PlantFileError(ValueError):
    """A plant file that cannot be used; the message names the file and the line."""


def load_plant_file(
    path: str | Path, say: Callable[[str], object] | None = None, digest: str | None = None
) -> tuple[Plant, ...]:
    """Execute a user's Python file and return the plants that it gives.

    A plant file is a Python program and is executed with all that this implies; load only files you trust. Plants that
    the file registers and plants that stand in it at module level are taken; the latter are registered. Loading a file
    again replaces its plants.

    Parameters
    ----------
    path : str or Path
    say : callable, optional
        Is told, before it happens, that the file is executed.
    digest : str, optional
        SHA-256 of the content that is to be executed; another content is refused.

    Returns
    -------
    tuple of Plant
        In the order of their definition. A file may give slow plants instead (:func:`slow_plants`).

    Raises
    ------
    PlantFileError
        If the file is not there, is no Python, fails, or gives no plant; naming file and line.
    """
    file = Path(path)
    if not file.is_file():
        raise PlantFileError(f"there is no plant file {file}")
    source = files.read_bytes(file)
    if digest is not None and hashlib.sha256(source).hexdigest() != digest:
        raise PlantFileError(f"{file} has another content than was to be executed; look into it")
    if say is not None:
        say(f"executing {file} (a plant file is Python code)")
    known = registry.snapshot()
    _take_back(_GIVEN.get(file.resolve(), {}))
    before = registry.snapshot()
    try:
        found = _plants_of(file, source, before)
    except BaseException:
        registry.restore(known)  # what the file gave before still counts
        raise
    after = registry.snapshot()
    _GIVEN[file.resolve()] = {
        name: (after.get(name), before.get(name))
        for name in (before | after)
        if after.get(name) is not before.get(name)
    }
    return found


def slow_plants(path: str | Path) -> tuple[SlowPlant, ...]:
    """Return the slow plants that stand at module level in a plant file, which has been loaded."""
    module = sys.modules.get(_module_name(Path(path)))
    return tuple(value for value in vars(module).values() if isinstance(value, SlowPlant)) if module else ()


def _module_name(file: Path) -> str:
    return f"plant_file_{file.stem}"


_GIVEN: dict[Path, dict[str, tuple[Plant | None, Plant | None]]] = {}
"""What each file gave: its plants by name (None: taken away), each with the one whose place it took."""


def _take_back(given: dict[str, tuple[Plant | None, Plant | None]]) -> None:
    """Put in the place of a file's plants what stood there before, unless another plant has taken it since."""
    plants = registry.snapshot()
    for name, (plant, replaced) in given.items():
        if plants.get(name) is plant:
            plants.pop(name, None)
            if replaced is not None:
                plants[name] = replaced
    registry.restore(plants)


def _plants_of(file: Path, source: bytes, before: dict[str, Plant]) -> tuple[Plant, ...]:
    try:
        module = _execute(file, source)
        own = [value for value in vars(module).values() if isinstance(value, Plant) and not registry.is_of_task(value)]
        registered = [registry.find(name) for name in registry.names()]
        found = {id(p): p for p in (*own, *registered) if all(p is not known for known in before.values())}
        for plant in found.values():
            registry.register(plant)
    except ValueError as error:
        if isinstance(error, PlantFileError):
            raise
        raise PlantFileError(f"{file}: {error}") from error
    if not found and not slow_plants(file):
        raise PlantFileError(f"{file}: it gives no plant; end it with plants.register(plants.Plant(name=..., ...))")
    return tuple(found.values())


def _execute(file: Path, source: bytes) -> ModuleType:
    """Execute this text, and no byte code that lies beside the file."""
    name = _module_name(file)
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or not isinstance(spec.loader, SourceFileLoader):
        raise PlantFileError(f"{file}: a plant file is a Python file (.py)")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickling look it up by name
    try:
        exec(spec.loader.source_to_code(source, str(file)), vars(module))  # noqa: S102  (what this is for)
    except SyntaxError as error:
        message = f"{error.filename}, line {error.lineno}: {error.msg}: {(error.text or '').strip()}"
        raise PlantFileError(message) from error
    except (Exception, SystemExit) as error:  # a file that ends the program is no plant file
        raise PlantFileError(f"{_place(file, error)}: {type(error).__name__}: {error}") from error
    return module


def _place(file: Path, error: BaseException) -> str:
    """The file, with the innermost of its lines that the error passed through."""
    lines = [
        f.lineno for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).resolve() == file.resolve()
    ]
    return f"{file}, line {lines[-1]}" if lines else str(file)
