"""The published Van der Pol case: reference 1.5, kP = kD = kI = 1, no limits, free and excited.

    python -m experiments.studies.van_der_pol.published_case

Prints the measures of the continuous closed loop, of the loop sampled and held for 5 ms (left sums), and of the loop
excited by band-limited white noise, beside the reference values.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import plants
import sscq
from controllers import PID
from plants.excitation import WhiteNoise

T_END, STEP = 30.0, 0.005
GAINS = (1.0, 1.0, 1.0)
NAMES = ("iae", "itae", "ise", "effort", "entropy_plant", "entropy_controller", "entropy_difference_abs")
CONTINUOUS = (1.896355, 3.348768, 1.524606, 63.25468, -0.118206, 1.502813, 1.703251)
SAMPLED = (1.899356, 3.349830, 1.528711, 63.262768, -0.117482, 1.505048, 1.705326)
# By SciPy's DOP853 at tolerance 1e-13, extremum located; the literature's 1.6467825 is off in its sixth digit.
LARGEST = 1.646792111


def unlimited() -> plants.Plant:
    """The oscillator without command limits."""
    plant = plants.get("van_der_pol")
    return replace(plant, channels=(replace(plant.channels[0], low=-np.inf, high=np.inf),))


def continuous(step: float = 1e-3) -> tuple[dict[str, float], float]:
    """Measures of the continuous loop and the largest position."""
    closed = plants.close(unlimited(), PID(), GAINS, reference=1.5, integrals=NAMES)
    run = plants.simulate(closed, T_END, step, initial={"position": 0.1, "velocity": 0.0})
    return {name: float(run[name][-1]) for name in NAMES}, float(run["position"].max())


def sampled(excited: bool) -> dict[str, float]:
    """Measures of the sampled loop, free or excited (variance 0.3, held 0.1 s)."""
    noise = WhiteNoise(0.3, hold=0.1) if excited else None
    case = sscq.Situation("published", reference=1.5, excitation=noise, initial=(0.1, 0.0), t_end=T_END, seed=1)
    quality = sscq.evaluate(unlimited(), PID(), GAINS, case, step=STEP)
    return {name: float(quality.values[name][0, 0]) for name in NAMES}


def main() -> None:
    """Print the table."""
    exact, largest = continuous()
    free, excited = sampled(excited=False), sampled(excited=True)
    print(f"{'measure':24} {'continuous':>12} {'reference':>12} {'sampled':>12} {'reference':>12} {'excited':>12}")
    for name, a, b in zip(NAMES, CONTINUOUS, SAMPLED, strict=True):
        print(f"{name:24} {exact[name]:12.6f} {a:12.6f} {free[name]:12.6f} {b:12.6f} {excited[name]:12.6f}")
    print(f"{'largest position':24} {largest:12.7f} {LARGEST:12.7f}")


if __name__ == "__main__":
    main()
