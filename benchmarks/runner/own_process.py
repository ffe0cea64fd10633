"""What is measured in a process of its own: its memory, its first compilation, the settings it starts with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def result_of(module: str, *words: object, environment: Mapping[str, str] | None = None) -> Any:
    """Run ``python -m module words`` and return what it prints last, a line of JSON.

    Parameters
    ----------
    module : str
        Such as "benchmarks.engine.peak_memory".
    *words : object
        Its arguments, written as text.
    environment : mapping of str to str, optional
        Variables beside those of this process.
    """
    command, root = [sys.executable, "-m", module, *map(str, words)], Path(__file__).parents[2]
    variables = os.environ | dict(environment or {})
    done = subprocess.run(command, cwd=root, env=variables, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])
