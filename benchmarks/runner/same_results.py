"""Hashes of all results of small designs: whether a change of the code has changed a number.

    python -m benchmarks.runner.same_results FOLDER [--plants fopdt,van_der_pol] [--against OTHER/hashes.json]

designs for each plant, then judges, attacks and exports the knowledge base of the Van der Pol oscillator, and writes
``hashes.json``: SHA-256 of every result file and of every kernel's text. Run in two checkouts on one machine, the
second with ``--against``, it prints what differs and exits with 1. Another processor may round otherwise.

Left out are what differs between equal runs: times, and the commit and versions that a run is said to be of.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PLANTS = ("fopdt", "van_der_pol", "cart_pole", "suspension", "unicycle", "balancing_vehicle")
JUDGED = "van_der_pol"  # whose knowledge base is evaluated, attacked and exported
_LEFT_OUT = {"times.json", "versions.json"}
_COMMIT = re.compile(rb"\b[0-9a-f]{40}\b")


def commands(plants: Sequence[str]) -> list[list[str]]:
    """Return the words of each ``sscq`` command, in the order in which they are run."""
    knowledge_base = f"kb=design_{JUDGED}/knowledge_base.json"
    designs = [["design", "budget=small", f"plant={plant}", f"output=design_{plant}"] for plant in plants]
    if JUDGED not in plants:
        return designs
    return [
        *designs,
        ["evaluate", knowledge_base, "output=evaluate"],
        ["worst", knowledge_base, "output=worst"],
        ["export", knowledge_base, "to=[all]", "output=export"],
        ["export", knowledge_base, "to=[all]", "shape=scheduler", "output=export_scheduler"],
    ]


def run(folder: Path, plants: Sequence[str]) -> None:
    """Run the commands with a kernel cache of their own; progress goes to the terminal, output to `folder`/logs."""
    folder.mkdir(parents=True)
    root = Path(__file__).parents[2]
    environment = os.environ | {"SSCQ_CACHE": str(folder / "kernels"), "PYTHONPATH": str(root)}
    for words in commands(plants):
        print(f"sscq {' '.join(words)}", flush=True)
        command = [sys.executable, "-m", "experiments.cli", *words, "quiet=true"]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"sscq {' '.join(words)} failed with exit code {done.returncode}:\n{done.stderr[-2000:]}")


def hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each result by its path below `folder`, and of each kernel's text by that text's own hash.

    A kernel's file is named by a key that counts the compiler's text as well: kernels are known by their text alone.
    """
    found = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder)
        if name.parts[0] == "kernels":
            if path.suffix == ".py":
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
                found[f"kernel {digest[:16]}"] = digest
        elif len(name.parts) > 1 and path.name not in _LEFT_OUT:
            found[str(name)] = hashlib.sha256(_COMMIT.sub(b"commit", path.read_bytes())).hexdigest()
    return found


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return one line for each result that changed, is new, or is there no more."""
    lines = [f"differs  {name}" for name in sorted(before.keys() & after.keys()) if before[name] != after[name]]
    lines += [f"new      {name}" for name in sorted(after.keys() - before.keys())]
    return lines + [f"missing  {name}" for name in sorted(before.keys() - after.keys())]


def main(arguments: list[str] | None = None) -> None:
    """Run the commands, write the hashes, compare them if asked to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.runner.same_results", description=__doc__)
    parser.add_argument("folder", type=Path, help="new folder for all results")
    parser.add_argument("--plants", default=",".join(PLANTS), help="designs to make (default: %(default)s)")
    parser.add_argument("--against", type=Path, help="hashes.json of another checkout, of the same plants")
    chosen = parser.parse_args(arguments)
    if chosen.folder.exists():
        parser.error(f"{chosen.folder} is there already; name a new folder")
    run(chosen.folder, chosen.plants.split(","))
    after = hashes(chosen.folder)
    (chosen.folder / "hashes.json").write_text(json.dumps(after, indent=1) + "\n", encoding="utf-8")
    print(f"{len(after)} hashes: {chosen.folder / 'hashes.json'}")
    if chosen.against:
        lines = differences(json.loads(chosen.against.read_text(encoding="utf-8")), after)
        print("\n".join(lines) or f"all {len(after)} are the same")
        raise SystemExit(bool(lines))


if __name__ == "__main__":
    main()
