"""Design a controller for a slow plant: a functional mock-up unit, or a plant stepped in Python.

As in::

    sscq surrogate model.fmu --declared model.json --output runs/model --set budget=small
    sscq surrogate --plant van_der_pol --model van_der_pol --fit mu --output runs/fitted

A unit is a program and is executed.
"""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.runtime.errors import UserError, add_user_file, tell

if TYPE_CHECKING:
    import argparse

    from experiments.surrogate.rounds import Round
    from flcs import KnowledgeBase
    from plants import Plant
    from plants.core.slow import SlowPlant

SCHEMA, VERSION = "sscq surrogate", 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("file", nargs="?", help="functional mock-up unit (.fmu), FMI 2.0 or 3.0; it is executed")
    parser.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE", help="settings of `sscq design`")
    parser.add_argument("--declared", metavar="FILE", help="JSON: channels, parameters, ... that the unit leaves open")
    parser.add_argument("--plant", metavar="NAME", help="a registered plant, stepped in Python, in place of a unit")
    parser.add_argument("--plant-file", metavar="FILE", help="your own plant file; it is executed")
    parser.add_argument("--model", metavar="NAME", help="plant whose parameters are fitted (default: a linear model)")
    parser.add_argument("--fit", metavar="A,B", default="", help="these parameters, separated by commas")
    parser.add_argument("--order", type=int, default=3, help="highest order of a linear model (default: 3)")
    parser.add_argument("--horizon", type=float, default=20.0, help="length of an experiment [s] (default: 20)")
    parser.add_argument("--runs", type=int, default=200, help="slow runs allowed in all (default: 200)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds at most (default: 3)")
    parser.add_argument(
        "--tolerance", type=float, default=0.1, help="difference of tracking errors that is agreement (default: 0.1)"
    )
    parser.add_argument("--workers", type=int, default=1, help="processes; results do not depend on it (default: 1)")
    parser.add_argument(
        "--patience", type=float, default=60.0, help="time a program has for one step [s] (default: 60)"
    )
    parser.add_argument("--memory", type=int, default=4096, help="memory a program may take [MiB] (default: 4096)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the experiments and the design (default: 0)")
    parser.add_argument("--output", metavar="FOLDER", required=True, help="a new folder for all that is written")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Go the rounds and write surrogate.json; exit code 1 where the last design fails on the slow plant."""
    from experiments.starting.opening import configured
    from experiments.surrogate.rounds import Rounds
    from experiments.surrogate.runs import SlowRuns
    from sscq.loop.slow import SlowLimits, crew

    _check(options)
    folder = Path(options.output)
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty; give a new folder")
    slow = _slow(options)
    if slow.plant.input_delay is not None or slow.plant.allocate is not None:
        raise UserError(
            f"plant {slow.name!r} has a dead time or an allocation of its own; a slow plant's are its program's"
        )
    plan = _plan(options)
    configured("design", [f"seed={options.seed}", *options.set])  # what is wrong there would cost slow runs
    folder.mkdir(parents=True, exist_ok=True)
    limits = SlowLimits(options.patience, options.memory * 2**20)
    with closing(crew(slow, options.workers, limits=limits)) as members:
        runs = SlowRuns(slow, members, slow.plant.step, options.runs)
        design = _designer(options, slow.plant.step)
        done = Rounds(runs, plan, folder, design, tell, lambda done: _write(folder, slow, done)).run()
    print(table(done[-1]))
    print(
        f"knowledge base: {folder / done[-1].folder / 'knowledge_base.json'}; runs of the slow plant: {done[-1].runs}"
    )
    if not all(value < float("inf") for value in done[-1].slow):
        raise SystemExit("error: the design does not hold the slow plant in every situation; do not install it")


def _check(options: argparse.Namespace) -> None:
    wrong = [word for word in options.set if "=" not in word]
    if wrong:
        raise UserError(f"expected settings of `sscq design`, such as budget=small; got {wrong[0]!r}")
    if (options.file is None) == (options.plant is None) and (options.file or options.plant_file is None):
        raise UserError("give a functional mock-up unit, --plant NAME, or a --plant-file that has a slow plant")
    for name, low in (("order", 1), ("runs", 1), ("rounds", 1), ("workers", 1), ("memory", 1), ("seed", 0)):
        if getattr(options, name) < low:
            raise UserError(f"--{name} must be at least {low}, got {getattr(options, name)}")
    for name in ("horizon", "tolerance", "patience"):
        if not 0.0 < getattr(options, name) < float("inf"):
            raise UserError(f"--{name} must be positive and finite, got {getattr(options, name)}")


def _slow(options: argparse.Namespace) -> SlowPlant:
    import plants
    from plants.adapters.fmu import fmu_plant
    from plants.adapters.stepped import stepped

    if options.plant_file:
        add_user_file(options.plant_file)
        plants.load_plant_file(options.plant_file, tell)
    if options.file is None and options.plant is None:
        return _standing_in(options.plant_file)
    if options.plant:
        return stepped(plants.find(options.plant), file=options.plant_file)
    if not Path(options.file).is_file():
        raise UserError(f"there is no file {options.file}")
    tell(f"executing {options.file} (a functional mock-up unit is a program)")
    try:
        return fmu_plant(options.file, declaration(options.declared))
    except ModuleNotFoundError as error:
        raise UserError(str(error)) from error


def _standing_in(file: str) -> SlowPlant:
    """The slow plant of a plant file that has been loaded."""
    from plants.core.user_file import slow_plants

    found = slow_plants(file)
    if len(found) != 1:
        raise UserError(f"{file} must have one slow plant at module level, it has {len(found)}; or give --plant NAME")
    return found[0]


def declaration(file: str | None) -> Any:
    """Return what a JSON file says about a unit."""
    from plants.adapters.fmu import FmuDeclaration

    return FmuDeclaration() if file is None else FmuDeclaration.from_file(file)


def _plan(options: argparse.Namespace) -> Any:
    import plants
    from experiments.surrogate.rounds import Plan

    model = plants.find(options.model) if options.model else None
    names = tuple(name for name in options.fit.split(",") if name)
    if names and model is None:
        raise UserError("--fit needs --model, the plant whose parameters are meant")
    return Plan(model, names, options.order, options.horizon, options.rounds, options.tolerance, options.seed)


def _designer(options: argparse.Namespace, step: float) -> Any:
    """A function that runs `sscq design` on a plant file."""
    from experiments import design
    from flcs import KnowledgeBase

    def made(plant: Plant, file: Path, folder: Path) -> KnowledgeBase:
        words = [f"plant={plant.name}", f"plant_file='{file}'", f"output='{folder}'", f"step={step!r}"]
        design.main([*words, f"seed={options.seed}", "quiet=true", *options.set])
        return KnowledgeBase.load(folder / "knowledge_base.json")

    return made


def _write(folder: Path, slow: SlowPlant, done: list[Round]) -> None:
    from plants.core import atomic_files

    content = {
        "schema": SCHEMA, "version": VERSION, "plant": slow.name, "opener": slow.opener,
        "settings": dict(slow.settings), "rounds": [one.plain() for one in done],
    }  # fmt: skip
    atomic_files.write(folder / "surrogate.json", json.dumps(content, indent=1) + "\n")


def table(done: Round) -> str:
    """Return the last round as a table."""
    from experiments.runtime.tables import text_table

    columns = zip(done.situations, done.slow, done.fast, done.reference, strict=True)
    rows = [[name, *(f"{value:.4g}" for value in values)] for name, *values in columns]
    head = ["situation", "slow plant", "model", "reference gains, slow plant"]
    return "mean |error| in channel scales\n" + text_table(head, rows)
