"""Controllers of a finished design as it has stored them, to be run again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.cases.kb_case import KB_FILES
from experiments.runtime.errors import UserError
from flcs import FuzzyController, KnowledgeBase
from sscq.baselines.candidates import fixed, table, two_degree, variables

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from experiments.settings import Setup


def stored_controller(run: Path, job: Setup, name: str, told: Mapping[str, Any]) -> tuple[Any, np.ndarray]:
    """Return a controller of a finished design and its numbers [n_theta], from what its metrics tell of it.

    Parameters
    ----------
    run : Path
    job : Setup
        Of this or of another design of the plant with the same laws.
    name : str
        Constant gains, "two_degree", "table", or a knowledge base.
    told : mapping
        Its title and numbers.

    Raises
    ------
    UserError
        For a gain table over a variable that the plant does not have.
    """
    if name in KB_FILES:
        fuzzy = FuzzyController(KnowledgeBase.load(run / KB_FILES[name]), laws=job.laws)
        return fuzzy, np.asarray(fuzzy.theta)
    box, theta = (job.low, job.high, job.low), np.array(told["theta"], float)
    if name == "table":
        tables = (table(job.laws, *box, variable, job.tick) for variable in variables(job.plant))
        found = next((one.controller for one in tables if one.title == told["title"]), None)
        if found is None:
            raise UserError(f"{run}: {job.plant.name} has no {told['title']}")
        return found, theta
    kind = two_degree if name == "two_degree" else fixed
    return kind(job.laws, *box).controller, theta
