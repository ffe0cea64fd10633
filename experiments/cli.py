"""The command ``sscq``: one name for all that the project does at a terminal.

Nothing slow is imported before it is known what is wanted, so that ``sscq --help`` answers at once.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments import importing, lint
from experiments.log import arguments as log_arguments
from experiments.reproduce import arguments as reproduce_arguments
from experiments.runtime.errors import UserError, tell, user_errors
from experiments.runtime.versions import versions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plants import Plant

_JOBS = {
    "design": "design a controller for a plant, prove it against fixed gains, write a report",
    "simulate": "simulate a plant without a controller",
    "evaluate": "judge a stored knowledge base in control situations",
    "worst": "look for the worst situation of a knowledge base in a declared envelope",
    "map": "draw how a stored knowledge base fares over two ranges of parameters, delays or noise",
    "operate": "simulate a long run with a drifting plant, in which the knowledge base is renewed",
    "export": "write a stored knowledge base as code for where controllers run, and prove every file",
}
_OTHERS = ["assess", "commission", "identify", "shadow", "verify"]
_OTHERS += [
    "report",
    "replay",
    "reproduce",
    "certify",
    "surrogate",
    "plants",
    "check",
    "lint",
    "import",
    "cache",
    "completion",
]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; the process's arguments by default."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words and words[0] in _JOBS:
        importlib.import_module(f"experiments.{words[0]}").main(words[1:])  # Hydra reads what follows
        return
    with user_errors():
        known = parser()
        if "_ARGCOMPLETE" in os.environ:
            _completion().answer(known)
        if words and not words[0].startswith("-"):
            _know(words[0])
        options = known.parse_args(words)
        options.run(options)


def _know(name: str) -> None:
    known = (*_JOBS, *_OTHERS)
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise UserError(f"no command {name!r}{hint} (known: {', '.join(known)})")


def parser() -> argparse.ArgumentParser:
    """Return the parser of all commands but those of Hydra."""
    parser = argparse.ArgumentParser(
        prog="sscq",
        description="Designs fuzzy gain-scheduled PID controllers and proves them against fixed gains.",
        epilog="`sscq design --help` lists every setting; `sscq design` runs as it stands.",
    )
    parser.set_defaults(run=lambda _: parser.print_help())
    parser.add_argument("--version", action="store_const", const=_version, dest="run", help="print the version")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, text in _JOBS.items():
        _add_job(commands.add_parser(name, help=text, add_help=False), name)
    _add_logs(commands)
    _add_report(commands)
    _add_replay(commands)
    reproduce_arguments.add_arguments(
        commands.add_parser("reproduce", help="compute what the method's sources claim, and say whether it holds")
    )
    _add_certify(commands)
    _add_surrogate(commands)
    _add_plants(commands)
    _add_check(commands)
    lint.add_arguments(commands.add_parser("lint", help="inspect knowledge bases: holes, contradictions, jumps"))
    importing.add_arguments(
        commands.add_parser("import", help="read fuzzy inference files (.fis, .fcl) as a knowledge base")
    )
    _add_cache(commands)
    _add_completion(commands)
    return parser


if TYPE_CHECKING:
    _Commands = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001  (argparse gives it no public name)


def _add_job(parser: argparse.ArgumentParser, name: str) -> None:
    """Declare what a command of Hydra takes: for the tab key, Hydra reads it itself."""
    parser.add_argument("-m", "--multirun", action="store_true")
    parser.add_argument("--cfg", choices=("job",))
    parser.add_argument("--config-dir")
    parser.add_argument("--help", choices=("all",), nargs="?")
    _complete(parser.add_argument("settings", nargs="*"), lambda prefix: _completion().completions(name, prefix))


def _complete(argument: argparse.Action, words: Callable[[str], list[str]]) -> None:
    argument.completer = lambda prefix, **_: words(prefix)  # type: ignore[attr-defined]  # argcomplete looks for it here


def _completion() -> Any:
    return importlib.import_module("experiments.starting.completion")  # knows plants: a tenth of a second


def _add_logs(commands: _Commands) -> None:
    log_arguments.add_assess(commands.add_parser("assess", help="say what a log of a running loop tells of it"))
    log_arguments.add_commission(
        commands.add_parser(
            "commission", help="from a log to gains with a promise, and a sheet to commission them from"
        )
    )
    log_arguments.add_identify(commands.add_parser("identify", help="plants that could have produced logs, as a file"))
    log_arguments.add_shadow(commands.add_parser("shadow", help="what a sheet's gains would have asked along a log"))
    log_arguments.add_verify(commands.add_parser("verify", help="say whether a sheet's plants explain a later log"))


def _add_report(commands: _Commands) -> None:
    parser = commands.add_parser("report", help="draw the report of a finished design again from its files alone")
    parser.add_argument("folder", metavar="RUN", help="folder of a run of `sscq design`; nothing in it is executed")
    parser.set_defaults(run=_report)


def _add_replay(commands: _Commands) -> None:
    parser = commands.add_parser("replay", help="run a stored counter-example again; exit code 1 if it differs")
    parser.add_argument("file", help="counter_example.json of a run of `sscq worst`; nothing in it is executed")
    parser.add_argument("--kb", metavar="FILE", help="the knowledge base, where it has moved")
    parser.add_argument("--plant-file", metavar="FILE", help="your own plant file; it is executed")
    parser.set_defaults(run=_replay)


def _add_certify(commands: _Commands) -> None:
    from experiments.certify import add_arguments

    add_arguments(
        commands.add_parser(
            "certify", help="prove the frozen loops of a stored knowledge base stable with one Lyapunov function"
        )
    )


def _add_surrogate(commands: _Commands) -> None:
    from experiments.surrogate.command import add_arguments

    add_arguments(commands.add_parser("surrogate", help="design for a slow plant (an FMU) through a fast model of it"))


def _add_plants(commands: _Commands) -> None:
    parser = commands.add_parser("plants", help="list the plants, or describe one")
    name = parser.add_argument("name", nargs="?", help="a plant, to be described in full")
    _complete(name, lambda prefix: _completion().plant_names(prefix))
    parser.add_argument("--file", metavar="FILE", help="your own plant file; it is executed")
    parser.set_defaults(run=_plants)


def _add_check(commands: _Commands) -> None:
    parser = commands.add_parser("check", help="check your own plant file and say exactly what is wrong")
    parser.add_argument("file", help="Python file that registers a plant; it is executed")
    parser.add_argument("--plant", metavar="NAME", help="which of its plants, if it has several")
    parser.set_defaults(run=_check)


def _add_cache(commands: _Commands) -> None:
    parser = commands.add_parser("cache", help="show, limit or clear the compiled simulations")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--list", action="store_true", help="name each generated source and say what it is")
    action.add_argument("--show", metavar="NAME", help="print a generated source; the beginning of its name is enough")
    action.add_argument("--clear", action="store_true", help="delete them; they are made again when needed")
    action.add_argument("--limit", type=_size, metavar="MB", help="delete those used longest ago beyond this size")
    action.add_argument("--path", action="store_true", help="print the folder only")
    parser.set_defaults(run=_cache)


def _add_completion(commands: _Commands) -> None:
    parser = commands.add_parser("completion", help="print what a shell executes to complete settings by the tab key")
    parser.add_argument("shell", help='bash, zsh or fish: eval "$(sscq completion bash)"')
    parser.set_defaults(run=lambda options: print(_completion().script(options.shell)))


def _version(_: argparse.Namespace) -> None:
    print(*(f"{name} {version}" for name, version in versions().items() if version is not None), sep="\n")


def _report(options: argparse.Namespace) -> None:
    from experiments.report import files

    print(f"report: {files.draw(Path(options.folder))}")


def _replay(options: argparse.Namespace) -> None:
    from experiments.replay import replay

    if not replay(options.file, options.kb, options.plant_file):
        raise SystemExit(1)


def _plants(options: argparse.Namespace) -> None:
    import plants
    from experiments.plant_list import description, packages, problems, table, tasks

    if options.file:
        _load(options.file)
    if options.name:
        print(description(plants.find(options.name)))
        return
    installed = plants.load_installed()
    print(table([plants.get(name) for name in plants.names()], packages(installed)))
    print(f"\n{tasks({name: plants.tasks(name) for name in plants.names()})}")
    if told := problems(installed):
        tell(*told)


def _load(file: str) -> dict[str, Plant]:
    return {plant.name: plant for plant in importlib.import_module("experiments.starting.plant_choice").load(file)}


def _check(options: argparse.Namespace) -> None:
    from sscq.loop.trial import checked

    found = _load(options.file)
    if not found:
        raise UserError(f"{options.file} gives slow plants only, which have no equations to check")
    if options.plant is None and len(found) > 1:
        raise UserError(f"{options.file} gives several plants; choose one with --plant: {', '.join(found)}")
    name = options.plant or next(iter(found))
    if name not in found:
        raise UserError(f"{options.file} gives no plant {name!r} (it gives: {', '.join(found)})")
    report = checked(found[name])
    print(report)
    if not report.ok:
        raise SystemExit(1)


def _cache(options: argparse.Namespace) -> None:
    from plants.core.kernel import cache

    if options.path:
        print(cache.folder())
    elif options.show:
        print(cache.source(_found(cache.find, options.show)), end="")
    elif options.clear:
        print(f"deleted {cache.clear()} compiled simulations from {cache.folder()}")
    else:
        if options.limit is not None:
            print(f"deleted {cache.release(1e6 * options.limit)} compiled simulations")
        kept = cache.kept().values()
        source, code = sum(entry.source for entry in kept) / 1e6, sum(entry.code for entry in kept) / 1e6
        sizes = f"{source:.1f} MB of source and {code:.1f} MB of machine code"
        print(f"{len(kept)} compiled simulations, {sizes}, in {cache.folder()}")
        if options.list:
            print(*(f"{entry.name}  {cache.title(entry)}".rstrip() for entry in cache.entries()), sep="\n")


def _size(text: str) -> float:
    size = float(text)
    if not 0.0 <= size < math.inf:
        raise argparse.ArgumentTypeError(f"a size is a number of megabytes, 0 or more, got {text}")
    return size


def _found(find: Callable[[str], Path], name: str) -> Path:
    try:
        return find(name)
    except ValueError as error:
        raise UserError(str(error)) from error


if __name__ == "__main__":
    main()
