"""The balancing vehicle as a user of the mechanics kit would declare it: energies of bodies, and rolling as constraints.

Velocities of points are differentiated positions, angular velocities are those of a sequence of joints; nothing is taken
from the plant's own derivation but the names of its parameters.
"""

from plants.balancing_vehicle.parameters import GRAVITY, PARAMETERS
from plants.core.elementary import cos, sin
from plants.core.tracing.gradients import along
from plants.mechanics import Mechanism

NAMES = "x y z psi phi theta aL aR"


def vehicle(*, rolling):
    """Return the mechanism in free flight, or with both wheels rolling on level ground."""
    mech = Mechanism("mechanism_of_the_vehicle")
    start = [0.0, 0.0, 0.35, 0.0, 0.0, 0.0, 0.0, 0.0]
    q = mech.coordinates(NAMES, initial=start)
    v = mech.rates()
    p = {x.name: mech.parameter(x.name, x.nominal, x.unit) for x in PARAMETERS[:11]}
    torque = mech.inputs("tau_L tau_R")
    c1, s1, c2, s2, c3, s3 = (f(q[k]) for k in (3, 4, 5) for f in (cos, sin))

    def turned(point):
        """A point of the platform in space: about y by theta, about x by phi, about z by psi."""
        a, b, c = point
        a, c = c3 * a + s3 * c, c3 * c - s3 * a
        b, c = c2 * b - s2 * c, s2 * b + c2 * c
        return c1 * a - s1 * b + q[0], s1 * a + c1 * b + q[1], c + q[2]

    def moving(point):
        return along([mech._tape.lift(c) for c in point], list(q), list(v))

    def body(mass, point, spins, inertias):
        mech.kinetic(mass / 2 * sum(rate * rate for rate in moving(point)))
        mech.kinetic(sum(i / 2 * w * w for i, w in zip(inertias, spins, strict=True)))
        mech.potential(mass * GRAVITY * point[2])

    # In the frame before the pitch: roll rate along its x, yaw about the tilted vertical.
    tilted = (v[4], s2 * v[3], c2 * v[3])
    about = tilted[1] + v[5]
    spin = (c3 * tilted[0] - s3 * tilted[2], about, s3 * tilted[0] + c3 * tilted[2])
    body(p["m_p"], turned((0.0, 0.0, 0.0)), spin, (p["I_px"], p["I_py"], p["I_pz"]))
    contacts = []
    for k, side in ((6, 0.5), (7, -0.5)):
        centre = turned((0.0, side * p["b"], -p["l"]))
        body(p["m_w"], centre, (tilted[0], about + v[k], tilted[2]), (p["I_d"], p["I_a"], p["I_d"]))
        mech.force({q[k]: torque[k - 6] - p["c_b"] * v[k]})
        # The rim's lowest point moves with the centre and with the turning: + omega x (-r n).
        ahead, axle = (c1, s1, 0.0), (-s1 * c2, c1 * c2, s2)
        rates = moving(centre)
        contacts.append([
            rate - p["r"] * ((about + v[k]) * a - tilted[0] * b)
            for rate, a, b in zip(rates, ahead, axle, strict=True)
        ])  # fmt: skip
    if rolling:
        for contact in contacts:
            mech.velocity_constraint(contact[2])
            mech.velocity_constraint(c1 * contact[0] + s1 * contact[1])
        mech.velocity_constraint(c1 * contacts[0][1] - s1 * contacts[0][0])
    return mech
