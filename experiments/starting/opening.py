"""How a run begins from composed settings: checked, its plant found, its folder made, or opened again.

Nothing here reads or changes the state of the process (its arguments, Hydra's): several threads may begin runs at once.
"""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from configs import FOLDER
from experiments.runtime.errors import UserError, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from omegaconf import DictConfig

    from experiments.runtime.run_folder import RunFolder
    from experiments.runtime.run_record import RunRecord

    Job = Callable[[Any, RunFolder], None]
    Check = Callable[[Any], object]
    Compose = Callable[[Sequence[str]], DictConfig]

_FOUND_OUT = ("plant", "plant_file", "step", "controller.sample_time", "controller.own_gains")
"""Settings whose null stands for something that is found out before a run begins, and stored with it."""


def composed(name: str, words: Sequence[str]) -> DictConfig:
    """Return the settings of a command with these overrides, as Hydra composes them; its own are left out."""
    from hydra._internal.config_loader_impl import ConfigLoaderImpl
    from hydra._internal.utils import create_config_search_path
    from hydra.types import RunMode
    from omegaconf import open_dict

    from configs import store

    store.register(name)
    loader = ConfigLoaderImpl(create_config_search_path(str(FOLDER)))  # `hydra.compose` keeps one for the process
    found = loader.load_configuration(config_name=name, overrides=list(words), run_mode=RunMode.RUN)
    with open_dict(found):
        del found["hydra"]
    return found


def run(
    name: str,
    job: Job,
    check: Check | None,
    settings: DictConfig,
    words: Sequence[str],
    *,
    compose: Compose | None = None,
    sweep: Path | None = None,
) -> Path:
    """Open the run folder that the composed settings ask for, do the job with what is stored there, return the folder.

    The job of a new run too gets what is read back from the folder, so that a resumed one cannot get anything else.

    Parameters
    ----------
    name : str
        The command.
    job, check : callable
        As of :func:`experiments.starting.launch.command`.
    settings : DictConfig
    words : sequence of str
        The overrides that they were composed with.
    compose : callable, optional
        Composes other overrides of the same command; left out, :func:`composed` without any folder of the user's.
    sweep : Path, optional
        Folder that a sweep made for this run.
    """
    if settings.resume and sweep is not None:
        raise UserError("resume goes on with one run; it cannot be combined with -m")
    if settings.resume:
        opened = _resume(name, settings, words, compose or functools.partial(composed, name))
    else:
        opened = _create(name, check, settings, words, sweep)
    with opened as folder:
        for change in folder.changed_versions:
            tell(f"warning: {change}; results may differ in their last digits")
        job(_finished(_merged(name, folder.config, settings)), folder)
    return folder.path


def _create(
    name: str, check: Check | None, settings: DictConfig, words: Sequence[str], sweep: Path | None
) -> RunFolder:
    from omegaconf import OmegaConf

    from configs.rules import files
    from experiments.runtime.run_folder import RunFolder, new_path
    from experiments.starting.plant_choice import own_program

    config = _finished(settings)
    _find_plant(config, typed=True)
    if check is not None:
        check(config)
    for key in _FOUND_OUT:
        part, _, setting = key.rpartition(".")
        owner = getattr(config, part, None) if part else config
        if hasattr(owner, setting):
            OmegaConf.update(settings, key, getattr(owner, setting))
    path = Path(config.output or sweep or new_path(name))
    stored = _stored(settings, type(config))
    if sweep is not None and (path / "config.json").is_file():
        return _gone_on(name, path, stored, config)
    return RunFolder.create(
        path,
        command=name,
        config=stored,
        overrides=_overrides(type(config), words),
        inputs=files(config),
        plant=own_program(config),
    )


def _gone_on(name: str, path: Path, stored: Mapping[str, Any], config: Any) -> RunFolder:
    """Open the run of a sweep again that was there before, or refuse another one."""
    from experiments.runtime.run_folder import RunFolder, read_record
    from experiments.starting.plant_choice import check_own_program

    check_own_program(config, read_record(path).get("plant"), str(path))
    folder = RunFolder.resume(path, command=name)
    if folder.config != stored:
        folder.close()
        raise UserError(f"{path} holds a run with other settings; a sweep goes on with those it began with")
    return folder


def _resume(name: str, settings: DictConfig, words: Sequence[str], compose: Compose) -> RunFolder:
    """Open a run again; refuse what would change its result."""
    from configs import store
    from experiments.runtime.run_folder import RunFolder, read_record
    from experiments.starting.plant_choice import check_own_program

    record = read_record(settings.resume)
    named, begun_with = settings.plant_file, record["config"].get("plant_file")
    moved = {begun_with: named} if named and isinstance(begun_with, str) else {}
    folder = RunFolder.resume(settings.resume, command=name, moved=moved | _kept_start(settings.resume, record))
    try:
        given = [word for word in _overrides(store.SCHEMAS[name], words) if not moved or key_of(word) != "plant_file"]
        _refuse_differences(settings.resume, folder, given, compose)
        config = _finished(_merged(name, folder.config, settings))
        _find_plant(config, run=settings.resume, named=named)
        check_own_program(config, record.get("plant"), settings.resume)
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


def configured(name: str, overrides: Sequence[str]) -> Any:
    """Return the checked settings of a command with these overrides, without running it.

    Raises
    ------
    UserError, ValueError
        For a setting that there is not (with the near miss), or a value outside its range.
    """
    from configs import store
    from experiments.starting.config_errors import readable_errors

    with readable_errors(name, store.SCHEMAS[name]):
        return _finished(composed(name, spelt_out(overrides)))


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
    from experiments.starting.plant_choice import find_plant

    find_plant(config, typed=typed, run=run, named=named)


# ------------------------------------------------------------------------------------------------------------- resuming


def _refuse_differences(place: str, folder: RunFolder, given: Sequence[str], compose: Compose) -> None:
    """Raise if the given overrides change a setting of the run, which was started with its own."""
    if not given:
        return
    both = {key_of(override): override for override in (*folder.overrides, *given)}  # what is given replaces the run's
    old, new = (_flattened(compose(overrides)) for overrides in (folder.overrides, [*both.values()]))
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


def _flattened(settings: DictConfig) -> dict[str, Any]:
    from omegaconf import OmegaConf

    return dict(_flat(OmegaConf.to_container(settings, resolve=True)))


def _flat(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield dotted keys and values of a nested mapping."""
    for key, item in value.items():
        if isinstance(item, dict) and item:
            yield from _flat(item, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", item


def key_of(override: str) -> str:
    """Return the setting that an override is of."""
    return override.partition("=")[0].lstrip("+~")


# ------------------------------------------------------------------------------------------------------- what is stored


def _overrides(schema: type, words: Sequence[str]) -> list[str]:
    """Return overrides without those of the session."""
    from configs import rules

    session = rules.session_keys(schema)
    return [override for override in words if key_of(override) not in session]


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
