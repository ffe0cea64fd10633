"""What the commands have in common: configuration, the user's plant file, the run folder, errors.

A command is a plain function of a finished configuration and an open run folder::

    def design(config: DesignConfig, folder: RunFolder) -> None: ...

    main = command("design", design)

Hydra's own entry point composes the configuration, so that everything its users know works (``--help``, ``--cfg job``,
``-m seed=0,1,2``). It is asked to hand its errors on (HYDRA_FULL_ERROR) instead of printing them, and
`experiments.starting.config_errors` says them in a sentence.
"""

from __future__ import annotations

import ctypes
import functools
import math
import os
import sys
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from configs import FOLDER
from experiments.runtime import user_settings
from experiments.runtime.errors import tell, user_errors
from experiments.starting import sweep
from experiments.starting.opening import run, spelt_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from omegaconf import DictConfig

    from experiments.starting.opening import Check, Compose, Job


def command(
    name: str,
    job: Job,
    check: Check | None = None,
    summary: Callable[[list[Path]], object] | None = None,
    value: Callable[[Path], float] | None = None,
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
    value : callable, optional
        Takes the folder of a run and returns what a sweeper is to make small; that of a failed run is infinite.

    Returns
    -------
    main : callable
        Takes the arguments (those of the process by default).
    """
    return _Command(name, job, check, summary, value)


class _Command:
    """A command's main function."""

    def __init__(
        self,
        name: str,
        job: Job,
        check: Check | None,
        summary: Callable[[list[Path]], object] | None,
        value: Callable[[Path], float] | None,
    ) -> None:
        self._name, self._job, self._check, self._summary, self._value = name, job, check, summary, value
        self._progress = sweep.SweepProgress()

    def __call__(self, arguments: Sequence[str] | None = None) -> None:
        """Do what the arguments say."""
        words = spelt_out(sys.argv[1:] if arguments is None else arguments)
        if not self._helped(words):
            with user_errors():
                words = sweep.words_of(self._name, words)
            self._run(words, sweep.folder_of(words))

    def _helped(self, words: list[str]) -> bool:
        """Answer questions about the command itself."""
        if any(
            word in {"-h", "--help=all"} or (word.startswith("--he") and "--help".startswith(word)) for word in words
        ):
            from configs import store

            with user_errors():  # Hydra's own would list all groups first, which takes a second
                print(store.help_text(self._name, everything="--help=all" in words), flush=True)
            raise SystemExit(0)
        if {"-sc", "--shell-completion"} & set(words):  # Hydra's own does not know of a command's name before settings
            shell = next((word.partition("=")[2] for word in words if word.startswith("install=")), "")
            with user_errors():
                print(import_module("experiments.starting.completion").script(shell))
            return True
        return False

    def _run(self, words: list[str], folder: Path | None) -> None:
        import hydra

        self._progress.begin(words)
        with _errors(self._name), _arguments(self._name, words), sweep.noted(folder, self._name):
            if folder is not None:
                sweep.begin(folder, self._name, words)
            hydra.main(version_base="1.3", config_path=str(FOLDER), config_name=self._name)(self._task())()
            if folder is None:
                return
            finished = sweep.runs(folder)
            if finished and self._summary is not None:
                self._summary(finished)
            sweep.end(folder, self._name)

    def _task(self) -> Callable[[DictConfig], float | None]:
        """Return what Hydra calls for each run, under the name of the job."""

        @functools.wraps(self._job)
        def task(settings: DictConfig) -> float | None:
            words, place = _given(), _sweep_folder()
            _share_processors(settings)
            if place is None:
                self._single(settings, words, None)
                return None
            if not settings.quiet:
                tell(self._progress.words(words))
            self._progress.done += 1
            return sweep.attempt(place, words, lambda: self._valued(settings, words, place))

        return task

    def _valued(self, settings: DictConfig, words: list[str], place: Path) -> float:
        found = self._single(settings, words, place)
        return math.nan if self._value is None else self._value(found)

    def _single(self, settings: DictConfig, words: list[str], place: Path | None) -> Path:
        name = self._name
        with _errors(name):  # caught here, before Hydra adds words of its own
            found = run(name, self._job, self._check, settings, words, compose=_composing(name), sweep=place)
            _give_back_memory()
            return found


def _give_back_memory() -> None:
    """Give free memory back to the system: glibc keeps it in pieces, more after each run of a sweep."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


@contextmanager
def _errors(name: str) -> Iterator[None]:
    from configs import store
    from experiments.starting.config_errors import readable_errors

    store.register(name)
    with user_errors(), readable_errors(name, store.SCHEMAS[name]):
        yield


@contextmanager
def _arguments(name: str, words: list[str]) -> Iterator[None]:
    """Set what Hydra reads from the process: its arguments, and that errors are handed on."""
    from configs import store
    from experiments.starting.config_errors import no_part_of_null

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


def _share_processors(settings: DictConfig) -> None:
    """Give a run one thread where a launcher runs several at once, unless it was told how many."""
    from hydra.core.hydra_config import HydraConfig
    from omegaconf import OmegaConf

    launcher = HydraConfig.get().runtime.choices.get("hydra/launcher")
    if launcher not in (None, "basic") and settings.threads is None:
        OmegaConf.update(settings, "threads", 1)


def _sweep_folder() -> Path | None:
    """Return the folder that Hydra made for this job of a sweep (-m), or None in a single run."""
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode

    return Path(HydraConfig.get().runtime.output_dir) if HydraConfig.get().mode == RunMode.MULTIRUN else None
