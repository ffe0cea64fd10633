"""What a comparison declares before it is run: situations of its plants known by hashes, the aim, the designs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from experiments.comparison.aim import Aim
from experiments.comparison.declared import Declared
from experiments.comparison.judged import FITNESS
from experiments.declared_file import check_names, entries_of
from experiments.errors import UserError
from experiments.judging.group import LADDER, RIVAL
from experiments.judging.rollout_tables import rows_of
from experiments.stages import digest_of
from plants.core.naming import unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from plants import Plant


WORDS = "words"
"""Entry of a design: settings of its own for `sscq design`, as on the command line; may be left out."""


@dataclass(frozen=True)
class Declaration(Declared):
    """What a comparison is judged in and by.

    Attributes
    ----------
    file : str
        Name of the declaring file.
    situations : mapping of plant to str
        SHA-256 of what its situations say.
    aim : Aim
    designs : mapping of name to {plant, seed}
    """

    file: str
    situations: Mapping[str, str]
    aim: Aim
    designs: Mapping[str, Mapping[str, Any]]

    def lines(self) -> list[str]:
        """Return the declaration as Markdown lines."""
        return self.told([f"Declared on {self.declared} (configs/{self.file}, SHA-256 `{self.digest}`):"])


def said(plant: Plant) -> str:
    """Return the SHA-256 of a plant's situations."""
    import sscq

    return digest_of({
        kind: [repr(sscq.Situation(**one)) for one in several] for kind, several in plant.situations.items()
    })  # fmt: skip


def check_designs(given: Mapping[str, Any], situations: Mapping[str, str], file: str) -> None:
    """See that designs name a plant, a seed, perhaps words, and that their plants' situations are the ones declared.

    Parameters
    ----------
    given : mapping
        Entries of the file: "declared" and "designs" among them.
    situations : mapping of plant to str
        SHA-256 of each plant's situations.
    file : str
        For messages.

    Raises
    ------
    UserError
        For an entry that is missing or unknown, or situations that are not the ones declared.
    """
    import plants

    for name, design in given["designs"].items():
        own = (WORDS,) if isinstance(design, dict) and WORDS in design else ()
        check_names(design, ("plant", "seed", *own), f"{file}, designs, {name}")
    check_names(situations, {one["plant"] for one in given["designs"].values()}, f"{file}, situations")
    for plant, declared in situations.items():
        found = said(plants.get(plant))
        if found != declared:
            raise UserError(
                f"the situations of plant {plant!r} are not those declared on {given['declared']} (SHA-256 {found}, "
                f"declared {declared}); put them back, or declare them anew in {file}"
            )


def read(path: Path) -> Declaration:
    """Read a declaration, and see that the plants' situations are what it says.

    Raises
    ------
    UserError
        For an entry that is missing or unknown, an aim of what the plants do not have, or situations that are not the
        ones declared.
    """
    import plants

    given, digest = entries_of(path, {f.name for f in fields(Declaration)} - {"digest", "file"})
    check_names(given["aim"], Aim.names(), f"{path.name}, aim")
    check_designs(given, given["situations"], path.name)
    given |= {"history": tuple(given["history"]), "aim": Aim.of(given["aim"])}
    _check_aim(given["aim"], [plants.get(plant) for plant in given["situations"]], path.name)
    return Declaration(**given, digest=digest, file=path.name)


def _check_aim(aim: Aim, several: Sequence[Plant], file: str) -> None:
    """Raise where the aim is about what there will not be: after the designs would be too late."""
    for plant in several:
        measures, laws = (*rows_of(plant), FITNESS), (*(RIVAL + rival.name for rival in plant.rivals), *LADDER)
        for what, names, known in (("measure", aim.measures, measures), ("controller", aim.best_of, laws)):
            for name in names:
                if name not in known:
                    raise UserError(f"{file}, aim, plant {plant.name!r}: {unknown(what, name, known)}")
