"""Gauss' function in Cartesian and joint coordinates: both worked examples, its minimum, a rigid body."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from experiments.report.drawing.svg import Chart, SvgLine
from experiments.reproduce.mechanics import systems
from experiments.reproduce.registry import FOLDER
from experiments.reproduce.results import ClaimTable, ClaimVerdict, Compared, Reproduction, judged
from experiments.studies.engine.template import Template
from plants.mechanics import gauss_function

if TYPE_CHECKING:
    from experiments.reproduce.registry import PublishedClaim

_ANGLE, _RATE, _TORQUE = 0.6, 1.2, 0.5  # rad, rad/s, N m: the specification's case R9
_M, _J, _D, _G = 2.0, 0.3, 0.4, 9.81
_ALONG = np.array([_D * math.cos(_ANGLE), _D * math.sin(_ANGLE), 1.0])
_BIAS = _RATE**2 * np.array([-_D * math.sin(_ANGLE), _D * math.cos(_ANGLE), 0.0])
_STATE = (_D * math.sin(_ANGLE), -_D * math.cos(_ANGLE), _ANGLE, *(_RATE * _ALONG).tolist())
_PINNED = (*_STATE[:3], _RATE)
_DRAWS = 200


def gauss_plane_body(_: PublishedClaim) -> Reproduction:
    """Compare what is derived from the energies with the formula, at random accelerations."""
    found = gauss_function(systems.pinned_body())
    a = np.random.default_rng(0).uniform(-20.0, 20.0, (_DRAWS, 3))
    ours = np.array([found(one, _STATE, u=(_TORQUE,)) for one in a])
    forces = np.array([0.0, -_M * _G, _TORQUE])
    formula = 0.5 * _M * (a[:, 0] ** 2 + a[:, 1] ** 2) + 0.5 * _J * a[:, 2] ** 2 - a @ forces
    gap = float(np.abs(ours - formula).max() / np.abs(formula).max())
    order = np.argsort(formula)
    return Reproduction(
        ours=f"Z = {found.text}",
        verdict=ClaimVerdict.AGREES if gap < 1e-12 else ClaimVerdict.DIFFERS,
        reason=(
            f"Derived from the energies of a body under its weight and a torque; at {_DRAWS} random accelerations it "
            f"is the formula to {gap:.0e}."
        ),
        panels=(
            Chart(
                "At random accelerations",
                "by the formula, J/s²",
                "derived, J/s²",
                (SvgLine("Z", formula[order], ours[order]),),
            ),
        ),
    )


def gauss_pinned_body(claim: PublishedClaim) -> Reproduction:
    """Transfer the body's function to its joint, and look for the least value of both."""
    mech = systems.pinned_body()
    cartesian, pinned = gauss_function(mech), gauss_function(mech, "reduced")
    least, joint = cartesian.least(_STATE, u=(_TORQUE,)), pinned.least(_PINNED, u=(_TORQUE,))
    values = claim.values
    compared = [
        Compared("φ'' in Cartesian coordinates", values["phi"], float(least[2]), 1e-9),
        Compared("φ'' in the joint coordinate", values["phi"], float(joint[0]), 1e-9),
        Compared("x''", values["centre"][0], float(least[0]), 1e-9),
        Compared("y''", values["centre"][1], float(least[1]), 1e-9),
    ]
    moment = _TORQUE - _M * _G * _D * math.sin(_ANGLE)
    w = np.linspace(-20.0, 8.0, 141)
    formula = 0.5 * (_J + _M * _D**2) * w**2 - moment * w
    ours = np.array([pinned([one], _PINNED, u=(_TORQUE,)) for one in w])
    through = np.array([cartesian(one * _ALONG + _BIAS, _STATE, u=(_TORQUE,)) for one in w])
    shifted = through - through.min() + ours.min()
    gap = float(max(np.abs(ours - formula).max(), np.abs(shifted - formula).max()))
    verdict, reason, table = judged(compared, "least", "Accelerations of the least value")
    verdict = verdict if gap < 1e-9 else ClaimVerdict.DIFFERS
    curves = (
        SvgLine("joint coordinate", w, ours),
        SvgLine("Cartesian, along what the pin allows", w, shifted, dashed=True),
        SvgLine("least value", joint, [pinned(joint, _PINNED, u=(_TORQUE,))], dots=True, colour=3),
    )
    page = Template.read(FOLDER.parent / "templates" / "gauss_function.md").page(
        {"cartesian": cartesian.text, "joint": pinned.text, "declared": _numbers(least), "reduced": _numbers(joint)}
    )
    return Reproduction(
        ours=f"Z = {pinned.text}; least at {joint[0]:.10f}",
        verdict=verdict,
        reason=f"{reason} Transferred function and formula are the same to {gap:.0e} J/s².",
        panels=(Chart("Gauss' function of the pinned body", "φ'', rad/s²", "Z", curves, width=620.0),),
        tables=(table,),
        page=page,
    )


def _numbers(values: np.ndarray) -> str:
    return f"({', '.join(f'{value:.10f}' for value in values)})" if len(values) > 1 else f"{values[0]:.10f}"


def gauss_least(claim: PublishedClaim) -> Reproduction:
    """Draw admissible accelerations and compare the function there with that at the true motion."""
    rng, rows, curves, below = np.random.default_rng(1), [], [], True
    for name, make in (
        ("sleigh", systems.sleigh),
        ("rolling disk", systems.rolling_disk),
        ("trailers", systems.trailers),
    ):
        mech = make()
        found, equations = gauss_function(mech), make().build("quasi", check=False).equations
        q, w = rng.uniform(-0.8, 0.8, found.declared.n), rng.uniform(-1.0, 1.0, len(equations.velocities))
        block = equations.block(0.0, (*q, *w))
        _, v = equations.motion(*block)
        state = (*q.tolist(), *map(float, v))
        best = found.least(state)
        rows_of, _ = found.constraints(state)
        span = np.linalg.svd(rows_of)[2][len(rows_of) :]
        steps = rng.normal(size=(claim.values["draws"], len(span))) @ span
        above = np.array([found(best + step, state) - found(best, state) for step in steps])
        below = below and bool((above > 0.0).all())
        rows.append((name, f"{above.min():.2e}", str(int((above > 0.0).sum()))))
        curves.append(SvgLine(name, np.arange(1, len(above) + 1), np.sort(above)))
    return Reproduction(
        ours=f"above at {', '.join(row[2] for row in rows)} of {claim.values['draws']} draws",
        verdict=ClaimVerdict.AGREES if below else ClaimVerdict.DIFFERS,
        reason="Of three rolling systems at random states; away from the true motion the function only rises.",
        panels=(Chart("Function less that at the true motion", "draws, in order", "Z - Z least, J/s²", tuple(curves)),),
        tables=(ClaimTable("draws", "Draws", ("system", "smallest rise", "of draws above"), rows),),
    )


def gauss_rigid_body(claim: PublishedClaim) -> Reproduction:
    """Ask the free body's function for its least value."""
    found = gauss_function(systems.rigid_body())
    state = (0.0, 0.0, 0.0, 0.4, 0.9, -0.3, 0.0, 0.0, 0.0, 0.5, -0.4, 0.8)
    least = found.least(state)
    compared = [
        Compared(f"{name}''", value, float(ours), 1e-9)
        for name, value, ours in zip(("psi", "theta", "phi"), claim.values["angles"], least[3:], strict=True)
    ]
    verdict, reason, table = judged(compared, "angles", "Angle accelerations")
    offsets = np.linspace(-2.0, 2.0, 81)
    curves = []
    for k, one in enumerate(compared, 3):
        values = []
        for offset in offsets:
            moved = least.copy()
            moved[k] += offset
            values.append(found(moved, state) - found(least, state))
        curves.append(SvgLine(one.what, offsets, values))
    return Reproduction(
        ours=", ".join(f"{one.ours:.10f}" for one in compared),
        verdict=verdict,
        reason=reason,
        panels=(Chart("Function about its least value", "distance, rad/s²", "Z - Z least", tuple(curves)),),
        tables=(table,),
    )
