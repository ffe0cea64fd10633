"""Mutually dependent accelerations: gain of the algebraic loop, mass matrix, agreement of the declarations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from plants.core.accelerations import n_accelerations
from plants.core.algebraic_loop.gain import loop_slopes, slopes_of, spectral_radius, stacked
from plants.core.blocks import forms, program
from plants.core.replay import replay
from plants.core.tracing.trace import flat

if TYPE_CHECKING:
    from plants.core.blocks import BlockSample
    from plants.core.checks.report import CheckReport
    from plants.core.plant import Plant
    from plants.core.tracing.trace import Program


def check_loop(report: CheckReport, plant: Plant, sample: BlockSample) -> None:
    """State the gain of the algebraic loop; test the mass matrix and that both declarations agree."""
    if not plant.has_loop:
        return
    n = n_accelerations(plant)
    slopes = loop_slopes(plant)
    matrices = _matrices(slopes, sample, sample.a)
    gains = spectral_radius(matrices)
    report.loop_gain = float(gains[0])
    largest = float(gains.max())
    text = f"algebraic loop gain {gains[0]:.3g} at the nominal state, up to {largest:.3g} inside the bounds"
    if largest >= 1.0:
        text += "; 'loop_free' diverges where it reaches 1: use 'solved', or 'loop_free_filtered'"
    report.advice.append(text)
    if plant.mass_matrix is not None:
        _check_mass_matrix(report, plant, sample, n)
    if plant.acceleration is not None:
        _check_affine(report, plant, slopes, sample, matrices)
    if plant.acceleration is not None and plant.mass_matrix is not None:
        _check_agreement(report, plant, sample)


def _matrices(slopes: Program, sample: BlockSample, a: np.ndarray) -> np.ndarray:
    return stacked(slopes_of(slopes, sample.t, sample.x, a, sample.u, sample.w, sample.p), len(sample.t))


def _check_mass_matrix(report: CheckReport, plant: Plant, sample: BlockSample, n: int) -> None:
    form = forms(plant)["mass_matrix"]
    tape = program(plant, "mass_matrix", form)
    values = replay(tape, *flat(sample.arguments(form)))
    matrices = np.array([np.broadcast_to(v, len(sample.t)) for v in values], float).T.reshape(-1, n, n)
    if not np.allclose(matrices, np.swapaxes(matrices, 1, 2), rtol=1e-9, atol=1e-12 * np.abs(matrices).max()):
        report.problems.append("mass_matrix is not symmetric: only its lower triangle would be used")
    elif np.linalg.eigvalsh(matrices).min() <= 0.0:
        report.problems.append("mass_matrix is not positive definite at some state inside the bounds")


def _check_affine(
    report: CheckReport, plant: Plant, slopes: Program, sample: BlockSample, matrices: np.ndarray
) -> None:
    others = _matrices(slopes, sample, 1.0 + 3.0 * sample.a)
    if not np.allclose(matrices, others, rtol=1e-9, atol=1e-12 * (1.0 + np.abs(matrices).max())):
        report.problems.append(
            "acceleration is not affine in a, so 'solved' would be wrong; rewrite it so that each a enters linearly"
        )


def _check_agreement(report: CheckReport, plant: Plant, sample: BlockSample) -> None:
    """Both declarations must have the same solution."""
    solutions = []
    others = (
        replace(plant, derivative=None, acceleration=None),
        replace(plant, derivative=None, mass_matrix=None, force=None),
    )
    for other in others:
        rates = other.derivative(sample.t, tuple(sample.x), tuple(sample.u), tuple(sample.w), tuple(sample.p))  # type: ignore[misc]
        solutions.append(np.array([np.broadcast_to(rate, len(sample.t)) for rate in rates], float))
    first, second = solutions
    if not np.allclose(first, second, rtol=1e-7, atol=1e-9 * np.abs(first).max()):
        report.problems.append("acceleration and mass_matrix with force describe different motions")
