"""What a study declares before it is run: files known by their hash, situations of plants, the aim, the designs.

A declaring file has exactly the entries that are asked for; the SHA-256 of its bytes is printed on every page that
was judged by it. An aim: one measure is better by a share than the best of some laws, others are no worse.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from experiments.pipeline.judging import LADDER, RIVAL, rows_of
from experiments.runtime.errors import UserError
from experiments.runtime.stages import digest_of
from experiments.studies.engine.paired_rollouts import FITNESS
from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from plants import Plant
    from sscq.verdict.bootstrap import Change


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


@dataclass(frozen=True)
class Declared:
    """A declaration.

    Attributes
    ----------
    declared : str
        Date.
    rule : str
        How what is declared was chosen.
    history : tuple of str
        What happened before.
    digest : str
        SHA-256 of the declaring file.
    """

    declared: str
    rule: str
    history: tuple[str, ...]
    digest: str

    def told(self, head: Sequence[str]) -> list[str]:
        """Return the declaration as Markdown lines below a head."""
        return [*head, "", f"> {self.rule}", "", *(f"- {entry}" for entry in self.history), ""]


MET, ON_THE_MEAN = "met", "met on the mean, not reliably"


@dataclass(frozen=True)
class Aim:
    """What is to be reached.

    Attributes
    ----------
    better : str
        Measure that is to be lower.
    share : float
        By how much of that of the best of the named controllers.
    no_worse : tuple of str
        Measures that must not be reliably higher.
    best_of : tuple of str
        Controllers; the best is the one with the lowest mean fitness.
    """

    better: str
    share: float
    no_worse: tuple[str, ...]
    best_of: tuple[str, ...]

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of the entries."""
        return tuple(field.name for field in fields(cls))

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Aim:
        """Return the aim of a declaring file's entries."""
        lists = {name: tuple(given[name]) for name in ("no_worse", "best_of")}
        return cls(**{**given, **lists})

    @property
    def measures(self) -> tuple[str, ...]:
        """All measures it is about, the one to be better first."""
        return (self.better, *self.no_worse)

    def outcome(self, changes: Sequence[Change], words: Mapping[str, str]) -> str:
        """Say what became of it.

        Parameters
        ----------
        changes : sequence of Change
            Of its measures.
        words : mapping of measure to str
        """
        better, *others = changes
        worse = [words[name] for name, one in zip(self.no_worse, others, strict=True) if one.low > 0.0]
        more = f"{' and '.join(worse)} reliably higher"
        if better.value > -self.share:
            return "not met" + (f", and {more}" if worse else "")
        if worse:
            return f"not met: {more}"
        return MET if better.high <= -self.share else ON_THE_MEAN


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
