"""What closes the linkages of the car in redundant coordinates: two constraints per wheel, twice differentiated."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from plants.core.elementary import cos, sin
from plants.suspension.parameters import LEFT, Axle, Car

Numbers = tuple[Any, ...]
N, WHEELS = 15, 4
ETA, THETA, Z6 = 3, 7, 11  # first of each kind among the coordinates


def sided(car: Car, k: int) -> Axle:
    """Return the numbers of one corner with the signs of its side."""
    axle = car.axles[k]
    if LEFT[k]:
        return axle
    return replace(axle, **{name: -getattr(axle, name) for name in ("b2", "gam", "e0", "e1", "e2", "e3")})


def constraints(
    car: Car, q: Numbers, v: Numbers, kappa: Any
) -> tuple[list[list[Any]], list[Any], list[Any], list[Any]]:
    """Return rows, targets, residuals and their rates: the first constraint of all wheels, then the second."""
    both: tuple[list[Any], list[Any]] = ([], [])
    for k in range(WHEELS):
        axle = sided(car, k)
        s, h = q[Z6 + k] - axle.d1, axle.c1 - axle.c2
        st, ct = axle.e2 * sin(q[THETA + k]), axle.e2 * cos(q[THETA + k])
        se, ce = sin(q[ETA + k]), cos(q[ETA + k])
        theta, eta, slide = v[THETA + k], v[ETA + k], v[Z6 + k]
        places = (ETA + k, THETA + k, Z6 + k)
        first = -(theta * theta * ct) + 2.0 * eta * slide * ce - eta * eta * s * se
        second = theta * theta * st - 2.0 * eta * slide * se - eta * eta * s * ce
        both[0].append((places, (-s * ce, st, -se), first, -(ct + s * se)))
        both[1].append((places, (s * se, ct, -ce), second, st - s * ce - h))
    rows, target, gaps, speeds = [], [], [], []
    for places, slopes, wanted, gap in (*both[0], *both[1]):
        row: list[Any] = [0.0] * N
        for place, slope in zip(places, slopes, strict=True):
            row[place] = slope
        speed = sum((slope * v[place] for place, slope in zip(places, slopes, strict=True)), 0.0)
        rows.append(row)
        target.append(wanted - 2.0 * kappa * speed - kappa * kappa * gap)
        gaps.append(gap)
        speeds.append(speed)
    return rows, target, gaps, speeds
