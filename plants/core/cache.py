"""Generated sources on disk, under the hash of their text and of the versions that compile them.

The text of a kernel is complete (it imports nothing of the project), so equal keys mean equal physics. A file is
written under a temporary name and renamed; an existing one is never rewritten, because Numba's own index goes by the
file's time stamp.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import shutil
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from plants.core import atomic

if TYPE_CHECKING:
    from types import ModuleType

_loaded: dict[str, ModuleType] = {}
_unwritable: set[Path] = set()


def folder() -> Path:
    """Return the cache folder: ``SSCQ_CACHE``, else ``sscq`` in the user's cache folder."""
    if os.environ.get("SSCQ_CACHE"):
        return Path(os.environ["SSCQ_CACHE"]).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "sscq"


def entries() -> list[Path]:
    """Return the generated sources on disk, by name."""
    return sorted(folder().glob("kernel_*.py")) if folder().is_dir() else []


def title(path: Path) -> str:
    """Return what a generated source says it is: the first line of its docstring; empty if it has none."""
    with path.open(encoding="utf-8") as file:
        first = file.readline().rstrip("\n")
    return first.removeprefix('"""') if first.startswith('"""') else ""


def find(name: str) -> Path:
    """Return the generated source whose file name begins so, with or without ``kernel_``.

    Raises
    ------
    ValueError
        If there is none, or more than one.
    """
    start = "kernel_" + name.removeprefix("kernel_").removesuffix(".py")
    found = [path for path in entries() if path.stem.startswith(start)]
    if len(found) == 1:
        return found[0]
    if found:
        message = f"{len(found)} generated sources begin with {name!r}; give more of the name: {found[0].stem}, ..."
    else:
        message = f"no generated source {name!r} in {folder()}; `sscq cache --list` names them"
    raise ValueError(message)


def clear() -> int:
    """Delete all generated sources and what was compiled from them; return how many there were."""
    found = entries()
    for path in found:
        path.unlink(missing_ok=True)
    shutil.rmtree(folder() / "__pycache__", ignore_errors=True)
    return len(found)


def key(text: str) -> str:
    """Return the name of a generated source: it changes with the text and with every version that compiles it."""
    import llvmlite
    import numba
    import numpy as np

    versions = (platform.python_version(), np.__version__, numba.__version__, llvmlite.__version__)
    digest = hashlib.sha256("\n".join((*versions, text)).encode()).hexdigest()
    return f"kernel_{digest[:24]}"


def load(text: str) -> ModuleType:
    """Return the module of a generated source, from this process, from disk, or newly written."""
    name = key(text)
    if name not in _loaded:
        path = _stored(name, text)
        _loaded[name] = (_import(name, path) if path else None) or _in_memory(name, text)
    return _loaded[name]


def _warn_once(reason: object) -> None:
    if folder() not in _unwritable:
        _unwritable.add(folder())
        message = (
            f"the kernel cache {folder()} cannot be written ({reason}); compiling in memory. "
            "Set SSCQ_CACHE to a writable folder to keep compiled kernels"
        )
        warnings.warn(message, stacklevel=4)


def _stored(name: str, text: str) -> Path | None:
    path = folder() / f"{name}.py"
    if path.is_file():
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(path, text)
    except OSError as error:
        _warn_once(error.strerror)
        return None
    return path


def _import(name: str, path: Path) -> ModuleType | None:
    spec = importlib.util.spec_from_file_location(f"sscq_cache.{name}", path)
    if spec is None or spec.loader is None:
        message = f"the generated source {path} cannot be imported"
        raise ImportError(message)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # Numba looks the functions' module up by name
    try:
        spec.loader.exec_module(module)
    except RuntimeError as error:  # the source is there, but Numba finds no folder that it may write
        _warn_once(error)
        return None
    return module


def _in_memory(name: str, text: str) -> ModuleType:
    import types

    module = types.ModuleType(f"sscq_cache.{name}")
    exec(compile(text.replace("cache=True, ", ""), f"<{name}>", "exec"), module.__dict__)  # noqa: S102  (our own text)
    return module
