"""Laws of the field for adjustable dampers: passive ones, sky-hook, ground-hook, acceleration-driven, and a mixture.

Sensors are those of the PID loops: rates of heave, pitch and roll, strokes of the struts and their rates. A body
corner's velocity is that above its wheel; its acceleration is estimated from the struts' forces, which the strokes tell
(dampers at their settings as built, for acceleration-driven damping at one that is tuned), as an accelerometer's
reading over the last sample would be in a car without load: a load moves the struts' rest, which the estimate takes for
an acceleration. With 300 kg behind that costs the mixed law 3 % of weighted acceleration, acceleration-driven damping
7 %, at 0.5 % less tyre-load variation; the sky-hook stays ahead of both.

Sources: Karnopp, Crosby, Harwood (1974), J. Eng. Ind. 96, p. 619 (sky-hook); Valasek, Novak, Sika, Vaculin (1997),
Vehicle System Dynamics 27, p. 285 (ground-hook); Besinger, Cebon, Cole (1995), ibid. 24, p. 695 (sky-hook beside a
passive part, "modified"); Savaresi, Silani, Bittanti (2005), J. Dyn. Syst. Meas. Control 127,
p. 218 (acceleration-driven damping); Savaresi, Spelta (2007), ibid. 129, p. 382 (mixed).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from plants.core.elementary import clip, quotient, where
from plants.core.quantities import Quantity, Rival
from plants.suspension.geometry import Numbers, pose
from plants.suspension.parameters import C_MAX, C_MIN, CS_FRONT, CS_REAR, LEFT, PARAMETERS, Car
from plants.suspension.signals import REST, STILL

_NOMINAL = Car.of(tuple(q.nominal for q in PARAMETERS))
_AT_REST = pose(REST, tuple(q.nominal for q in PARAMETERS))
_STROKES = tuple(c.link.z6 for c in _AT_REST.corners)
# Of a strut's rate over its wheel's, at rest.
_RATIOS = tuple(c.link.slope / (axle.e3 * c.cos_psi) for axle, c in zip(_NOMINAL.axles, _AT_REST.corners, strict=True))


@dataclass(frozen=True)
class _SensedCorner:
    """What the sensors tell of one corner: velocities upwards, the strut's rate positive in compression."""

    body: Any
    wheel: Any
    rate: Any
    acceleration: Any
    front: bool


def _corners(x: Numbers, p: Numbers, dampers: tuple[Any, Any] = (CS_FRONT, CS_REAR)) -> tuple[_SensedCorner, ...]:
    """Velocities of the four corners, and accelerations as with dampers at given settings, front and rear."""
    at, car = pose(x, p), _NOMINAL
    rates = at.stroke_rates
    lifts = tuple(
        ratio * (axle.ks * (c.link.z6 - rest) + dampers[k > 1] * rate)
        for k, (axle, c, rest, rate, ratio) in enumerate(
            zip(car.axles, at.corners, _STROKES, rates, _RATIOS, strict=True)
        )
    )
    arms = tuple((axle.a1, _side(k) * (axle.b2 + axle.e3)) for k, axle in enumerate(car.axles))
    heave = sum(lifts[1:], lifts[0]) / car.mb
    pitch = -sum((a * f for (a, _), f in zip(arms, lifts, strict=True)), 0.0) / car.Iby
    roll = sum((b * f for (_, b), f in zip(arms, lifts, strict=True)), 0.0) / car.Ibx
    heave_rate, pitch_rate, roll_rate = x[7:10]
    found = []
    for k, (a, b) in enumerate(arms):
        body = heave_rate - a * pitch_rate + b * roll_rate
        found.append(
            _SensedCorner(body, body + rates[k] * (1.0 / _RATIOS[k]), rates[k], heave - a * pitch + b * roll, k < 2)
        )
    return tuple(found)


def _side(k: int) -> float:
    return 1.0 if LEFT[k] else -1.0


def _settings(values: Any) -> Numbers:
    return (*(clip(value, C_MIN, C_MAX) for value in values), 0.0, 0.0, 0.0, 0.0)


def _as_built(t: Any, x: Numbers, constants: Numbers, p: Numbers) -> Numbers:
    return _settings((CS_FRONT, CS_FRONT, CS_REAR, CS_REAR))


def _passive(t: Any, x: Numbers, constants: Numbers, p: Numbers) -> Numbers:
    return _settings((constants[0], constants[0], constants[1], constants[1]))


def _sky_hook(t: Any, x: Numbers, constants: Numbers, p: Numbers) -> Numbers:
    front, rear, low = constants
    return _settings(_resisting(-(front if c.front else rear) * c.body, c.rate, low) for c in _corners(x, p))


def _modified_sky_hook(t: Any, x: Numbers, constants: Numbers, p: Numbers) -> Numbers:
    front, rear, base = constants
    return _settings(
        _resisting(base * c.rate - (front if c.front else rear) * c.body, c.rate, C_MIN) for c in _corners(x, p)
    )


def _ground_hook(t: Any, x: Numbers, constants: Numbers, p: Numbers) -> Numbers:
    front, rear, low = constants
    return _settings(_resisting((front if c.front else rear) * c.wheel, c.rate, low) for c in _corners(x, p))


def _acceleration_driven(t: Any, x: Numbers, constants: Numbers, p: Numbers) -> Numbers:
    high, low, estimate = constants
    return _settings(where(-c.acceleration * c.rate, high, low) for c in _corners(x, p, (estimate, estimate)))


def _mixed(t: Any, x: Numbers, constants: Numbers, p: Numbers) -> Numbers:
    crossover, high, low = constants
    settings = []
    for c in _corners(x, p):
        fast = c.acceleration * c.acceleration - (crossover * c.body) * (crossover * c.body)
        settings.append(where(where(fast, -c.acceleration * c.rate, -c.body * c.rate), high, low))
    return _settings(settings)


def _resisting(force: Any, rate: Any, low: Any) -> Any:
    """Setting for a force in the direction of compression's resistance; `low` where a damper cannot give it."""
    gives = where(force * rate, where(force * rate - STILL * STILL, 1.0, 0.0), 0.0)
    return where(gives, clip(quotient(force, where(gives, rate, 1.0)), low, C_MAX), low)


def _setting(name: str, nominal: float, high: float = C_MAX, text: str = "") -> Quantity:
    return Quantity(name, "N s/m", nominal, C_MIN, high, text)


_LOW = _setting("low", C_MIN, CS_FRONT, "where a damper cannot give the wanted force")
RIVALS = (
    Rival("as_built", "passive dampers, as built", "nominal settings", (), _as_built),
    Rival(
        "passive", "passive dampers, tuned", "one setting an axle",
        (_setting("front", CS_FRONT), _setting("rear", CS_REAR)), _passive,
    ),
    Rival(
        "sky_hook", "sky-hook", "Karnopp, Crosby, Harwood (1974), continuous",
        (_setting("front", 4000.0, 20e3), _setting("rear", 4000.0, 20e3), _LOW), _sky_hook,
    ),
    Rival(
        "modified_sky_hook", "modified sky-hook", "Besinger, Cebon, Cole (1995), continuous",
        (_setting("front", 4000.0, 20e3), _setting("rear", 4000.0, 20e3), _setting("base", 1500.0)),
        _modified_sky_hook,
    ),
    Rival(
        "ground_hook", "ground-hook", "Valasek et al. (1997), continuous",
        (_setting("front", 2000.0, 20e3), _setting("rear", 2000.0, 20e3), _LOW), _ground_hook,
    ),
    Rival(
        "acceleration_driven", "acceleration-driven damping (ADD)", "Savaresi, Silani, Bittanti (2005), two settings",
        (_setting("high", 4000.0), _LOW, _setting("estimate", 1500.0)), _acceleration_driven,
    ),
    Rival(
        "mixed", "mixed sky-hook and ADD", "Savaresi, Spelta (2007), two settings",
        (Quantity("crossover", "1/s", 12.0, 1.0, 100.0), _setting("high", 4000.0), _LOW), _mixed,
    ),
)  # fmt: skip
"""What a knowledge base has to beat on this car."""
