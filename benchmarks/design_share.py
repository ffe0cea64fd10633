"""How much of a design is simulation: an account of a whole run with a filled kernel cache, kind of work by kind.

The taught situations are so long that a generation of the searches simulates some 20 ms of one processor. Processor
time, in one thread: with more of them the simulation alone becomes shorter. Margins of frozen loops are computed on
linear models of the loop and are not counted as simulation.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.account import OTHER, Account

if TYPE_CHECKING:
    from benchmarks.report import Section
    from benchmarks.size import Size

SIMULATION = "simulation"
_GENERATION = "searches: strategies and bookkeeping of a generation"
_ADVANCE = "sscq.search:Search.advance"
KINDS = {
    SIMULATION: ("plants.core.run:run",),
    "margins of frozen loops": (
        "sscq.operating:OperatingMargins.__init__", "sscq.operating:OperatingMargins.violation",
        "sscq.operating:OperatingMargins.margins", "sscq.operating:OperatingMargins.at_points",
        "sscq.operating:OperatingMargins.keeps",
    ),
    "building loops: tracing and printing": ("sscq.closed_loop:ClosedLoop.__init__",),
    "compiling and loading machine code": ("plants.core.cache:function",),
    "arrays of the rollouts": ("sscq.closed_loop:ClosedLoop.run", "sscq.closed_loop:ClosedLoop.evaluate"),
    _GENERATION: (_ADVANCE,),
    "searches: beginning and end": ("sscq.search:evolve", "sscq.baselines:search", "flcs.refinement:refine"),
    "fitness": ("sscq.objective:Objective.__call__", "sscq.objective:Objective.__init__"),
    "teacher": ("sscq.teacher:teach",),
    "imitation": ("experiments.knowledge:learned",),
    "pruning": ("flcs.trade_off:prune",),
    "judgement": ("experiments.judging:judge", "experiments.judging:contenders", "experiments.judging:rollouts"),
    "responses": ("experiments.reporting.recording:_of_contender",),
    "report": ("experiments.reporting:report", "experiments.outputs:write"),
    "configuration": (
        "hydra._internal.utils:_run_hydra", "experiments.launch:_create", "experiments.launch:_merged",
        "experiments.launch:_finished", "experiments.setup:setup",
    ),
    OTHER: ("experiments.launch:_run",),
    "files": (
        "plants.core.atomic:filling", "plants.core.atomic:write", "sscq.checkpoint:Checkpoint.write",
        "sscq.checkpoint:Checkpoint.read", "sscq.search:Search.store", "experiments.stages:Stages._is_finished",
        "experiments.run_folder:RunFolder.create", "experiments.formats:write_npz", "experiments.formats:write_json",
        "experiments.stages:_hashes",
    ),
}  # fmt: skip
_AIM = 0.25
_LONG = 20e-3  # s of simulation in a generation, from which on the aim is meant


def measure(overrides: list[str]) -> dict[str, Any]:
    """Run a design in this process and account for all of its processor time, from the interpreter's start on."""
    places = {place: kind for kind, several in KINDS.items() for place in several}
    account = Account(places, "experiments.stages:Stages.run")
    account.open()
    from experiments.design import main

    main(overrides)
    account.close()
    return {
        "spent": [[*key, *times] for key, times in account.spent.items()],
        "generations": account.calls.get(_ADVANCE, 0),
        "simulated": account.inside.get((_GENERATION, SIMULATION), 0.0),
    }


def overrides(size: Size) -> list[str]:
    """Return the settings of the design: its own four situations, as long as a generation has to be."""
    long = "excitation: {kind: white, variance: 0.3}, t_end: " + f"{size.horizon:g}"
    taught = (
        f"step up: {{reference: 1.5, initial: [0.1, 0.0], {long}}}",
        f"return to rest: {{reference: 0.0, initial: [2.0, 0.0], {long}}}",
        f"step down: {{reference: -1.0, initial: [1.5, -1.0], {long}}}",
        f"swing across: {{reference: 0.5, initial: [-2.0, 0.0], {long}}}",
    )
    return [
        "plant=van_der_pol", f"situations.taught={{{', '.join(taught)}}}", "threads=1", "quiet=true", "budget=small",
        f"budget.evaluations={size.evaluations}",
    ]  # fmt: skip


def design_share(size: Size) -> Section:
    """Run the design twice, the second time with a filled cache, and say what that one spent its time on."""
    from benchmarks.report import Section

    section = Section("design_share", "A whole design: what is not simulation")
    with tempfile.TemporaryDirectory() as folder:
        for number in range(2):
            found = _in_own_process([*overrides(size), f"output={folder}/{number}"], f"{folder}/cache")
    kinds: dict[str, list[float]] = {}
    for _, kind, processor, wall in found["spent"]:
        sums = kinds.setdefault(kind, [0.0, 0.0])
        sums[0], sums[1] = sums[0] + processor, sums[1] + wall
    total, waited = (sum(sums[k] for sums in kinds.values()) for k in range(2))
    for kind, (processor, wall) in sorted(kinds.items(), key=lambda pair: -pair[1][0]):
        section.figure(kind, processor, "s", f"{100 * processor / total:.1f} %; wall {wall:.2f} s")
    for stage in dict.fromkeys(row[0] for row in found["spent"]):
        times = {kind: processor for name, kind, processor, _ in found["spent"] if name == stage}
        other = sum(times.values()) - times.get(SIMULATION, 0.0)
        name = f"stage {stage}" if stage else "outside of stages"
        section.figure(name, sum(times.values()), "s", f"{other:.2f} s not simulation")
    generation = found["simulated"] / max(1, found["generations"])
    section.figure("whole run", total, "s", f"wall {waited:.1f} s")
    section.figure(
        "simulation in a generation, mean", 1e3 * generation, "ms", "" if generation >= _LONG else "below 20 ms"
    )
    share = 1.0 - kinds[SIMULATION][0] / total
    judged = f"aim: at most {100 * _AIM:g} %, {'met' if share <= _AIM else 'MISSED'}"
    section.figure("not simulation", 100.0 * share, "%", judged)
    section.counts = {"generations": found["generations"]}
    return section


def _in_own_process(settings: list[str], cache: str) -> dict[str, Any]:
    command, root = [sys.executable, "-m", "benchmarks.design_share", *settings], Path(__file__).parents[1]
    environment = os.environ | {"SSCQ_CACHE": cache, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1:])))
