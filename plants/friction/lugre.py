"""LuGre friction: bristles that bend before they slip, in one direction or isotropic in two.

    z' = v - lambda z,  lambda = sigma0 |v| / g(|v|),  mu = sigma0 z + sigma1(|v|) z' + sigma2 v

with Stribeck's curve g and a bristle damping that fades with speed, sigma1 exp(-(|v|/v_d)^2): with a constant one the
law is not passive. It reproduces Coulomb friction for stiff bristles, the fall from the static peak, pre-sliding loops
and a break-away force that falls with the rate of loading.

Source: C. Canudas de Wit, H. Olsson, K. J. Astrom, P. Lischinsky, A new model for control of systems with friction,
IEEE Trans. Automatic Control 40 (1995) 419-425; K. J. Astrom, C. Canudas de Wit, Revisiting the LuGre model, IEEE
Control Systems Magazine 28 (2008) 101-114.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plants.core.elementary import exp, sqrt, where
from plants.friction.static import stribeck

Vector = tuple[Any, ...]
STILL = 1e-10  # m/s: rounds the corner of |v| at rest, so that derivatives exist there
_SMALL = 1e-5  # products of rate and step below which the series of (1 - exp(-x)) / x is exact to rounding


@dataclass(frozen=True)
class LuGre:
    """The parameters of an element; all of them may be traced. Velocities and bristles are tuples of 1 or 2 numbers.

    Attributes
    ----------
    stiffness, damping, viscosity : number
        sigma0 [1/m], sigma1 [s/m], sigma2 [s/m] per unit normal force; or N/m, N s/m, N s/m for forces.
    static, kinetic : number
        Friction at rest and in fast sliding, without sigma2 v [1, or N].
    velocity : number
        Stribeck velocity v_s [m/s].
    fading : number
        Speed v_d over which sigma1 fades [m/s]; 0 or less: sigma1 is constant.
    exponent : float
        Of Stribeck's curve.
    """

    stiffness: Any
    damping: Any
    viscosity: Any
    static: Any
    kinetic: Any
    velocity: Any
    fading: Any = 0.0
    exponent: float = 2.0

    def level(self, speed: Any) -> Any:
        """Stribeck's curve g."""
        return stribeck(speed, self.static, self.kinetic, self.velocity, self.exponent)

    def steady(self, speed: Any) -> Any:
        """Friction of steady sliding, g + sigma2 |v|."""
        return self.level(speed) + self.viscosity * speed

    def relaxation(self, speed: Any) -> Any:
        """Rate lambda at which sliding straightens the bristles [1/s]."""
        return self.stiffness * speed / self.level(speed)

    def faded(self, speed: Any) -> Any:
        """Bristle damping sigma1 at this speed."""
        ratio = speed / where(self.fading, self.fading, 1.0)
        return where(self.fading, self.damping * exp(-ratio * ratio), self.damping)

    def rate(self, v: Vector, z: Vector) -> Vector:
        """Rate of the bristles z' [m/s]."""
        slip = self.relaxation(magnitude(v))
        return tuple(a - slip * b for a, b in zip(v, z, strict=True))

    def coefficient(self, v: Vector, z: Vector) -> Vector:
        """Friction mu against the motion, [1] or [N]."""
        bending = self.faded(magnitude(v))
        rates = self.rate(v, z)
        return tuple(self.stiffness * b + bending * c + self.viscosity * a for a, b, c in zip(v, z, rates, strict=True))

    def losses(self, v: Vector, z: Vector) -> tuple[Any, Any, Any]:
        """Power that becomes heat [W, or W/N]: by sliding bristles, by their damping, by viscosity."""
        speed, rates = magnitude(v), self.rate(v, z)
        sliding = self.stiffness * self.relaxation(speed) * dot(z, z)
        return sliding, self.faded(speed) * dot(rates, v), self.viscosity * dot(v, v)

    def stored(self, z: Vector) -> Any:
        """Energy of the bent bristles, sigma0 |z|^2 / 2 [J, or J/N]."""
        return 0.5 * self.stiffness * dot(z, z)

    def implicit(self, v: Vector, z: Vector, h: Any) -> Vector:
        """Bristles after a step `h` [s] with the velocity at its end, (z + h v) / (1 + h lambda): order 1."""
        share = 1.0 / (1.0 + h * self.relaxation(magnitude(v)))
        return tuple((b + h * a) * share for a, b in zip(v, z, strict=True))

    def exponential(self, v: Vector, z: Vector, h: Any) -> Vector:
        """Bristles after a step `h` [s] of constant velocity: exact."""
        x = h * self.relaxation(magnitude(v))
        small = _SMALL - x
        decay = exp(-x)
        mean = where(small, 1.0 - 0.5 * x, (1.0 - decay) / where(small, 1.0, x))
        return tuple(b * decay + h * a * mean for a, b in zip(v, z, strict=True))

    def linear(self, speed: Any, h: Any) -> tuple[Any, Any]:
        """Numbers A, B of mu = A z + B v after an implicit step: z before it, v at its end.

        `speed` fixes lambda and sigma1. With them a step of a plant stays linear in its new velocities.
        """
        slip, bending = self.relaxation(speed), self.faded(speed)
        share = 1.0 / (1.0 + h * slip)
        of_bristles = (self.stiffness + bending / h) * share - bending / h
        return of_bristles, (self.stiffness * h + bending) * share + self.viscosity


def dot(a: Vector, b: Vector) -> Any:
    """Inner product."""
    return sum((left * right for left, right in zip(a[1:], b[1:], strict=True)), a[0] * b[0])


def magnitude(v: Vector) -> Any:
    """Length of a velocity [m/s]."""
    return sqrt(dot(v, v) + STILL * STILL)
