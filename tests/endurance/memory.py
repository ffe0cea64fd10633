"""Many designs in one process: its memory may grow while it gets to know plants, and then no more.

    python -m tests.endurance.memory 200                # or: make memory COUNT=200

Prints the resident memory after each design of the smallest budget; seeds and plants change. The kernel cache is empty at
first, so that every design compiles something: a filled one would hide what compiling leaves behind. Exit code 1 if the
mean of the last ten designs is more than 20 MiB above that of the ten up to the twentieth: single ones scatter by some 7.
"""

from __future__ import annotations

import argparse
import gc
import os
import statistics
import tempfile
import time
from pathlib import Path

from experiments import cli
from tests.endurance.kills import SMALL

PLANTS = ("fopdt", "van_der_pol", "nonlinear_inertia")
SETTLED = 20
"""Designs after which nothing new is expected to be kept."""
ALLOWED = 20.0
"""Growth after those [MiB]."""
_MEAN = 10


def resident() -> float:
    """Return the memory that this process has in use [MiB], from Linux's own book of it."""
    gc.collect()
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024.0
    raise OSError("/proc/self/status does not say VmRSS")


def design(number: int, folder: Path) -> str:
    """Run one design; return its plant."""
    plant = PLANTS[number % len(PLANTS)]
    words = [word for word in SMALL if not word.startswith("plant=")]
    # One processor: what branches in processes of their own keep would go with them.
    cli.main(["design", f"plant={plant}", *words, f"seed={number}", f"output={folder}", "quiet=true", "threads=1"])
    return plant


def main() -> None:
    """Design as often as asked."""
    parser = argparse.ArgumentParser(description="Resident memory of one process over many designs.")
    parser.add_argument("count", type=int, nargs="?", default=40, help="designs (default: 40)")
    count, found = parser.parse_args().count, []
    with tempfile.TemporaryDirectory(prefix="memory_") as cache:
        os.environ["SSCQ_CACHE"] = cache
        for number in range(count):
            begun = time.monotonic()
            with tempfile.TemporaryDirectory(prefix="memory_") as folder:
                plant = design(number, Path(folder) / "run")
            found.append(resident())
            took = time.monotonic() - begun
            print(f"{number + 1} of {count}: {plant}, {took:.1f} s, {found[-1]:.1f} MiB", flush=True)
    growth = 0.0
    if count > SETTLED:
        growth = statistics.mean(found[SETTLED:][-_MEAN:]) - statistics.mean(found[SETTLED - _MEAN : SETTLED])
    print(f"{count} designs, {growth:+.1f} MiB since number {SETTLED}")
    raise SystemExit(1 if growth > ALLOWED else 0)


if __name__ == "__main__":
    main()
