"""Benchmark systems of the mechanics kit, written down as a user would.

The Cartesian pendulums stand here once more, transferred to joint coordinates: no constraint is left to drift.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plants.core.elementary import cos, sin
from plants.mechanics import Mechanism

if TYPE_CHECKING:
    from collections.abc import Callable


G = 9.81


def sleigh() -> Mechanism:
    """Return a Chaplygin sleigh: a knife edge that does not slip sideways, the mass centre `a` [m] before it."""
    mech = Mechanism("sleigh")
    _x, _y, th = mech.coordinates("x y th")
    vx, vy, om = mech.rates("vx vy om")
    m, J, a = mech.parameters(m=1.0, J=0.5, a=0.3)
    Fu, Mz = mech.inputs("Fu Mz")
    mech.kinetic(m / 2 * ((vx - a * om * sin(th)) ** 2 + (vy + a * om * cos(th)) ** 2) + J / 2 * om**2)
    mech.force({"x": Fu * cos(th), "y": Fu * sin(th), th: Mz})
    mech.velocity_constraint(-vx * sin(th) + vy * cos(th))
    mech.basis(speed=(cos(th), sin(th), 0), turning=(0, 0, 1))
    return mech


def vertical_disk() -> Mechanism:
    """Return an upright disk that rolls on a plane without slip; torques about its vertical and its own axis."""
    mech = Mechanism("vertical_disk")
    _x, _y, ph, ps = mech.coordinates("x y ph ps")
    vx, vy, vph, vps = mech.rates()
    m, R, Jr, Jh = mech.parameters(m=2.0, R=0.25, Jr=0.0625, Jh=0.03125)
    tph, tps = mech.inputs("tph tps")
    mech.kinetic(m / 2 * (vx**2 + vy**2) + Jr / 2 * vps**2 + Jh / 2 * vph**2)
    mech.force({ph: tph, ps: tps})
    mech.velocity_constraint(vx - R * vps * cos(ph))
    mech.velocity_constraint(vy - R * vps * sin(ph))
    mech.basis(heading=(0, 0, 1, 0), roll=(R * cos(ph), R * sin(ph), 0, 1))
    return mech


def rolling_disk() -> Mechanism:
    """Return a disk that rolls on a plane without slip and may lean: under gravity, without torques."""
    mech = Mechanism("rolling_disk")
    _x, _y, ps, th, _ph = mech.coordinates("x y ps th ph")
    vx, vy, vps, vth, vph = mech.rates()
    m, R, I, J = mech.parameters(m=1.0, R=0.5, I=0.0625, J=0.125)
    cx = vx + R * (cos(th) * sin(ps) * vth + sin(th) * cos(ps) * vps)
    cy = vy + R * (-cos(th) * cos(ps) * vth + sin(th) * sin(ps) * vps)
    cz = -R * sin(th) * vth
    mech.kinetic(m / 2 * (cx**2 + cy**2 + cz**2) + I / 2 * (vth**2 + vps**2 * cos(th) ** 2))
    mech.kinetic(J / 2 * (vph + vps * sin(th)) ** 2)
    mech.potential(m * G * R * cos(th))
    mech.velocity_constraint(vx - R * vph * cos(ps))
    mech.velocity_constraint(vy - R * vph * sin(ps))
    mech.basis(wps=(0, 0, 1, 0, 0), wth=(0, 0, 0, 1, 0), wph=(R * cos(ps), R * sin(ps), 0, 0, 1))
    return mech


def cart(links: int) -> Mechanism:
    """Two-wheeled cart with an inverted chain."""
    mech = Mechanism(f"cart_{links}")
    q = mech.coordinates("x y ps fL fR " + " ".join(f"al{i}" for i in range(links)))
    v = mech.rates()
    r, b, mw, Jw, Jd, lc, ll = mech.parameters(r=0.1, b=0.2, mw=0.5, Jw=0.0025, Jd=0.00125, lc=0.25, ll=0.5)
    tL, tR = mech.inputs("tL tR")
    tj = [mech.inputs(f"tj{i}") for i in range(1, links)]
    ps, (vx, vy, vps, vL, vR) = q[2], v[:5]
    for side, spin in ((1, vL), (-1, vR)):
        mech.kinetic(mw / 2 * ((vx - side * b * cos(ps) * vps) ** 2 + (vy - side * b * sin(ps) * vps) ** 2))
        mech.kinetic(Jw / 2 * spin**2 + Jd / 2 * vps**2)
    h, z, dh, dz = 0.0, 0.0, 0.0, 0.0
    for i in range(links):
        mb, Jx, Jy, Jz = (
            mech.parameter(f"{n}{i}", c / (i + 1)) for n, c in (("mb", 5.0), ("Jx", 0.1), ("Jy", 0.12), ("Jz", 0.05))
        )
        al, va = q[5 + i], v[5 + i]
        hc, zc = h + lc * sin(al), z + lc * cos(al)
        dhc, dzc = dh + lc * cos(al) * va, dz - lc * sin(al) * va
        px = vx + dhc * cos(ps) - hc * sin(ps) * vps
        py = vy + dhc * sin(ps) + hc * cos(ps) * vps
        mech.kinetic(mb / 2 * (px**2 + py**2 + dzc**2))
        mech.kinetic((Jy * va**2 + (Jx * sin(al) ** 2 + Jz * cos(al) ** 2) * vps**2) / 2)
        mech.potential(mb * G * zc)
        h, z = h + ll * sin(al), z + ll * cos(al)
        dh, dz = dh + ll * cos(al) * va, dz - ll * sin(al) * va
    mech.force({"fL": tL, "fR": tR, "al0": -(tL + tR)})
    for i, torque in enumerate(tj, 1):
        mech.force({f"al{i - 1}": -torque, f"al{i}": torque})
    mech.velocity_constraint(-vx * sin(ps) + vy * cos(ps))
    mech.velocity_constraint(vx * cos(ps) + vy * sin(ps) - b * vps - r * vL)
    mech.velocity_constraint(vx * cos(ps) + vy * sin(ps) + b * vps - r * vR)
    zeros = (0.0,) * links
    units = {f"va{i}": (0.0,) * 5 + tuple(float(i == j) for j in range(links)) for i in range(links)}
    mech.basis(vf=(cos(ps), sin(ps), 0, 1 / r, 1 / r, *zeros), om=(0, 0, 1, -b / r, b / r, *zeros), **units)
    return mech


def snakeboard() -> Mechanism:
    """Return a snakeboard: two steered wheel sets that do not slip sideways, driven by a rotor and by steering."""
    mech = Mechanism("snakeboard")
    _x, _y, th, ps, fb, ff = mech.coordinates("x y th ps fb ff")
    vx, vy, vth, vps, vb, vf = mech.rates()
    m, l, J, Jr, Jw = mech.parameters(m=6.0, l=0.2, J=0.16, Jr=0.06, Jw=0.005)
    tps, tb, tf = mech.inputs("tps tb tf")
    mech.kinetic(m / 2 * (vx**2 + vy**2) + J / 2 * vth**2 + Jr / 2 * (vth + vps) ** 2)
    mech.kinetic(Jw / 2 * ((vth + vb) ** 2 + (vth + vf) ** 2))
    mech.force({ps: tps, fb: tb, ff: tf})
    mech.velocity_constraint(-sin(th + fb) * vx + cos(th + fb) * vy - l * cos(fb) * vth)
    mech.velocity_constraint(-sin(th + ff) * vx + cos(th + ff) * vy + l * cos(ff) * vth)
    nx, ny, nz = cos(fb) * cos(ff), sin(fb + ff) / 2, sin(ff - fb) / (2 * l)
    mech.basis(
        sg=(cos(th) * nx - sin(th) * ny, sin(th) * nx + cos(th) * ny, nz, 0, 0, 0),
        wps=(0, 0, 0, 1, 0, 0),
        wb=(0, 0, 0, 0, 1, 0),
        wf=(0, 0, 0, 0, 0, 1),
    )
    return mech


def trailers(bodies: int = 3) -> Mechanism:
    """Tractor with trailers."""
    mech = Mechanism("trailers")
    angles = [f"th{i}" for i in range(bodies)]
    _x, _y, *th = mech.coordinates("x y " + " ".join(angles))
    vx, vy, *om = mech.rates()
    m, J, L = mech.parameters(m=1.0, J=0.1, L=0.5)
    Fu, Mz = mech.inputs("Fu Mz")
    px, py = vx, vy
    for i in range(bodies):
        if i:
            px, py = px + L * sin(th[i]) * om[i], py - L * cos(th[i]) * om[i]
        mech.kinetic(m / 2 * (px**2 + py**2) + J / 2 * om[i] ** 2)
        mech.velocity_constraint(-px * sin(th[i]) + py * cos(th[i]))
    mech.force({"x": Fu * cos(th[0]), "y": Fu * sin(th[0]), "th0": Mz})
    speed, turns = 1.0, []
    for i in range(1, bodies):
        turns.append(speed * sin(th[i - 1] - th[i]) / L)
        speed = speed * cos(th[i - 1] - th[i])
    mech.basis(uf=(cos(th[0]), sin(th[0]), 0, *turns), om=(0, 0, 1, *(0 for _ in turns)))
    return mech


def pendulum() -> Mechanism:
    """In Cartesian coordinates."""
    mech = Mechanism("pendulum_cartesian")
    x, y = mech.coordinates("x y", initial=(sin(2.0), -cos(2.0)))
    vx, vy = mech.rates()
    m, l = mech.parameters(m=1.0, l=1.0)
    mech.kinetic(m / 2 * (vx**2 + vy**2))
    mech.potential(m * G * y)
    mech.position_constraint((x**2 + y**2 - l**2) / 2)
    mech.basis(w=(-y / l, x / l))
    return mech


def double_pendulum() -> Mechanism:
    """In Cartesian coordinates."""
    mech = Mechanism("double_pendulum_cartesian")
    xa, ya, xb, yb = mech.coordinates("xa ya xb yb", initial=(0.6, -0.8, 1.0, -1.4))
    vxa, vya, vxb, vyb = mech.rates()
    ma, mb, la, lb = mech.parameters(ma=1.0, mb=1.5, la=1.0, lb=0.7)
    mech.kinetic(ma / 2 * (vxa**2 + vya**2) + mb / 2 * (vxb**2 + vyb**2))
    mech.potential(ma * G * ya + mb * G * yb)
    mech.position_constraint((xa**2 + ya**2 - la**2) / 2)
    mech.position_constraint(((xb - xa) ** 2 + (yb - ya) ** 2 - lb**2) / 2)
    mech.basis(wa=(-ya, xa, -ya, xa), wb=(0, 0, -(yb - ya), xb - xa))
    return mech


def pinned_body() -> Mechanism:
    """Return a body that turns about a fixed pin, in Cartesian coordinates of its mass centre and its angle."""
    mech = Mechanism("pinned_body")
    xc, yc, phi = mech.coordinates("xc yc phi")
    vx, vy, om = mech.rates()
    m, Jc, d = mech.parameters(m=2.0, Jc=0.3, d=0.4)
    Mz = mech.inputs("Mz")
    mech.kinetic(m / 2 * (vx**2 + vy**2) + Jc / 2 * om**2)
    mech.potential(m * G * yc)
    mech.force({phi: Mz})
    mech.position_constraint(xc - d * sin(phi))
    mech.position_constraint(yc + d * cos(phi))
    mech.basis(w=(d * cos(phi), d * sin(phi), 1))
    return mech


def turntable(start: float = 0.0) -> Mechanism:
    """Knife edge on a table that turns at a varying speed; time counted from `start`."""
    mech = Mechanism("turntable")
    x, y, th = mech.coordinates("x y th")
    vx, vy, om = mech.rates()
    m, J, Om = mech.parameters(m=1.0, J=0.5, Om=0.7)
    speed = Om * (1 + sin(mech.time + start) / 2)
    mech.kinetic(m / 2 * (vx**2 + vy**2) + J / 2 * om**2)
    mech.velocity_constraint(-(vx + speed * y) * sin(th) + (vy - speed * x) * cos(th))
    mech.basis(ur=(cos(th), sin(th), 0), wom=(0, 0, 1))
    mech.basis_offset(-speed * y, speed * x, 0)
    return mech


def slider_crank() -> Mechanism:
    """With equal links: the Jacobian loses rank where they stand upright. The basis holds for equal ones alone."""
    mech = Mechanism("slider_crank")
    a, b, xs = mech.coordinates("a b xs")
    va, vb, vs = mech.rates()
    r = l = mech.parameters(r=1.0)
    cx, cy = -r * sin(a) * va - l / 2 * sin(b) * vb, r * cos(a) * va - l / 2 * cos(b) * vb
    mech.kinetic(0.2 / 2 * va**2 + 1.0 / 2 * (cx**2 + cy**2) + 0.1 / 2 * vb**2 + 1.5 / 2 * vs**2)
    mech.position_constraint(r * cos(a) + l * cos(b) - xs)
    mech.position_constraint(r * sin(a) - l * sin(b))
    mech.basis(w=(1, 1, -2 * r * sin(a)))
    return mech


def rigid_body() -> Mechanism:
    """Free, in six coordinates, under gravity."""
    mech = Mechanism("rigid_body")
    m = mech.parameters(m=2.0)
    J = mech.parameters(J1=0.3, J2=0.5, J3=0.7)
    body = mech.body("b", mass=m, inertia=J, initial=(0, 0, 0, 0.4, 0.9, -0.3))
    mech.potential(m * G * body.position[2])
    return mech


def pendulum_by_joint() -> Mechanism:
    """The Cartesian pendulum, transferred to its angle from the downward vertical."""
    mech = Mechanism("pendulum_by_joint")
    x, y = mech.coordinates("x y")
    vx, vy = mech.rates()
    m, l = mech.parameters(m=1.0, l=1.0)
    mech.kinetic(m / 2 * (vx**2 + vy**2))
    mech.potential(m * G * y)
    angle = mech.joints("angle")
    mech.place({x: l * sin(angle), y: -l * cos(angle)})
    return mech


def double_pendulum_by_joints() -> Mechanism:
    """The Cartesian double pendulum, transferred to its angles from the downward vertical."""
    mech = Mechanism("double_pendulum_by_joints")
    xa, ya, xb, yb = mech.coordinates("xa ya xb yb")
    vxa, vya, vxb, vyb = mech.rates()
    ma, mb, la, lb = mech.parameters(ma=1.0, mb=1.5, la=1.0, lb=0.7)
    mech.kinetic(ma / 2 * (vxa**2 + vya**2) + mb / 2 * (vxb**2 + vyb**2))
    mech.potential(ma * G * ya + mb * G * yb)
    a, b = mech.joints("a b")
    x, y = la * sin(a), -la * cos(a)
    mech.place({xa: x, ya: y, xb: x + lb * sin(b), yb: y - lb * cos(b)})
    return mech


BY_JOINTS: dict[str, tuple[Callable[[], Mechanism], tuple[float, ...]]] = {
    "Cartesian pendulum": (pendulum_by_joint, (2.0, 0.0)),
    "Cartesian double pendulum": (double_pendulum_by_joints, (2.0, 1.0, 0.0, 0.0)),
}
"""The same systems and motions without constraints: their first states are angles and rates."""
