"""The plants that a name finds."""

from __future__ import annotations

from plants.core.naming import unknown
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
        from plants.core.installed import load_installed

        broken = [f"{one.entry} of {one.package}: {one.problem}" for one in load_installed() if one.problem]
        if name not in _PLANTS:
            told = f"; plants that could not be loaded: {'; '.join(broken)}" if broken else ""
            raise ValueError(unknown("plant", name, names()) + told)
    return _PLANTS[name]


def withdraw(name: str) -> Plant:
    """Forget the plant called `name` and return it, or raise ValueError with the near miss."""
    plant = get(name)
    del _PLANTS[name]
    return plant


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
