"""A command run from Python: its settings as values, its folder, nothing printed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from configs import store
from experiments.front.result import DesignResult
from experiments.front.words import check_settings, words_of
from experiments.starting.config_errors import readable_errors
from experiments.starting.opening import composed, run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def kb_file(kb: str | Path | DesignResult) -> str:
    """Return the file of a knowledge base; of a design the recommended one, or else the refined one."""
    return str(kb.knowledge_base_file if isinstance(kb, DesignResult) else Path(kb))


def ran(
    command: str,
    function: str,
    arguments: Mapping[str, str],
    job: Callable[..., None],
    check: Callable[..., Any],
    own: Mapping[str, Any],
    folder: str | Path | None,
    settings: Mapping[str, Any] | None,
) -> None:
    """Run a command's job in its folder.

    Parameters
    ----------
    command, function : str
        Names of the command and of the Python function that stands for it.
    arguments : mapping of setting to argument
        Settings that are arguments of the function, see :func:`experiments.front.words.check_settings`.
    job : callable (configuration, run folder)
    check : callable (configuration)
        Raises before a folder is made.
    own : mapping
        Settings that the arguments say.
    folder : path, optional
    settings : mapping, optional
        The others.
    """
    given = dict(settings or {})
    check_settings(given, function, arguments)
    place = {} if folder is None else {"output": str(folder)}
    words = words_of({**own, **given, "quiet": True, **place})
    with readable_errors(command, store.SCHEMAS[command]):
        asked = composed(command, words)
    run(command, job, check, asked, words)
