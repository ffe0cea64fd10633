"""One step of a stochastic differential equation, as plain functions on blocks and given increments.

``dx_i = a_i(t, x) dt + b_i(t, x) dW_i``. Each takes the drift ``a(t, x)`` and the diffusion ``b(t, x)``, both tuples
[n_x], t [s], x [n_x], h [s] and the increments dw [n_x] of the Wiener processes over the step (variance h), and
returns the state at t + h. Where one process drives several states, its increment stands in several places of `dw`.
Increments are given, so that paths can be nested: two steps of h/2 with dw1 and dw2 are one of h with dw1 + dw2.

=================  ============  ===================================  ==========
scheme             calculus      strong order                         weak order
=================  ============  ===================================  ==========
euler_maruyama     Ito           0.5; 1 where b does not depend on x  1
milstein           Ito           1                                    1
stochastic_heun    Stratonovich  1 (one process, or commutative b)    1
=================  ============  ===================================  ==========

Source: Kloeden and Platen, Numerical Solution of Stochastic Differential Equations, sections 10.2, 10.3, 14.1; Rümelin,
SIAM J. Numer. Anal. 19 (1982) for Heun's method.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    State = tuple[Any, ...]
    Field = Callable[[Any, State], State]


def euler_maruyama(a: Field, b: Field, t: Any, x: State, h: Any, dw: State) -> State:
    """Euler-Maruyama: converges to the Ito solution."""
    return tuple(x_i + h * a_i + b_i * w_i for x_i, a_i, b_i, w_i in zip(x, a(t, x), b(t, x), dw, strict=True))


def milstein(a: Field, b: Field, slope: Field, t: Any, x: State, h: Any, dw: State) -> State:
    """Milstein's method for diagonal noise: converges to the Ito solution.

    ``b_i`` may depend on ``x_i`` alone; `slope` gives ``d b_i / d x_i``.
    """
    moved = euler_maruyama(a, b, t, x, h, dw)
    squares = zip(moved, b(t, x), slope(t, x), dw, strict=True)
    return tuple(m_i + 0.5 * b_i * s_i * (w_i * w_i - h) for m_i, b_i, s_i, w_i in squares)


def stochastic_heun(a: Field, b: Field, t: Any, x: State, h: Any, dw: State) -> State:
    """Stochastic Heun method: converges to the Stratonovich solution.

    The Ito equation with drift a is the Stratonovich equation with drift ``a - 0.5 b db/dx``; both are the same where
    no ``b_i`` depends on a state that its own noise moves.
    """
    a0, b0 = a(t, x), b(t, x)
    ahead = tuple(x_i + h * a_i + b_i * w_i for x_i, a_i, b_i, w_i in zip(x, a0, b0, dw, strict=True))
    a1, b1 = a(t + h, ahead), b(t + h, ahead)
    terms = zip(x, a0, a1, b0, b1, dw, strict=True)
    half = 0.5 * h
    return tuple(x_i + half * (p + q) + 0.5 * (r + s) * w_i for x_i, p, q, r, s, w_i in terms)
