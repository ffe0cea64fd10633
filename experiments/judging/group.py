"""Everything that a design judges: the ladder of controllers, simplest first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from controllers import ConstantGains, Controller, gain_names
from experiments.judging.contender import Contender, of_kb
from experiments.ladder import oracle_share
from sscq import baselines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from experiments.found_files import Entry
    from experiments.knowledge import Refined
    from experiments.ladder import Bench, Reference
    from flcs import KnowledgeBase

LADDER = (
    "own", "rule", "fixed", "two_degree", "table", "margin_table", "margin_table_fine", "hand_made", "hand_made_scaled",
    "knowledge_base_direct", "knowledge_base",
)  # fmt: skip
"""What may be recommended, simplest first; laws of the plant's own field stand after the fixed PID."""

RIVAL = "rival_"
"""Names of contenders that are laws of the plant's own field begin with it."""


def recommendable(names: Iterable[str]) -> tuple[str, ...]:
    """Return those of `names` that may be recommended, simplest first."""
    given = list(names)
    rivals = [name for name in given if name.startswith(RIVAL)]
    last = LADDER.index("fixed") + 1
    return tuple(name for name in (*LADDER[:last], *rivals, *LADDER[last:]) if name in given)


def contenders(
    bench: Bench,
    ref: Reference,
    fixed: Entry,
    others: Sequence[Entry],
    oracle: np.ndarray,
    imitated: KnowledgeBase,
    refined: dict[str, Refined],
    further: Sequence[Contender] = (),
) -> list[Contender]:
    """Return everything that is judged, simplest first; `further` rungs stand where the ladder has them."""
    setup = bench.setup
    constant = Controller(setup.laws, ConstantGains(gain_names(setup.laws)))
    zero = np.zeros(len(setup.low))
    found = [Contender("open_loop", "open loop", "no control: all gains 0", constant, zero, 0, 0)]
    n = len(zero)
    if setup.own is not None:
        found.append(Contender("own", "your present gains", "as given", constant, setup.own, 0, n, setup.own[None]))
    if ref.rule is not None:
        title = f"{ref.rule_name} tuning rule"
        found.append(Contender("rule", title, "from the nominal model", constant, ref.rule, 0, n, ref.rule[None]))
    found.append(
        Contender("fixed", "fixed PID", "genetic algorithm and CMA-ES, the better one", constant, fixed.theta,
                  fixed.evaluations, n, fixed.theta[None])
    )  # fmt: skip
    start = np.atleast_2d(fixed.theta)
    for entry in others:
        candidate = _candidate(bench, entry.name, start)
        name = "table" if entry.name.startswith("table") else entry.name
        found.append(
            Contender(name, entry.title, "same search, budget and actuator travel", candidate.controller, entry.theta,
                      entry.evaluations, len(candidate.low), candidate.gain_sets(entry.theta[None])[0])
        )  # fmt: skip
    found.append(of_kb("imitation", "knowledge base by imitation alone", "before refinement", bench, imitated, None))
    for kind, result in refined.items():
        name = "knowledge_base" if kind == "equal" else f"knowledge_base_{kind}"
        text = "refined in closed loop" + (", at the fixed PID's actuator travel" if kind == "equal" else "")
        title = (
            "knowledge base (rule-based gain schedule)" if kind == "equal" else "knowledge base, free actuator travel"
        )
        found.append(of_kb(name, title, text, bench, result.kb, result.entry.evaluations + taught_loops(bench)))
    found = _placed(found, further)
    if setup.spread > 0.0:
        return found  # every plant of the verdict would need a search of its own
    found.append(
        Contender("oracle", "best fixed PID per situation (oracle)", "no controller can know the situation", constant,
                  fixed.theta, oracle_share(setup) * len(oracle), n, per_situation=oracle)
    )  # fmt: skip
    return found


def _placed(found: list[Contender], further: Sequence[Contender]) -> list[Contender]:
    """Put further rungs before the knowledge bases; what cannot be recommended, behind them."""
    known = recommendable(c.name for c in further)
    before = [c for c in further if c.name in known]
    after = [c for c in further if c.name not in known]
    place = next(i for i, c in enumerate(found) if c.name == "imitation")
    return [*found[:place], *before, *found[place:], *after]


def choose_table(bench: Bench, ref: Reference, entries: Sequence[Entry], fixed: Entry) -> list[Entry]:
    """Return the entries with only the best of the gain tables, judged on the validation situations."""
    tables = [e for e in entries if e.name.startswith("table")]
    if not tables:
        return list(entries)
    start = np.atleast_2d(fixed.theta)
    task = bench.setup.task("validation", ref.fitness)
    values = [
        float(ref.fitness(task.quality(_candidate(bench, e.name, start).controller, e.theta[None]))[0]) for e in tables
    ]
    best = tables[int(np.argmin(values))]
    spent = sum(e.evaluations for e in tables)
    return [
        replace(e, evaluations=spent) if e is best else e
        for e in entries
        if not e.name.startswith("table") or e is best
    ]


def _candidate(bench: Bench, name: str, start: np.ndarray) -> baselines.Candidate:
    setup = bench.setup
    if name == "two_degree":
        return baselines.two_degree(setup.laws, setup.low, setup.high, start)
    variable = next(v for v in baselines.variables(setup.plant) if name == f"table_{v.name}")
    return baselines.table(setup.laws, setup.low, setup.high, start, variable, setup.tick)


def taught_loops(bench: Bench) -> int:
    """What all rounds of teaching cost, in evaluations of all taught situations over their whole horizon; at most."""
    teacher, taught = bench.setup.teacher, bench.setup.sets["taught"]
    horizons = [s.t_end for s in taught]
    candidates = sum(int(t / teacher.window + 1e-9) for t in horizons) * (teacher.search_of(1).evaluations or 0)
    copies = 1 if teacher.clairvoyant else teacher.continuations
    ahead = teacher.horizon if teacher.encoding == "receding" else sum(horizons) / len(horizons)
    further = (bench.setup.rounds - 1) * teacher.horizon  # always window after window
    return round(candidates * copies * (ahead + further) / sum(horizons))
