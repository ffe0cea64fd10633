"""Generated sources and their machine code on disk, under the hash of the text and of what compiles it.

The text of a kernel is complete (it imports nothing of the project), so equal keys mean equal physics. Beside it
lies its machine code for each kind of processor that ran it (:mod:`plants.core.kernel.machine_code`). Files are
written under a temporary name and renamed; an existing source is never rewritten. Machine code is executed: what is
taken of it, and what not, is in docs/reference/cache.md.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import shutil
import types
import warnings
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plants.core.kernel import machine_code, numba_code, private_folder
from plants.core.tracing import calls

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

_functions: dict[str, Callable[..., None]] = {}
_loaded: dict[str, ModuleType] = {}
COMPILERS = ("", "numba")
KEPT = 64
"""Compiled kernels that a process keeps, those used last; others are loaded from disk when they are needed again."""
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
    first = source(path).partition("\n")[0]
    return first.removeprefix('"""') if first.startswith('"""') else ""


def source(path: Path) -> str:
    """Return the text of a generated source; empty where it is no file of this user."""
    return (private_folder.read(path) or b"").decode(errors="replace")


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
    kept = (
        path
        for kind in ("kernel_*.o", "function_*.ll", "mechanism_*.json", "executed_*", "key")
        for path in folder().glob(kind)
    )
    for path in (*found, *kept):
        path.unlink(missing_ok=True)
    shutil.rmtree(folder() / "__pycache__", ignore_errors=True)  # left by versions that kept Numba's own files
    return len(found)


@dataclass
class KeptKernel:
    """What is on disk of one compiled simulation.

    Attributes
    ----------
    files : list of Path
    source, code : int
        Size of its source and of its machine code for all processors [bytes].
    used : int
        When it was made or loaded last [ns since the epoch].
    """

    files: list[Path] = field(default_factory=list)
    source: int = 0
    code: int = 0
    used: int = 0


def kept() -> dict[str, KeptKernel]:
    """Return what is on disk of each compiled simulation, by its key, the one used last at the end."""
    found: defaultdict[str, KeptKernel] = defaultdict(KeptKernel)
    for path in sorted((*folder().glob("kernel_*.py"), *folder().glob("kernel_*.o"))):
        with suppress(FileNotFoundError):  # another process may delete, too
            state, entry = path.lstat(), found[path.name.partition(".")[0]]
            entry.files.append(path)
            entry.source += state.st_size * (path.suffix == ".py")
            entry.code += state.st_size * (path.suffix == ".o")
            entry.used = max(entry.used, state.st_mtime_ns)
    return dict(sorted(found.items(), key=lambda item: item[1].used))


def release(limit: float) -> int:
    """Delete the compiled simulations used longest ago until what is kept fits the limit; return how many went.

    Processes that run one of them go on: they have loaded it. One that needs it later makes it again.

    Parameters
    ----------
    limit : float
        Size of sources and machine code together [bytes].

    Raises
    ------
    OSError
        If a file cannot be deleted.
    """
    entries = kept()
    size, gone = sum(entry.source + entry.code for entry in entries.values()), 0
    for entry in entries.values():
        if size <= limit:
            break
        for path in entry.files:
            path.unlink(missing_ok=True)
        size, gone = size - entry.source - entry.code, gone + 1
    return gone


def key(text: str) -> str:
    """Return the name of a generated source: it changes with the text and with what compiles it."""
    return _key(_versions(), text)


@lru_cache(maxsize=4 * KEPT)
def _key(versions: str, text: str) -> str:
    """The name; kept, because small kernels are called some hundred thousand times in a design."""
    return f"kernel_{_digest(chr(10).join([versions, text, *_called(text)]))[:24]}"


def _called(text: str) -> list[str]:
    """What was compiled of the functions that a text calls: other code under the same name is another kernel."""
    return [function.code for function in calls.called(text).values()]


@cache
def _versions() -> str:
    """What compiles: LLVM's version and our own compiler's text, without importing either."""
    here = Path(__file__).parent
    own = [*sorted((here.parent / "compiler").glob("*.py")), here / "machine_code.py"]
    return "\n".join(
        [importlib.metadata.version("llvmlite"), *(_digest(path.read_text(encoding="utf-8")) for path in own)]
    )


def function(text: str, arguments: Sequence[str]) -> Callable[..., None]:
    """Return the `rollout` of a generated source, compiled for arguments of these types, or as an object file has it.

    With ``SSCQ_INTERPRET=1`` in the environment it is the Python function itself, for a debugger; with
    ``SSCQ_COMPILER=numba`` Numba compiles it, as a second opinion.
    """
    name = key(text)
    compiler = os.environ.get("SSCQ_COMPILER", "")
    if compiler not in COMPILERS:
        raise ValueError(f"SSCQ_COMPILER names no compiler: {compiler!r} (known: numba; empty: the project's own)")
    if os.environ.get("SSCQ_INTERPRET", "0") != "0":
        return load(text).rollout
    name = f"{compiler}{name}"
    found = _functions.pop(name, None)
    if found is None and compiler:
        found = numba_code.NumbaCode(text, arguments)
    elif found is None:
        # What needs numba in the process that runs it is compiled by every process.
        path = _stored(name, text) if not any(one.resident for one in calls.called(text).values()) else None
        found = machine_code.MachineCode(_object(path, text, arguments), arguments)
    _functions[name] = found  # last: used last
    while len(_functions) > KEPT:
        _functions.pop(next(iter(_functions)), None)
    return found


def prepared(text: str, arguments: Sequence[str], values: Sequence[Any]) -> Callable[..., None]:
    """Return a `function` with some of its arguments; None stands for what is given to each call, in this order."""
    found = function(text, arguments)
    if isinstance(found, machine_code.MachineCode):
        return found.prepared(*values)

    def call(*later: Any) -> None:
        given = iter(later)
        found(*(next(given) if value is None else value for value in values))

    return call


def _object(source: Path | None, text: str, arguments: Sequence[str]) -> bytes:
    """Return machine code for this processor, from beside the source or newly compiled."""
    if source is None:
        return machine_code.compiled(text, arguments)
    processor = machine_code.processor()
    path = source.with_suffix(f".{_digest(processor)[:8]}.o")
    label = json.dumps([path.name, _digest(text), list(arguments), processor, _versions().split("\n"), *_called(text)])
    code = sealed(path, label)
    if code is None:
        code = machine_code.compiled(text, arguments)
        seal(path, label, code)
    else:
        with suppress(OSError):  # it may have been deleted since
            os.utime(path, follow_symlinks=False)
    return code


def sealed(path: Path, label: str) -> bytes | None:
    """Return the content of a file that :func:`seal` wrote into the cache folder under this label, None if none is."""
    try:
        return private_folder.read_sealed(path, label)
    except OSError as error:
        _warn_once(error.strerror)
        return None


def seal(path: Path, label: str, content: bytes) -> bool:
    """Write a file into the cache folder, sealed; return whether that could be done, as :func:`keep`."""
    try:
        private_folder.write_sealed(path, label, content)
    except OSError as error:
        _warn_once(error.strerror)
        return False
    return True


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def load(text: str) -> ModuleType:
    """Return a generated source as a module of this process; its file on disk is for readers and is never run."""
    name = key(text)
    if name not in _loaded:
        _loaded[name] = _module(name, text, _stored(name, text))
    return _loaded[name]


def _module(name: str, text: str, place: Path | None = None) -> ModuleType:
    module = types.ModuleType(f"sscq_cache.{name}")
    module.__dict__.update(calls.interpreted(text))
    exec(compile(text, str(place or f"<{name}>"), "exec"), module.__dict__)  # noqa: S102  (our own text)
    return module


def _stored(name: str, text: str) -> Path | None:
    """Keep the source; return its place, or None if it cannot be written."""
    path = folder() / f"{name}.py"
    return path if private_folder.read(path) == text.encode() or keep(path, text) else None


def keep(path: Path, content: str | bytes) -> bool:
    """Write a file into the cache folder; return whether that could be done (where not, one warning says so)."""
    try:
        private_folder.write(path, content)
    except OSError as error:
        _warn_once(error.strerror)
        return False
    return True


def _warn_once(reason: object) -> None:
    if folder() not in _unwritable:
        _unwritable.add(folder())
        message = (
            f"the kernel cache {folder()} cannot be used ({reason}); compiling in memory. "
            "Set SSCQ_CACHE to a folder of your own to keep compiled kernels"
        )
        warnings.warn(message, stacklevel=5)
