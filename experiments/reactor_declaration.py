"""What the reactors' comparison declares before it is run: its situations, how they were chosen, known by hashes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import configs
from experiments.comparison.declared import Declared
from experiments.declared_file import entries_of, plain
from experiments.errors import UserError
from experiments.run_folder import read_record
from experiments.stages import digest_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_CONFIGS = Path(configs.__file__).parent
DECLARED = _CONFIGS / "reactor_study.yaml"
_KINDS = ("taught", "validation", "unforeseen")


@dataclass(frozen=True)
class Declaration(Declared):
    """Situations that the comparison is judged in.

    Attributes
    ----------
    situations : mapping of recipe to str
        SHA-256 of what its situations say.
    """

    situations: Mapping[str, str]

    def lines(self) -> list[str]:
        """Return the declaration as Markdown lines."""
        return self.told([
            f"The situations were declared on {self.declared} (configs/reactor_study.yaml, SHA-256 `{self.digest}`),",
            "before any design of this page was run. The rule:",
        ])  # fmt: skip


def declaration(path: Path = DECLARED, folder: Path = _CONFIGS / "situations") -> Declaration:
    """Read the declaration, and see that the recipes' situations are what it says.

    Raises
    ------
    UserError
        For an entry that is missing or unknown, or situations that are not the ones declared.
    """
    given, own_digest = entries_of(path, {f.name for f in fields(Declaration)} - {"digest"})
    for recipe, digest in given["situations"].items():
        found = digest_of(plain(folder / f"{recipe}.yaml"))
        if found != digest:
            raise UserError(
                f"situations/{recipe}.yaml says something else than was declared on {given['declared']} (SHA-256 "
                f"{found}, declared {digest or 'none'}); put it back, or declare it anew in {path.name}"
            )
    return Declaration(**given | {"history": tuple(given["history"]), "digest": own_digest})


def require_declared(recipe: str, run: Path, folder: Path = _CONFIGS / "situations") -> None:
    """See that a run was made with the declared situations.

    Raises
    ------
    UserError
        If the run's situations say something else: it was made before they were declared, or with words that change
        them.
    """
    wanted, made = plain(folder / f"{recipe}.yaml"), read_record(run)["config"]["situations"]
    for kind in _KINDS:
        wrong = [name for name, given in wanted[kind].items() if not _says(made[kind].get(name), given)]
        wrong += [name for name in made[kind] if name not in wanted[kind]]
        if wrong:
            raise UserError(
                f"{run} was made with other {kind} situations than are declared ({', '.join(wrong)}); choose another "
                "folder=, or leave out the words that change them"
            )


def _says(made: Any, declared: Any) -> bool:
    """Whether a stored setting says all that is declared; what is not declared is at its default."""
    if not isinstance(declared, dict):
        return bool(made == declared)
    return isinstance(made, dict) and all(key in made and _says(made[key], value) for key, value in declared.items())
