"""What the car's comparison declares before it is run: situations known by a hash, the aim, the designs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import configs
from experiments.declared_file import check_names, entries_of
from experiments.errors import UserError
from experiments.stages import digest_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from plants import Plant

DECLARED = Path(configs.__file__).parent / "suspension_study.yaml"


@dataclass(frozen=True)
class Declaration:
    """What the comparison is judged in and by.

    Attributes
    ----------
    declared, rule : str
        Date; how situations and fitness were chosen.
    history : tuple of str
        What happened before.
    situations : str
        SHA-256 of what the plant's situations say.
    aim : mapping
        `share` by which the weighted acceleration is to be lower than that of the best of the controllers `best_of`.
    designs : mapping of name to {plant, seed}
    digest : str
        SHA-256 of the declaring file.
    """

    declared: str
    rule: str
    history: tuple[str, ...]
    situations: str
    aim: Mapping[str, Any]
    designs: Mapping[str, Mapping[str, Any]]
    digest: str

    def lines(self) -> list[str]:
        """Return the declaration as Markdown lines."""
        return [
            f"Declared on {self.declared} (configs/{DECLARED.name}, SHA-256 `{self.digest}`):",
            "",
            f"> {self.rule}",
            "",
            *(f"- {entry}" for entry in self.history),
            "",
        ]


def said(plant: Plant) -> str:
    """Return the SHA-256 of a plant's situations."""
    import sscq

    return digest_of({
        kind: [repr(sscq.Situation(**one)) for one in several] for kind, several in plant.situations.items()
    })  # fmt: skip


def declaration(path: Path = DECLARED) -> Declaration:
    """Read the declaration, and see that the plants' situations are what it says.

    Raises
    ------
    UserError
        For an entry that is missing or unknown, or situations that are not the ones declared.
    """
    import plants

    given, digest = entries_of(path, {f.name for f in fields(Declaration)} - {"digest"})
    check_names(given["aim"], ("share", "best_of"), f"{path.name}, aim")
    for name, design in given["designs"].items():
        check_names(design, ("plant", "seed"), f"{path.name}, designs, {name}")
        found = said(plants.get(design["plant"]))
        if found != given["situations"]:
            raise UserError(
                f"the situations of plant {design['plant']!r} are not those declared on {given['declared']} (SHA-256 "
                f"{found}, declared {given['situations']}); put them back, or declare them anew in {path.name}"
            )
    return Declaration(**given | {"history": tuple(given["history"]), "digest": digest})
