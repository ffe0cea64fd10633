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
from pathlib import Path
from typing import TYPE_CHECKING, Any

from configs import FOLDER
from experiments.runtime import user_settings
from experiments.runtime.errors import UserError, tell, user_errors
from experiments.runtime.progress import duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from omegaconf import DictConfig

    from experiments.runtime.run_folder import RunFolder, RunRecord

    Job = Callable[[Any, RunFolder], None]
    Check = Callable[[Any], object]


_FOUND_OUT = ("plant", "plant_file", "step", "controller.sample_time", "controller.own_gains")
"""Settings whose null stands for something that is found out before a run begins, and stored with it."""


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
            path = _run(name, job, check or _nothing, settings)
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
        own = ", ".join(text for text in HydraConfig.get().overrides.task if _key(text) in keys)
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


def _nothing(_: Any) -> None:
    """Check nothing."""


def _run(name: str, job: Job, check: Check, settings: DictConfig) -> Path:
    """Open the run folder that the composed settings ask for, do the job with what is stored there, return the folder.

    The job of a new run too gets what is read back from the folder, so that a resumed one cannot get anything else.
    """
    with _resume(name, settings) if settings.resume else _create(name, check, settings) as folder:
        for change in folder.changed_versions:
            tell(f"warning: {change}; results may differ in their last digits")
        job(_finished(_merged(name, folder.config, settings)), folder)
    return folder.path


def _create(name: str, check: Check, settings: DictConfig) -> RunFolder:
    from omegaconf import OmegaConf

    from configs.rules import files
    from experiments.runtime.run_folder import RunFolder, new_path

    config = _finished(settings)
    _find_plant(config, typed=True)
    check(config)
    for key in _FOUND_OUT:
        part, _, setting = key.rpartition(".")
        owner = getattr(config, part, None) if part else config
        if hasattr(owner, setting):
            OmegaConf.update(settings, key, getattr(owner, setting))
    path = config.output or _sweep_folder() or new_path(name)
    stored = _stored(settings, type(config))
    return RunFolder.create(path, command=name, config=stored, overrides=_overrides(type(config)), inputs=files(config))


def _resume(name: str, settings: DictConfig) -> RunFolder:
    """Open a run again; refuse what would change its result."""
    from configs import store
    from experiments.runtime.run_folder import RunFolder, read_record

    if _sweep_folder() is not None:
        raise UserError("resume goes on with one run; it cannot be combined with -m")
    record = read_record(settings.resume)
    named, begun_with = settings.plant_file, record["config"].get("plant_file")
    moved = {begun_with: named} if named and isinstance(begun_with, str) else {}
    folder = RunFolder.resume(settings.resume, command=name, moved=moved | _kept_start(settings.resume, record))
    try:
        given = [word for word in _overrides(store.SCHEMAS[name]) if not moved or _key(word) != "plant_file"]
        _refuse_differences(settings.resume, folder, given)
        _find_plant(_finished(_merged(name, folder.config, settings)), run=settings.resume, named=named)
    except BaseException:
        folder.close()
        raise
    return folder


def _kept_start(place: str, record: RunRecord) -> dict[str, str]:
    """Return the run's copy of the knowledge base that a design starts from, where the file itself is gone."""
    start = record["config"].get("start")
    copies = {item["file"]: Path(place, item["copy"]) for item in record["inputs"]}
    if not isinstance(start, str) or start not in copies or Path(start).exists() or not copies[start].is_file():
        return {}
    return {start: str(copies[start])}


def _merged(name: str, stored: dict[str, Any], settings: DictConfig) -> DictConfig:
    """Return the stored settings with this session's own."""
    from omegaconf import DictConfig, OmegaConf

    from configs import rules, store

    schema = store.SCHEMAS[name]
    merged = OmegaConf.merge(OmegaConf.structured(schema), store.with_earlier_defaults(name, stored))
    assert isinstance(merged, DictConfig)  # noqa: S101  (the schema is one)
    for key in rules.session_keys(schema):
        OmegaConf.update(merged, key, OmegaConf.select(settings, key))
    return merged


def _finished(settings: DictConfig) -> Any:
    """Return the settings as the schema's dataclass, with all ranges checked."""
    from omegaconf import OmegaConf

    from configs import rules

    config = OmegaConf.to_object(settings)
    rules.check(config)
    return config


def configured(name: str, overrides: Sequence[str]) -> Any:
    """Return the checked settings of a command with these overrides, without running it.

    Raises
    ------
    UserError, ValueError
        For a setting that there is not (with the near miss), or a value outside its range.
    """
    from hydra import compose, initialize_config_module

    from configs import store
    from experiments.runtime.config_errors import readable_errors

    store.register()
    with readable_errors(name, store.SCHEMAS[name]), initialize_config_module("configs", version_base="1.3"):
        return _finished(compose(name, overrides=list(overrides)))


def stored_settings(name: str, stored: dict[str, Any]) -> Any:
    """Return the settings that a run of a command keeps, as the schema's dataclass; its plant is looked up.

    Raises
    ------
    UserError
        If a plant file would be executed that never was before.
    """
    from omegaconf import OmegaConf

    from configs import store

    given = store.with_earlier_defaults(name, stored)
    config = _finished(OmegaConf.merge(OmegaConf.structured(store.SCHEMAS[name]), given))  # type: ignore[arg-type]
    _find_plant(config, run="a run")
    return config


def _find_plant(config: Any, *, typed: bool = False, run: str | None = None, named: str | None = None) -> None:
    from experiments.runtime.plant_choice import find_plant

    find_plant(config, typed=typed, run=run, named=named)


# ------------------------------------------------------------------------------------------------------------- resuming


def _refuse_differences(place: str, folder: RunFolder, given: Sequence[str]) -> None:
    """Raise if the given overrides change a setting of the run, which was started with its own."""
    if not given:
        return
    both = {_key(override): override for override in (*folder.overrides, *given)}  # what is given replaces the run's
    old, new = (_composed(folder.command, overrides) for overrides in (folder.overrides, [*both.values()]))
    found = dict(_flat(folder.config))
    named = [key for key in _FOUND_OUT if key in found and old.get(key) is None and new.get(key) == found[key]]
    old |= {key: found[key] for key in named}  # null in the run, and now what null stood for
    lines = [
        f"  {key}: {old.get(key)!r} in the run, {new.get(key)!r} now"
        for key in sorted(old.keys() | new.keys())
        if old.get(key) != new.get(key)
    ]
    if lines:
        raise UserError(
            "\n".join([f"{place} was started with other settings; leave these out, or start anew:", *lines])
        )


def _composed(name: str, overrides: Sequence[str]) -> dict[str, Any]:
    from hydra import compose
    from omegaconf import OmegaConf

    return dict(_flat(OmegaConf.to_container(compose(config_name=name, overrides=list(overrides)), resolve=True)))


def _flat(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield dotted keys and values of a nested mapping."""
    for key, item in value.items():
        if isinstance(item, dict) and item:
            yield from _flat(item, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", item


def _key(override: str) -> str:
    return override.partition("=")[0].lstrip("+~")


# ------------------------------------------------------------------------------------------------------- what is stored


def _overrides(schema: type) -> list[str]:
    """Return the overrides of the command line, without those of the session."""
    from hydra.core.hydra_config import HydraConfig

    from configs import rules

    session = rules.session_keys(schema)
    return [override for override in HydraConfig.get().overrides.task if _key(override) not in session]


def _sweep_folder() -> str | None:
    """Return the folder that Hydra made for this job of a sweep (-m), or None in a single run."""
    from hydra.core.hydra_config import HydraConfig
    from hydra.types import RunMode

    return str(HydraConfig.get().runtime.output_dir) if HydraConfig.get().mode == RunMode.MULTIRUN else None


def _stored(settings: DictConfig, schema: type) -> dict[str, Any]:
    """Return the settings that decide the result, in a form that JSON keeps."""
    from omegaconf import OmegaConf

    from configs import rules

    session = rules.session_keys(schema)
    content: Any = OmegaConf.to_container(settings, resolve=True)
    return {key: _with_words(value) for key, value in content.items() if key not in session}


def _with_words(value: Any) -> Any:
    """Return `value` with infinite numbers as words ("inf"), which read back as numbers."""
    if isinstance(value, dict):
        return {key: _with_words(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_words(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
