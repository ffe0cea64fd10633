"""`sscq.map` and `sscq.worst_of`: what a stored knowledge base withstands, as function calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments import map as map_command
from experiments import worst as worst_command
from experiments.front.running import kb_file, ran

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from configs.schema import MapConfig, WorstConfig
    from experiments.front.result import DesignResult
    from experiments.map import DrawnMap
    from experiments.runtime.run_folder import RunFolder

_OF_WORST = {"kb": "kb", "output": "folder", "resume": "", "quiet": ""}
_OF_MAP = {**_OF_WORST, "x": "x", "y": "y"}


def worst_of(
    kb: str | Path | DesignResult, *, folder: str | Path | None = None, settings: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Look for the worst situation of a knowledge base in the declared ranges of its plant.

    As ``sscq worst``, whose folder this is; nothing is printed. For a plant and controller that are no file:
    :func:`sscq.worst_case`.

    Parameters
    ----------
    kb : path or DesignResult
        File of a knowledge base; of a design the recommended one, or else the refined one.
    folder : path, optional
        For the files; left out: a new one below ``runs/worst``.
    settings : mapping, optional
        Any other settings of ``sscq worst`` by their dotted names: ``{"envelope.parameters": {"mu": [0.5, 2.0]}}``.

    Returns
    -------
    dict
        What metrics.json has ("search", "random_baseline", "margins", "certificate"), the worst "situation" by name
        of what it varies, and the "file" to replay it from.

    Raises
    ------
    ValueError, TypeError, UserError
        For settings that there are not, and where the knowledge base cannot be read or does not fit.

    Examples
    --------
    >>> found = sscq.worst_of(result, settings={"evaluations": 400})
    >>> found["search"]["cost"], found["certificate"]["failure_bound"]
    """
    found: dict[str, Any] = {}

    def job(config: WorstConfig, opened: RunFolder) -> None:
        example, _ = worst_command.prepared(config)
        stored, file = worst_command.kept(config, example, opened)
        found.update(stored["metrics"], situation=stored["example"]["situation"], file=file)

    ran("worst", "worst_of", _OF_WORST, job, worst_command.checked, {"kb": kb_file(kb)}, folder, settings)
    return found


def draw_map(
    kb: str | Path | DesignResult,
    x: tuple[str, Sequence[float]],
    y: tuple[str, Sequence[float]],
    *,
    folder: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
) -> DrawnMap:
    """Draw how a knowledge base and its reference gains fare over two ranges: cost J, lost loops, Ms.

    As ``sscq map``, whose folder this is; nothing is printed.

    Parameters
    ----------
    kb : path or DesignResult
    x, y : (name, (low, high))
        Of a parameter, "delay" [s], "noise", "parameters.NAME", ...: ``("mu", (0.1, 3.0))``.
    folder : path, optional
        For the files; left out: a new one below ``runs/map``.
    settings : mapping, optional
        Any other settings of ``sscq map``: ``{"points": 50, "situation": "far"}``.

    Returns
    -------
    DrawnMap

    Raises
    ------
    ValueError, TypeError, UserError
        For axes or settings that there are not, and where the knowledge base cannot be read or does not fit.

    Examples
    --------
    >>> drawn = sscq.map(result, ("mu", (0.1, 3.0)), ("delay", (0.0, 0.2)))
    >>> drawn.arrays["cost"].shape, drawn.page
    """
    drawn: list[DrawnMap] = []

    def job(config: MapConfig, opened: RunFolder) -> None:
        drawn.append(map_command.kept(config, map_command.prepared(config), opened))

    own = {"kb": kb_file(kb), "x": _axis(x), "y": _axis(y)}
    ran("map", "map", _OF_MAP, job, map_command.checked, own, folder, settings)
    return drawn[0]


def _axis(given: tuple[str, Sequence[float]]) -> str:
    """An axis as the command has it: NAME:[LOW,HIGH]."""
    try:
        name, (low, high) = given
        return f"{name}:[{float(low)!r},{float(high)!r}]"
    except (TypeError, ValueError):
        raise TypeError(f"an axis must be a name and two ends, such as ('mu', (0.1, 3.0)), got {given!r}") from None
