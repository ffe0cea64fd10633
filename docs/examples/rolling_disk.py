"""A disk that rolls without slipping: nonholonomic constraints, and a basis of quasi-velocities that fulfils them.

As in::

    sscq check docs/examples/rolling_disk.py
    python docs/examples/rolling_disk.py
"""

from math import hypot

import plants
from plants import Mechanism, cos, sin

mech = Mechanism("rolling_disk", "Thin disk that rolls on level ground without slipping, free to lean and fall")
x, y, heading, lean, spin = mech.coordinates(
    "x y heading lean spin", units="m m rad rad rad", initial=(0.0, 0.0, 0.0, 0.2, 0.0)
)
vx, vy, turning, falling, rolling = mech.rates("vx vy turning falling rolling", initial=(3.0, 0.0, 0.5, 0.0, 6.0))
m, R, I, J = mech.parameters(m=1.0, R=0.5, I=0.0625, J=0.125)

# (x, y) is the point of contact; the centre stands R away from it, leaning.
cx = vx + R * (cos(lean) * sin(heading) * falling + sin(lean) * cos(heading) * turning)
cy = vy + R * (sin(lean) * sin(heading) * turning - cos(lean) * cos(heading) * falling)
cz = -R * sin(lean) * falling
mech.kinetic(m / 2 * (cx**2 + cy**2 + cz**2))
mech.kinetic(I / 2 * (falling**2 + (turning * cos(lean)) ** 2) + J / 2 * (rolling + turning * sin(lean)) ** 2)
mech.potential(m * 9.81 * R * cos(lean))
mech.velocity_constraint(vx - R * rolling * cos(heading))
mech.velocity_constraint(vy - R * rolling * sin(heading))
mech.basis(**mech.suggest_basis())
PLANT = mech.build(step=0.001)

if __name__ == "__main__":
    motion = plants.simulate(PLANT, t_end=5.0, step=0.001)
    seen = PLANT.equations.observe(motion.time, motion.states.T)
    print("state", *PLANT.equations.layout)
    print("operations of one evaluation", PLANT.equations.operations)
    print("after 5 s", motion.states[-1])
    print("energy kept to", abs(seen["energy"] - seen["energy"][0]).max(), "J")
    grip = max(hypot(*pair) for pair in zip(*seen["multipliers"], strict=True))
    print("largest force of friction in the contact", grip, "N")
