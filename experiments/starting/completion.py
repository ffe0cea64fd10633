"""What the tab key completes after the name of a command: settings, parts and their values.

The shell asks by argcomplete: it runs ``sscq`` again with the line so far in its environment. So what answers must be
quick: names of plants and parts need no schema, and no plant is built.
"""

from __future__ import annotations

import typing
from importlib import import_module
from typing import TYPE_CHECKING

import argcomplete
from argcomplete.shell_integration import shellcode

import plants
from configs import choices
from configs.rules import settings
from experiments.runtime.errors import UserError
from plants.core.names import unknown

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from configs.rules import Setting

_SHELLS = ("bash", "zsh", "fish")


def script(shell: str) -> str:
    """Return what a shell has to execute once, so that it completes what is typed after ``sscq``.

    Raises
    ------
    UserError
        If the shell is not known.
    """
    if shell not in _SHELLS:
        raise UserError(f"{unknown('shell', shell, _SHELLS)}: `sscq completion bash` prints the script for bash")
    return str(shellcode(["sscq"], shell=shell))


def answer(parser: argparse.ArgumentParser) -> None:
    """Answer the shell, and end the process; return where no shell asks."""
    argcomplete.autocomplete(parser, always_complete_options=False)


def completions(command: str, prefix: str) -> list[str]:
    """Return how a setting that is begun may go on: to the next dot of its name, or with each of its known values."""
    key, equals, value = prefix.partition("=")
    if equals:
        return [f"{key}={word}" for word in _values(command, key, value)]
    names = [f"{name}=" for name in choices(command)] + [f"{leaf.key}=" for leaf in _leaves(command)]
    begun = [name for name in dict.fromkeys(names) if name.startswith(prefix)]
    return _to_the_next_dot(begun, prefix)


def _to_the_next_dot(names: Iterable[str], prefix: str) -> list[str]:
    """A part's settings stand for themselves once it is the only one left."""
    names = list(names)
    short = {name[: end + 1] if (end := name.find(".", len(prefix))) >= 0 else name for name in names}
    return sorted(short) if len(short) > 1 else sorted(names)


def _values(command: str, key: str, value: str) -> Iterable[str]:
    if key == "plant":
        return plant_names(value)
    if key in (parts := choices(command)):
        return parts[key]
    leaf = next((leaf for leaf in _leaves(command) if leaf.key == key), None)
    return _of_setting(leaf) if leaf is not None else ()


def _of_setting(leaf: Setting) -> Iterable[str]:
    hints = typing.get_args(leaf.type) or (leaf.type,)
    known = ("true", "false") if bool in hints else leaf.rule.choices if str in hints else ()
    return (*known, "null") if known and type(None) in hints else known


def plant_names(prefix: str) -> tuple[str, ...]:
    """Return the names of plants, and of a plant's tasks once it is named; none of a file, which would be executed."""
    base, colon, _task = prefix.partition(":")
    own = {name for several in plants.REGISTERED.values() for name in several}
    if colon and base in own:
        return tuple(f"{base}:{task}" for task in plants.tasks(base))
    return tuple(sorted(own.union(*(one.plants for one in plants.load_installed()))))


def _leaves(command: str) -> list[Setting]:
    store = import_module("configs.store")  # takes half a second: names of plants and parts are there without it
    return list(settings(store.SCHEMAS[command]))
