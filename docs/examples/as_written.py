"""Three plants as engineers write them: none can be traced, and each is checked, simulated and designed for as it is.

An `if` chain from a valve's data sheet, a bisection inside the equations, a table that NumPy reads::

    sscq check docs/examples/as_written.py --plant heated_air
    sscq design plant_file=docs/examples/as_written.py plant=heated_air budget=small
"""

import math

import numpy as np

from plants import Channel, OperatingPoint, OperatingRanges, Plant, Quantity, register

# ---------------------------------------------------------------------- a heating coil behind an equal-percentage valve

SLOPE = 3.9
"""n_gl of ball valves VAG61: Siemens data sheet N4212en (2019-06-04), p. 4, equal percentage to VDI/VDE 2173."""
SEAT = 0.1  # stroke below which the ball closes: a straight line to 0, our own, for the sheet gives no curve there


def opening(stroke):
    """Share of the valve's largest flow, k_v / k_vs."""
    if stroke <= 0.0:
        return 0.0
    if stroke < SEAT:
        return stroke / SEAT * math.exp(SLOPE * (SEAT - 1.0))
    if stroke < 1.0:
        return math.exp(SLOPE * (stroke - 1.0))
    return 1.0


def heat(stroke):
    """Share of the coil's largest heat: it gives most of it at small flows."""
    share = opening(stroke)
    return share / (share + 0.6 * (1.0 - share))


def heated_air(t, x, u, w, p):
    """Rates of the air's temperature [K/s] and the valve's stroke [1/s]."""
    (temperature, stroke), (capacity, loss, power, lag) = x, p
    return (power * heat(stroke) - loss * (temperature - w[0])) / capacity, (u[0] - stroke) / lag


register(Plant(
    name="heated_air",
    states=(Quantity("temperature", "degC", 15.0, -30.0, 90.0), Quantity("stroke", "1", 0.2, -0.5, 1.5)),
    parameters=(
        Quantity("capacity", "J/K", 3e4, 1e4, 1e5), Quantity("loss", "W/K", 150.0, 50.0, 400.0),
        Quantity("power", "W", 8e3, 2e3, 2e4), Quantity("lag", "s", 20.0, 5.0, 60.0),
    ),
    inputs=(Quantity("position", "1", 0.2, 0.0, 1.0),),
    disturbances=(Quantity("outside", "degC", 5.0, text="temperature outside", rest=5.0),),
    channels=(Channel(
        output="temperature", scale=5.0, low=0.0, high=1.0, collocated=False, gains_high=(0.3, 0.005, 3.0),
    ),),
    operating_points=tuple(OperatingPoint(f"stroke {s}", (5.0 + 8e3 / 150.0 * heat(s), s)) for s in (0.5, 0.7)),
    ranges=OperatingRanges(
        parameters={"loss": (110.0, 200.0), "power": (6e3, 1e4)}, reference={"temperature": (18.0, 40.0)},
    ),
    derivative=heated_air, step=0.5,
    text="Air in a duct, heated by a coil behind an equal-percentage ball valve.",
))  # fmt: skip

# --------------------------------------------------------------------- a tank that drains through a long, rough pipe

GRAVITY = 9.81


def friction(speed, diameter, roughness):
    """Darcy's friction factor: laminar, or by Haaland (J. Fluids Eng. 105, 1983, 89-90)."""
    reynolds = speed * diameter / 1.0e-6
    if reynolds < 2300.0:
        return 64.0 / max(reynolds, 1e-3)
    return (-1.8 * math.log10((roughness / diameter / 3.7) ** 1.11 + 6.9 / reynolds)) ** -2


def outflow(level, diameter, length, roughness):
    """Speed in the pipe [m/s] at which its losses use up the level: bisected until nothing changes any more."""
    if level <= 0.0:
        return 0.0
    low, high = 0.0, math.sqrt(2.0 * GRAVITY * level)
    while high - low > 1e-10 * high:
        middle = 0.5 * (low + high)
        losses = 1.5 + friction(middle, diameter, roughness) * length / diameter
        if 0.5 * middle * middle * losses > GRAVITY * level:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)


def drained(t, x, u, w, p):
    """Rates of the level [m/s] and the pump's flow [m^3/s^2]."""
    (level, flow), (area, diameter, length, roughness, lag) = x, p
    out = 0.25 * math.pi * diameter**2 * outflow(level, diameter, length, roughness)
    return (flow - out + w[0]) / area, (u[0] - flow) / lag


register(Plant(
    name="drained_tank",
    states=(Quantity("level", "m", 0.8, -0.2, 3.0), Quantity("flow", "m^3/s", 0.002, -0.01, 0.03)),
    parameters=(
        Quantity("area", "m^2", 0.03, 0.01, 0.1), Quantity("diameter", "m", 0.05, 0.03, 0.08),
        Quantity("length", "m", 20.0, 5.0, 60.0), Quantity("roughness", "m", 5e-5, 1e-6, 5e-4),
        Quantity("lag", "s", 2.0, 0.5, 10.0),
    ),
    inputs=(Quantity("pump", "m^3/s", 0.002, 0.0, 0.01),),
    disturbances=(Quantity("rain", "m^3/s", 3e-4, text="a flow beside the pump's"),),
    channels=(Channel(
        output="level", scale=0.3, low=0.0, high=0.01, collocated=False, gains_high=(0.1, 0.005, 0.2),
    ),),
    operating_points=tuple(
        OperatingPoint(f"level {h}", (h, 0.25 * math.pi * 0.05**2 * outflow(h, 0.05, 20.0, 5e-5))) for h in (0.8, 1.6)
    ),
    ranges=OperatingRanges(
        parameters={"roughness": (1e-5, 2e-4), "length": (12.0, 30.0)}, reference={"level": (0.4, 1.8)},
    ),
    derivative=drained, step=0.5,
    text="A tank that a pump fills and a long, rough pipe drains.",
))  # fmt: skip

# -------------------------------------------------------------------------- a vessel whose cross-section is a table

HEIGHTS = np.array([0.0, 0.2, 0.4, 0.7, 1.0, 1.4, 1.8, 2.2, 2.5])
AREAS = np.array([0.002, 0.005, 0.011, 0.020, 0.027, 0.033, 0.034, 0.028, 0.015])
"""Cross-section [m^2] by height [m], as a strapping table has it."""


def strapped(t, x, u, w, p):
    """Rates of the level [m/s] and the pump's flow [m^3/s^2]."""
    (level, flow), (outlet, lag) = x, p
    out = outlet * np.sqrt(2.0 * GRAVITY * max(level, 0.0))
    return (flow - out + w[0]) / np.interp(level, HEIGHTS, AREAS), (u[0] - flow) / lag


register(Plant(
    name="strapped_vessel",
    states=(Quantity("level", "m", 0.6, -0.1, 2.5), Quantity("flow", "m^3/s", 0.002, -0.01, 0.02)),
    parameters=(Quantity("outlet", "m^2", 5e-4, 2e-4, 1e-3), Quantity("lag", "s", 1.0, 0.3, 5.0)),
    inputs=(Quantity("pump", "m^3/s", 0.002, 0.0, 0.008),),
    disturbances=(Quantity("leak", "m^3/s", 2e-4, text="a flow beside the pump's"),),
    channels=(Channel(
        output="level", scale=0.3, low=0.0, high=0.008, collocated=False, gains_high=(0.1, 0.02, 0.1),
    ),),
    operating_points=tuple(OperatingPoint(f"level {h}", (h, 5e-4 * math.sqrt(2.0 * GRAVITY * h))) for h in (0.5, 1.5)),
    ranges=OperatingRanges(parameters={"outlet": (3.5e-4, 7e-4)}, reference={"level": (0.3, 2.0)}),
    derivative=strapped, step=0.1,
    text="A vessel of bulging shape, filled by a pump, drained through an orifice; its shape is a table.",
))  # fmt: skip
