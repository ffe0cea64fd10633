"""A press driven by a crank: a closed chain, whose inertia changes with the crank's angle.

The motor feels the slider fully where the crank stands across, and not at all at the dead centres: no single set of
gains suits all angles. As in::

    sscq check docs/examples/crank_press.py
    sscq design plant_file=docs/examples/crank_press.py plant=crank_press budget=small
"""

from plants import Channel, Mechanism, OperatingPoint, cos, sin
from plants.excitation import WhiteNoise

RADIUS, ROD = 0.15, 0.4  # m

mech = Mechanism("crank_press", "Slider-crank press: motor torque on the crank, slider against friction and load")
crank, rod, slider = mech.coordinates("crank rod slider", units="rad rad m", initial=(0.6, 0.22, 0.514))
turning, swinging, sliding = mech.rates("turning swinging sliding")
inertia = mech.parameter("inertia", 0.02, "kg m^2", low=1e-3)
rod_mass = mech.parameter("rod_mass", 1.0, "kg", low=1e-2)
mass = mech.parameter("slider_mass", 6.0, "kg", low=1e-2)
friction = mech.parameter("friction", 8.0, "N s/m", low=0.0)
bearing = mech.parameter("bearing", 0.05, "N m s", low=0.0)
torque = mech.inputs("torque", units="N m")
load = mech.disturbances("load", units="N", usual=2.0)

# Crank and rod close a triangle with the slider's track; the rod's centre lies in its middle.
mech.position_constraint(RADIUS * cos(crank) + ROD * cos(rod) - slider)
mech.position_constraint(RADIUS * sin(crank) - ROD * sin(rod))
along = -RADIUS * sin(crank) * turning - ROD / 2 * sin(rod) * swinging
across = RADIUS * cos(crank) * turning - ROD / 2 * cos(rod) * swinging
mech.kinetic(inertia / 2 * turning**2 + mass / 2 * sliding**2)
mech.kinetic(rod_mass / 2 * (along**2 + across**2 + ROD**2 / 12 * swinging**2))
mech.force({crank: torque, slider: load})
mech.force({crank: -bearing * turning, slider: -friction * sliding}, kind="dissipative")
mech.basis(**mech.suggest_basis())
mech.measure("angle", crank, "rad")
mech.measure("rate", turning, "rad/s")
mech.measure("place", slider, "m")
EQUATIONS = mech.build().equations


def _case(name, angle, target, seed, load=2.0, **more):
    """From rest at one crank angle [rad] to another."""
    start = {"initial": EQUATIONS.state_from((angle, *_closed(angle)))}
    return {"name": name, "reference": {"angle": target}, "seed": seed, "t_end": 3.0, **start,
            "excitation": WhiteNoise(load**2 * 0.05, hold=0.05), **more}  # fmt: skip


def _closed(angle):
    """Rod angle and slider place that go with a crank angle."""
    from math import asin, cos, sin

    rod = asin(RADIUS * sin(angle) / ROD)
    return rod, RADIUS * cos(angle) + ROD * cos(rod)


CHANNEL = Channel(output="angle", rate="rate", scale=1.0, low=-30.0, high=30.0, gains_high=(80.0, 80.0, 10.0))
PLANT = mech.build(
    step=0.002,
    channels=(CHANNEL,),
    operating_points=tuple(
        OperatingPoint(f"crank at {angle:g} rad", EQUATIONS.state_from((angle, *_closed(angle))))
        for angle in (0.1, 0.8, 1.5)
    ),
    situations={
        "taught": [_case("from the dead centre", 0.0, 1.5, 1), _case("to the dead centre", 1.5, 0.0, 2),
                   _case("half a turn", 0.2, 2.9, 3), _case("small step across", 1.3, 1.7, 4)],
        "validation": [_case("three quarters", -0.5, 2.0, 6), _case("back", 2.5, 0.5, 7)],
        "unforeseen": [
            _case("heavy slider", 0.0, 1.5, 11, parameters={"slider_mass": 9.0}),
            _case("light slider", 0.5, 2.5, 12, parameters={"slider_mass": 3.0}),
            _case("stiff track", 1.5, 0.2, 13, parameters={"friction": 20.0}),
            _case("strong load", 0.3, 2.0, 14, load=10.0),
            _case("whole turn", 0.0, 6.0, 15),
            _case("backwards", 2.0, -1.0, 16),
        ],
    },
)  # fmt: skip
