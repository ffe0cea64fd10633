"""Packages that an adapter needs and the project does not."""

from __future__ import annotations

import importlib
from typing import Any


def package(name: str, extra: str = "adapters") -> Any:
    """Return the module `name`, or raise ModuleNotFoundError that says how to install it."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0]:
            raise
        message = f"this adapter needs the package {error.name!r}; install it with: pip install 'sscq[{extra}]'"
        raise ModuleNotFoundError(message, name=error.name) from error
