"""Every family of kernels as PTX: its time to compile, and what NVIDIA's assembler makes of it (registers, spills).

`ptxas` is part of CUDA's toolkit, and of the package nvidia-cuda-nvcc; no GPU is needed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import plants
from benchmarks.engine.compilation import rules
from benchmarks.runner.report import FigureSection
from controllers import PID, Controller, GainTable, TwoDegreePID
from flcs import FuzzyController
from plants.core.gpu.ptx import local_bytes, ptx
from plants.excitation import WhiteNoise
from sscq import Situation
from sscq.loop.closed_loop import ClosedLoop

if TYPE_CHECKING:
    from benchmarks.runner.size import Size

PROCESSOR = "sm_90"
_STEP = Situation("step", reference=0.4)
_LATE = Situation("late", reference=0.4, delay=0.05)
_NOISY = Situation("noisy", reference=0.4, noise=0.01, excitation=WhiteNoise(0.3, hold=0.05))
_ALL = Situation("all", reference=0.4, delay=0.05, noise=0.01, excitation=WhiteNoise(0.3, hold=0.05))
_LATE_ROWS = 6  # of the ring behind a delay of 0.05 s
SMALL: dict[str, tuple[str, Any, Situation, int]] = {
    "PID": ("van_der_pol", PID(), _STEP, 0),
    "PID of two degrees of freedom": ("van_der_pol", TwoDegreePID(), _STEP, 0),
    "sampled PID with a filter": ("van_der_pol", PID(sample_time=0.02, derivative_filter_time=0.05), _STEP, 0),
    "gain table": ("van_der_pol", Controller(PID(), GainTable("position", (0.0, 1.0, 2.0))), _STEP, 0),
    "noise": ("van_der_pol", PID(), _NOISY, 0),
    "delay": ("van_der_pol", PID(), _LATE, _LATE_ROWS),
    "9 rules": ("van_der_pol", FuzzyController(rules(3)), _STEP, 0),
    "25 rules": ("van_der_pol", FuzzyController(rules(5)), _STEP, 0),
    "49 rules": ("van_der_pol", FuzzyController(rules(7)), _STEP, 0),
    "49 rules, noise and delay": ("van_der_pol", FuzzyController(rules(7)), _ALL, _LATE_ROWS),
}
LARGE: dict[str, tuple[str, Any, Situation, int]] = {
    "full car": ("suspension", None, Situation("start"), 0),
    "unicycle": ("unicycle", None, Situation("start"), 0),
}


def text_of(name: str) -> str:
    """Return the PTX of a family."""
    plant_name, controller, situation, rings = (SMALL | LARGE)[name]
    plant = plants.get(plant_name)
    laws = tuple(PID() for _ in plant.channels) if controller is None else controller
    loop = ClosedLoop(plant, laws, (situation,), plant.step or 0.01, device="cuda")
    return ptx(loop.device_text, rings)


def assembled(text: str) -> dict[str, int]:
    """Return registers of a thread, and the bytes that spill (stores and loads), as `ptxas` says."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "kernel.ptx"
        place.write_text(text)
        command = ["ptxas", "-v", f"-arch={PROCESSOR}", str(place), "-o", str(place.with_suffix(".cubin"))]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    found = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", said)
    used = re.search(r"Used (\d+) registers", said)
    if found is None or used is None:
        raise RuntimeError(f"ptxas said something else than registers and spills: {said[:300]}")
    return {"registers": int(used[1]), "spilled": int(found[1]) + int(found[2])}


def gpu_families(_: Size) -> FigureSection:
    """One row a family."""
    section = FigureSection("gpu_families", f"Kernels as PTX, and on {PROCESSOR}")
    there = shutil.which("ptxas") is not None
    if not there:
        section.notes.append("ptxas is not installed (pip install nvidia-cuda-nvcc): registers are not told.")
    for name in SMALL | LARGE:
        begin = time.perf_counter()
        text = text_of(name)
        section.figure(f"{name}: traced, printed, compiled", time.perf_counter() - begin, "s")
        section.figure(
            f"{name}: memory of a thread beside its registers", local_bytes(text), "bytes", "rings of delays"
        )
        if there:
            found = assembled(text)
            section.figure(f"{name}: registers", found["registers"], "")
            section.figure(f"{name}: spilled, stores and loads", found["spilled"], "bytes")
    return section
