"""Authority as far as one Lyapunov function is found for: gains that may move in their hull however fast.

With `assurance.authority=certified` each refined knowledge base is held to it, beside the margins. Less authority
shrinks the hull of the rules towards the reference gains; where not even these have a function, none is left. With
`required` the search itself looks for rules that have one, instead of shrinking what it has found without.
"""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from experiments.pipeline.assurance.stability import certified_situations
from experiments.runtime.errors import UserError
from flcs import FuzzyController
from flcs.refinement.refinement import not_worse, with_whole_authority
from sscq.certificates.certify import certified, frozen_family, largest_authority
from sscq.certificates.constraint import LyapunovSet, roomiest

if TYPE_CHECKING:
    from collections.abc import Callable

    from configs.schema import DesignConfig
    from experiments.settings import Setup
    from flcs import KnowledgeBase
    from plants import Plant
    from sscq.baselines.objective import Task
    from sscq.certificates.certify import FrozenFamily

CERTIFIED, REQUIRED = "certified", "required"

ROUNDS = 2
_FREE = 0.5  # of a refinement's evaluations: where the rules want to go, and so which Lyapunov function shall have room


def check(config: DesignConfig, plant: Plant) -> None:
    """Raise UserError where authority cannot be certified, before anything is searched."""
    asked = config.assurance.authority
    if asked not in {CERTIFIED, REQUIRED}:
        return
    if not plant.operating_points:
        raise UserError(
            f"assurance.authority={asked} asks for frozen loops about points of rest, and plant {plant.name!r} "
            "declares no operating_points; declare some, or leave assurance.authority=margins"
        )
    if find_spec("clarabel") is None:
        raise UserError(f'assurance.authority={asked} needs a solver: pip install "sscq[assurance]"')


def free_share(setup: Setup) -> float:
    """Return which share of a refinement's evaluations is searched without a Lyapunov function."""
    return _FREE if setup.config.assurance.authority == REQUIRED else 1.0


def goes_on_freely(setup: Setup, task: Task, kb: KnowledgeBase) -> bool:
    """Whether a function is required, and rules that were searched without one have one at their whole authority."""
    return setup.config.assurance.authority == REQUIRED and held(setup, task, kb) is kb


def within_one(
    setup: Setup, task: Task, kb: KnowledgeBase, search: Callable[[KnowledgeBase, LyapunovSet, int], KnowledgeBase]
) -> KnowledgeBase:
    """Return a knowledge base that was searched on among rules with a common Lyapunov function, where that is asked.

    From the largest authority at which there is one: there, the function is taken that leaves the most room around the
    rules, and the search may use all of it; then once more from where it arrived.

    Parameters
    ----------
    setup : Setup
    task : Task
    kb : KnowledgeBase
        Searched without a Lyapunov function.
    search : callable (start, gain sets to keep within, number of the round) -> knowledge base
    """
    if setup.config.assurance.authority != REQUIRED or kb.inference.authority == 0.0:
        return kb
    for number in range(ROUNDS):
        start = with_whole_authority(held(setup, task, kb))
        family = _family(setup, start)
        reference = np.concatenate([base.reference for base in start.channels])
        found = roomiest(family, reference)
        if found is None or found.P is None:  # not even of the reference gains, or of them alone
            return start
        kb = search(start, LyapunovSet.of(family, found.P, reference), number)
    return kb


def held(setup: Setup, task: Task, kb: KnowledgeBase) -> KnowledgeBase:
    """Return a knowledge base with no more authority than a certificate was found for, where that is asked.

    Parameters
    ----------
    setup : Setup
    task : Task
        Where what is left is worse in it than the reference gains, nothing is left.
    kb : KnowledgeBase
    """
    if setup.config.assurance.authority not in {CERTIFIED, REQUIRED} or kb.inference.authority == 0.0:
        return kb
    if certified(_family(setup, kb), by_point=False, largest=False).holds:
        return kb
    controller, situations = FuzzyController(kb, laws=setup.laws), certified_situations(setup)
    less = largest_authority(setup.plant, controller, situations, step=setup.step, largest=False)
    share = 0.0 if less is None else less.authority
    return not_worse(task, replace(kb, inference=replace(kb.inference, authority=share)), setup.laws)


def _family(setup: Setup, kb: KnowledgeBase) -> FrozenFamily:
    controller = FuzzyController(kb, laws=setup.laws)
    return frozen_family(setup.plant, controller, None, certified_situations(setup), step=setup.step)
