"""A pendulum on a cart, from its energies: ten lines make a plant.

As in::

    sscq check docs/examples/cart_and_pendulum.py
    sscq simulate plant_file=docs/examples/cart_and_pendulum.py plant=cart_and_pendulum t_end=5
"""

from plants import Mechanism, cos, sin

mech = Mechanism("cart_and_pendulum", "Pendulum on a cart, angle from the hanging rest")
place, angle = mech.coordinates("place angle", units="m rad", initial=(0.0, 0.8))
speed, turning = mech.rates("speed turning")
M, m, l, d = mech.parameters(M=1.0, m=0.3, l=0.5, d=0.05)
push = mech.inputs("push", units="N")
mech.kinetic(M / 2 * speed**2 + m / 2 * ((speed + l * cos(angle) * turning) ** 2 + (l * sin(angle) * turning) ** 2))
mech.potential(-m * 9.81 * l * cos(angle))
mech.force({place: push})
mech.force({place: -d * speed}, kind="dissipative")
PLANT = mech.build()
