"""Laws of the plant's own field, such as sky-hook damping: their constants are tuned with the budget that ours have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from controllers import ConstantGains, Controller, gain_names
from controllers.state_feedback import DemandLaw
from experiments.pipeline.judged_rollouts import RIVAL
from experiments.pipeline.rungs.rung import Rungs, searched
from plants import with_rival
from sscq.baselines.candidates import Candidate
from sscq.baselines.tuned import Tuned

if TYPE_CHECKING:
    from experiments.pipeline.bench import Bench
    from plants import Plant, Rival
    from sscq.fitness import Fitness

_STARTS = 8  # random constants beside the nominal ones


def rungs(bench: Bench, fixed: Tuned, equal: Fitness) -> Rungs:
    """Return one rung for each rival of the plant; none for a plant without."""
    found = [_rung(bench, fixed, equal, rival) for rival in bench.setup.plant.rivals]
    if not found:
        return Rungs()
    note = (
        "Laws of the plant's own field hold their constants, so they count no actuator travel and no entropy of a "
        "controller; their constants are tuned with one search's evaluations and chosen by validation, as all but the "
        "fixed PID are, which is the better of two searches"
    )
    return Rungs(tuple(found), (note,))


def _rung(bench: Bench, fixed: Tuned, equal: Fitness, rival: Rival) -> Tuned:
    plant = with_rival(bench.setup.plant, rival)
    candidate = candidate_of(bench, plant, rival)
    name = f"{RIVAL}{rival.name}"
    if not rival.constants:
        nothing = np.zeros(candidate.controller.n_theta)
        return Tuned(name, rival.title, rival.text, candidate.controller, nothing, 0, 0, plant=plant)
    entry = searched(bench, name, candidate, plant, fixed, equal)
    return Tuned(
        name, rival.title, f"{rival.text}; {_constants(rival, entry)}", candidate.controller, entry.theta,
        entry.evaluations, len(candidate.low), plant=plant,
    )  # fmt: skip


def _constants(rival: Rival, entry: Tuned) -> str:
    pairs = zip(rival.constants, entry.theta[::2].tolist(), strict=False)
    return ", ".join(f"{constant.name} = {value:.4g} {constant.unit}" for constant, value in pairs)


def candidate_of(bench: Bench, plant: Plant, rival: Rival) -> Candidate:
    """Return what a search varies of a rival: its constants, from the nominal and a few random ones."""
    laws = tuple(DemandLaw(limits=(channel.low, channel.high)) for channel in plant.channels)
    controller = Controller(laws, ConstantGains(gain_names(laws)))
    low, high = (np.array([getattr(c, end) for c in rival.constants]) for end in ("low", "high"))
    nominal = np.clip([c.nominal for c in rival.constants], low, high)
    rng = np.random.default_rng(bench.setup.seed)
    start = np.vstack([nominal, low + (high - low) * rng.random((_STARTS, len(low)))])

    def decode(genomes: np.ndarray) -> np.ndarray:
        theta = np.zeros((len(genomes), controller.n_theta))
        theta[:, : 2 * len(low) : 2] = genomes  # demand and kd of each channel in turn
        return theta

    return Candidate(rival.name, rival.title, controller, low, high, start, "linear", decode)
