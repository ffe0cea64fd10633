"""The generated source is Python: run without the compiler, it gives the same numbers up to rounding."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import controllers
import plants
import sscq
from plants.excitation import GaussianFilter, Sine, WhiteNoise

ROOT = Path(__file__).resolve().parents[2]
MEASURES = ("iae", "effort", "entropy_difference_abs", "total_variation")


def results():
    """A simulation with an algebraic loop and an evaluation with noise and delays, short enough for the interpreter."""
    inertia, vdp = plants.get("nonlinear_inertia"), plants.get("van_der_pol")
    signals = {"disturbances": (GaussianFilter(0.2, 1.0),), "seed": 5}
    run = plants.simulate(
        inertia, 0.3, 0.02, {"position": 1.2}, algebraic_loop="iterated", integrator="heun", **signals
    )
    situation = sscq.Situation(
        name="short", reference=1.0 + Sine(0.2, 0.5), excitation=WhiteNoise(0.3, hold=0.1), delay=0.035,
        output_delay=0.04, noise=0.02, t_end=0.3, seed=2,
    )  # fmt: skip
    law = controllers.PID(sample_time=0.02, derivative_filter_time=0.05)
    gains = np.array([[2.0, 1.0, 1.5], [4.0, 0.5, 2.5]])
    quality = sscq.evaluate(vdp, law, gains, situation, measures=MEASURES)
    return [run.signals[-1].tolist(), *(getattr(quality, name).tolist() for name in MEASURES)]


def test_interpreted_and_compiled_sources_agree(tmp_path):
    code = "import json; from tests.plants import test_no_jit as t; print(json.dumps(t.results()))"
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT), "SSCQ_CACHE": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    interpreted, compiled = json.loads(done.stdout), results()
    assert len(interpreted) == len(compiled)
    for ours, theirs in zip(compiled, interpreted, strict=True):
        # The interpreter rounds a product before it is added, the compiled form does not: 30 steps of 1e-16 each, and
        # Newton's tolerance of 1e-10 in the accelerations.
        assert np.ravel(ours) == pytest.approx(np.ravel(theirs), rel=1e-9, abs=1e-10)
    assert list(tmp_path.glob("kernel_*.py"))  # it ran from generated sources
