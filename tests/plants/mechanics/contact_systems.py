"""Mechanisms with gaps, written down as a user would."""

from plants.core.elementary import cos, sin, sqrt
from plants.mechanics import Mechanism

G = 9.81


def box(corners=((-1, -1), (1, -1)), restitution=0.5):
    """Box of width 2 w and height 2 h on corners without friction, pushed at height d above its centre."""
    mech = Mechanism("box")
    _x, y, phi = mech.coordinates("x y phi", initial=[0.0, 0.5, 0.0])
    vx, vy, om = mech.rates("vx vy om")
    m, w, h, d = mech.parameters(m=2.0, w=0.3, h=0.5, d=0.4)
    F = mech.inputs("F")
    inertia = m * ((2 * w) ** 2 + (2 * h) ** 2) / 12
    mech.kinetic(m / 2 * (vx**2 + vy**2) + inertia / 2 * om**2)
    mech.potential(m * G * y)
    mech.force({"x": F, phi: -F * d})
    for across, up in corners:
        mech.gap(y + across * w * sin(phi) + up * h * cos(phi), restitution=restitution)
    return mech


def sphere():
    """Particle on a smooth sphere of radius 1."""
    mech = Mechanism("sphere")
    x, y = mech.coordinates("x y")
    vx, vy = mech.rates("vx vy")
    mech.kinetic((vx**2 + vy**2) / 2)
    mech.potential(G * y)
    mech.gap(sqrt(x**2 + y**2) - 1.0)
    return mech


def ball(restitution=0.8):
    mech = Mechanism("ball")
    z = mech.coordinates("z", initial=1.0)
    vz = mech.rates("vz")
    m = mech.parameters(m=0.5)
    mech.kinetic(m / 2 * vz**2)
    mech.potential(m * G * z)
    mech.gap(z, restitution=restitution)
    return mech


def hinged_bar(restitution=0.5):
    """Bar on a hinge, in Cartesian coordinates with two two-sided constraints, that falls on a stop."""
    mech = Mechanism("hinged_bar")
    x, y, phi = mech.coordinates("x y phi", initial=[0.4 * cos(0.5), 0.4 * sin(0.5), 0.5])
    vx, vy, om = mech.rates("vx vy om")
    m, J, d = mech.parameters(m=2.0, J=0.1, d=0.4)
    mech.kinetic(m / 2 * (vx**2 + vy**2) + J / 2 * om**2)
    mech.potential(m * G * y)
    mech.position_constraint(x - d * cos(phi))
    mech.position_constraint(y - d * sin(phi))
    mech.gap(y + d * sin(phi), restitution=restitution)
    return mech


def bowl():
    """Particle in a smooth round bowl of radius 1."""
    mech = Mechanism("bowl")
    x, y = mech.coordinates("x y", initial=[sin(1.0), -cos(1.0)])
    vx, vy = mech.rates("vx vy")
    mech.kinetic((vx**2 + vy**2) / 2)
    mech.potential(G * y)
    mech.gap(1.0 - sqrt(x**2 + y**2))
    return mech
