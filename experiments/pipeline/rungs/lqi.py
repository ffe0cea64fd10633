"""State feedback with integral action: what could be had if every state were measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from experiments.pipeline.rungs.rung import Rungs, searched
from sscq.baselines.candidates import Candidate
from sscq.baselines.lqi import NoLqiError, lqi_problem
from sscq.baselines.tuned import Tuned

if TYPE_CHECKING:
    from experiments.pipeline.bench import Bench
    from sscq.baselines.lqi import LqiProblem
    from sscq.fitness import Fitness

TITLE = "state feedback (LQI): measures all states, upper reference"
_WEIGHTS = (1e-5, 1e5)  # of the commands, against half their range for one scale of the errors
_FASTEST = 10.0  # samples: the shortest integral time
_SHORTEST = 1e-4  # horizons: a rate time that does not count
# Weight; integral and rate time in horizons.
_START = ((1e-2, 0.03, 1e-3), (1.0, 0.03, 1e-3), (1.0, 0.1, 0.02), (1.0, 0.3, 1e-3), (1e2, 0.3, 1e-3))


def rungs(bench: Bench, fixed: Tuned, equal: Fitness) -> Rungs:
    """Return the rung, or the reason why there is none."""
    setup = bench.setup
    free = (setup.high > setup.low).reshape(-1, 3)[:, 1]
    try:
        problem = lqi_problem(setup.plant, setup.laws, setup.sets["taught"], setup.step, free.tolist())
    except NoLqiError as error:
        return Rungs(notes=(f"{TITLE}: none, {error}",))
    candidate = _candidate(bench, problem)
    if not len(candidate.start):
        return Rungs(notes=(f"{TITLE}: none, no weights give a feedback that holds the plant {problem.point}",))
    entry = searched(bench, "lqi", candidate, problem.plant, fixed, equal)
    text = f"linearised {problem.point}; three weights searched; no knowledge base can see what it sees"
    contender = Tuned(
        "lqi", TITLE, text, problem.controller, entry.theta, entry.evaluations, len(candidate.low), plant=problem.plant
    )  # fmt: skip
    delay = problem.schedule.delay
    late = f", predicts over {delay} samples of dead time" if delay else ""
    note = (
        f"{TITLE}: linearised {problem.point}{late}; it cannot be recommended; the fitness counts as entropy that it "
        "gives only what of its feedback acts on the output's rate"
    )
    return Rungs((contender,), (note,))


def _candidate(bench: Bench, problem: LqiProblem) -> Candidate:
    """Genes are the weight of the commands, integral and rate time [s]; where they give no feedback there is none."""
    horizon = max(s.t_end for s in bench.setup.sets["taught"])
    low = np.array([_WEIGHTS[0], _FASTEST * problem.schedule.sample_time, _SHORTEST * horizon])
    high = np.array([_WEIGHTS[1], horizon, horizon])
    nothing = np.zeros(len(problem.schedule.theta_names))

    def decode(genomes: np.ndarray) -> np.ndarray:
        found = [problem.theta(*genome) for genome in genomes.tolist()]
        return np.array([nothing if theta is None else theta for theta in found])

    wanted = np.clip(np.array(_START) * (1.0, horizon, horizon), low, high)
    start = np.array([row for row in wanted.tolist() if problem.theta(*row) is not None]).reshape(-1, 3)
    return Candidate("lqi", TITLE, problem.controller, low, high, start, "log", decode)
