"""A user's own plant: a Python file that is executed and registers plants."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import plants
from experiments.errors import UserError, add_user_file

if TYPE_CHECKING:
    from types import ModuleType

    from plants import Plant

_loaded: dict[tuple[Path, bytes], list[Plant]] = {}


def load_plants(file: Path | str) -> tuple[str, ...]:
    """Execute a Python file and return the names of the plants it gives.

    A plant is registered by the file itself (`plants.register`) or stands in it as a module-level `plants.Plant`, which
    is registered here. An unchanged file is executed once in a process, however often it is loaded.

    Raises
    ------
    UserError
        If the file is not there, is no Python, fails, or gives no plant.
    """
    path = Path(file)
    if not path.is_file():
        raise UserError(f"there is no plant file {path}")
    content = (path.resolve(), path.read_bytes())
    if content not in _loaded:
        _loaded[content] = _plants_of(_execute(path))
    if not _loaded[content]:
        raise UserError(f"{path} gives no plant: end it with plants.register(plants.Plant(name=..., ...))")
    for plant in _loaded[content]:
        plants.register(plant, replace=True)
    return tuple(plant.name for plant in _loaded[content])


def _plants_of(module: ModuleType) -> list[Plant]:
    """Return the plants that stand in the module, except those that it only uses (registered by the packages)."""
    standing = {id(value): value for value in vars(module).values() if isinstance(value, plants.Plant)}
    own = [value for value in standing.values() if _is_own(value, module)]
    registered = [plants.get(name) for name in plants.names()]
    return own + [plant for plant in registered if id(plant) not in standing and _is_own(plant, module)]


def _is_own(plant: Plant, module: ModuleType) -> bool:
    """Whether one of the plant's blocks was written in the module."""
    blocks = (value for value in vars(plant).values() if callable(value))
    return any(getattr(block, "__module__", None) == module.__name__ for block in blocks)


def _execute(path: Path) -> ModuleType:
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]
    name = f"plant_file_{path.stem}_{digest}"  # files of the same name in two folders stay apart
    add_user_file(path)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UserError(f"{path} must be a Python file (.py)")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickling look it up by name
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise UserError(f"{path.name}, line {error.lineno}: {error.msg}") from None
    except ImportError as error:
        raise UserError(f"{path.name}: {error}") from error
    return module
