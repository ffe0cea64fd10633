"""A study of declared designs: its command, the designs it runs or goes on with, and the page it writes of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.runtime.run_folder import read_record
from experiments.runtime.tables import markdown_table
from experiments.studies.engine import declaration
from experiments.studies.engine.series import design_in
from experiments.studies.engine.template import Template
from plants.core import atomic_files
from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from experiments.studies.engine.declaration import Declaration

_TAKEN = ("seed", "plant", "experiment", "output", "resume", "quiet")  # of a design; the study sets them


@dataclass(frozen=True)
class Options:
    """What is run: designs, the folder of the runs, and words for `sscq design`."""

    designs: tuple[str, ...]
    folder: Path
    overrides: tuple[str, ...]


class Study(ABC):
    """A study whose designs are declared.

    Its template's head says `declared` (the declaring file), `experiment` and `folder` of the designs, `page`, `costs`
    (columns of :meth:`costs`) and what else the study asks for.
    """

    name: ClassVar[str]
    own: ClassVar[Mapping[str, Iterable[str]]]
    """The declaration's own entries, as `engine.declaration.read` takes them."""

    def __init__(self) -> None:
        self.template = Template.of(self.name)
        self.head = self.template.head

    @property
    def file(self) -> Path:
        """The declaring file."""
        return declaration.FOLDER / self.head["declared"]

    def declaration(self, path: Path | None = None) -> Declaration:
        """Read the declaration, and see that the plants' situations are what it says."""
        return declaration.read(path or self.file, self.own)

    @abstractmethod
    def findings(self, folders: Mapping[str, Path], declared: Declaration) -> Any:
        """Return what finished designs, by name, found."""

    def sections(self, found: Any, declared: Declaration) -> list[str]:
        """Return what is printed of the findings, and stands in the middle of the page, as Markdown lines."""
        return [line for one in found for line in (*self.section(one, declared), "")]

    @abstractmethod
    def section(self, found: Any, declared: Declaration) -> list[str]:
        """Return what one of the findings says as Markdown lines."""

    @abstractmethod
    def values(self, found: Any, declared: Declaration, chosen: Options) -> dict[str, Any]:
        """Return what else the page's places hold."""

    def page(self, found: Any, declared: Declaration, chosen: Options) -> str:
        """Return the whole page."""
        shared = {
            "command": " ".join(["python -m experiments.studies", self.name, *chosen.overrides]),
            "declared": declared, "declaration": declared.lines(), "own": declared.own,
            "sections": self.sections(found, declared), "costs": self.costs(chosen),
        }  # fmt: skip
        return self.template.page(shared | self.values(found, declared, chosen))

    def costs(self, chosen: Options) -> list[str]:
        """Return what each design took as a Markdown table: sums of stages, or of all `but` some, in seconds."""
        rows = []
        for name in chosen.designs:
            path = chosen.folder / name
            seconds = formats.read_json(path / "times.json")
            cells = [f"{_sum(seconds, stages):.0f}" for stages in self.head.get("costs", {}).values()]
            rows.append([name, str(read_record(path)["config"]["budget"]["evaluations"]), *cells])
        return markdown_table(("design", "evaluations of each contender", *self.head.get("costs", {})), rows)

    def options(self, words: Sequence[str], declared: Declaration) -> Options:
        """Read the command's words; all designs and the study's folder by default.

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
        place = Path(given.pop("folder", self.head["folder"]))
        return Options(designs or tuple(declared.designs), place, tuple(f"{key}={v}" for key, v in given.items()))

    def run(self, name: str, chosen: Options, declared: Declaration) -> Path:
        """Run one design, or go on with it; return its folder. Its declared words come before the command's."""
        folder, design = chosen.folder / name, declared.designs[name]
        own = (f"experiment={self.head['experiment']}", f"plant={design['plant']}", f"seed={design['seed']}")
        design_in(folder, (*own, *design.get(declaration.WORDS, ())), chosen.overrides)
        return folder

    def main(self, words: Sequence[str]) -> None:
        """Run the designs named (all by default), print what was found, and write the page if all were run."""
        declared = self.declaration()
        chosen = self.options(words, declared)
        print(f"declared on {declared.declared} in {self.file.name}, SHA-256 {declared.digest}", flush=True)
        found = self.findings({name: self.run(name, chosen, declared) for name in chosen.designs}, declared)
        print("\n".join(self.sections(found, declared)), flush=True)
        if set(chosen.designs) == set(declared.designs):
            atomic_files.write(Path(self.head["page"]), self.page(found, declared, chosen))
            print(f"written: {self.head['page']}")


def _sum(seconds: Mapping[str, float], stages: Sequence[str] | Mapping[str, Sequence[str]]) -> float:
    if isinstance(stages, dict):
        return sum(value for stage, value in seconds.items() if stage not in stages["but"])
    return sum(seconds.get(stage, 0.0) for stage in stages)
