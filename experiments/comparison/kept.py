"""What a page needs beside the designs: computed once, kept in a file, computed anew for other inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments import formats
from experiments.stages import digest_of, digest_of_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def kept(path: Path, inputs: Any, compute: Callable[[], Any]) -> Any:
    """Return what a file keeps if it was computed from the same inputs; else compute it and write the file.

    Parameters
    ----------
    path : Path
    inputs : numbers, strings, lists and mappings
        What the result depends on; the file carries their hash.
    compute : callable
        Returns the same kinds of values.
    """
    digest = digest_of(inputs)
    stored = formats.read_json(path) if path.is_file() else {}
    if stored.get("inputs") != digest:
        formats.write_json(path, {"inputs": digest, "found": compute()})
        stored = formats.read_json(path)
    return stored["found"]


def of_design(run: Path) -> list[str]:
    """Return what a finished design is known by: hashes of its settings, its numbers and its knowledge base."""
    return [digest_of_file(run / name) for name in ("config.json", "metrics.json", "knowledge_base.json")]
