"""Which plant a command works with: the one that was named, the only one of a plant file, or that of a stored run.

A plant file is Python and is executed; each is announced before, and one that nobody named is announced even to quiet
commands. One that only a run's folder names is executed if this very content was executed here before, which is
remembered in the cache folder; else the user has to name it. A plant file that ends with .json is an ensemble that
`sscq commission` wrote: numbers, which are read.

A run that is gone on with must have the plant that it was begun with. Of a plant file it keeps a copy, and what comes
with a package goes by its version; a plant that was registered from Python is told apart by a digest of the kernel that
its closed loop is compiled from, and of all that it declares.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import plants
from configs.schema.commands import DEFAULT_PLANT
from controllers import PID
from experiments.runtime.errors import UserError, add_user_file, tell
from experiments.runtime.run_folder import read_record
from experiments.runtime.stages import digest_of_file
from plants.core import registry
from plants.core.checks.functions import check_sizes
from plants.core.checks.report import CheckReport
from plants.core.kernel import cache
from sscq.loop.closed_loop import ClosedLoop
from sscq.situations.situation import Situation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from plants import Plant

_EXECUTED = "a plant file of this content was executed by this user"


def find_plant(config: Any, *, typed: bool = False, run: str | None = None, named: str | None = None) -> None:
    """Execute the user's plant file, if there is one, see that the plant can be used, and take its step for null.

    The plant is called by its own name from here on, as files do; typed, that of a plant for a task is deprecated. Null
    is the only plant of the file, without a file the default one; where there is a knowledge base, it says later which.

    Parameters
    ----------
    config : settings of a command
    typed : bool
        Whether the settings are from the command line, so that the plant file in them was named by the user.
    run : str, optional
        The folder that they are from.
    named : str, optional
        Which file the user has named for the one in them; its content is that of the run.

    Raises
    ------
    UserError
        If a file gives several plants and none is named, if the plant cannot be used, or if a plant file that only a
        folder names was never executed here.
    """
    if run is not None and config.plant_file is not None:
        config.plant_file = named or known_file(Path(config.plant_file), run)
    stored = stored_plant_file(config.kb) if typed and hasattr(config, "kb") and config.plant_file is None else None
    config.plant_file = config.plant_file or stored
    given: Sequence[Plant] = ()
    if config.plant_file is not None:
        told = stored is not None or (run is not None and named is None)  # already
        given = load(config.plant_file, quiet=config.quiet or told)
        if typed and _is_ensemble(config.plant_file) and hasattr(config, "draws"):
            import_module(_IDENTIFIED).settle(config.plant_file, config.controller)
    if config.plant is None:
        if hasattr(config, "kb"):
            return
        config.plant = DEFAULT_PLANT if config.plant_file is None else only_plant(config.plant_file, given, "plant=")
    plant, full = plants.find(config.plant), registry.in_full(config.plant)
    if typed and config.plant != full and not config.quiet:
        tell(f"plant={config.plant} is deprecated: say plant={full}")
    config.plant = plant.name
    config.step = config.step or stored_step(getattr(config, "kb", None)) or plant.step
    report = CheckReport(plant.name)
    if not check_sizes(report, plant):
        file = f" (`sscq check {config.plant_file}` tests all of it)" if config.plant_file is not None else ""
        raise UserError(f"plant {plant.name!r} cannot be used{file}:\n" + "\n".join(report.problems))


def load(file: str, *, quiet: bool = False) -> tuple[Plant, ...]:
    """Execute a plant file and return its plants; what goes wrong in it counts as the user's."""
    if _is_ensemble(file):
        found: tuple[Plant, ...] = import_module(_IDENTIFIED).load(file)
        return found
    add_user_file(file)
    digest = digest_of_file(Path(file)) if Path(file).is_file() else None
    found = plants.load_plant_file(file, None if quiet else tell, digest)
    if digest is not None:
        cache.seal(_memory(digest), _EXECUTED, b"")
    return found


_IDENTIFIED = "experiments.log.identified"


def _is_ensemble(file: str | Path) -> bool:
    return Path(file).suffix == ".json"


def _memory(digest: str) -> Path:
    """Where it is remembered that a file of this content was executed."""
    return cache.folder() / f"executed_{digest}"


def known_file(file: Path, run: str, option: str = "plant_file=") -> str:
    """Return a plant file that only a run names, and tell that it will be executed; refuse one that never was."""
    if not file.is_file():
        raise UserError(f"{file}, the plant file of {run}, is not there; name it: {option}FILE")
    if _is_ensemble(file):
        return str(file)
    if cache.sealed(_memory(digest_of_file(file)), _EXECUTED) is None:
        raise UserError(
            f"{run} names the plant file {file}, of a content that was never executed here. A plant file is Python "
            f"code and can do all that you can do: look into it, and if you trust it, say so by naming it: "
            f"{option}{file}"
        )
    tell(f"executing {file} (the plant file of the run {run}; a plant file is Python code)")
    return str(file)


def only_plant(file: str, given: Sequence[Plant], option: str) -> str:
    """Return the name of the only plant that a file gives.

    Raises
    ------
    UserError
        If it gives several, with their names, or none that has equations; `option` ("plant=") is how to name one.
    """
    names = [plant.name for plant in given]
    if len(names) == 1:
        return names[0]
    if not names:
        raise UserError(
            f"{file} gives slow plants only, which have no equations: `sscq surrogate --plant-file {file}` designs for "
            f"one; a registered plant is named by {option}NAME"
        )
    raise UserError(f"{file} gives several plants; say which one: {', '.join(option + name for name in names)}")


def stored_step(kb: str | None) -> float | None:
    """Return the integration step [s] of the design in whose folder a knowledge base lies, None where there is none."""
    if kb is None or not (Path(kb).parent / "config.json").is_file():
        return None
    step = read_record(Path(kb).parent)["config"].get("step")
    return None if step is None else float(step)


def stored_plant_file(kb: str | None, option: str = "plant_file=") -> str | None:
    """Return the plant file of the run in whose folder a knowledge base lies, None where there is none.

    It is the file that the run was started with, where that is unchanged, else the copy that the run keeps: what the
    run has executed, and nothing else. That it will be executed is told. `option` is how to name another file.

    Raises
    ------
    UserError
        If neither is what the run has recorded, or if it was never executed here.
    """
    if kb is None or not (Path(kb).parent / "config.json").is_file():
        return None
    folder = Path(kb).parent
    record = read_record(folder)
    file = record["config"].get("plant_file")
    entry = next((item for item in record["inputs"] if item["file"] == file), None)
    if file is None or entry is None:
        return None
    for place in (Path(file), folder / entry["copy"]):
        if place.is_file() and digest_of_file(place) == entry["sha256"]:
            return known_file(place, str(folder), option)
    raise UserError(
        f"the plant file of {folder} is not what it was: {file} and its copy {folder / entry['copy']} have changed or "
        f"are gone; name the file by {option}FILE"
    )


_AN_ADDRESS = " at 0x"  # in what Python shows of a function, which the kernel holds
_OF_NO_RESULT = ("text", "presentation")


def own_program(config: Any) -> str | None:
    """Return the digest of a command's plant; None for one from a file or a package, and for one without channels."""
    name = config.plant
    if name is None or config.plant_file is not None or registry.is_provided(name):
        return None
    plant = plants.find(name)
    if not plant.channels:
        return None
    declared = {f.name: repr(getattr(plant, f.name)) for f in fields(plant) if f.name not in _OF_NO_RESULT}
    told = [f"{key} = {value}" for key, value in declared.items() if _AN_ADDRESS not in value]
    return hashlib.sha256("\n".join([*told, _kernel(plant)]).encode()).hexdigest()


def check_own_program(config: Any, begun_with: str | None, run: str) -> None:
    """Refuse to go on with a run, begun with a plant of this digest, where another plant has its name now."""
    taken = config.plant is not None and registry.is_replaced(config.plant)
    if (begun_with is not None or taken) and own_program(config) != begun_with:
        raise UserError(
            f"{run} was begun with another plant of the name {config.plant!r}: equations, ranges, limits or anything "
            "else that it declares have changed since; register the one of then, or start anew in another folder"
        )


def _kernel(plant: Plant) -> str:
    rest = Situation("rest", t_end=plant.step)
    return ClosedLoop(plant, (PID(),) * len(plant.channels), [rest], plant.step, measures=("iae",)).kernel.text
