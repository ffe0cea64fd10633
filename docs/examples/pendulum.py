"""A damped pendulum driven by a torque, angle from the hanging rest: a plant of your own in some twenty lines.

As in::

    sscq check docs/examples/pendulum.py
    sscq design plant_file=docs/examples/pendulum.py plant=hanging_pendulum budget=small
"""

from plants import Channel, OperatingPoint, Plant, Quantity, register
from plants.core.elementary import cos, sin


def derivative(t, x, u, w, p):
    """Rates of angle [rad] and speed [rad/s]."""
    (angle, speed), (mass, length, damping) = x, p
    torque = u[0] + w[0] - damping * speed - mass * 9.81 * length * sin(angle)
    return speed, torque / (mass * length * length)


def energy(t, x, u, w, p):
    """Stored energy [J]."""
    return 0.5 * p[0] * (p[1] * x[1]) ** 2 + p[0] * 9.81 * p[1] * (1.0 - cos(x[0]))


def supplied_power(t, x, u, w, p):
    """Power of both torques [W]."""
    return (u[0] + w[0]) * x[1]


def entropy_rate(t, x, u, w, p):
    """Entropy production rate times T0 [W]: power lost in the pivot."""
    return p[2] * x[1] * x[1]


register(Plant(
    name="hanging_pendulum",
    states=(Quantity("angle", "rad", 0.1, -6.0, 6.0), Quantity("speed", "rad/s", 0.0, -50.0, 50.0)),
    parameters=(Quantity("mass", "kg", 0.8), Quantity("length", "m", 0.9), Quantity("damping", "N m s", 0.2)),
    inputs=(Quantity("torque", "N m"),),
    disturbances=(Quantity("gust", "N m", 0.3, text="its usual size (standard deviation)"),),
    channels=(Channel(output="angle", rate="speed", scale=1.0, low=-12.0, high=12.0, gains_high=(40.0, 40.0, 20.0)),),
    operating_points=tuple(OperatingPoint(f"angle {angle}", (angle, 0.0)) for angle in (0.0, 0.8, 1.6)),
    derivative=derivative, energy=energy, supplied_power=supplied_power, entropy_rate=entropy_rate,
    text="Damped pendulum, point mass on a rod without mass; Astrom and Murray, Feedback Systems, sec. 3.3.",
))  # fmt: skip
