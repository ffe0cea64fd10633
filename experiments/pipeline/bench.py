"""What the stages of a design share: setup, run folder, margins, progress; and how they run, one by one or at once."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from experiments.pipeline import search_results
from experiments.runtime import side_by_side
from experiments.runtime.progress import JobProgress, Progress
from plants.core.kernel.run import thread_count
from sscq.baselines.search_plan import SearchPlan, search

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from experiments.runtime.run_folder import RunFolder
    from experiments.runtime.side_by_side import Tell
    from experiments.settings import Setup
    from sscq.baselines.candidates import Candidate
    from sscq.baselines.objective import Task
    from sscq.baselines.search_plan import Method
    from sscq.baselines.tuned import Tuned
    from sscq.fitness import Fitness
    from sscq.margins.operating import OperatingMargins

    Result = TypeVar("Result")

_TOOK, _ANSWER = "took", "answer"  # first words of messages: a stage's time, and what a question comes to


def stage_name(name: str, search: int) -> str:
    """Return what a stage of one of a design's searches is called: of the first, as if there were no other."""
    return f"{name}_search_{search + 1}" if search else name


_SEED_STRIDE = 104_729  # between the seeds of two searches of a design, far from those that one search uses


class Bench:
    """What all stages share: setup, run folder, margins, progress lines.

    Attributes
    ----------
    search : int
        Which of the searches of a design it is for: the first, 0, has the design's own seed.
    margins : OperatingMargins or None
        What controllers are judged by, and the fixed PID is searched with.
    asked : OperatingMargins or None
        What is asked of a candidate while it is searched.
    job : JobProgress
        How far all stages are; says nothing until it is given a plan.
    before_refinement : int
        Evaluations that were spent for all knowledge bases alike, before any was refined.
    """

    def __init__(self, setup: Setup, folder: RunFolder, *, quiet: bool) -> None:
        self.setup, self.folder, self.quiet, self.search = setup, folder, quiet, 0
        self.margins: OperatingMargins | None = setup.margins()
        self.asked = self.margins
        self.job = JobProgress()
        self.before_refinement = 0

    def of_search(self, number: int) -> Bench:
        """Return the bench of one of the design's searches: its seed and length, the same situations, box, margins."""
        bench, evaluations = copy(self), self.setup.searches[number]
        bench.setup = replace(self.setup, seed=self.setup.seed + _SEED_STRIDE * number, evaluations=evaluations)
        bench.search = number
        return bench

    def stage(
        self,
        name: str,
        compute: Callable[[Path], Result],
        save: Callable[[Path, Result], object],
        load: Callable[[Path], Result],
        inputs: Any = None,
    ) -> Result:
        """Run a stage of the run once, see :meth:`experiments.runtime.stages.Stages.run`; each search has its own."""
        own_name = stage_name(name, self.search)

        def counted(place: Path) -> Result:
            self.job.begin(own_name)
            return compute(place)

        result = self.folder.stage(own_name, counted, save, load, inputs)
        self.job.end(own_name)
        return result

    def of_searches(self, search: Callable[[Bench], Result]) -> list[Result]:
        """Return what each of the design's searches finds, see `side_by_side`."""
        numbers = range(len(self.setup.searches))
        return self.side_by_side([partial(_of_search, search, number) for number in numbers])

    def side_by_side(self, branches: Sequence[Callable[[Bench], Any]]) -> list[Any]:
        """Return what branches of the run find that need nothing of one another.

        Each is given a bench of its own. Where there are processors they run at the same time, and then once more here,
        where they find their stages done: so nothing but stages should take time in them.
        """
        folders = [self.folder.branch() for _ in branches]
        threads = thread_count(self.setup.threads)
        if self.folder.kept and side_by_side.worthwhile(len(branches), threads):
            share = max(1, threads // len(branches))
            own = [
                partial(self._forked, branch, folder, share) for branch, folder in zip(branches, folders, strict=True)
            ]
            line = self.progress(0, "", "")
            try:
                side_by_side.do(own, threads, partial(self._heard, line))
            finally:
                line.clear()
        found = [branch(self._in(folder)) for branch, folder in zip(branches, folders, strict=True)]
        self.folder.join(folders)
        return found

    def answers(
        self, questions: Sequence[Callable[[Bench], Any]], answered: Callable[[], object] = lambda: None
    ) -> list[Any]:
        """Return what questions come to that need nothing of one another: plain data, as JSON has it, stored nowhere.

        Where there are processors they are asked at the same time; what has no answer then is asked once more here.
        They run no stages and show no progress; `answered` is called after each.
        """
        found: dict[int, Any] = {}
        threads = thread_count(self.setup.threads)

        def heard(message: list[Any]) -> None:
            if message[0] == _ANSWER:
                found[message[1]] = message[2]
                answered()

        if side_by_side.worthwhile(len(questions), threads):
            share = max(1, threads // len(questions))
            asked = [partial(self._asked, question, number, share) for number, question in enumerate(questions)]
            side_by_side.do(asked, threads, heard)
        for number in sorted(set(range(len(questions))) - found.keys()):
            heard([_ANSWER, number, questions[number](self)])
        return [found[number] for number in range(len(questions))]

    def _asked(self, question: Callable[[Bench], Any], number: int, threads: int, tell: Tell) -> None:
        """Tell what a question comes to, in a process of its own."""
        bench = copy(self)
        bench.setup, bench.quiet, bench.job = replace(self.setup, threads=threads), True, JobProgress()
        tell([_ANSWER, number, question(bench)])

    def _in(self, folder: RunFolder) -> Bench:
        bench = copy(self)
        bench.folder = folder
        return bench

    def _forked(self, branch: Callable[[Bench], object], folder: RunFolder, threads: int, tell: Tell) -> None:
        """Do a branch in a process of its own, which tells the one that waits for it how far it is."""
        bench = self._in(folder)
        bench.setup = replace(self.setup, threads=threads)
        bench.job.relay = tell
        folder.stages.note_time = lambda name, seconds: tell([_TOOK, name, seconds])
        branch(bench)

    def _heard(self, line: Progress, message: list[Any]) -> None:
        """Take what a branch tells, or pass it on in a process that is a branch itself."""
        if self.job.relay is not None:
            self.job.relay(message)
        elif message[0] == _TOOK:
            self.folder.note_time(*message[1:])
        elif message[0] == side_by_side.LINE:
            line.show(message[1])
        else:
            self.job.heard(message)

    def labelled(self, text: str) -> str:
        """Return the label of a progress line, which tells of several searches which one it is."""
        several = len(self.setup.searches)
        return f"search {self.search + 1} of {several}: {text}" if several > 1 else text

    def progress(self, total: int, label: str, unit: str, loops: float | None = None) -> Progress:
        """Return a progress line for so many `loops` of the present stage; None: for all of it."""
        return Progress(total, label, unit, quiet=self.quiet, job=self.job, units=loops)

    def plan(
        self,
        n_genes: int,
        checkpoints: Path | None,
        label: str,
        seed: int = 0,
        share: float = 1.0,
        *,
        far: bool = False,
    ) -> tuple[SearchPlan, Progress]:
        """Return the search plan of a candidate, with a share of the full budget, and its progress line.

        With `far` the search begins with steps over much of the box, as where the start says little.
        """
        budget = round(share * self.setup.evaluations)
        progress = self.progress(budget, self.labelled(label), "loops", budget)
        base, last, before = 0, 0, ""

        def report(_: str, method: str, state: Any) -> None:
            nonlocal base, last, before
            if method != before:
                base, last, before = base + last, 0, method
            last = state.evaluations
            progress.at(base + last, f"fitness {state.best:.4g}")

        methods = self.setup.method(n_genes, budget, far)
        return SearchPlan(methods, self.setup.seed + seed, checkpoints, report), progress

    def search_stage(
        self,
        name: str,
        candidate: Callable[[], Candidate],
        fitness: Fitness,
        methods: Callable[[int], tuple[Method, ...]] | None = None,
        validation: Task | None = None,
        seed: int = 0,
    ) -> Tuned:
        """Run a stage that searches a candidate with the full budget; `validation` may stop it early."""

        def compute(checkpoints: Path) -> list[Tuned]:
            one = candidate()
            plan, progress = self.plan(len(one.low), checkpoints, f"{name}: {one.title}", seed)
            if methods is not None:
                plan = replace(plan, methods=methods(len(one.low)))
            with progress:
                return [search(self.setup.task(fitness=fitness), one, plan, self.asked, validation)]

        def load(folder: Path) -> list[Tuned]:
            return search_results.load(folder, [candidate()])

        return self.stage(name, compute, search_results.save, load)[0]


def _of_search(search: Callable[[Bench], Result], number: int, bench: Bench) -> Result:
    return search(bench.of_search(number))
