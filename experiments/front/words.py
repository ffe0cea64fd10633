"""Settings given as Python values, as the words that Hydra composes: ``{"draws.taught": 4}`` is ``draws.taught=4``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = {"true", "false", "null", "inf", "nan"}


def words_of(settings: Mapping[str, Any]) -> list[str]:
    """Return settings as overrides, in their order.

    Raises
    ------
    TypeError
        For a value that no setting takes.
    """
    return [f"{key}={spelt(value, key)}" for key, value in settings.items()]


def check_settings(settings: Mapping[str, Any], of: str, arguments: Mapping[str, str]) -> None:
    """Raise TypeError for settings that have arguments of their own, or that the command alone has.

    Parameters
    ----------
    settings : mapping
    of : str
        Name of the function.
    arguments : mapping of setting to argument
        Empty where there is none.
    """
    for key in settings:
        if argument := arguments.get(key):
            raise TypeError(f"settings: {key!r} is an argument of {of} itself; give it as {argument}=...")
        if key in arguments:
            raise TypeError(f"settings: {key!r} is of the command alone; leave it out")


def spelt(value: Any, key: str = "a setting") -> str:
    """Return a value as Hydra reads it: what it says is what was given, strings too."""
    if value is None:
        return "null"
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return _number(float(value))
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{_name(str(name), key)}:{spelt(item, key)}" for name, item in value.items()) + "}"
    if isinstance(value, Sequence | np.ndarray):
        return "[" + ",".join(spelt(item, key) for item in value) + "]"
    raise TypeError(
        f"{key} must be a number, a text, None, or a list or mapping of these, got {type(value).__name__}: {value!r}"
    )


def _number(value: float) -> str:
    return repr(value) if math.isfinite(value) else "nan" if math.isnan(value) else "inf" if value > 0.0 else "-inf"


def _name(name: str, key: str) -> str:
    """A key of a mapping: Hydra knows no quotes there."""
    if "'" in name or '"' in name:
        raise TypeError(f"{key} names {name!r}, and Hydra reads no quotes in the keys of a mapping; rename it")
    return re.sub(r"([\\()\[\]{}:=, \t])", r"\\\1", name)


def _text(value: str) -> str:
    """A word as it stands; anything else in quotes."""
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return "'" + re.sub(r"(\\*)'", r"\1\1\\'", value) + "'"
