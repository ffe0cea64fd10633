"""Files that declare what a study is judged by before it is run: read, their entries checked, known by their hash."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from experiments.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def entries_of(path: Path, names: Iterable[str]) -> tuple[dict[str, Any], str]:
    """Return the entries of a declaring file, which are exactly these, and the SHA-256 of its bytes.

    Raises
    ------
    UserError
        For an entry that is missing or unknown.
    """
    given = plain(path)
    check_names(given, names, path.name)
    return given, hashlib.sha256(path.read_bytes()).hexdigest()


def check_names(given: object, names: Iterable[str], where: str) -> None:
    """Raise UserError unless `given` is a mapping with exactly these names."""
    known = set(names)
    found = set(given) if isinstance(given, dict) else set()
    if found != known:
        wrong = ", ".join(sorted(map(str, found ^ known)))
        raise UserError(f"{where}: expected {', '.join(sorted(known))}; missing or unknown: {wrong}")


def plain(path: Path) -> Any:
    """Read a file as the settings are read: 1e-4 is a number there, which other readers of YAML take for a word."""
    from omegaconf import OmegaConf

    return OmegaConf.to_container(OmegaConf.load(path))
