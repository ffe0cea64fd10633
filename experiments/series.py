"""Designs in series: each in a folder of its own, run once, gone on with where it was stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.errors import UserError
from experiments.run_folder import read_record

if TYPE_CHECKING:
    from collections.abc import Sequence
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
