"""A comparison's command line: designs by name, words for `sscq design`, the folder of the runs."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from experiments.runtime import formats
from experiments.runtime.errors import UserError, user_errors
from experiments.runtime.run_folder import read_record
from experiments.studies.engine.outcomes import lines_of
from experiments.studies.engine.series import design_in
from plants.core import atomic_files
from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from experiments.studies.engine.declaration import Declaration

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
    """Run one design of an experiment, or go on with it; return its folder.

    What the design declares as its own words comes before the command's.
    """
    folder, design = chosen.folder / name, declared.designs[name]
    own = (f"experiment={experiment}", f"plant={design['plant']}", f"seed={design['seed']}", *design.get("words", ()))
    design_in(folder, own, chosen.overrides)
    return folder


@dataclass(frozen=True)
class Command:
    """What a comparison's command does with its designs.

    Attributes
    ----------
    text : str
        Its help.
    file : Path
        Of the declaration.
    declaration : callable
        Reads it.
    folder, experiment : str
        Where the runs go by default, and the experiment they are of.
    page : Path
        Written if all designs were run.
    found : callable
        ``(folders by design, declared) -> findings``.
    told : callable
        ``(findings, declared) -> lines`` that are printed.
    written : callable
        ``(findings, declared, options) -> text`` of the page.
    """

    text: str
    file: Path
    declaration: Callable[[], Any]
    folder: str
    experiment: str
    page: Path
    found: Callable[[dict[str, Path], Any], Any]
    told: Callable[[Any, Any], list[str]]
    written: Callable[[Any, Any, Options], str]


def command(what: Command, arguments: Sequence[str] | None) -> None:
    """Run the designs named (all by default), print what was found, and write the page if all were run."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if {"-h", "--help"} & set(words):
        print(what.text)
        return
    with user_errors():
        declared = what.declaration()
        chosen = options(words, declared, what.folder)
        print(f"declared on {declared.declared} in configs/{what.file.name}, SHA-256 {declared.digest}", flush=True)
        folders = {name: run(name, chosen, declared, what.experiment) for name in chosen.designs}
        found = what.found(folders, declared)
        print("\n".join(what.told(found, declared)), flush=True)
        if set(chosen.designs) == set(declared.designs):
            atomic_files.write(what.page, what.written(found, declared, chosen))
            print(f"written: {what.page}")


def costs(chosen: Options, timed: Sequence[str], times: Callable[[Mapping[str, float]], list[str]]) -> list[str]:
    """Return what each design took as a Markdown table.

    Parameters
    ----------
    timed : sequence of str
        Names of the columns beside design and evaluations.
    times : callable
        Seconds of each stage by name to these columns' cells.
    """
    rows = []
    for name in chosen.designs:
        path = chosen.folder / name
        evaluations = read_record(path)["config"]["budget"]["evaluations"]
        rows.append([name, str(evaluations), *times(formats.read_json(path / "times.json"))])
    return lines_of(("design", "evaluations of each contender", *timed), rows)


def by_plant(folders: dict[str, Path], declared: Declaration) -> dict[str, list[Path]]:
    """Return the designs of each plant, which are pooled."""
    found: dict[str, list[Path]] = {}
    for name, folder in folders.items():
        found.setdefault(declared.designs[name]["plant"], []).append(folder)
    return found
