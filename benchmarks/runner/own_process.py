"""What is measured in a process of its own: its memory, its first compilation, the settings it starts with."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


STATES = ("cold", "warm")


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


def cold_and_warm(module: str, name: str, rounds: int) -> dict[tuple[str, str], list[float]]:
    """Return times [s] by (cold or warm, part) of a module that measures its own parts; "process" is the whole of it.

    Every round has a new kernel cache: empty for the cold process, filled for the warm one.
    """
    samples: dict[tuple[str, str], list[float]] = {}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            for state in STATES:
                begin = time.perf_counter()
                found = result_of(module, name, environment={"SSCQ_CACHE": cache})
                found["process"] = time.perf_counter() - begin
                for part, seconds in found.items():
                    samples.setdefault((state, part), []).append(seconds)
    return samples
