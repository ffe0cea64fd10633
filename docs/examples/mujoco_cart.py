"""A pendulum on a cart in MuJoCo, and a model of it whose masses are to be fitted.

    sscq surrogate --plant-file docs/examples/mujoco_cart.py --model cart_and_pole_model --fit cart,pole \
        --horizon 4 --set budget=small --output runs/mujoco_cart

The model file has a motor for each channel, both on the cart: each command tips the pole to the positive side.
"""

from dataclasses import replace
from pathlib import Path

import plants
from plants import Quantity
from plants.adapters.mujoco_model import from_mujoco

KNOWN = plants.get("cart_pole")
COMMANDS = tuple(Quantity(f"force_for_{c.output}", "N", 0.0, c.low, c.high) for c in KNOWN.channels)


def on_cart(u, w):
    """All forces on the cart [N]."""
    return (w[0] - u[0] - u[1],)


def force(t, x, u, w, p):
    """All that carries no acceleration: force on the cart [N], torque on the pole [N m]."""
    return KNOWN.force(t, x, on_cart(u, w), (0.0,), p)


def supplied_power(t, x, u, w, p):
    """Power of motors and push [W]."""
    return KNOWN.supplied_power(t, x, on_cart(u, w), (0.0,), p)


SLOW = from_mujoco(
    Path(__file__).with_name("two_motors.xml"),
    "cart_in_mujoco",
    channels=KNOWN.channels,
    pushed=("position",),
    regions={"position": (-2.4, 2.4), "angle": (-1.2, 1.2)},
    measurements=KNOWN.states,
)
plants.register(
    replace(
        KNOWN, name="cart_and_pole_model", inputs=COMMANDS, allocate=None, derivative=None, force=force,
        supplied_power=supplied_power, operating_points=(), rivals=(),
        disturbances=(replace(KNOWN.disturbances[0], name="push_position"),), scene=None, shown=(),
        ranges=replace(KNOWN.ranges, excitation={"push_position": KNOWN.ranges.excitation["wind"]}),
    )
)  # fmt: skip
