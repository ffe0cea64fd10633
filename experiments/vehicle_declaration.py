"""What the balancing vehicle's comparison declares before it is run: situations, generator, aim, designs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import configs
from experiments.comparison.declaration import check_designs
from experiments.comparison.declared import Declared
from experiments.declared_file import check_names, entries_of
from experiments.vehicle_drawn import MIXTURE, OTHERS, SLIPPERY, drawn

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sscq import Situation

DECLARED = Path(configs.__file__).parent / "balancing_vehicle_study.yaml"
_RANGES = (
    "speed", "turn", "pitch", "later", "changed_at", "friction", "slippery_at", "patch_x", "patch_length", "bump",
    "bump_x",
    "payload", "payload_x", "payload_y", "payload_z", "hard_speed", "hard_turn", "delay", "noise", "push",
)  # fmt: skip
_DRAWN = ("seed", "horizon", "step", "kinds", "ranges")


@dataclass(frozen=True)
class Declaration(Declared):
    """What the comparison is judged in and by.

    Attributes
    ----------
    situations : mapping of plant to str
        SHA-256 of what its situations say.
    drawn : mapping
        `seed`, `horizon` [s] and `step` [s] of the unforeseen situations, how many of which `kinds`, and the `ranges`
        that they are drawn from.
    aim : float
        Share by which there are to be fewer falls on slippery ground than with the best fixed gains.
    designs : mapping of name to {plant, seed}
    """

    situations: Mapping[str, str]
    drawn: Mapping[str, Any]
    aim: float
    designs: Mapping[str, Mapping[str, Any]]

    def lines(self) -> list[str]:
        """Return the declaration as Markdown lines."""
        return self.told([f"Declared on {self.declared} (configs/{DECLARED.name}, SHA-256 `{self.digest}`):"])

    def unforeseen(self) -> list[Situation]:
        """Return the declared situations."""
        given = self.drawn
        return drawn(given["kinds"], given["ranges"], given["horizon"], given["seed"])


def declaration(path: Path = DECLARED) -> Declaration:
    """Read the declaration, and see that the plants' situations are what it says.

    Raises
    ------
    UserError
        For an entry that is missing or unknown, or situations that are not the ones declared.
    """
    given, digest = entries_of(path, {f.name for f in fields(Declaration)} - {"digest"})
    check_names(given["drawn"], _DRAWN, f"{path.name}, drawn")
    check_names(given["drawn"]["ranges"], _RANGES, f"{path.name}, drawn, ranges")
    check_names(given["drawn"]["kinds"], (*SLIPPERY, *OTHERS, MIXTURE), f"{path.name}, drawn, kinds")
    check_designs(given, given["situations"], path.name)
    return Declaration(**given | {"history": tuple(given["history"]), "digest": digest})
