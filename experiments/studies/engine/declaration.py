"""What a study declares before it is run: a file known by its hash, situations of plants, designs, the study's own.

A declaring file has exactly the entries that are asked for; the SHA-256 of its bytes is printed on every page that
was judged by it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.pipeline.judged_rollouts import LADDER, RIVAL, rows_of
from experiments.runtime.errors import UserError
from experiments.runtime.stages import digest_of
from experiments.studies.engine.comparison import FITNESS
from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from experiments.studies.engine.changes import Aim
    from plants import Plant

FOLDER = Path(__file__).parents[1] / "declarations"
"""Declaring files."""


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


WORDS = "words"
"""Entry of a design: settings of its own for `sscq design`, as on the command line; may be left out."""


@dataclass(frozen=True)
class Declaration:
    """What a study is judged in and by.

    Attributes
    ----------
    file, digest : str
        Name of the declaring file, and the SHA-256 of its bytes.
    declared : str
        Date.
    rule : str
        How what is declared was chosen.
    history : tuple of str
        What happened before.
    situations : mapping of plant to str
        SHA-256 of what its situations say.
    designs : mapping of name to {plant, seed}
        They may have `WORDS` of their own.
    own : mapping
        The study's own entries.
    """

    file: str
    digest: str
    declared: str
    rule: str
    history: tuple[str, ...]
    situations: Mapping[str, str]
    designs: Mapping[str, Mapping[str, Any]]
    own: Mapping[str, Any]

    def lines(self) -> list[str]:
        """Return the rule and the history as Markdown lines."""
        return lines_of(self.rule, self.history)


def lines_of(rule: str, history: Iterable[str]) -> list[str]:
    """Return a rule, and what happened before, as Markdown lines."""
    return [f"> {rule}", "", *(f"- {entry}" for entry in history)]


def digest_of_situations(plant: Plant) -> str:
    """Return the SHA-256 of a plant's situations."""
    import sscq

    return digest_of({
        kind: [repr(sscq.Situation(**one)) for one in several] for kind, several in plant.situations.items()
    })  # fmt: skip


def _check_designs(given: Mapping[str, Any], situations: Mapping[str, str], file: str) -> None:
    """See that designs name a plant, a seed, perhaps words, and that their plants' situations are the ones declared."""
    import plants

    for name, design in given["designs"].items():
        own = (WORDS,) if isinstance(design, dict) and WORDS in design else ()
        check_names(design, ("plant", "seed", *own), f"{file}, designs, {name}")
    check_names(situations, {one["plant"] for one in given["designs"].values()}, f"{file}, situations")
    for plant, declared in situations.items():
        found = digest_of_situations(plants.find(plant))
        if found != declared:
            raise UserError(
                f"the situations of plant {plant!r} are not those declared on {given['declared']} (SHA-256 {found}, "
                f"declared {declared}); put them back, or declare them anew in {file}"
            )


def read(path: Path, own: Mapping[str, Iterable[str]]) -> Declaration:
    """Read a declaration, and see that the plants' situations are what it says.

    Parameters
    ----------
    path : Path
    own : mapping of name to names
        The study's own entries, and what each of them holds; "drawn.ranges" is within "drawn". None: a value.

    Raises
    ------
    UserError
        For an entry that is missing or unknown, or situations that are not the ones declared.
    """
    top = [name for name in own if "." not in name]
    given, digest = entries_of(path, ("declared", "rule", "history", "situations", "designs", *top))
    for place, names in own.items():
        inner = given
        for name in place.split("."):
            inner = inner[name]
        if names:
            check_names(inner, names, f"{path.name}, {', '.join(place.split('.'))}")
    situations = given["situations"]
    if not isinstance(situations, dict):  # of the designs' only plant
        situations = {one.get("plant"): situations for one in given["designs"].values()}
    _check_designs(given, situations, path.name)
    return Declaration(
        path.name, digest, given["declared"], given["rule"], tuple(given["history"]), situations, given["designs"],
        {name: given[name] for name in top},
    )  # fmt: skip


def check_aim(aim: Aim, several: Iterable[Plant], file: str) -> None:
    """Raise UserError where the aim is about what there will not be: after the designs would be too late."""
    for plant in several:
        measures, laws = (*rows_of(plant), FITNESS), (*(RIVAL + rival.name for rival in plant.rivals), *LADDER)
        for what, names, known in (("measure", aim.measures, measures), ("controller", aim.best_of, laws)):
            for name in names:
                if name not in known:
                    raise UserError(f"{file}, aim, plant {plant.name!r}: {unknown(what, name, known)}")
