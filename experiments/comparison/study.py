"""A comparison's command line: designs by name, words for `sscq design`, the folder of the runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from experiments.errors import UserError
from experiments.series import design_in
from plants.core.naming import unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from experiments.comparison.declaration import Declaration

_TAKEN = ("seed", "plant", "experiment", "output", "resume", "quiet")  # of a design; the study sets them


class Designs(Protocol):
    """What declares designs."""

    @property
    def designs(self) -> Mapping[str, Mapping[str, Any]]:
        """Plant and seed of each, by name."""


@dataclass(frozen=True)
class Options:
    """What is run: designs, the folder of the runs, and words for `sscq design`."""

    designs: tuple[str, ...]
    folder: Path
    overrides: tuple[str, ...]


def options(words: Sequence[str], declared: Designs, folder: str) -> Options:
    """Read the command's words; all designs and the given folder by default.

    Raises
    ------
    UserError
        For an unknown design, or a setting that the study sets itself.
    """
    designs = tuple(word for word in words if "=" not in word)
    for name in designs:
        if name not in declared.designs:
            raise UserError(unknown("design", name, tuple(declared.designs)))
    given = dict(word.split("=", 1) for word in words if "=" in word)
    for key in given:
        if key in _TAKEN or key.partition(".")[0] == "situations":
            raise UserError(f"{key} is the study's own affair: name designs, or say folder=")
    place = given.pop("folder", folder)
    return Options(
        designs or tuple(declared.designs), Path(place), tuple(f"{key}={value}" for key, value in given.items())
    )


def run(name: str, chosen: Options, declared: Designs, experiment: str) -> Path:
    """Run one design of an experiment, or go on with it; return its folder."""
    folder, design = chosen.folder / name, declared.designs[name]
    own = (f"experiment={experiment}", f"plant={design['plant']}", f"seed={design['seed']}")
    design_in(folder, own, chosen.overrides)
    return folder


def by_plant(folders: dict[str, Path], declared: Declaration) -> dict[str, list[Path]]:
    """Return the designs of each plant, which are pooled."""
    found: dict[str, list[Path]] = {}
    for name, folder in folders.items():
        found.setdefault(declared.designs[name]["plant"], []).append(folder)
    return found
