"""What the figures were measured on."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

_CPU = Path("/proc/cpuinfo")
_LIBRARIES = ("numpy", "numba", "llvmlite", "scipy", "symengine", "deap")


def describe() -> dict[str, Any]:
    """Return processor, vector width and versions."""
    return {
        "processor": processor(),
        "processors usable": len(os.sched_getaffinity(0)),
        "vectors": vectors(),
        "load at start": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in _LIBRARIES},
        "gcc": gcc_version(),
    }


def processor() -> str:
    """Return the processor's name, with the family and model that compilers go by."""
    text = _CPU.read_text() if _CPU.is_file() else ""
    found = [re.search(rf"^{key}\s*:\s*(.+)$", text, re.MULTILINE) for key in ("model name", "cpu family", "model")]
    if not all(found):
        return platform.processor() or platform.machine()
    name, family, model = (match.group(1) for match in found if match)
    return f"{name}, family {family} model {model}"


def flags() -> set[str]:
    """Return the processor's instruction sets; empty where the system does not tell."""
    found = re.search(r"^flags\s*:\s*(.+)$", _CPU.read_text(), re.MULTILINE) if _CPU.is_file() else None
    return set(found.group(1).split()) if found else set()


def vectors() -> str:
    """Return the widest vectors of the processor."""
    known = (("avx512f", "AVX-512 (8 doubles)"), ("avx2", "AVX2 (4 doubles)"), ("sse2", "SSE2 (2 doubles)"))
    return next((text for flag, text in known if flag in flags()), "unknown")


def width() -> int:
    """Return the bits of the vectors that the aims are stated for: 512 with AVX-512, else 256."""
    return 512 if "avx512f" in flags() else 256


def gcc_version() -> str:
    """Return the version of gcc, or that there is none."""
    if shutil.which("gcc") is None:
        return "not installed"
    return subprocess.run(["gcc", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()
