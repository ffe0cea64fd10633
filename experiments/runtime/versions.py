"""Which programs made a result."""

from __future__ import annotations

import platform
import subprocess
from importlib import metadata
from pathlib import Path

_LIBRARIES = (
    "numpy", "scipy", "llvmlite", "torch", "deap", "scikit-fuzzy", "hydra-core", "omegaconf",
)  # fmt: skip


def versions() -> dict[str, str | None]:
    """Return the versions of this project, its commit (None outside a clone), Python, machine and libraries."""
    found: dict[str, str | None] = {name: _version(name) for name in ("sscq", *_LIBRARIES)}
    found |= {"commit": _commit(), "python": platform.python_version()}
    found |= {"platform": f"{platform.system()} {platform.machine()}"}
    return found


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _commit() -> str | None:
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return None
    command = ["git", "-C", str(root), "describe", "--always", "--abbrev=40", "--exclude=*", "--dirty"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)  # noqa: S603
    except OSError:
        return None
    return done.stdout.strip() or None
