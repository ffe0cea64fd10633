"""Whether a verdict's interval covers what happens afterwards: designs, then draws that no design has seen.

    python -m experiments.studies coverage                     # all plants and seeds, and the page
    python -m experiments.studies coverage fopdt,van_der_pol   # some plants, printed only

Each plant is designed with several search seeds (`sscq design budget=small`, run folders are kept and gone on with).
Afterwards the controller that the verdict speaks of is compared with the fixed PID in draws made from the declared
ranges with new seeds: the recommended one or, where the verdict is to use the fixed gains, the knowledge base.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from experiments.pipeline.ladder import Bench
from experiments.pipeline.search_stages import SearchedDesign, searched
from experiments.runtime.errors import UserError
from experiments.runtime.launch import stored_settings
from experiments.runtime.run_folder import RunFolder
from experiments.runtime.tables import markdown_table, text_table
from experiments.settings import setup
from experiments.studies.engine.changes import percent
from experiments.studies.engine.template import Template
from plants.core import atomic_files
from sscq.loop.closed_loop import ClosedLoop
from sscq.verdict.verdict import Comparison, Sample, compare
from sscq.worst.drawing import drawn_situations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sscq.baselines.tuned import Tuned
    from sscq.situations.situation import Situation

TEMPLATE = Template.of("coverage")
_AT_ONCE = 250  # situations simulated together
_HEAD = (
    "plant",
    "seed",
    "judged",
    "verdict",
    "claimed change of J",
    "afterwards",
    "covered",
    "worst 5 % afterwards",
    "new failures",
)


@dataclass(frozen=True)
class Claim:
    """What a verdict said of a controller, and what came afterwards.

    Attributes
    ----------
    plant, title : str
    seed : int
    recommended : bool
    claimed, found : Comparison
        With the fixed PID: in the verdict's draws, and in those made afterwards.
    """

    plant: str
    seed: int
    title: str
    recommended: bool
    claimed: Comparison
    found: Comparison

    @property
    def covered(self) -> bool:
        """Whether the claimed interval of the mean holds the change found afterwards."""
        return self.claimed.headline.low <= self.found.mean.value <= self.claimed.headline.high

    @property
    def kept(self) -> bool:
        """Whether a recommended controller is no worse than the fixed PID in the mean and in the worst 5 %."""
        return not self.recommended or max(self.found.mean.value, self.found.tail.value) <= 0.0

    def row(self) -> tuple[str, ...]:
        """Return the cells of the table."""
        return (
            self.plant,
            str(self.seed),
            self.title,
            "recommended" if self.recommended else "use the fixed gains",
            percent(self.claimed.headline),
            percent(self.found.mean),
            "yes" if self.covered else "NO",
            percent(self.found.tail) + ("" if self.kept else " WORSE"),
            str(self.found.new_failures),
        )


def claim(run: Path, draws: int) -> Claim:
    """Return what a finished design claims, beside `draws` situations made now."""
    with RunFolder.resume(run, command="design") as folder:
        job = setup(stored_settings("design", folder.config))
        design = searched(Bench(job, folder, quiet=True))
        verdict = design.judged().verdict
    recommended = verdict.recommended != verdict.baseline
    name = verdict.recommended if recommended else "knowledge_base"
    group = {one.name: one for one in design.group}
    situations = drawn_situations(job.plant, job.ranges, draws, job.seed, "afterwards")
    one, fixed = (_sample(design, group[key], situations) for key in (name, verdict.baseline))
    found = compare(one, fixed, job.seed)
    return Claim(job.plant.name, job.seed, group[name].title, recommended, verdict.comparisons[name], found)


def _sample(design: SearchedDesign, one: Tuned, situations: Sequence[Situation]) -> Sample:
    """Fitness, travel and failures [situation, 1] of a controller."""
    setup, fitness, parts = design.bench.setup, design.reference.fitness, []
    measures = (*fitness.measures, "total_variation")
    for first in range(0, len(situations), _AT_ONCE):
        loop = ClosedLoop(
            one.plant or setup.plant,
            one.controller,
            situations[first : first + _AT_ONCE],
            setup.step,
            measures=tuple(dict.fromkeys(measures)),
            entropy_scale=fitness.entropy_scale,
            **setup.options,
        )
        quality = loop.evaluate(one.theta[None], setup.threads)
        failed = np.isfinite(quality.diverged_at)
        parts.append((fitness.per_situation(quality), quality.until_lost["total_variation"], failed))
    return Sample(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def main(words: Sequence[str]) -> None:
    """Design what is missing, judge afterwards, print the table; without words write the page."""
    head = TEMPLATE.head
    plants = words[0].split(",") if words else head["plants"]
    claims = []
    for plant in plants:
        for seed in head["seeds"]:
            run = Path(head["runs"]) / f"{plant}-{seed}"
            _designed(run, plant, seed)
            claims.append(claim(run, head["draws"]))
            print(text_table(_HEAD, [claims[-1].row()]).splitlines()[-1], flush=True)
    rows = [one.row() for one in claims]
    told = {
        "draws": head["draws"],
        "n": len(claims),
        "covered": sum(one.covered for one in claims),
        "recommended": sum(one.recommended for one in claims),
        "worse": sum(not one.kept for one in claims),
    }
    print("covered {covered} of {n}; recommended {recommended}, of these worse afterwards {worse}".format(**told))
    if not words:
        atomic_files.write(Path(head["page"]), TEMPLATE.page({**told, "table": markdown_table(_HEAD, rows)}))


def _designed(run: Path, plant: str, seed: int) -> None:
    """Design a plant, unless its run folder is finished."""
    if (run / "report.html").exists():
        return
    words = [f"resume={run}"] if run.exists() else [f"plant={plant}", "budget=small", f"seed={seed}", f"output={run}"]
    command = [sys.executable, "-m", "experiments.design", *words, "quiet=true"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603  (our own command)
    if done.returncode:
        raise UserError(f"the design of {plant} with seed {seed} failed: {done.stderr.strip() or done.stdout.strip()}")
