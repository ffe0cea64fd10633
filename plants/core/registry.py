"""The plants that a name finds: those registered here, and those that other installed packages bring.

A package names them in its ``pyproject.toml``::

    [project.entry-points."sscq.plants"]
    wind = "wind_models.turbine"

What is named is a module, a Plant, a sequence of Plants, or a function without arguments that returns either.
They are loaded when a name is asked for that is not registered, or when plants are listed; importing the project
loads nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

from plants.core.names import unknown
from plants.core.plant import Plant

_PLANTS: dict[str, Plant] = {}


def register(plant: Plant, *, replace: bool = False) -> Plant:
    """Make `plant` known by its name and return it.

    Raises
    ------
    ValueError
        If another plant has the name and `replace` is false.
    """
    if not isinstance(plant, Plant):
        message = f"register takes a Plant, got {type(plant).__name__}"
        raise TypeError(message)
    known = _PLANTS.get(plant.name)
    if known is not None and known != plant and not replace:
        message = f"a plant called {plant.name!r} is registered already; give yours another name, or replace=True"
        raise ValueError(message)
    _PLANTS[plant.name] = plant
    return plant


def get(name: str) -> Plant:
    """Return the plant called `name`, also from an installed package, or raise ValueError with the near miss."""
    if name not in _PLANTS:
        broken = [f"{one.entry} of {one.package}: {one.problem}" for one in load_installed() if one.problem]
        if name not in _PLANTS:
            told = f"; plants that could not be loaded: {'; '.join(broken)}" if broken else ""
            raise ValueError(unknown("plant", name, names()) + told)
    return _PLANTS[name]


def snapshot() -> dict[str, Plant]:
    """Return the registered plants by name, for :func:`restore`."""
    return dict(_PLANTS)


def restore(plants: dict[str, Plant]) -> None:
    """Register exactly these plants."""
    _PLANTS.clear()
    _PLANTS.update(plants)


def names() -> tuple[str, ...]:
    """Return the names of all registered plants, sorted."""
    return tuple(sorted(_PLANTS))


GROUP = "sscq.plants"


@dataclass(frozen=True)
class InstalledPlants:
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


_loaded: dict[tuple[str, str, str], InstalledPlants] = {}


def load_installed() -> tuple[InstalledPlants, ...]:
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


def _load(point: EntryPoint) -> InstalledPlants:
    before = snapshot()
    try:
        plants = _plants(point.load(), before)
        for plant in plants:
            register(plant)
    except (Exception, SystemExit) as error:  # noqa: BLE001  (whatever somebody else's package does, the rest goes on)
        restore(before)
        return InstalledPlants(point.name, _package(point), problem=f"{type(error).__name__}: {error}")
    return InstalledPlants(point.name, _package(point), tuple(plant.name for plant in plants))


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
    new = [plant for name, plant in snapshot().items() if before.get(name) is not plant]
    found = {id(plant): plant for plant in (*new, *candidates) if isinstance(plant, Plant)}
    own = [plant for plant in found.values() if before.get(plant.name) is not plant]  # not those it merely imports
    if not own:
        raise TypeError(f"it must give a plant, got {type(given).__name__}: name a Plant, or a module that has one")
    return own
