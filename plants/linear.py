"""Linear plants from numbers: what identification finds, as a plant like any other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.plant import Plant
from plants.core.quantities import ControlTask, OperatingPoint, Quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    Matrix = Sequence[Sequence[float]]


def linear_plant(
    name: str, A: Matrix, B: Matrix, C: Matrix, *, inputs: Sequence[Quantity], measurements: Sequence[Quantity],
    channels: Sequence[Any], offset: Sequence[float] = (), initial: Sequence[float] = (), dead_time: float = 0.0,
    **more: Any,
) -> Plant:  # fmt: skip
    """Return the plant x' = A x + B (u - u0), y = offset + C x.

    Parameters
    ----------
    A, B, C : [n_x, n_x], [n_x, n_u], [n_y, n_x]
    inputs : sequence of Quantity
        Their nominal values are u0.
    measurements, channels
        As of :class:`plants.Plant`.
    offset : [n_y]
        Outputs at rest; left out: 0.
    initial : [n_x]
        State at time 0; left out: 0.
    dead_time : float
        Of all inputs [s].
    more
        Other fields of :class:`plants.Plant`.

    Raises
    ------
    ValueError
        If the sizes do not fit each other.
    """
    n_x, n_u, n_y = len(A), len(inputs), len(measurements)
    sizes = ((A, n_x, n_x, "A"), (B, n_x, n_u, "B"), (C, n_y, n_x, "C"))
    for matrix, rows, columns, label in sizes:
        if len(matrix) != rows or any(len(row) != columns for row in matrix):
            raise ValueError(f"{label} must be {rows} rows of {columns} numbers, got {matrix}")
    rest, at = tuple(q.nominal for q in inputs), tuple(offset) or (0.0,) * n_y

    def derivative(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
        driven = [a - b for a, b in zip(u, rest, strict=True)]
        return tuple(_sum(A[i], x) + _sum(B[i], driven) for i in range(n_x))

    def outputs(t: Any, x: Any, u: Any, w: Any, p: Any) -> Any:
        return tuple(at[j] + _sum(C[j], x) for j in range(n_y))

    begin = tuple(initial) or (0.0,) * n_x
    states = tuple(Quantity(f"x{k + 1}", "1", float(value)) for k, value in enumerate(begin))
    late = (Quantity("dead_time", "s", dead_time, 0.0),) if dead_time > 0.0 else ()
    return Plant(
        name, states, late, tuple(inputs), measurements=tuple(measurements), channels=tuple(channels),
        derivative=derivative, outputs=outputs, input_delay="dead_time" if late else None,
        task=ControlTask(operating_points=(OperatingPoint("rest", (0.0,) * n_x),)), **more,
    )  # fmt: skip


def _sum(row: Sequence[float], values: Sequence[Any]) -> Any:
    total: Any = 0.0
    for factor, value in zip(row, values, strict=True):
        if factor != 0.0:
            total = total + factor * value
    return total
