"""The plant itself: names, bounds, channels and blocks put together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from plants.core.plant import Plant
from plants.core.presentation import Presentation
from plants.core.quantities import Channel, ControlTask, OperatingPoint, Quantity
from plants.core.registry import register
from plants.suspension import energy, motion, signals
from plants.suspension.parameters import C_MAX, C_MIN, CS_FRONT, CS_REAR, PARAMETERS, WHEELS
from plants.suspension.rivals import RIVALS
from plants.suspension.scene import SHOWN, scene
from plants.suspension.signals import FORCE_MAX, REST, coordinated, measures
from plants.suspension.tasks import RANGES, SITUATIONS, with_struts

if TYPE_CHECKING:
    from plants.core.plant import Block


_TEXTS = ("height of the reference point", "pitch, positive nose down", "roll, positive left side up")
_STATES = (
    Quantity("z0", "m", REST[0], 0.05, 1.05, _TEXTS[0]),
    Quantity("beta", "rad", REST[1], -0.5, 0.5, _TEXTS[1]),
    Quantity("alpha", "rad", REST[2], -0.5, 0.5, _TEXTS[2]),
    *(Quantity(f"theta_{n}", "rad", REST[3 + k], -0.8, 0.8, "angle of the arm") for k, n in enumerate(WHEELS)),
    Quantity("z0_rate", "m/s", 0.0, -10.0, 10.0),
    Quantity("beta_rate", "rad/s", 0.0, -10.0, 10.0),
    Quantity("alpha_rate", "rad/s", 0.0, -10.0, 10.0),
    *(Quantity(f"theta_{n}_rate", "rad/s", 0.0, -50.0, 50.0) for n in WHEELS),
)
_INPUTS = (
    *(
        Quantity(f"c_{n}", "N s/m", CS_FRONT if k < 2 else CS_REAR, C_MIN, C_MAX, "setting of the damper")
        for k, n in enumerate(WHEELS)
    ),
    *(Quantity(f"f_{n}", "N", 0.0, -FORCE_MAX, FORCE_MAX, "active force along the strut") for n in WHEELS),
)
_DISTURBANCES = (
    *(Quantity(f"R_{n}", "m", 0.01, text="height of the road under the wheel; its usual size") for n in WHEELS),
    *(Quantity(f"Rdot_{n}", "m/s", 0.2, text="rate of that height: its exact derivative") for n in WHEELS),
)
# Commands are newtons per strut. A damper holds nothing up, so integral action has little to do here.
_CHANNELS = (
    Channel(
        output="heave", rate="heave_rate", scale=0.02, low=-FORCE_MAX, high=FORCE_MAX, collocated=False,
        gains_high=(320e3, 20e3, 16e3),
    ),
    Channel(
        output="pitch", rate="pitch_rate", scale=0.02, low=-FORCE_MAX, high=FORCE_MAX, collocated=False,
        gains_high=(400e3, 50e3, 40e3),
    ),
    Channel(
        output="roll", rate="roll_rate", scale=0.02, low=-FORCE_MAX, high=FORCE_MAX, collocated=False,
        gains_high=(320e3, 15e3, 12e3),
    ),
)  # fmt: skip
# What the struts' own heave, pitch and roll add to dampers at their base: stiffness, softness or damping of each mode.
_STRUT_CHANNELS = tuple(
    Channel(
        output=f"strut_{mode}", rate=f"strut_{mode}_rate", scale=0.01, low=-FORCE_MAX, high=FORCE_MAX,
        collocated=False, gains_low=(-50e3, 0.0, -2e3), gains_high=(300e3, 0.0, 4e3),
    )
    for mode in ("heave", "pitch", "roll")
)  # fmt: skip


class _Blocks(NamedTuple):
    """The blocks in which it counts whether tyres can pull."""

    force: Block
    outputs: Block
    energy: Block
    supplied_power: Block
    entropy_rate: Block


_PULLING_TYRES = _Blocks(
    motion.force,
    signals.outputs,
    energy.energy,
    energy.supplied_power,
    energy.entropy_rate,
)
_PUSHING_TYRES = _Blocks(
    motion.force_unilateral,
    signals.outputs_unilateral,
    energy.energy_unilateral,
    energy.supplied_power_unilateral,
    energy.entropy_rate_unilateral,
)


def suspension(*, unilateral: bool = False, active: bool = False, base: float = 0.0, together: bool = False) -> Plant:
    """Return the full car.

    Parameters
    ----------
    unilateral : bool
        Tyres push only; needed where a wheel may leave the road. Left out, they also pull, as in the source.
    active : bool
        Commands become forces of active struts, beside dampers as built. Left out, they become damper settings.
    base : float
        Setting [N s/m] beside which commands ask for forces; see :func:`plants.suspension.signals.allocation`.
    together : bool
        Settings are chosen together (:mod:`plants.suspension.signals`), and heave, pitch and roll of the body over
        its wheels have loops of their own, which give each mode a stiffness and a damping beside the base.

    Returns
    -------
    Plant
        Called "suspension", with "_unilateral" and "_active", "_base" or "_together" behind it.

    Raises
    ------
    ValueError
        For active struts with a base or settings chosen together, which are about dampers.
    """
    if active and (base or together):
        raise ValueError("active struts have no damper settings: leave out base and together, or active")
    tail = "_unilateral" if unilateral else ""
    kind = "_active" if active else "_together" if together else "_base" if base else ""
    allocate = coordinated(base) if together else signals.allocation(base)
    blocks = _PUSHING_TYRES if unilateral else _PULLING_TYRES
    return Plant(
        name=f"suspension{tail}{kind}",
        step=0.001,
        states=_STATES,
        parameters=PARAMETERS,
        inputs=_INPUTS,
        disturbances=_DISTURBANCES,
        measurements=signals.MEASUREMENTS,
        channels=(*_CHANNELS, *_STRUT_CHANNELS) if together else _CHANNELS,
        velocities=motion.VELOCITIES,
        kinematics=motion.kinematics,
        mass_matrix=motion.mass_matrix,
        force=blocks.force,
        outputs=blocks.outputs,
        energy=blocks.energy,
        supplied_power=blocks.supplied_power,
        entropy_rate=blocks.entropy_rate,
        allocate=signals.allocate_active if active else allocate,
        # A damper at rest gives no force whatever its setting: only active struts have a linear loop to ask margins of.
        task=ControlTask(
            operating_points=(OperatingPoint("rest", REST),) if active else (),
            situations=with_struts(SITUATIONS) if together else SITUATIONS,
            ranges=RANGES,
            measures=measures(blocks.outputs),
            rivals=() if active else RIVALS,
            trade_off=("ride_comfort", "tyre_load_variation"),
        ),
        presentation=Presentation(scene=scene(unilateral=unilateral), signals=SHOWN),
        text="Full car on four swing-arm suspensions with adjustable dampers; after US 2004/0039555 A1, Fig. 8.",
    )


BASE = 1500.0
"""N s/m: what the taught roads want beside forces that damp the body, for comfort at a moderate tyre-load variation."""
BASE_TOGETHER = 2000.0
"""N s/m: the same where settings are chosen together and the struts' modes have loops."""

SUSPENSION = register(suspension())
register(
    suspension(unilateral=True),
    tasks={
        "base": suspension(unilateral=True, base=BASE),
        "together": suspension(unilateral=True, base=BASE_TOGETHER, together=True),
    },
)
