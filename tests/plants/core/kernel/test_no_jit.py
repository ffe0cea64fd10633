"""The generated source is Python: run without the compiler, it gives the same numbers up to rounding."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import plants
from plants.excitation import Sine
from sscq.loop.closed_loop import ClosedLoop
from tests.plants.core.kernel import test_lanes as lanes

ROOT = Path(__file__).resolve().parents[4]
HEUN = {"integrator": "heun", "algebraic_loop": "iterated"}
SIGNALS = {"inputs": {"force": Sine(0.5, 0.3)}, "disturbances": {"excitation": Sine(0.1, 0.2, 1.0)}}


def results():
    """An algebraic loop and a closed loop with noise and delays (kernels of other tests), short for the interpreter."""
    inertia = plants.get("nonlinear_inertia")
    run = plants.simulate(inertia, 0.3, 0.02, {"position": 1.2}, None, **SIGNALS, **HEUN)
    loop = ClosedLoop(lanes.VDP, lanes.LAW, (lanes.PLAIN, lanes.RICH, lanes.BUSY), lanes.STEP)
    outcomes = [loop.run(lanes.GAINS[:2], numbers, n_steps=30, threads=1) for numbers in ([0], [1, 2])]
    return [run.signals[-1].tolist(), *(outcome.measures.tolist() for outcome in outcomes)]


def test_interpreted_and_compiled_sources_agree(tmp_path):
    code = "import json; from tests.plants.core.kernel import test_no_jit as t; print(json.dumps(t.results()))"
    environment = os.environ | {"SSCQ_INTERPRET": "1", "PYTHONPATH": str(ROOT), "SSCQ_CACHE": str(tmp_path)}
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
    assert len(interpreted) == len(compiled) == 3
    for ours, theirs in zip(compiled, interpreted, strict=True):
        # The interpreter rounds a product before it is added, the compiled form does not: 30 steps of 1e-16 each, and
        # Newton's tolerance of 1e-10 in the accelerations.
        assert np.ravel(ours) == pytest.approx(np.ravel(theirs), rel=1e-9, abs=1e-10)
    assert list(tmp_path.glob("kernel_*.py"))  # it ran from generated sources
