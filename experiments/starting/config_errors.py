"""What is wrong with a configuration, in one sentence with the near miss, instead of the library's several lines."""

from __future__ import annotations

import dataclasses
from contextlib import contextmanager
from typing import TYPE_CHECKING

from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf.errors import (
    ConfigAttributeError,
    ConfigKeyError,
    ConfigTypeError,
    OmegaConfBaseException,
    ValidationError,
)
from yaml.error import MarkedYAMLError

from configs.rules import settings, type_words
from configs.store import SCHEMAS
from experiments.runtime.errors import UserError
from plants.core.names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@contextmanager
def readable_errors(command: str, schema: type) -> Iterator[None]:
    """Turn Hydra's and OmegaConf's errors into a UserError that says what to do."""
    try:
        yield
    except (HydraException, OmegaConfBaseException) as error:
        raise UserError(_explanation(error, command, schema)) from error
    except MarkedYAMLError as error:
        place = f"{error.problem_mark.name}, line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise UserError(f"{place}this is no YAML: {error.problem}") from error


@contextmanager
def no_part_of_null(words: Sequence[str], schema: type) -> Iterator[None]:
    """Turn OmegaConf's assertion at an argument that sets a part of a setting that is null into a UserError."""
    try:
        yield
    except AssertionError as error:
        keys = (word.lstrip("+~").partition("=")[0] for word in words)
        meant = [(key, leaf) for key in keys for leaf in settings(schema) if key.startswith(f"{leaf.key}.")]
        if "Unexpected type for root" not in str(error) or not meant:
            raise
        key, leaf = meant[0]
        message = f"{leaf.key} is null, so {key!r} cannot be set: {leaf.key} must be {type_words(leaf.type)}"
        raise UserError(message) from error


def _explanation(error: Exception, command: str, schema: type) -> str:
    cause = error if isinstance(error, OmegaConfBaseException) else error.__cause__ or error.__context__
    if isinstance(error, OverrideParseException):
        return f"cannot read {error.override!r}; write setting=value (see `sscq {command} --help`)"
    if isinstance(error, MissingConfigException) and error.missing_cfg_file is not None:
        return _no_choice(error, command)
    if isinstance(cause, ConfigAttributeError | ConfigKeyError) and cause.full_key:
        return _no_setting(str(cause.full_key), cause.object_type, command, schema)
    if isinstance(cause, ValidationError | ConfigTypeError) and cause.full_key:
        return _wrong_type(str(cause.full_key), str(cause), schema)
    if str(error).startswith("Could not override '"):
        part = str(error).split("'")[1]
        return f"`sscq {command}` has no part {part!r} to be exchanged (see `sscq {command} --help`)"
    return _first_lines(cause or error)


def _no_choice(error: MissingConfigException, command: str) -> str:
    part, _, choice = str(error.missing_cfg_file).rpartition("/")
    options = list(error.options or ())
    if not part:
        return f"no configuration {choice!r}"
    known = f"known: {', '.join(options)}" if options else f"see `sscq {command} --help`"
    return f"no {part} called {choice!r}{did_you_mean(choice, options)} ({known})"


def _no_setting(key: str, owner: object, command: str, schema: type) -> str:
    """Name the nearest setting: among those of the part that was meant, else anywhere."""
    part, _, name = key.rpartition(".")
    if any(leaf.key == part for leaf in settings(schema)):  # such as initial, null or a whole
        return f"no setting {key!r}; write {part} as a whole: '{part}={{{name}: value}}'"
    prefix = f"{part}." if part else ""
    fields = [field.name for field in dataclasses.fields(owner)] if dataclasses.is_dataclass(owner) else []
    elsewhere = [f"`sscq {other}`" for other, one in SCHEMAS.items() if any(leaf.key == key for leaf in settings(one))]
    if elsewhere:
        return f"no setting {key!r} of `sscq {command}`: it is one of {' and '.join(elsewhere)}"
    near = did_you_mean(key, [f"{prefix}{field}" for field in fields]) or _near_anywhere(name, schema)
    return f"no setting {key!r}{near} (see `sscq {command} --help`)"


def _near_anywhere(name: str, schema: type) -> str:
    keys = {leaf.key.rpartition(".")[2]: leaf.key for leaf in settings(schema)}
    near = did_you_mean(name, keys)
    return near.replace(near.split("'")[1], keys[near.split("'")[1]]) if near else ""


def _wrong_type(key: str, message: str, schema: type) -> str:
    leaf = next((leaf for leaf in settings(schema) if leaf.key == key), None)
    if "is not a subclass" in message:
        return f"there is no part {key!r} to change; write it as a whole: PART={{{key}: {{setting: value, ...}}}}"
    if leaf is None:
        return f"{key}: {message.splitlines()[0]}"
    unit = f" [{leaf.rule.unit}]" if leaf.rule.unit else ""
    expected = f"{key} must be {type_words(leaf.type)}{unit}"
    if message.startswith("Value '"):
        got = message.split("'")[1]
        return f"{expected}, got {got!r}"
    return f"{expected}, got another form" if "merge" in message else f"{expected} ({message.splitlines()[0]})"


def _first_lines(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines()]
    return "; ".join(line for line in lines[:2] if line) or type(error).__name__
