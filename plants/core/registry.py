"""The plants that a name finds: those registered here, and those that other installed packages bring.

A package names them in its ``pyproject.toml``::

    [project.entry-points."sscq.plants"]
    wind = "wind_models.turbine"

What is named is a module, a Plant, a sequence of Plants, or a function without arguments that returns either.
They are loaded when a name is asked for that is not registered, or when plants are listed; importing the project
loads nothing. So it is with the plants that come with the project: :func:`provide` says in which modules they are.

One plant may serve several tasks: the same physics with other control loops, situations or measures. Its physics is
registered once, with the plants of its further tasks beside it; one of them is found as "plant:task". A plant made for
a task keeps a name of its own, which files and random streams know it by.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import TYPE_CHECKING, Any

from plants.core.names import unknown
from plants.core.plant import Plant

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLANTS: dict[str, Plant] = {}
"""By name, those of further tasks as "plant:task"."""
_MODULES: dict[str, str] = {}
"""By the name of a plant, the module that registers it when it is imported."""
_PROVIDED: dict[str, Plant] = {}
"""What these modules registered, by name: another plant may have taken its place since."""
_OF_TASK = {"name", "text", "step", "channels", "allocate", "task", "presentation"}
"""Fields in which a plant for another task may differ."""


def provide(modules: Mapping[str, tuple[str, ...]]) -> None:
    """Say which modules register which plants: each is imported when one of its plants is first asked for.

    Parameters
    ----------
    modules : mapping of module names to names of plants
    """
    _MODULES.update({plant: module for module, plants in modules.items() for plant in plants})


def _registered(name: str | None = None) -> dict[str, Plant]:
    """Return the registered plants, those of the provided modules among them; with a name only its module's are."""
    if name in _MODULES:
        import_module(_MODULES[name])
    elif name not in _PLANTS:
        for module in _MODULES.values():
            import_module(module)
    return _PLANTS


def register(plant: Plant, *, tasks: Mapping[str, Plant] | None = None, replace: bool = False) -> Plant:
    """Make `plant` known by its name and return it.

    Parameters
    ----------
    plant : Plant
    tasks : mapping of names to plants, optional
        The same physics for other tasks, under names of their own.
    replace : bool
        Take the place of another plant of that name.

    Raises
    ------
    ValueError
        If another plant has the name and `replace` is false, or one of `tasks` is another physics.
    """
    if not isinstance(plant, Plant):
        message = f"register takes a Plant, got {type(plant).__name__}"
        raise TypeError(message)
    if plant.name in _MODULES:
        import_module(_MODULES[plant.name])  # somebody else's plant of this name has to say replace=True
    known = _PLANTS.get(plant.name)
    if known is not None and known != plant and not replace:
        message = f"a plant called {plant.name!r} is registered already; give yours another name, or replace=True"
        raise ValueError(message)
    for task, other in (tasks or {}).items():
        physics = [one.name for one in fields(Plant) if one.name not in _OF_TASK]
        differing = [one for one in physics if _differ(plant, other, one)]
        if differing:
            raise ValueError(
                f"task {task!r} of plant {plant.name!r} is another physics ({', '.join(differing)} differ): "
                "register it as a plant of its own"
            )
    if known != plant:
        for task in _task_names(plant.name):
            del _PLANTS[f"{plant.name}:{task}"]  # of another physics
    if plant.name in _MODULES:
        _PROVIDED.setdefault(plant.name, plant)  # its module is the first to register the name
    _PLANTS[plant.name] = plant
    _PLANTS.update({f"{plant.name}:{task}": other for task, other in (tasks or {}).items()})
    return plant


def _differ(plant: Plant, other: Plant, name: str) -> bool:
    one, another = getattr(plant, name), getattr(other, name)
    return not (one == another or (getattr(one, "solved", False) and getattr(another, "solved", False)))


def get(name: str, task: str | None = None) -> Plant:
    """Return the plant called `name`, also from an installed package, made for one of its tasks.

    Parameters
    ----------
    name : str
        Of a plant; "plant:task" is the same as naming the task. The name that a plant for a task has itself is
        deprecated here.
    task : str, optional
        One of :func:`tasks`.

    Raises
    ------
    ValueError
        With the near miss, if there is no such plant or task.
    """
    plant = find(name if task is None else f"{name}:{task}")
    if task is None and name != (said := in_full(name)):
        where, _, what = said.partition(":")
        warnings.warn(
            f"plant {name!r} is {where!r} made for a task: say plants.get({where!r}, task={what!r})",
            DeprecationWarning,
            stacklevel=2,
        )
    return plant


def find(name: str) -> Plant:
    """Return the plant that a file or a setting names: "plant", "plant:task", or a plant for a task by its own name."""
    if in_full(name) not in _PLANTS:
        broken = [f"{one.entry} of {one.package}: {one.problem}" for one in load_installed() if one.problem]
        if in_full(name) not in _PLANTS:
            told = f"; plants that could not be loaded: {'; '.join(broken)}" if broken else ""
            base, colon, task = name.partition(":")
            if colon and base in _PLANTS:
                raise ValueError(unknown(f"task of plant {base!r}", task, tasks(base)))
            own = "; a plant of your own is known where it was registered (plants.register), or by its plant_file"
            raise ValueError(unknown("plant", name, names(tasks=True)) + own + told)
    return _PLANTS[in_full(name)]


def in_full(name: str) -> str:
    """Return "plant:task" where `name` is that of a plant for a task, else the name itself."""
    if name in _registered(name.partition(":")[0]):
        return name
    return next((key for key, plant in _registered().items() if plant.name == name), name)


def tasks(name: str) -> tuple[str, ...]:
    """Return the names of a plant's further tasks."""
    return tuple(key.partition(":")[2] for key in _registered(name) if key.startswith(f"{name}:"))


_task_names = tasks  # where `tasks` is an argument


def is_provided(name: str) -> bool:
    """Whether the plant of this name comes with the project or with an installed package."""
    base = name.partition(":")[0]
    known = base in _MODULES or any(base in one.plants for one in _loaded.values())
    return known and not is_replaced(base)


def is_replaced(name: str) -> bool:
    """Whether another plant has taken the place of the project's own plant of this name."""
    base = name.partition(":")[0]
    return base in _PROVIDED and _PLANTS.get(base) != _PROVIDED[base]


def is_of_task(plant: Plant) -> bool:
    """Whether a plant is registered as another one made for a task."""
    return any(one is plant for key, one in _registered(plant.name).items() if ":" in key)


def snapshot() -> dict[str, Plant]:
    """Return the registered plants by name, for :func:`restore`."""
    return dict(_registered())


def restore(plants: dict[str, Plant]) -> None:
    """Register exactly these plants."""
    _PLANTS.clear()
    _PLANTS.update(plants)


def names(*, tasks: bool = False) -> tuple[str, ...]:
    """Return the names of all registered plants, sorted; with `tasks` those of their further tasks, too."""
    return tuple(sorted(name for name in _registered() if tasks or ":" not in name))


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
    found = {id(one): one for one in (*new, *candidates) if isinstance(one, Plant) and not is_of_task(one)}
    own = [plant for plant in found.values() if before.get(plant.name) is not plant]  # not those it merely imports
    if not own:
        raise TypeError(f"it must give a plant, got {type(given).__name__}: name a Plant, or a module that has one")
    return own
