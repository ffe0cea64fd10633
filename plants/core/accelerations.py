"""Which states of a plant are accelerated, how its accelerations are solved, and the rates of all states then.

A plant that declares accelerations (`mass_matrix` and `force`, or `acceleration`, each acceleration as a function
of all) has states of two kinds: velocities, whose rates are the accelerations, and all others (coordinates,
filters, friction bristles), whose rates are known at once. Without `kinematics` the others are as many
coordinates, and each one's rate is its velocity. With it they are whatever `kinematics(t, x, u, w, p)` gives
rates for: there may be more coordinates than velocities (quasi-velocities, q' = D(q) w), and states that are no
coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from plants.core.linear_solve import solve_general, solve_symmetric

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plants.core.quantities import Quantity

    Block = Callable[..., Any]


class Accelerated(Protocol):
    """What a plant says of its motion; :class:`plants.core.plant.Plant` is one."""

    @property
    def name(self) -> str:
        """Name of the plant."""

    @property
    def states(self) -> tuple[Quantity, ...]:
        """All states."""

    @property
    def velocities(self) -> tuple[str, ...]:
        """Names of the accelerated states; empty: the second half."""

    @property
    def mass_matrix(self) -> Block | None:
        """Block ``(t, x, u, w, p)`` to rows."""

    @property
    def force(self) -> Block | None:
        """Block ``(t, x, u, w, p)``."""

    @property
    def acceleration(self) -> Block | None:
        """Block ``(t, x, a, u, w, p)``."""

    @property
    def kinematics(self) -> Block | None:
        """Block ``(t, x, u, w, p)``."""

    @property
    def has_loop(self) -> bool:
        """Whether the accelerations are declared as mutually dependent."""

    def index(self, kind: str, name: str) -> int:
        """Return the position of the quantity called `name` among `kind`."""


@dataclass(frozen=True)
class StateLayout:
    """Places of a plant's states.

    Attributes
    ----------
    plant : Plant
    velocities : tuple of int [n]
        States whose rates are the accelerations, in the order of the equations.
    others : tuple of int [n_x - n]
        All other states, in state order.
    """

    plant: Accelerated
    velocities: tuple[int, ...]
    others: tuple[int, ...]

    @property
    def n(self) -> int:
        """Number of accelerations."""
        return len(self.velocities)

    def of(self, x: Sequence[Any]) -> tuple[Any, ...]:
        """Return the velocities [n] among all states `x`."""
        return tuple(x[k] for k in self.velocities)

    def other_rates(self, t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:
        """Return the rates of all states that are not accelerated [n_x - n].

        Raises
        ------
        ValueError
            Where `kinematics` gives another number of them.
        """
        if self.plant.kinematics is None:
            return self.of(x)
        result = self.plant.kinematics(t, x, u, w, p)
        return self._counted("kinematics", self.others, result if isinstance(result, (tuple, list)) else (result,))

    def rates(self, a: Sequence[Any], t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:
        """Return the rates of all states [n_x] from the accelerations `a` [n]."""
        known = dict(zip(self.others, self.other_rates(t, x, u, w, p), strict=True))
        known |= dict(zip(self.velocities, self._counted("the equations of motion", self.velocities, a), strict=True))
        return tuple(known[k] for k in range(len(known)))

    def _counted(self, what: str, places: Sequence[int], rates: Sequence[Any]) -> tuple[Any, ...]:
        if len(rates) != len(places):
            labels = ", ".join(self.plant.states[k].name for k in places)
            raise ValueError(
                f"{what} of plant {self.plant.name!r} must give the rates of {labels or 'no state'}, got {len(rates)}"
            )
        return tuple(rates)


def layout(plant: Accelerated) -> StateLayout:
    """Return which states of `plant` are velocities.

    Raises
    ------
    ValueError
        Where it declares no accelerations, or does not say which states they belong to.
    """
    if plant.acceleration is None and (plant.mass_matrix is None or plant.force is None):
        raise ValueError(f"plant {plant.name!r} needs derivative, or acceleration, or mass_matrix and force")
    count = len(plant.states)
    velocities = _named(plant) if plant.velocities else _second_half(plant)
    others = tuple(k for k in range(count) if k not in velocities)
    if plant.kinematics is None and len(others) != len(velocities):
        raise ValueError(
            f"plant {plant.name!r} names {len(velocities)} velocities among {count} states; without "
            "kinematics(t, x, u, w, p) each other state is a coordinate whose rate is one of them, so there must be as "
            "many: give kinematics, the rates of all states that are not among the velocities"
        )
    return StateLayout(plant, velocities, others)


def n_accelerations(plant: Accelerated) -> int:
    """Return the number of mutually dependent accelerations of `plant`; 0 where it declares none."""
    return layout(plant).n if plant.has_loop else 0


def check_velocities(plant: Accelerated) -> None:
    """Raise where a plant's `kinematics` or `velocities` do not fit the rest of its declaration."""
    if plant.has_loop:
        layout(plant)
    elif plant.kinematics is not None or plant.velocities:
        raise ValueError(
            f"plant {plant.name!r} gives kinematics or velocities, which say what its accelerations belong to, but no "
            "accelerations: declare mass_matrix and force, or acceleration(t, x, a, u, w, p)"
        )


def _named(plant: Accelerated) -> tuple[int, ...]:
    if len(set(plant.velocities)) != len(plant.velocities):
        raise ValueError(f"plant {plant.name!r}: names of velocities must differ, got {list(plant.velocities)}")
    return tuple(plant.index("states", name) for name in plant.velocities)


def _second_half(plant: Accelerated) -> tuple[int, ...]:
    count = len(plant.states)
    if plant.kinematics is not None:
        raise ValueError(
            f"plant {plant.name!r} gives kinematics, so say which states its accelerations belong to: "
            "velocities=(names of states, in the order of the equations)"
        )
    if count % 2:
        raise ValueError(
            f"plant {plant.name!r} declares accelerations, so its states are positions followed by velocities: "
            f"an even number, got {count}; for other states give kinematics(t, x, u, w, p) and velocities=(...)"
        )
    return tuple(range(count // 2, count))


def solved_derivative(plant: Accelerated) -> Callable[..., tuple[Any, ...]]:
    """Derivative block with the accelerations solved exactly; the reference for accuracy.

    For an `acceleration` declaration the dependence on `a` is taken as affine (all mechanical systems are), its matrix
    from differences at 0 and 1, which are exact for affine functions up to rounding.
    """
    places = layout(plant)

    def derivative(t: Any, x: Any, u: Any, w: Any, p: Any) -> tuple[Any, ...]:
        if plant.mass_matrix is not None and plant.force is not None:
            matrix = plant.mass_matrix(t, x, u, w, p)
            a = solve_symmetric(matrix, plant.force(t, x, u, w, p))
        else:
            a = _solve_affine(plant, places.n, t, x, u, w, p)
        return places.rates(a, t, x, u, w, p)

    derivative.solved = True  # type: ignore[attr-defined]  # a copy of the plant with other blocks solves its own
    return derivative


def _solve_affine(plant: Accelerated, n: int, *block: Any) -> tuple[Any, ...]:
    t, x, u, w, p = block
    free = accelerations(plant, t, x, (0.0,) * n, u, w, p)
    columns = []
    for j in range(n):
        unit = tuple(1.0 if k == j else 0.0 for k in range(n))
        moved = accelerations(plant, t, x, unit, u, w, p)
        columns.append([a - b for a, b in zip(moved, free, strict=True)])
    matrix = [[(1.0 if i == j else 0.0) - columns[j][i] for j in range(n)] for i in range(n)]
    return solve_general(matrix, free)


def accelerations(plant: Accelerated, *block: Any) -> tuple[Any, ...]:
    """Each acceleration from its own equation, given all of them: block is (t, x, a, u, w, p)."""
    t, x, a, u, w, p = block
    if plant.acceleration is not None:
        result = plant.acceleration(t, x, a, u, w, p)
        return tuple(result) if isinstance(result, (tuple, list)) else (result,)
    matrix, force = plant.mass_matrix(t, x, u, w, p), plant.force(t, x, u, w, p)  # type: ignore[misc]
    n = len(force)
    others = [force[i] - sum((matrix[i][j] * a[j] for j in range(n) if j != i), 0.0) for i in range(n)]
    return tuple(others[i] / matrix[i][i] for i in range(n))
