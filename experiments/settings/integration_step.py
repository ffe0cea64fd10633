"""The integration step of a design, before anything is searched, apart from the controller's sample time.

A step too coarse for the plant loses rollouts or bends their numbers, and the verdict with them; so the plant's modes
are looked at as `sscq check` does.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import plants
from experiments.runtime.errors import UserError, tell
from plants.core.checks.motion import advised_steps

if TYPE_CHECKING:
    from configs.schema import DesignConfig

_WHOLE = 1e-9  # relative: a ratio of times that differs less from a whole number is one
_IMPLICIT = ("rosenbrock",)  # integrators whose step stability does not bound


def settle_step(config: DesignConfig) -> None:
    """Settle step and sample time of a new design; both stand in `config` afterwards.

    Null for the sample time is the plant's own step where the given one divides it, so that a finer step is a finer
    step and nothing else. A step that is too coarse is refused, taken finer, or accepted, as `config.coarse_step` says.

    Raises
    ------
    UserError
        If the step is too coarse; with the step that would do.
    """
    plant, step = plants.find(config.plant_name), config.integration_step
    if config.controller.sample_time is None:
        ratio = plant.step / step
        whole = ratio >= 1.0 and abs(ratio - round(ratio)) <= _WHOLE * ratio
        settled = plant.step if whole else step
        config.controller.sample_time = settled  # type: ignore[attr-defined]  # a part's settings are fields unseen
        if whole and round(ratio) > 1 and not config.quiet:
            tell(
                f"step {step:g} s; sample time {plant.step:g} s, the plant's own (controller.sample_time= sets another)"
            )
    advised = None if config.integrator in _IMPLICIT else advised_steps(plant)
    if advised is None or step <= advised[1] * (1.0 + _WHOLE):
        return
    parts = math.ceil(step / advised[0] * (1.0 - _WHOLE))  # of the step: the finer one divides what it divides
    finer = float(f"{step / parts:.12g}")
    told = (
        f"step={step:g} s is too coarse for plant {plant.name!r}: {config.integrator} is accurate at {advised[0]:g} s, "
        f"usable up to {advised[1]:g} s"
    )
    if config.coarse_step == "refuse":
        raise UserError(
            f"{told}. Say step={finer:g} (the sample time stays {config.controller.sample_time:g} s) or "
            "coarse_step=refine, which takes it; coarse_step=accept goes on as it is; "
            "for stiff plants there is integrator=rosenbrock"
        )
    if config.coarse_step == "refine":
        config.step = finer
        told = f"{told}; taken: step={finer:g}, and the sample time stays {config.controller.sample_time:g} s"
    tell(told if config.coarse_step == "refine" else f"warning: {told}; results may be wrong")
