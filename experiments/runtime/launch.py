"""What the commands have in common: configuration, the user's plant file, the run folder, errors.

A command is a plain function of a finished configuration and an open run folder::

    def design(config: DesignConfig, folder: RunFolder) -> None: ...

    main = command("design", design)

Hydra's own entry point composes the configuration, so that everything its users know works (``--help``, ``--cfg job``,
``-m seed=0,1,2``). It is asked to hand its errors on (HYDRA_FULL_ERROR) instead of printing them, and
`experiments.runtime.config_errors` says them in a sentence.
"""

from __future__ import annotations

import ctypes
import functools
import math
import os
import sys
import time
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from configs import FOLDER
from experiments.runtime import user_settings
from experiments.runtime.errors import tell, user_errors
from experiments.runtime.opening import key_of, run
from experiments.runtime.progress import duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from omegaconf import DictConfig

    from experiments.runtime.opening import Check, Compose, Job


def command(
    name: str, job: Job, check: Check | None = None, summary: Callable[[list[Path]], object] | None = None
) -> Callable[..., None]:
    """Return the main function of a command.

    Parameters
    ----------
    name : str
        "design": its configuration is ``configs/design.yaml``, its schema `configs.store.SCHEMAS["design"]`.
    job : callable
        Takes the configuration (the schema's dataclass, checked) and the open run folder, writes results there. Ctrl-C
        and errors pass through it.
    check : callable, optional
        Takes the configuration before there is a run folder, and raises where the job could not begin; it may set
        the settings of `_FOUND_OUT`.
    summary : callable, optional
        Takes the folders of a sweep's runs (-m) after the last one.

    Returns
    -------
    main : callable
        Takes the arguments (those of the process by default).
    """
    sweep = _Sweep()

    @functools.wraps(job)
    def task(settings: DictConfig) -> None:
        with _errors(name):  # caught here, before Hydra adds words of its own
            if _sweep_folder() is not None and not settings.quiet:
                tell(sweep.words())
            path = run(name, job, check, settings, _given(), compose=_composing(name), sweep=_sweep_folder())
            _give_back_memory()
            if _sweep_folder() is not None:
                sweep.finished.append(path)

    def main(arguments: Sequence[str] | None = None) -> None:
        words = spelt_out(sys.argv[1:] if arguments is None else arguments)
        if any(
            word in {"-h", "--help=all"} or (word.startswith("--he") and "--help".startswith(word)) for word in words
        ):
            from configs import store

            with user_errors():  # Hydra's own would list all groups first, which takes a second
                print(store.help_text(name, everything="--help=all" in words), flush=True)
            raise SystemExit(0)
        if {"-sc", "--shell-completion"} & set(words):  # Hydra's own does not know of a command's name before settings
            shell = next((word.partition("=")[2] for word in words if word.startswith("install=")), "")
            with user_errors():
                print(import_module("experiments.runtime.completion").script(shell))
            return
        import hydra

        sweep.begin(words)
        with _errors(name), _arguments(name, words):
            hydra.main(version_base="1.3", config_path=str(FOLDER), config_name=name)(task)()
            if sweep.finished and summary is not None:
                summary(sweep.finished)

    return main


def spelt_out(words: Sequence[str]) -> list[str]:
    """Return the words of a command with those spelt as settings that stand for other ones.

    `ensemble=FILE`, plants from a log, is a plant file; a list of treatments of the algebraic loop is `loops`.
    """
    others = {"ensemble=": "plant_file=", "algebraic_loop=[": "loops=["}
    found = list(words)
    for place, word in enumerate(found):
        for start, other in others.items():
            if word.startswith(start):
                found[place] = other + word.removeprefix(start)
    return found


class _Sweep:
    """The runs of one call with -m: their folders so far, and how far it is."""

    def __init__(self) -> None:
        self.finished: list[Path] = []

    def begin(self, words: Sequence[str]) -> None:
        """Forget an earlier call."""
        self._given = [word for word in words if "=" in word and not word.startswith("-")]
        self.finished.clear()

    def words(self) -> str:
        """Return which run of how many begins, what it is, and how long all are expected to take from here on."""
        from hydra.core.hydra_config import HydraConfig
        from hydra.core.override_parser.overrides_parser import OverridesParser

        given = OverridesParser.create().parse_overrides(self._given)
        varied = [one for one in given if one.is_sweep_override()]
        total = math.prod(len(list(one.sweep_string_iterator())) for one in varied)
        keys = {one.key_or_group for one in varied}
        own = ", ".join(text for text in HydraConfig.get().overrides.task if key_of(text) in keys)
        done = len(self.finished)
        if not done:
            self._begun = time.monotonic()
        each = (time.monotonic() - self._begun) / done if done else 0.0
        return f"run {done + 1} of {total}: {own}" + (f"; about {duration(each * (total - done))} left" if done else "")


def _give_back_memory() -> None:
    """Give free memory back to the system: glibc keeps it in pieces, more after each run of a sweep."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


@contextmanager
def _errors(name: str) -> Iterator[None]:
    from configs import store
    from experiments.runtime.config_errors import readable_errors

    store.register()
    with user_errors(), readable_errors(name, store.SCHEMAS[name]):
        yield


@contextmanager
def _arguments(name: str, words: list[str]) -> Iterator[None]:
    """Set what Hydra reads from the process: its arguments, and that errors are handed on."""
    from configs import store
    from experiments.runtime.config_errors import no_part_of_null

    user_settings.check_arguments(words)
    user_settings.guard()
    before, environment = sys.argv, os.environ.get("HYDRA_FULL_ERROR")
    sys.argv = [f"sscq {name}", *words]
    os.environ["HYDRA_FULL_ERROR"] = "1"
    try:
        with no_part_of_null(words, store.SCHEMAS[name]):
            yield
    finally:
        sys.argv = before
        os.environ.pop("HYDRA_FULL_ERROR")
        if environment is not None:
            os.environ["HYDRA_FULL_ERROR"] = environment


def _composing(name: str) -> Compose:
    """Return what composes other overrides with the same folders (--config-dir) as the command's own."""
    from hydra import compose

    return lambda overrides: compose(config_name=name, overrides=list(overrides))


def _given() -> list[str]:
    """Return the overrides of the command line."""
    from hydra.core.hydra_config import HydraConfig

    return list(HydraConfig.get().overrides.task)


def _sweep_folder() -> str | None:
    """Return the folder that Hydra made for this job of a sweep (-m), or None in a single run."""
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode

    return str(HydraConfig.get().runtime.output_dir) if HydraConfig.get().mode == RunMode.MULTIRUN else None
