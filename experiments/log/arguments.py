"""What commands take that begin with a log, and which module runs them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

_OUTPUT_UNITS = ("%", "fraction", "mA")


def add_assess(parser: argparse.ArgumentParser) -> None:
    """Add what ``sscq assess`` takes, and what it runs."""
    parser.description = "Exit code: 0 plants can be told from it, 3 they cannot (the reason is said), 2 it is no log."
    _add_log(parser)
    parser.add_argument("--plan", action="store_true", help="which move would tell more, and how much more (a minute)")
    parser.set_defaults(run=lambda options: importlib.import_module("experiments.log.assess").run(options))


def add_identify(parser: argparse.ArgumentParser) -> None:
    """Add what ``sscq identify`` takes, and what it runs."""
    parser.description = (
        "Writes identified.json: plants that could have produced all of the logs. Exit code: 0, or 3 they tell too "
        "little (the reason is said), 2 one of them is no log."
    )
    _add_log(parser)
    _add_plant(parser)
    parser.add_argument("more", metavar="MORE.csv", nargs="*", help="further logs of the same loop")
    parser.add_argument("--output", metavar="DIR", default="identified", help="folder of identified.json (identified)")
    parser.set_defaults(run=lambda options: importlib.import_module("experiments.log.identify").run(options))


def add_commission(parser: argparse.ArgumentParser) -> None:
    """Add what ``sscq commission`` takes, and what it runs."""
    parser.description = (
        "Writes commissioning.json and sheet.html. Exit code: 0 gains are advised, or the present ones are to be kept; "
        "3 the log cannot tell (the reason is said); 2 it is no log."
    )
    _add_log(parser)
    parser.add_argument("--output", metavar="DIR", default="commissioning", help="folder of the sheet (commissioning)")
    parser.add_argument("--schedule", action="store_true", help="also design a schedule of gains (minutes)")
    parser.add_argument(
        "--budget", choices=("small", "medium", "standard"), default="small", help="of that design (small)"
    )
    _add_plant(parser)
    parser.add_argument("--derivative", action="store_true", help="search a derivative gain, too")
    parser.set_defaults(run=lambda options: importlib.import_module("experiments.log.commission").run(options))


def add_verify(parser: argparse.ArgumentParser) -> None:
    """Add what ``sscq verify`` takes, and what it runs."""
    parser.description = "Exit code: 0 the plants of the sheet still explain the loop, 3 they do not, 2 it is no log."
    _add_log(parser)
    parser.add_argument("--sheet", metavar="DIR", default="commissioning", help="folder that commission wrote")
    parser.add_argument("--before", metavar="LOG.csv", help="a log from before, to compare errors with")
    parser.set_defaults(run=lambda options: importlib.import_module("experiments.log.verify").run(options))


def add_shadow(parser: argparse.ArgumentParser) -> None:
    """Add what ``sscq shadow`` takes, and what it runs."""
    parser.description = "What the gains of a sheet would have asked of a loop that still runs with its own."
    _add_log(parser)
    parser.add_argument("--sheet", metavar="DIR", default="commissioning", help="folder that commission wrote")
    parser.add_argument("--output", metavar="FILE.csv", help="where the moves are written row by row")
    parser.set_defaults(run=lambda options: importlib.import_module("experiments.log.shadow").run(options))


def _add_plant(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("a plant of known equations, whose parameters the log is to tell")
    group.add_argument("--plant", metavar="NAME", help="a registered plant; log columns are in its units")
    group.add_argument("--plant-file", metavar="FILE.py", help="your own file that registers it; it is executed")
    group.add_argument("--fit", metavar="NAME,...", help="the parameters; dead time, noise and loads are always fitted")
    group.add_argument("--load", metavar="NAME", help="disturbance that unknown loads act as; else the command")


def _add_log(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("log", metavar="LOG.csv", help="log of the loop: time, set point, measured value, output")
    parser.add_argument("--loop", metavar="FILE", help="loop.json: spans, limits, present gains, scenario")
    parser.add_argument("--columns", metavar="NAME=COLUMN,...", help="such as measured=TIC101.PV,output=TIC101.OP")
    parser.add_argument("--output-unit", choices=_OUTPUT_UNITS, help="of the output's column; asked for if in doubt")
    parser.add_argument(
        "--present",
        metavar="KP,KI[,KD]",
        help="present gains, parallel form, times in seconds; negative ones as --present=-0.5,-0.01",
    )
    parser.add_argument("--sort", action="store_true", help="put rows whose times do not increase in order")
    parser.add_argument("--accept-valve", action="store_true", help="advise gains though the valve sticks")
    parser.add_argument("--seed", type=int, default=0, help="of the sampler (0)")
    parser.add_argument("--quiet", action="store_true", help="no progress")
