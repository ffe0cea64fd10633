"""A chain of coupled masses with any number of states: the plants for measuring how cost grows with size."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from plants import Channel, Plant, Quantity

GAINS_LOW, GAINS_HIGH = (0.5, 0.1, 0.5), (8.0, 1.0, 5.0)  # none diverges


def chain(n_masses: int, cubic: float = 0.5) -> Plant:
    """Return a chain of `n_masses` unit masses between a wall and a free end, where the force acts: 2 n states.

    Spring j joins mass j to its neighbour towards the wall, with the extension s: force k s + k3 s^3 + d s'.

    Parameters
    ----------
    n_masses : int
    cubic : float
        Nominal k3 [N/m^3]; 0 gives a linear chain.
    """

    def derivative(t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:  # noqa: ARG001  (a block's signature)
        stiffness, hardening, damping = p
        forces = [
            stiffness * s + hardening * s * s * s + damping * s_rate
            for s, s_rate in zip(_extensions(x[:n_masses]), _extensions(x[n_masses:]), strict=True)
        ]
        pulls = [*forces[1:], u[0]]
        return (*x[n_masses:], *(pull - force for pull, force in zip(pulls, forces, strict=True)))

    def entropy_rate(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:  # noqa: ARG001  (as above)
        return p[2] * sum(s_rate * s_rate for s_rate in _extensions(x[n_masses:]))

    ends = [f"position {n_masses}", f"velocity {n_masses}"]
    return Plant(
        name=f"chain of {n_masses}",
        states=(
            *(Quantity(f"position {k}", "m", 0.1, -100.0, 100.0) for k in range(1, n_masses + 1)),
            *(Quantity(f"velocity {k}", "m/s", 0.0, -1000.0, 1000.0) for k in range(1, n_masses + 1)),
        ),
        parameters=(
            Quantity("stiffness", "N/m", 4.0, 0.0, 1e6),
            Quantity("hardening", "N/m^3", cubic, 0.0, 1e6),
            Quantity("damping", "N s/m", 0.3, 0.0, 1e6),
        ),
        inputs=(Quantity("force", "N"),),
        channels=(Channel(output=ends[0], rate=ends[1], low=-20.0, high=20.0),),
        derivative=derivative,
        entropy_rate=entropy_rate,
        text="Masses joined by hardening springs; for benchmarks.",
    )


def _extensions(values: tuple[Any, ...]) -> list[Any]:
    """Differences between neighbours, the wall at 0."""
    return [values[0], *(b - a for a, b in pairwise(values))]
