"""The full car with delayed accelerations: symplectic Euler, unknowns from the step before: the ways to do it.

One pass a step of "own equation, all other unknowns from before", relaxed by a share s: w <- w + s (G w + D^-1 k - w);
then v <- v + h a, q <- q + h v. Rollouts differ by their parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

NOMINAL_DAMPERS = (3000.0, 3000.0, 2700.0, 2700.0, 0.0, 0.0, 0.0, 0.0)
START = (0.58, 0.02, 0.03, 0.20, -0.13, 0.09, -0.08, 0.2, 0.1, -0.2, 0.5, 0.3, -0.4, 0.2)


@dataclass(frozen=True)
class Scheme:
    """A way to find the unknowns of a step.

    Attributes
    ----------
    form : {"minimal", "printed"}
    solved : bool
        All unknowns at once; left out: one pass a step.
    share : float
        Of the new values in a pass.
    kappa : float
        Baumgarte's [1/s], for the printed form.
    still : bool
        Unknowns start from 0; left out: from their right values.
    """

    form: str
    solved: bool = False
    share: float = 1.0
    kappa: float = 0.0
    still: bool = False


@dataclass(frozen=True)
class End:
    """Where the runs of a scheme end.

    Attributes
    ----------
    positions : ndarray [n, 7]
        z0, beta, alpha, theta_n.
    opened, open_at_end : ndarray [n]
        Largest gap of the linkage along the way, and at the end [m]; 0 in the minimal form.
    steps : ndarray [n]
        Steps until a number was no longer finite or too large.
    """

    positions: np.ndarray
    opened: np.ndarray
    open_at_end: np.ndarray
    steps: np.ndarray


SCHEMES = {
    "full solve, 7": Scheme("minimal", solved=True),
    "delayed, 7": Scheme("minimal"),
    "delayed, 7, half": Scheme("minimal", share=0.5),
    "full solve, 23": Scheme("printed", solved=True),
    "delayed, 23": Scheme("printed"),
    "delayed, 23, from 0": Scheme("printed", still=True),
    "delayed, 23, kappa 20/s": Scheme("printed", kappa=20.0),
}
"""Those of the accuracy table."""
