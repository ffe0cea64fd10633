"""Whether a plant can be compiled, and if not, which line prevents it."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plants.core.tape import TracingError
from plants.core.trace import names, trace

if TYPE_CHECKING:
    from collections.abc import Callable

    from plants.core.plant import Plant

_HERE = Path(__file__).resolve().parents[1]
_BLOCKS = ("derivative", "outputs", "energy", "supplied_power", "entropy_rate", "advance", "after_step")


class SlowPlantWarning(UserWarning):
    """A plant that cannot be compiled: it is simulated step by step in Python."""


def obstacle(plant: Plant) -> str | None:
    """Return what keeps `plant` from being compiled, with file and line; None if nothing does."""
    shapes = tuple(
        names(prefix, len(getattr(plant, kind)))
        for prefix, kind in (("x", "states"), ("u", "inputs"), ("w", "disturbances"), ("p", "parameters"))
    )
    for name in _BLOCKS:
        block = getattr(plant, name)
        if block is not None:
            more = ("h",) if name in {"advance", "after_step"} else ()
            found = prevents(block, "t", *shapes, *more)
            if found is not None:
                return f"{name} of plant {plant.name!r}: {found}"
    return None


def prevents(block: Callable[..., Any], *shapes: Any) -> str | None:
    """Return what prevents a block from being traced; None if it can be.

    An error that the block's own code raises counts as well: a library that knows no traced numbers says so in its way.
    """
    try:
        trace(block, *shapes)
    except TracingError as error:
        return str(error)
    except (TypeError, ValueError, AttributeError, NotImplementedError, AssertionError) as error:
        return f"{_place(error)}: {type(error).__name__}: {error}"
    return None


def _place(error: BaseException) -> str:
    """The innermost line outside this project and its libraries, else the innermost of all."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if _HERE not in Path(f.filename).resolve().parents and "site-packages" not in f.filename]
    frame = (own or frames)[-1]
    return f"{frame.filename}:{frame.lineno} in {frame.name}"
