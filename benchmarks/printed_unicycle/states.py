"""Random states and unequal parameters at which printed and derived coefficients are compared."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from benchmarks.printed_unicycle.geometry import BODIES, COORDINATES, LENGTHS, Terms, expanded, terms

SEED, STATES = 20040039555, 4
_SYMBOLS = {"gamma": "γ", "beta": "β", "theta_w": "θw", "psi": "Ψ", "eta": "η", "yk1": "Δyk1", "dz": "Δz"}
_SYMBOLS |= {f"theta{k}": f"θ{k}" for k in range(1, 5)}


@dataclass(frozen=True, eq=False)
class State:
    """Coordinates and parameters: all angles independent, no two parameters equal."""

    q: np.ndarray
    p: dict[str, float]

    @cached_property
    def terms(self) -> Terms:
        """What our derivation gives here."""
        return terms(self.q, self.p)

    @cached_property
    def closures(self) -> tuple[np.ndarray, np.ndarray]:
        """Slopes [4, 10] and second derivatives [4, 10, 10] of the closures."""
        return expanded("closures", self.q, self.p)[1:]

    @cached_property
    def printed(self) -> dict[str, float]:
        """Numbers of the names that stand in the printed formulas."""
        angles = dict(zip(COORDINATES, self.q.tolist(), strict=True))
        known = {_SYMBOLS.get(name, name): value for name, value in (self.p | angles).items()}
        beta, psi, radius = angles["beta"], angles["psi"], self.p["Rw"]
        known |= {"ZU": beta + angles["theta1"], "ZZ": beta + angles["theta2"]}
        known |= {"PR": psi + angles["theta3"], "PL": psi + angles["theta4"]}
        known |= {"ZU2B": known["ZU"] + beta, "ZZ2B": known["ZZ"] + beta}
        known |= {"P2R": known["PR"] + psi, "P2L": known["PL"] + psi}
        known |= {"Rwe5c": radius + self.p["e5"] * np.cos(beta), "Rwe6": radius + self.p["e6"] * np.cos(beta)}
        # The source halves the wheel; the only reading of its symbols under which its lists agree with one another.
        known |= {"IIWShX": 0.5 * self.p["IWx"], "IIWShZ": 0.5 * self.p["IWz"]}
        return known | {"IIIWShYK": 0.5 * (self.p["IWy"] + self.p["MW"] * radius**2)}


def random_states(count: int = STATES, seed: int = SEED) -> tuple[State, ...]:
    """Draw states and parameters."""
    rng = np.random.default_rng(seed)
    return tuple(State(rng.uniform(-1.3, 1.3, len(COORDINATES)), random_parameters(rng)) for _ in range(count))


def random_parameters(rng: np.random.Generator) -> dict[str, float]:
    """Draw unequal lengths, masses and inertias, all of one order so that none hides behind another."""
    p = {name: float(rng.uniform(0.2, 1.0)) for name in LENGTHS}
    p |= {f"M{body}": float(rng.uniform(0.5, 5.0)) for body in BODIES}
    p |= {f"I{body}{axis}": float(rng.uniform(0.1, 1.0)) for body in BODIES for axis in "xyz"}
    return p | {"g": 9.81}
