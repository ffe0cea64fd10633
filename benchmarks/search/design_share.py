"""How much of a design is simulation: an account of a whole run with a filled kernel cache, kind of work by kind.

In the account every moment of a process belongs to the innermost piece of work that has a name.
"""

from __future__ import annotations

import builtins
import functools
import json
import sys
import tempfile
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from benchmarks.runner.own_process import result_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from benchmarks.runner.report import FigureSection
    from benchmarks.runner.size import Size


IMPORTS, OTHER, START = "imports", "other", "Python's own start"


class Account:
    """Processor and wall time [s] by stage and kind of work.

    Parameters
    ----------
    places : mapping of "module:function" or "module:Class.method" to kind
        What is charged to which kind; within it, what has a kind of its own is not.
    stages : str
        "module:Class.method" whose second argument names the stage that it works on.

    Attributes
    ----------
    spent : dict of (stage, kind) to [processor, wall] time [s]
    inside : dict of (kind, kind) to processor time [s]
        Of the second kind, while the first was under way.
    calls : dict of place to int
    """

    def __init__(self, places: Mapping[str, str], stages: str) -> None:
        self.places, self.stages = dict(places), stages
        self.spent: dict[tuple[str, str], list[float]] = {}
        self.inside: dict[tuple[str, str], float] = {}
        self.calls: dict[str, int] = {}
        self._open = [("", OTHER)]
        self._last = _now()
        self.spent["", START] = [self._last[0], self._last[0]]

    @contextmanager
    def charging(self, kind: str, stage: str | None = None) -> Iterator[None]:
        """Charge what happens within to a kind of work, and to a stage if one is given."""
        self._settle()
        self._open.append((self._open[-1][0] if stage is None else stage, kind))
        try:
            yield
        finally:
            self._settle()
            self._open.pop()

    def open(self) -> None:
        """Begin: watch imports from here on."""
        self._settle()
        self._import = builtins.__import__
        builtins.__import__ = self._importing
        self._wrap_all()

    def close(self) -> None:
        """End."""
        self._settle()
        builtins.__import__ = self._import

    def _settle(self) -> None:
        now = _now()
        entry = self.spent.setdefault(self._open[-1], [0.0, 0.0])
        for k in range(2):
            entry[k] += now[k] - self._last[k]
        kind = self._open[-1][1]
        for outer in {one for _, one in self._open[:-1]} - {kind}:
            self.inside[outer, kind] = self.inside.get((outer, kind), 0.0) + now[0] - self._last[0]
        self._last = now

    def _importing(self, name: str, *rest: Any, **options: Any) -> Any:
        names, level = rest[2:4] if len(rest) > 3 else (options.get("fromlist"), options.get("level", 0))
        known, before = None if level else sys.modules.get(name), len(sys.modules)
        if known is not None and all(hasattr(known, one) for one in names or ()):
            found = self._import(name, *rest, **options)  # nothing but a look-up
        else:
            with self.charging(IMPORTS):
                found = self._import(name, *rest, **options)
        if len(sys.modules) != before:
            self._wrap_all()
        return found

    def _wrap_all(self) -> None:
        for place in [*self.places, self.stages]:
            module = sys.modules.get(place.partition(":")[0])
            if module is not None and not getattr(module.__spec__, "_initializing", False):
                self._wrap(module, place)

    def _wrap(self, module: Any, place: str) -> None:
        *path, name = place.partition(":")[2].split(".")
        owner = functools.reduce(getattr, path, module)
        inner = getattr(owner, name)
        if place == self.stages:
            setattr(owner, name, self._staged(inner))
            self.stages = ""
        else:
            setattr(owner, name, self._charged(inner, place, self.places.pop(place)))

    def _charged(self, inner: Callable[..., Any], place: str, kind: str) -> Callable[..., Any]:
        @functools.wraps(inner)
        def outer(*args: Any, **options: Any) -> Any:
            self.calls[place] = self.calls.get(place, 0) + 1
            with self.charging(kind):
                return inner(*args, **options)

        return outer

    def _staged(self, inner: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(inner)
        def outer(owner: Any, name: str, *args: Any, **options: Any) -> Any:
            with self.charging(OTHER, name):
                return inner(owner, name, *args, **options)

        return outer


def _now() -> tuple[float, float]:
    return time.process_time(), time.perf_counter()


SIMULATION = "simulation"
_GENERATION = "searches: strategies and bookkeeping of a generation"
_ADVANCE = "sscq.search.search:Search.advance"
KINDS = {
    SIMULATION: ("plants.core.kernel.run:run",),
    "margins of frozen loops": (
        "sscq.margins.operating:OperatingMargins.__init__", "sscq.margins.operating:OperatingMargins.violation",
        "sscq.margins.operating:OperatingMargins.violation_of", "sscq.margins.operating:OperatingMargins.at_rest",
        "sscq.margins.operating:OperatingMargins.passing", "sscq.margins.operating:OperatingMargins.keeps_of",
    ),
    "building loops: tracing and printing": ("sscq.loop.closed_loop:ClosedLoop.__init__",),
    "compiling and loading machine code": ("plants.core.kernel.cache:function",),
    "arrays of the rollouts": ("sscq.loop.closed_loop:ClosedLoop.run", "sscq.loop.closed_loop:ClosedLoop.evaluate"),
    _GENERATION: (_ADVANCE,),
    "searches: beginning and end": (
        "sscq.search.search:evolve", "sscq.baselines.search_plan:search", "flcs.refinement.refinement:refine",
    ),
    "fitness": ("sscq.baselines.objective:Objective.__call__", "sscq.baselines.objective:Objective.__init__"),
    "teacher": ("sscq.teaching.teach:teach",),
    "imitation": ("experiments.pipeline.knowledge:learned",),
    "pruning": ("flcs.refinement.rule_count:prune",),
    "judgement": ("experiments.pipeline.judging:judge", "experiments.pipeline.judging:contenders",
                  "experiments.pipeline.judging:rollouts"),
    "responses": ("experiments.report.builders.recording:_of_contender",),
    "report": ("experiments.report.builders:report", "experiments.report.outputs:write"),
    "configuration": (
        "hydra._internal.utils:_run_hydra", "experiments.starting.opening:_create",
        "experiments.starting.opening:_merged", "experiments.starting.opening:_finished", "experiments.settings:setup",
    ),
    OTHER: ("experiments.starting.opening:run",),
    "files": (
        "plants.core.atomic_files:filling", "plants.core.atomic_files:write", "sscq.search.checkpoint:Checkpoint.write",
        "sscq.search.checkpoint:Checkpoint.read", "sscq.search.search:Search.store",
        "experiments.runtime.stages:Stages._is_finished", "experiments.runtime.run_folder:RunFolder.create",
        "experiments.runtime.formats:write_npz", "experiments.runtime.formats:write_json",
        "experiments.runtime.stages:_hashes",
    ),
}  # fmt: skip
_AIM = 0.25
_LONG = 20e-3  # s of simulation in a generation, from which on the aim is meant


def measure(overrides: list[str]) -> dict[str, Any]:
    """Run a design in this process and account for all of its processor time, from the interpreter's start on."""
    places = {place: kind for kind, several in KINDS.items() for place in several}
    account = Account(places, "experiments.runtime.stages:Stages.run")
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


def design_share(size: Size) -> FigureSection:
    """Run the design twice, the second time with a filled cache, and say what that one spent its time on."""
    from benchmarks.runner.report import FigureSection

    section = FigureSection("design_share", "A whole design: what is not simulation")
    with tempfile.TemporaryDirectory() as folder:
        for number in range(2):
            words = [*overrides(size), f"output={folder}/{number}"]
            environment = {"SSCQ_CACHE": f"{folder}/cache", "OMP_NUM_THREADS": "1"}
            found = result_of("benchmarks.search.design_share", *words, environment=environment)
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


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1:])))
