"""Designs that are run once and kept, and their controllers in situations that no design has seen.

A study's designs are in run folders of its own; a finished one is not repeated, a stopped one is gone on with.
"""

from __future__ import annotations

import math
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.pipeline.bench import Bench
from experiments.pipeline.judged_rollouts import quality_in
from experiments.pipeline.search_stages import SearchedDesign, searched
from experiments.runtime.errors import UserError
from experiments.runtime.run_folder import RunFolder
from experiments.settings import ranges, setup
from experiments.starting.opening import stored_settings
from plants.core.names import unknown
from sscq.verdict.bootstrap import Change
from sscq.verdict.comparison import Sample

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from experiments.settings import Setup
    from sscq.baselines.tuned import Tuned
    from sscq.situations.situation import Situation

    Blocks = Sequence[Sequence[Situation]]

_AT_ONCE = 250  # situations simulated together
ENTROPY = "entropy_difference_abs"
_COMPARED = "where both survive"  # what was found by another comparison is found anew


@dataclass(frozen=True)
class StudyCase:
    """A design of a study.

    Attributes
    ----------
    title : str
        What is designed; with the seed it names the run folder.
    seed : int
    words : tuple of str
        Settings for `sscq design`, but the seed.
    draws : int
        Situations in which its controllers are judged afterwards.
    """

    title: str
    seed: int
    words: tuple[str, ...]
    draws: int

    @property
    def name(self) -> str:
        """Name of the run folder."""
        return f"{self.title}-{self.seed}"

    @property
    def asked(self) -> list[Any]:
        """What the design and what is found of it depend on."""
        return [_COMPARED, list(self.words), self.seed, self.draws]

    def designed(self, folder: Path) -> Path:
        """Design it in a folder of runs, unless that is done; return the run folder.

        Raises
        ------
        UserError
            If the design fails.
        """
        run = folder / self.name
        if (run / "report.html").exists():
            return run
        words = [f"resume={run}"] if run.exists() else [*self.words, f"seed={self.seed}", f"output={run}"]
        command = [sys.executable, "-m", "experiments.design", *words, "quiet=true"]
        done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603  (our own command)
        if done.returncode:
            raise UserError(f"the design {self.name} failed: {done.stderr.strip() or done.stdout.strip()}")
        return run


def named(word: str, kind: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the names in a word of the command line, with commas between them.

    Raises
    ------
    UserError
        For a name that is not known.
    """
    found = tuple(word.split(","))
    for name in found:
        if name not in (several := tuple(known)):
            raise UserError(unknown(kind, name, several))
    return found


def change_of(stored: dict[str, float | None]) -> Change:
    """Return a change that was kept as JSON, which has no word for numbers that are not finite."""
    return Change(**{name: math.nan if value is None else value for name, value in stored.items()})


@contextmanager
def opened(run: Path) -> Iterator[SearchedDesign]:
    """Open a finished design: all that its searches found, nothing of it searched again."""
    with RunFolder.resume(run, command="design") as folder:
        job = setup(stored_settings("design", folder.config))
        yield searched(Bench(job, folder, quiet=True))


def fresh_situations(job: Setup, draws: int) -> Blocks:
    """Return situations that the design did not see [seed][situation], of the kind that its verdict judged in.

    Draws from the declared ranges, each a seed of its own; where the named unforeseen situations decide, repetitions
    of these with random numbers of their own, about `draws` in all.
    """
    if job.judged == "drawn":
        return [(one,) for one in ranges.draws(job.config, job.plant, job.ranges, draws, "afterwards")]
    first, n = job.config.budget.verdict_seeds, len(job.sets["unforeseen"])
    return [job.repetition("unforeseen", first + number) for number in range(-(-draws // n))]


@dataclass(frozen=True)
class FreshRollouts:
    """One controller's rollouts in fresh situations.

    Attributes
    ----------
    sample : Sample
        As a verdict compares them.
    entropy : ndarray [seed, situation]
        Magnitude of the entropy production difference.
    """

    sample: Sample
    entropy: np.ndarray


def rollouts(design: SearchedDesign, one: Tuned, blocks: Blocks) -> FreshRollouts:
    """Return what a controller does in situations [seed][situation], each seed with as many."""
    fitness, parts = design.reference.fitness, []
    situations = [situation for block in blocks for situation in block]
    for first in range(0, len(situations), _AT_ONCE):
        some = situations[first : first + _AT_ONCE]
        quality = quality_in(design.bench, one, one.theta, some, fitness.entropy_scale)
        measures = (quality.until_lost[name] for name in ("total_variation", fitness.error, ENTROPY))
        parts.append((fitness.per_situation(quality), np.isfinite(quality.diverged_at), *measures))
    table = [np.concatenate(column).reshape(len(blocks), -1) for column in zip(*parts, strict=True)]
    value, failed, travel, error, entropy = table
    weighed = error if fitness.error in fitness.terms else None
    return FreshRollouts(Sample(value, travel, failed, error=weighed, error_name=fitness.error.upper()), entropy)
