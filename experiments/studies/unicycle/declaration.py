"""What the unicycle's comparison declares before it is run: situations by a hash, generator, region, aim, designs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import configs
from experiments.studies.engine.declaration import Declared, check_designs, check_names, entries_of
from experiments.studies.unicycle.pushes import Grid

if TYPE_CHECKING:
    from collections.abc import Mapping

DECLARED = Path(configs.__file__).parent / "unicycle_study.yaml"
_RANGES = ("speed", "roll", "pitch", "phase", "size", "direction", "height", "at", "lasting", "slope", "rider", "yaw",
           "joints", "noise", "delay")  # fmt: skip
_REGION = ("rides", "seed", "speed", "phase", "height", "grip", "grid")


@dataclass(frozen=True)
class Declaration(Declared):
    """What the comparison is judged in and by.

    Attributes
    ----------
    situations : str
        SHA-256 of what the plant's situations say.
    drawn : mapping
        `number` and `seed` of the unforeseen situations, and the `ranges` that they are drawn from.
    region : mapping
        Number of `rides`, their `seed` and ranges of `speed`, `phase`, `height`; the `grid`; the tyre's `grip` [N].
    aim : float
        Share by which the region of survived pushes is to be larger than with the best fixed gains.
    designs : mapping of name to {plant, seed}
    file : str
        Name of the declaring file.
    """

    situations: str
    drawn: Mapping[str, Any]
    region: Mapping[str, Any]
    aim: float
    designs: Mapping[str, Mapping[str, Any]]
    file: str = DECLARED.name

    @property
    def grid(self) -> Grid:
        """Where and how finely the region is measured."""
        return Grid(**self.region["grid"])

    def lines(self) -> list[str]:
        """Return the declaration as Markdown lines."""
        return self.told([f"Declared on {self.declared} (configs/{self.file}, SHA-256 `{self.digest}`):"])


def declaration(path: Path = DECLARED) -> Declaration:
    """Read the declaration, and see that the plant's situations are what it says.

    Raises
    ------
    UserError
        For an entry that is missing or unknown, or situations that are not the ones declared.
    """
    given, digest = entries_of(path, {f.name for f in fields(Declaration)} - {"digest", "file"})
    check_names(given["drawn"], ("number", "seed", "ranges"), f"{path.name}, drawn")
    check_names(given["drawn"]["ranges"], _RANGES, f"{path.name}, drawn, ranges")
    check_names(given["region"], _REGION, f"{path.name}, region")
    check_names(given["region"]["grid"], [f.name for f in fields(Grid)], f"{path.name}, region, grid")
    several = {one.get("plant"): given["situations"] for one in given["designs"].values()}
    check_designs(given, several, path.name)
    return Declaration(**given | {"history": tuple(given["history"]), "digest": digest, "file": path.name})
