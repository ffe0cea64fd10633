"""Reference values of the benchmark systems: accelerations, multipliers, energies, trajectories.

They were made by two formulations and 8th-order integration at 1e-13; ten digits are given, good to the last but one.
"""

from math import cos, nan, sin

import numpy as np
import pytest

import plants
from experiments.reproduce.mechanics import systems

STEP = 1e-3  # rk4: its error over these times is below 1e-9 (checked by halving)
# A start is a state, or coordinates and rates; where a number is not given it is nan, and what follows is left out.
CASES = {
    "sleigh": {
        "make": systems.sleigh, "start": ((0, 0, 0.2), (cos(0.2), sin(0.2), 1.5)), "rates": (nan, nan, nan, 0.675),
        "accelerations": (0.3635409439, 1.6042016650, -0.7627118644), "multipliers": (1.2711864407,), "energy": 1.16375,
        "ends": {
            5.0: (-2.0129519974, 5.9796149445, 2.3433494099, 1.5253431384, 0.0374688618),
            20.0: (-18.6923210387, 21.6459695065, 2.3916528805),
            60.0: (nan, nan, nan, (1.0 + (0.5 + 0.09) * 1.5**2) ** 0.5),  # all of the energy is in the speed
        },
    },
    "vertical disk": {
        "make": systems.vertical_disk, "start": ((0, 0, 0, 0), (1.0, 0, 0.8, 4.0)), "inputs": (0.05, 0.1),
        "accelerations": (nan, nan, 1.6, 0.5333333333),
        "ends": {1.0: (0.7430684254, 0.5984337600), 5.0: (0.1367787965, 0.5779313487)},
    },
    "rolling disk": {
        "make": systems.rolling_disk, "start": ((0, 0, 0, 0.2, 0), (3.0, 0, 0.5, 0, 6.0)),
        "accelerations": (nan, 1.5, nan, 6.6952307892), "energy": 11.7900838389,
        "ends": {
            1.0: (2.9626060281, -0.8862135838, -0.5575333487, 0.3608626510, 6.3162242519),
            5.0: (-0.1677407927, -9.8573661313, -3.1622360764, 0.2004894798, 31.7342204703),
        },
    },
    "cart with one link": {
        "make": lambda: systems.cart(1), "start": (0.1, -0.2, 0.4, 0, 0, 0.3, 0.5, 0.4, -0.7), "inputs": (0.3, 0.2),
        "rates": (*(nan,) * 6, -1.0710145400, -1.5023027588, 10.2177231307),
        "accelerations": (nan, nan, nan, -7.7055398827, -13.7147509179), "energy": 12.2268491175,
        "ends": {0.5: (*(nan,) * 5, 1.4509573417, 0.6075553936, nan, 6.4968839096)},
    },
    "snakeboard": {
        "make": systems.snakeboard, "start": (0, 0, 0.1, 0, 0.4, -0.3, 1.0, 2.0, 0.5, -0.4), "inputs": (0.1, 0.02, -0.03),
        "accelerations": (0.1363652690, -1.3482977719, -2.1154676817, 3.7821343484, 6.1154676817, -3.8845323183),
        "rates": (*(nan,) * 6, 0.2449934351), "energy": 2.5555169015, "step": 1e-4,
        "ends": {1.0: (0.4669639743, -0.0994624151, -0.4259783827, 1.7487674980, 1.8154341646, -4.7845658354)},
    },
    "trailers": {
        "make": systems.trailers, "start": (0, 0, 0.1, 0.3, -0.2, 1.0, 0.5), "inputs": (0.2, 0.05),
        "accelerations": (-0.1846240333, 0.4839862674, 0.5, 1.8126964325, -2.2562978514),
        "rates": (*(nan,) * 5, -0.1353836795),
        "ends": {5.0: (0.6569395030, 1.6424288621, 8.85, 7.8978328055, 6.1255638624, 1.7710831472)},
    },
    "pendulum": {
        "make": systems.pendulum, "start": ((sin(2.0), -cos(2.0)), (0, 0)), "accelerations": (3.7121162395, -8.1111219603),
        "multipliers": (4.0824004665,), "energy": 4.0824004665,
        "ends": {5.0: (0.9971099558, -0.0759719428, 3.1073091979)},
    },
    "double pendulum": {
        "make": systems.double_pendulum, "step": 1e-4,
        "start": (sin(0.7), -cos(0.7), sin(0.7) + 0.7 * sin(1.1), -cos(0.7) - 0.7 * cos(1.1), 0.5, -1.0),
        "accelerations": (-2.1407476321, -1.4762620411, -5.6930337398, -6.9124274044), "energy": -23.2335785137,
        "ends": {3.0: (0.4402500833, -0.8978751942, 0.7538254583, -1.5237110225)},
    },
    "pinned body": {
        "make": systems.pinned_body, "inputs": (0.5,),
        "start": ((0.4 * sin(0.6), -0.4 * cos(0.6), 0.6), (0.48 * cos(0.6), 0.48 * sin(0.6), 1.2)),
        "accelerations": (-2.4185589459, -0.9567272889, -6.3408292439), "multipliers": (-4.8371178916, 17.7065454223),
    },
    "turntable": {
        "make": systems.turntable, "time": 0.4, "start": (0.3, -0.2, 0.5, 0.8, 0.6), "rates": (nan, nan, nan, 0.0141235280),
        "accelerations": (-0.6838264268, 1.2517358781, 0.0),
    },
    "turntable that starts later": {
        "make": lambda: systems.turntable(start=0.4), "start": (0.3, -0.2, 0.5, 0.8, 0.6),
        "ends": {1.0: (0.6150385458, 1.0690236333, 1.1, 1.3905851602)},
    },
    "rigid body": {
        "make": systems.rigid_body, "form": "free", "start": (0, 0, 0, 0.4, 0.9, -0.3, 0, 0, 0, 0.5, -0.4, 0.8),
        "accelerations": (0.0, 0.0, -9.81, -0.7178851309, -0.6251634328, 0.3259901067),
    },
}  # fmt: skip


def close(found, expected, tolerance):
    expected = np.ravel(expected)
    given = ~np.isnan(expected)
    found = np.ravel(found)[: len(expected)]
    np.testing.assert_allclose(found[given], expected[given], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", CASES)
def test_references(name):
    case = CASES[name]
    plant = case["make"]().build(case.get("form", "quasi"), step=STEP)
    x, t = case["start"], case.get("time", 0.0)
    x = plant.equations.state_from(*x, t=t) if len(x) == 2 else x
    u = case.get("inputs", (0.0,) * len(plant.inputs))
    seen = plant.equations.observe(t, x, u)
    for kind in {"accelerations", "multipliers", "energy"} & set(case):
        close(seen[kind], case[kind], 1e-9)
    close(plant.derivative(t, x, u, (), plant.nominal()), case.get("rates", ()), 1e-9)
    inputs = {q.name: value for q, value in zip(plant.inputs, u, strict=True)}
    for t_end, expected in case.get("ends", {}).items():
        run = plants.simulate(plant, t_end=t_end, step=case.get("step", STEP), initial=x, inputs=inputs)
        close(run.states[-1], expected, 1e-8)
