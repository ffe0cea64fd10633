"""What the balancing vehicle's comparison declares before it is run: situations, generator, aim, designs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import configs
from experiments.comparison.declaration import said
from experiments.comparison.declared import Declared
from experiments.declared_file import check_names, entries_of
from experiments.errors import UserError
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
    import plants

    given, digest = entries_of(path, {f.name for f in fields(Declaration)} - {"digest"})
    check_names(given["drawn"], _DRAWN, f"{path.name}, drawn")
    check_names(given["drawn"]["ranges"], _RANGES, f"{path.name}, drawn, ranges")
    check_names(given["drawn"]["kinds"], (*SLIPPERY, *OTHERS, MIXTURE), f"{path.name}, drawn, kinds")
    for name, design in given["designs"].items():
        check_names(design, ("plant", "seed"), f"{path.name}, designs, {name}")
    check_names(given["situations"], {one["plant"] for one in given["designs"].values()}, f"{path.name}, situations")
    for plant, declared in given["situations"].items():
        found = said(plants.get(plant))
        if found != declared:
            raise UserError(
                f"the situations of plant {plant!r} are not those declared on {given['declared']} (SHA-256 {found}, "
                f"declared {declared}); put them back, or declare them anew in {path.name}"
            )
    return Declaration(**given | {"history": tuple(given["history"]), "digest": digest})
