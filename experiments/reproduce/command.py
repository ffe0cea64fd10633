"""``sscq reproduce``: what is published, ours, and the verdict, of one claim or of all on one page.

As in::

    sscq reproduce --list
    sscq reproduce forming_filter_position
    sscq reproduce --all --output runs/reproduce

Writes NAME.svg and NAME.csv for each claim, its tables beside them; of all, index.html and reproduce.md.
A claim whose computation fails is said to have failed and does not stop the others; the exit code is then 1.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from experiments.reproduce import page
from experiments.reproduce.attempt import ClaimRun, attempted, written
from experiments.reproduce.registry import claim, claims
from experiments.runtime.errors import tell
from experiments.runtime.progress import Progress
from plants.core import atomic_files

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from experiments.reproduce.registry import PublishedClaim
    from experiments.reproduce.results import Reproduction


def main(name: str | None, folder: Path, *, everything: bool = False) -> None:
    """List all claims, reproduce one, or all.

    Parameters
    ----------
    name : str or None
        Of a claim; None: all of them.
    folder : Path
        Where files go; it is made.
    everything : bool
        Without a name: compute all, rather than list them.

    Raises
    ------
    UserError
        Where there is no such claim.
    SystemExit
        With code 1 where a claim's computation failed.
    """
    if name is not None:
        one = claim(name)
        folder.mkdir(parents=True, exist_ok=True)
        said(one, one.reproduce(), folder)
    elif everything:
        failed = [run for run in reproduced(claims().values(), folder) if run.found is None]
        if failed:
            raise SystemExit(1)
    else:
        width = max(map(len, claims()))
        print(*(f"{one.name.ljust(width)}  {one.title}" for one in claims().values()), sep="\n")


def said(one: PublishedClaim, found: Reproduction, folder: Path) -> None:
    """Print what was found of a claim and write its files."""
    lines = {
        "claim": one.claim,
        "source": one.source,
        "published": one.published,
        "ours": found.ours,
        "verdict": f"{found.verdict}. {found.reason}",
    }
    print(f"{one.name}: {one.title}")
    for label, text in lines.items():
        print(*textwrap.wrap(text, 118, initial_indent=label.ljust(11), subsequent_indent=" " * 11), sep="\n")
    print("files".ljust(10), *(str(path) for path in written(one, found, folder)))


def reproduced(wanted: Iterable[PublishedClaim], folder: Path) -> list[ClaimRun]:
    """Reproduce claims one after another, write their files and the page; one that fails does not stop the others."""
    folder.mkdir(parents=True, exist_ok=True)
    runs, ordered = [], list(wanted)
    width = max((len(one.name) for one in ordered), default=0)
    with Progress(len(ordered), "reproduce", "claims") as progress:
        for one in ordered:
            run = attempted(one, folder)
            runs.append(run)
            progress.clear()
            print(f"{one.name.ljust(width)}  {run.word}  {run.seconds:.1f} s", flush=True)
            if run.error:
                tell(run.error)
            progress.advance(note=one.name)
    for name, text in page.pages(runs).items():
        atomic_files.write(folder / name, text)
    print(f"{page.counted(runs)}; page: {folder / 'index.html'}")
    return runs
