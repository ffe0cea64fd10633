"""The full car as a user of the mechanics kit would declare it: positions of points, energies, forces.

Third derivation beside the minimal and the redundant one: velocities are differentiated positions, the strut's place is
the distance of two points, and a tyre pushes along the slope of its own coordinate.
"""

from experiments.reproduce.vehicles.suspension.redundant import sided
from plants.core.elementary import cos, sin, sqrt
from plants.core.tracing.gradients import along, gradient
from plants.mechanics import Mechanism
from plants.suspension.parameters import PARAMETERS, WHEELS, Car
from plants.suspension.signals import REST


def full_car():
    mech = Mechanism("mechanism_of_the_car")
    q = mech.coordinates("z0 beta alpha " + " ".join(f"theta_{n}" for n in WHEELS), initial=REST[:7])
    v = mech.rates()
    p = [mech.parameter(x.name, x.nominal, x.unit) for x in PARAMETERS]
    names = " ".join(f"{kind}_{n}" for kind in ("c", "f") for n in WHEELS)
    u = mech.inputs(names)
    w = mech.disturbances(" ".join(f"{kind}_{n}" for kind in ("R", "Rdot") for n in WHEELS))
    car = Car.of(tuple(p))

    def place(a, y, z):
        """A point of the body's transverse plane at `a`, in space."""
        height = y * sin(q[2]) + z * cos(q[2])
        return (
            a * cos(q[1]) + height * sin(q[1]),
            y * cos(q[2]) - z * sin(q[2]),
            q[0] - a * sin(q[1]) + height * cos(q[1]),
        )

    def mass(m, point):
        mech.kinetic(m / 2 * sum(rate * rate for rate in along([mech._tape.lift(c) for c in point], list(q), list(v))))
        mech.potential(m * car.g * point[2])

    forces = dict.fromkeys(range(7), 0.0)

    def push(value, amount):
        """A force along a coordinate: its power is amount times the rate of the value."""
        for i, slope in enumerate(gradient(mech._tape.lift(value), list(q))):
            forces[i] = forces[i] + amount * slope

    mass(car.mb, place(car.a0 + car.front.a1, car.b0, car.c0))
    mech.kinetic(car.Ibx / 2 * v[2] ** 2 + car.Iby / 2 * v[1] ** 2)
    links = []
    for k in range(4):
        s = sided(car, k)
        theta, worn = q[3 + k], car.worn[k]
        hinge = (s.b2 - s.c2 * sin(s.gam), s.c2 * cos(s.gam))
        top = (s.b2 - s.c1 * sin(s.gam), s.c1 * cos(s.gam))

        def on_arm(e, hinge=hinge, gam=s.gam, theta=theta):
            return hinge[0] + e * cos(gam + theta), hinge[1] + e * sin(gam + theta)

        for m, e in ((s.ma, s.e1), (s.mw, s.e3)):
            mass(m, place(s.a1, *on_arm(e)))
        mech.kinetic(s.Iax / 2 * (v[2] + v[3 + k]) ** 2)
        foot = on_arm(s.e2)
        length = sqrt((foot[0] - top[0]) ** 2 + (foot[1] - top[1]) ** 2)
        z6 = s.d1 - length
        point = [b - z6 * (a - b) / length for a, b in zip(foot, top, strict=True)]
        mass(s.ms, place(s.a1, *point))
        mech.potential(s.ks / 2 * (z6 - s.ls) ** 2)
        (z6_rate,) = along([mech._tape.lift(z6)], list(q), list(v))
        push(z6, -(u[k] * worn * z6_rate + u[4 + k]))
        upright = cos(q[2]) * cos(q[1])
        z12 = (w[k] - place(s.a1, *on_arm(s.e3))[2]) / upright
        (z12_rate,) = along([mech._tape.lift(z12)], list(q), list(v))
        push(z12, -(s.kw * (z12 - s.lw) + s.cw * (z12_rate + w[4 + k] / upright)))
        links.append(s.e0 * sin(s.gam + theta) + s.c2 * cos(s.gam))
    mech.potential(car.kzf / 2 * (links[0] - links[1]) ** 2 + car.kzr / 2 * (links[2] - links[3]) ** 2)
    mech.force({symbol: forces[i] for i, symbol in enumerate(q)})
    return mech
