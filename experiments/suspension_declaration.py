"""What the car's comparison declares before it is run."""

from __future__ import annotations

from pathlib import Path

import configs
from experiments.comparison.declaration import Declaration, read

DECLARED = Path(configs.__file__).parent / "suspension_study.yaml"


def declaration(path: Path = DECLARED) -> Declaration:
    """Read the declaration, and see that the plants' situations are what it says."""
    return read(path)
