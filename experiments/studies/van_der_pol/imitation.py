"""What imitation alone comes to in the Van der Pol study: rounds of teaching.

    python -m experiments.studies imitation    # dataset aggregation, four rounds, three seeds

Runs go into runs/imitation_study; stages that are there are not repeated. More words are settings, as of `sscq design`.
Fitness J in the taught and the unforeseen situations as declared; the best fixed gains reach 4.83 and 5.83.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from experiments.pipeline import aggregation, knowledge
from experiments.pipeline.bench import Bench
from experiments.pipeline.ladder import Reference
from experiments.runtime.run_folder import RunFolder
from experiments.settings import setup
from experiments.starting.opening import configured
from flcs import FuzzyController
from sscq.baselines.tuned import Tuned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.settings import Setup

SEEDS, ROUNDS = (0, 1, 2), 4
FIXED = (3.62, 0.59, 3.17)  # the best fixed gains of the study, by two independent programs
_NETWORKS = {
    "least squares alone": ("network.rounds=0", "network.prior_weight=0", "network.keep_firing=1"),
    "the network as it stands": (),
}


def fitness(job: Setup, controller: Any, theta: Any = ()) -> tuple[float, float]:
    """Return J in the taught and in the unforeseen situations."""
    values = []
    for kind in ("taught", "unforeseen"):
        quality = job.task(kind).quality(controller, np.asarray(theta, float)[None])
        values.append(float(job.fitness(quality)[0]))
    return values[0], values[1]


def bench(name: str, overrides: Sequence[str]) -> Bench:
    """Return the study's bench with its run folder open."""
    given = ["experiment=van_der_pol_study", "budget=small", *overrides]
    config = configured("design", given)
    mark = crc32("\n".join(given).encode())  # other settings are another run
    path = Path("runs") / "imitation_study" / f"{name}-{mark:08x}"
    if path.is_dir():
        return Bench(setup(config), RunFolder.resume(path, command="design"), quiet=True)
    folder = RunFolder.create(path, command="design", config={"overrides": list(overrides)})
    return Bench(setup(config), folder, quiet=True)


def main(words: Sequence[str]) -> None:
    """Print J of the knowledge base by imitation after each round of teaching."""
    for title, network in _NETWORKS.items():
        print(f"{title}: J taught / unforeseen after each round; chosen on validation", flush=True)
        for seed in SEEDS:
            one = bench(f"rounds-{len(network)}-{seed}", [*network, f"teacher.rounds={ROUNDS}", f"seed={seed}", *words])
            with one.folder:
                lessons = aggregation.taught(one, *_start(one.setup))
                rounds = one.setup.config.teacher.rounds
                kbs = [knowledge.stored(one.folder.path, number) for number in range(1, rounds + 1)]
            values = [fitness(one.setup, c, c.theta) for c in (FuzzyController(kb, laws=one.setup.laws) for kb in kbs)]
            best = int(np.argmin(lessons.fitness)) + 1
            print(f"  seed {seed}  {_row(values)}   round {best}", flush=True)


def _start(job: Setup) -> tuple[Any, Any]:
    theta = np.array(FIXED)
    return Reference(job.fitness, theta[None], None), Tuned("fixed", "fixed PID", theta=theta, evaluations=0)


def _row(values: Sequence[tuple[float, float]]) -> str:
    return "   ".join(f"{taught:5.2f} / {unforeseen:5.2f}" for taught, unforeseen in values)
