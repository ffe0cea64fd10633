"""`sscq.design`: a design as a function call."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import plants
from configs import store
from experiments import design as command
from experiments.front.result import DesignResult
from experiments.front.words import check_settings, words_of
from experiments.starting.config_errors import readable_errors
from experiments.starting.opening import composed, run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from experiments.runtime.progress import ProgressNote
    from plants import Plant

_OWN = {"plant": "plant", "budget": "budget", "seed": "seed", "output": "folder", "resume": "resume", "quiet": ""}


def design(
    plant: Plant | str,
    *,
    situations: Mapping[str, Any] | None = None,
    budget: str = "small",
    seed: int = 0,
    folder: str | Path | None = None,
    resume: bool = False,
    on_progress: Callable[[ProgressNote], object] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> DesignResult:
    """Design a controller for a plant, prove it against fixed gains, and return what came out.

    The run folder is that of ``sscq design``, file by file and byte by byte, and can be gone on with by either. Nothing
    is printed. Ctrl-C and errors pass through; what was computed until then stays in the folder.

    Parameters
    ----------
    plant : Plant or str
        A plant, which is registered by its name, or the name of a registered one.
    situations : mapping, optional
        In place of the plant's own: "taught", "validation" and "unforeseen", each a list as a plant declares it.
    budget : {"small", "medium", "standard", "large"}
    seed : int
        The same seed, the same result, for any number of threads.
    folder : path, optional
        Of the run; it must be new or empty. Left out: a new one below ``runs/design``.
    resume : bool
        Go on with the run that `folder` holds; its settings are its own.
    on_progress : callable, optional
        Takes a :class:`experiments.runtime.progress.ProgressNote` (share done, seconds left, a line) now and then, from
        the thread that designs.
    settings : mapping, optional
        Any other settings of ``sscq design`` by their dotted names: ``{"fitness.entropy_weight": 0.0, "seeds": 3}``.

    Returns
    -------
    DesignResult

    Raises
    ------
    ValueError, TypeError, UserError
        For settings that there are not (with the near miss) or that do not fit, and where the folder is in use.

    Examples
    --------
    >>> result = sscq.design("van_der_pol", budget="small", folder="runs/first")
    >>> result.recommended
    'knowledge_base_direct'
    """
    given = dict(settings or {})
    check_settings(given, "design", _OWN)
    place = None if folder is None else str(folder)
    if resume and place is None:
        raise TypeError("resume=True needs the folder to go on with: folder=...")
    session = {"quiet": True, **({"resume": place} if resume else {} if place is None else {"output": place})}
    own = {} if resume else {"plant": _registered(plant, situations), "budget": budget, "seed": seed}
    if resume:
        _registered(plant, situations)  # the run names it
    words = words_of({**own, **given, **session})
    with readable_errors("design", store.SCHEMAS["design"]):
        asked = composed("design", words)
    job = functools.partial(command.design, show=False, listener=on_progress)
    path = run("design", job, command.check, asked, words)
    return DesignResult(Path(path))


def _registered(plant: Plant | str, situations: Mapping[str, Any] | None) -> str:
    """Return the name by which a plant, made for some situations, is found from here on."""
    found = plants.find(plant) if isinstance(plant, str) else plants.register(plant)
    if situations is None:
        return plant if isinstance(plant, str) else found.name
    task = "given_" + hashlib.sha256(repr(sorted(situations.items())).encode()).hexdigest()[:8]
    variant = replace(found, task=replace(found.task, situations=dict(situations)))
    kept = {name: plants.get(found.name, task=name) for name in plants.tasks(found.name)}
    plants.register(found, tasks={**kept, task: variant})
    return f"{found.name}:{task}"
