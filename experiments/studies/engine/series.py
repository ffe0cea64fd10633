"""What is done once: designs in series, each in a folder of its own, and values that a page needs beside them.

A design that was stopped is gone on with. A value stays in a file with the hash of what it was computed from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.runtime.run_folder import read_record
from experiments.runtime.stages import digest_of, digest_of_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


def design_in(folder: Path, own: Sequence[str], others: Sequence[str]) -> None:
    """Run a design in a folder, or go on with it; a finished one is left as it is.

    Parameters
    ----------
    folder : Path
    own : sequence of str
        Words that the series itself says of this design, such as "plant=fopdt" and "seed=1".
    others : sequence of str
        Words that all designs of the series share.

    Raises
    ------
    UserError
        If the folder holds a design that was made with other words: a page of the series would be headed by the wrong
        ones.
    """
    from experiments.design import main as design

    begun = (folder / "config.json").is_file()
    if begun:
        _require_same(folder, own, others)
    if (folder / "metrics.json").is_file():
        return
    print(f"{folder.name} ...", flush=True)
    words = [f"resume={folder}"] if begun else [*own, *others, f"output={folder}"]
    design([*words, "quiet=true"])


def _require_same(folder: Path, own: Sequence[str], others: Sequence[str]) -> None:
    keys = {word.partition("=")[0] for word in own} | {"output", "resume", "quiet"}
    made = [word for word in read_record(folder)["overrides"] if word.partition("=")[0] not in keys]
    if sorted(made) != sorted(others):
        raise UserError(
            f"{folder} was made with {' '.join(made) or 'no settings'}; choose another folder=, or those words"
        )


def cached(path: Path, inputs: Any, compute: Callable[[], Any]) -> Any:
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
