"""Control laws of a plant's own field that compete with ours: constants to be tuned, and inputs made of states."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from plants.core.plant import Plant, Quantity


@dataclass(frozen=True)
class Rival:
    """A law of the field, such as sky-hook damping of a car.

    Attributes
    ----------
    name, title, text : str
        Short name, what a table calls it, and its source with what it measures.
    constants : tuple of Quantity
        What is tuned: nominal values and finite bounds; at most as many as the plant has channels, or none.
    allocate : callable
        ``(t, x, constants, p) -> inputs``, executed with each controller sample; bounds of the inputs hold after it.
    """

    name: str
    title: str
    text: str
    constants: tuple[Quantity, ...]
    allocate: Callable[..., Any]


def check_rivals(plant: Plant) -> None:
    """Raise where a plant's rivals cannot be tuned in its loop."""
    names = [rival.name for rival in plant.rivals]
    if len(set(names)) != len(names):
        raise ValueError(f"plant {plant.name!r}: names of rivals must differ, got {names}")
    for rival in plant.rivals:
        if len(rival.constants) > len(plant.channels):
            raise ValueError(
                f"rival {rival.name!r} of plant {plant.name!r} may have up to {len(plant.channels)} constants "
                f"(commands of the plant's channels carry them), got {len(rival.constants)}"
            )
        for constant in rival.constants:
            if not -1e300 < constant.low < constant.high < 1e300:
                raise ValueError(
                    f"rival {rival.name!r} of plant {plant.name!r}: constant {constant.name!r} needs finite bounds "
                    f"low < high to be tuned in, got {constant.low}, {constant.high}"
                )


def with_rival(plant: Plant, rival: Rival) -> Plant:
    """Return the plant driven by a rival: the commands of its first channels are the rival's constants.

    Outputs, references and measures stay the plant's own, so that both are judged alike.
    """
    count = len(rival.constants)

    def allocate(t: Any, x: Any, commands: Any, p: Any) -> Any:
        return rival.allocate(t, x, tuple(commands[:count]), p)

    carried = [
        replace(channel, low=constant.low, high=constant.high)
        for channel, constant in zip(plant.channels, rival.constants, strict=False)
    ]
    channels = (*carried, *plant.channels[count:])
    return replace(plant, allocate=allocate, channels=channels, operating_points=(), rivals=())
