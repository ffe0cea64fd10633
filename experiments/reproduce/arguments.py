"""What `sscq reproduce` takes; nothing slow is imported before it is known what is wanted."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare a claim's name, --list, --all and where files go."""
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument("name", nargs="?", help="a claim: computes ours, prints the verdict, writes picture and data")
    wanted.add_argument("--list", action="store_true", help="names and titles of all claims")
    wanted.add_argument("--all", action="store_true", help="all claims, and one page of them; some minutes")
    parser.add_argument(
        "--output", type=Path, default=Path("runs/reproduce"), metavar="DIR", help="folder (default: %(default)s)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Do what was asked for."""
    importlib.import_module("experiments.reproduce.command").main(options.name, options.output, everything=options.all)
