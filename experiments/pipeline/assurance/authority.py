"""Authority as far as one Lyapunov function is found for: gains that may move in their hull however fast.

With `assurance.authority=certified` each refined knowledge base is held to it, beside the margins. Less authority
shrinks the hull of the rules towards the reference gains; where not even these have a function, none is left.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from experiments.pipeline.assurance.stability import certified_situations
from experiments.runtime.errors import UserError
from flcs import FuzzyController
from flcs.refinement.refinement import not_worse
from sscq.certificates.certify import certified, frozen_family, largest_authority

if TYPE_CHECKING:
    from configs.schema import DesignConfig
    from experiments.settings import Setup
    from flcs import KnowledgeBase
    from plants import Plant
    from sscq.baselines.objective import Task

CERTIFIED = "certified"


def check(config: DesignConfig, plant: Plant) -> None:
    """Raise UserError where authority cannot be certified, before anything is searched."""
    if config.assurance.authority != CERTIFIED:
        return
    if not plant.operating_points:
        raise UserError(
            f"assurance.authority=certified asks for frozen loops about points of rest, and plant {plant.name!r} "
            "declares no operating_points; declare some, or leave assurance.authority=margins"
        )
    if find_spec("clarabel") is None:
        raise UserError('assurance.authority=certified needs a solver: pip install "sscq[assurance]"')


def held(setup: Setup, task: Task, kb: KnowledgeBase) -> KnowledgeBase:
    """Return a knowledge base with no more authority than a certificate was found for, where that is asked.

    Parameters
    ----------
    setup : Setup
    task : Task
        Where what is left is worse in it than the reference gains, nothing is left.
    kb : KnowledgeBase
    """
    if setup.config.assurance.authority != CERTIFIED or kb.inference.authority == 0.0:
        return kb
    controller = FuzzyController(kb, laws=setup.laws)
    situations = certified_situations(setup)
    family = frozen_family(setup.plant, controller, None, situations, step=setup.step)
    if certified(family, by_point=False, largest=False).holds:
        return kb
    less = largest_authority(setup.plant, controller, situations, step=setup.step, largest=False)
    share = 0.0 if less is None else less.authority
    return not_worse(task, replace(kb, inference=replace(kb.inference, authority=share)), setup.laws)
