"""Plants that other installed packages bring, found by their entry points.

A package names them in its ``pyproject.toml``::

    [project.entry-points."sscq.plants"]
    wind = "wind_models.turbine"

What is named is a module, a Plant, a sequence of Plants, or a function without arguments that returns either. They are
loaded when a name is asked for that is not registered, or when plants are listed; importing the project loads nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

from plants.core import registry
from plants.core.plant import Plant

GROUP = "sscq.plants"


@dataclass(frozen=True)
class Installed:
    """What one entry point gave.

    Attributes
    ----------
    entry : str
        Its name.
    package : str
        Name and version of the package that brings it.
    plants : tuple of str
        Names of its plants.
    problem : str
        Why there are none; empty if there are.
    """

    entry: str
    package: str
    plants: tuple[str, ...] = ()
    problem: str = ""


_loaded: dict[tuple[str, str, str], Installed] = {}


def load_installed() -> tuple[Installed, ...]:
    """Register the plants of all installed packages, each entry point once; a broken one is told in its `problem`."""
    found = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: (_package(point), point.name)):
        key = (_package(point), point.name, point.value)
        if key not in _loaded:
            _loaded[key] = _load(point)
        found.append(_loaded[key])
    return tuple(found)


def _package(point: EntryPoint) -> str:
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else "unknown package"


def _load(point: EntryPoint) -> Installed:
    before = registry.snapshot()
    try:
        plants = _plants(point.load(), before)
        for plant in plants:
            registry.register(plant)
    except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever somebody else's package does, the rest goes on)
        registry.restore(before)
        return Installed(point.name, _package(point), problem=f"{type(error).__name__}: {error}")
    return Installed(point.name, _package(point), tuple(plant.name for plant in plants))


def _plants(given: Any, before: dict[str, Plant]) -> list[Plant]:
    """The plants that an entry point names, and those that were registered when it was loaded."""
    if callable(given) and not isinstance(given, (ModuleType, Plant)):
        given = given()
    if isinstance(given, ModuleType):
        candidates = list(vars(given).values())
    elif isinstance(given, (tuple, list)):
        candidates = list(given)
        if not all(isinstance(plant, Plant) for plant in candidates):
            raise TypeError(f"it must give plants, got {', '.join(type(one).__name__ for one in candidates)}")
    else:
        candidates = [given]
    new = [plant for name, plant in registry.snapshot().items() if before.get(name) is not plant]
    found = {id(plant): plant for plant in (*new, *candidates) if isinstance(plant, Plant)}
    own = [plant for plant in found.values() if before.get(plant.name) is not plant]  # not those it merely imports
    if not own:
        raise TypeError(f"it must give a plant, got {type(given).__name__}: name a Plant, or a module that has one")
    return own
