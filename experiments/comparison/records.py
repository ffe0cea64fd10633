"""Controllers of a finished design, to be run again: in other situations, or to be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sscq
from controllers import ConstantGains, Controller, gain_names
from controllers.state_feedback import DemandLaw
from experiments import formats
from experiments.judging import RIVAL
from experiments.launch import stored_settings
from experiments.setup import setup
from flcs import FuzzyController, KnowledgeBase
from plants import with_rival

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from plants import Plant, Rival
    from plants.core.trajectory import Trajectory


@dataclass(frozen=True)
class Driver:
    """A controller on its plant, with its numbers [n_theta]."""

    title: str
    plant: Plant
    controller: Any
    theta: np.ndarray

    def record(self, situation: sscq.Situation) -> Trajectory:
        """Return everything about one rollout over time, in the plant's own step."""
        return sscq.record(self.plant, self.controller, self.theta[None], situation, step=self.plant.step)


def drivers(run: Path, names: Sequence[str]) -> dict[str, Driver]:
    """Return controllers of a finished design: "fixed", "knowledge_base" or "knowledge_base_free", and rivals."""
    job = setup(stored_settings("design", formats.read_json(run / "config.json")["config"]))
    told = formats.read_json(run / "metrics.json")["controllers"]
    rivals = {RIVAL + rival.name: rival for rival in job.plant.rivals}
    found = {}
    for name in names:
        theta = np.array(told[name]["theta"], float)
        if name in rivals:
            found[name] = Driver(told[name]["title"], *law_of_field(job.plant, rivals[name]), theta)
        elif name == "fixed":
            controller = Controller(job.laws, ConstantGains(gain_names(job.laws)))
            found[name] = Driver(told[name]["title"], job.plant, controller, theta)
        else:
            file = {"knowledge_base": "knowledge_base", "knowledge_base_free": "knowledge_base_free_travel"}[name]
            fuzzy = FuzzyController(KnowledgeBase.load(run / f"{file}.json"), laws=job.laws)
            found[name] = Driver(told[name]["title"], job.plant, fuzzy, np.asarray(fuzzy.theta))
    return found


def law_of_field(plant: Plant, rival: Rival) -> tuple[Plant, Controller]:
    """Return the plant that a law of its field drives, and the controller that carries the law's constants."""
    driven = with_rival(plant, rival)
    laws = tuple(DemandLaw(limits=(channel.low, channel.high)) for channel in driven.channels)
    return driven, Controller(laws, ConstantGains(gain_names(laws)))


def constants_as_theta(rival: Rival, controller: Controller, constants: np.ndarray) -> np.ndarray:
    """Return parameters [n, n_theta] that carry constants [n, n_constants]."""
    theta = np.zeros((len(constants), controller.n_theta))
    theta[:, : 2 * len(rival.constants) : 2] = constants
    return theta
