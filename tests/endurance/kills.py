"""Commands killed at random moments and gone on with: nothing may be lost, and nothing may come out otherwise.

    python -m tests.endurance.kills 200                 # or: make kill COUNT=200
    python -m tests.endurance.kills 40 --of design,sweep --seed 3

Each command runs undisturbed once. Then it is begun again and again, killed with SIGKILL at a random moment of its
undisturbed length, gone on with (`resume=`; from the beginning where nothing was begun), every other time killed once
more, and let finish. All files but those of times must be those of the undisturbed run to the byte. A sweep is killed as
a whole; its runs are gone on with one by one.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SMALL = (
    "plant=fopdt", "seeds=1", "budget.evaluations=60", "budget.teacher_generations=1", "budget.verdict_seeds=2",
    "draws={taught:2,validation:2,verdict:40}", "assurance={certificate:True,worst_evaluations:40}",
)  # fmt: skip
"""Spelt as Hydra spells the overrides of a sweep's job, which its run folder keeps."""
TIMES = {"times.json", ".lock"}
_AGAIN = 0.5  # share of the runs that are killed a second time


@dataclass(frozen=True)
class Victim:
    """A command that is killed.

    Attributes
    ----------
    name : str
    words : tuple of str
        Of `sscq`, without the folder.
    seeds : tuple of int
        Of the runs of a sweep; none: a single run.
    """

    name: str
    words: tuple[str, ...]
    seeds: tuple[int, ...] = ()

    def command(self, folder: Path, *, resume: bool = False) -> list[str]:
        """Return the command line of a single run."""
        where = f"resume={folder}" if resume else f"output={folder}"
        words = (self.words[0], where) if resume else (*self.words, where)
        return [sys.executable, "-m", "experiments.cli", *words, "quiet=true"]

    def sweep(self, folder: Path) -> list[str]:
        """Return the command line of the whole sweep."""
        listed = ",".join(map(str, self.seeds))
        command, *words = self.words
        given = [*words, f"seed={listed}", f"hydra.sweep.dir={folder}", "quiet=true"]
        return [sys.executable, "-m", "experiments.cli", command, "-m", *given]


class Failure(Exception):  # noqa: N818  (it is what was looked for)
    """A run that was lost, or anything else that came out otherwise."""


def started(command: list[str]) -> subprocess.Popen[str]:
    """Start a command in a process group of its own."""
    return subprocess.Popen(
        command, cwd=ROOT, start_new_session=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip


def finished(command: list[str]) -> float:
    """Run a command to its end; return how long it took [s]."""
    begun = time.monotonic()
    process = started(command)
    told, _ = process.communicate()
    if process.returncode:
        raise Failure(f"exit code {process.returncode} of {' '.join(command[2:])}\n{told[-2000:]}")
    return time.monotonic() - begun


def killed(command: list[str], after: float) -> bool:
    """Kill a command after some time [s]; return whether it still ran."""
    process = started(command)
    try:
        process.wait(timeout=after)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return True
    process.communicate()
    return False


def digests(folder: Path) -> dict[str, str]:
    """Return the hash of every file of a run, by its place in the folder."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name not in TIMES
    }


def begun(folder: Path) -> bool:
    """Whether a run can be gone on with: before its record is written there is nothing to lose."""
    return (folder / "config.json").exists()


def compare(folder: Path, expected: dict[str, str]) -> None:
    """Raise Failure where a run's files are not the expected ones."""
    now = digests(folder)
    other = sorted(name for name in now.keys() | expected.keys() if now.get(name) != expected.get(name))
    if other:
        raise Failure(f"{folder}: not as undisturbed: {', '.join(other[:8])}")


def complete(victim: Victim, folder: Path) -> None:
    """Let a killed run finish."""
    finished(victim.command(folder, resume=begun(folder)))


class Endurance:
    """Victims, what they give undisturbed and how long they take."""

    def __init__(self, victims: list[Victim], root: Path, seed: int) -> None:
        self.victims, self.root, self.random = victims, root, random.Random(seed)
        self.expected: dict[str, dict[str, str]] = {}
        self.length: dict[str, float] = {}
        for victim in victims:
            self._undisturbed(victim)

    def _undisturbed(self, victim: Victim) -> None:
        for name, single in self._singles(victim):
            folder = self.root / f"undisturbed-{name}"
            finished(single.command(folder))  # compiles what is not in the cache yet
            self.expected[name] = digests(folder)
        again = self.root / f"timed-{victim.name}"
        self.length[victim.name] = finished(victim.sweep(again) if victim.seeds else victim.command(again))

    @staticmethod
    def _singles(victim: Victim) -> list[tuple[str, Victim]]:
        if not victim.seeds:
            return [(victim.name, victim)]
        return [(f"{victim.name}-{s}", Victim(victim.name, (*victim.words, f"seed={s}"))) for s in victim.seeds]

    def one(self, number: int) -> str:
        """Kill and go on once; return what was done, in a line."""
        victim = self.victims[number % len(self.victims)]
        folder = self.root / f"killed-{number}"
        moment = self.random.uniform(0.0, self.length[victim.name])
        if victim.seeds:
            return self._swept(victim, folder, moment)
        told = f"{victim.name} killed after {moment:.2f} s" if killed(victim.command(folder), moment) else victim.name
        if begun(folder) and self.random.random() < _AGAIN:
            again = self.random.uniform(0.0, self.length[victim.name])
            killed(victim.command(folder, resume=True), again)
            told += f", again after {again:.2f} s"
        complete(victim, folder)
        compare(folder, self.expected[victim.name])
        return told

    def _swept(self, victim: Victim, folder: Path, moment: float) -> str:
        killed(victim.sweep(folder), moment)
        for place, (name, single) in enumerate(self._singles(victim)):
            complete(single, folder / str(place))
            compare(folder / str(place), self.expected[name])
        return f"{victim.name} of {len(victim.seeds)} killed after {moment:.2f} s"


def victims(kb: Path) -> list[Victim]:
    """Return the commands; those that need a knowledge base take `kb`."""
    return [
        Victim("design", ("design", *SMALL)),
        Victim("worst", ("worst", f"kb={kb}", "evaluations=400", "seed=1")),
        Victim("map", ("map", f"kb={kb}", "x=K:[0.7,1.3]", "y=L:[0.2,0.4]", "points=60")),
        Victim("export", ("export", f"kb={kb}", "to=[c,st,python,tables]")),
        Victim("sweep", ("design", *SMALL), seeds=(1, 2)),
    ]


def main() -> None:
    """Kill as often as asked; exit code 1 where anything was lost or came out otherwise."""
    parser = argparse.ArgumentParser(description="Kill commands at random moments, go on, compare to the byte.")
    parser.add_argument("count", type=int, nargs="?", default=40, help="kills (default: 40)")
    parser.add_argument("--of", default="design,worst,map,export,sweep", help="which commands, separated by commas")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (default: 0)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kills_") as folder:
        root = Path(folder)
        base = root / "base"
        finished(Victim("design", ("design", *SMALL)).command(base))
        chosen = [one for one in victims(base / "knowledge_base.json") if one.name in options.of.split(",")]
        endurance, wrong = Endurance(chosen, root, options.seed), 0
        for number in range(options.count):
            try:
                told = endurance.one(number)
            except Failure as failure:
                wrong, told = wrong + 1, f"WRONG: {failure}"
            print(f"{number + 1} of {options.count}: {told}", flush=True)
    print(f"{options.count} kills, {wrong} lost or different")
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
