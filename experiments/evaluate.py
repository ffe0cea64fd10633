"""Judge a stored knowledge base in control situations, against its reference gains.

As in::

    python -m experiments.evaluate kb=runs/design/20250101-120000/knowledge_base.json situations=unforeseen
    sscq evaluate kb=knowledge_base.json sets=all controller.own_gains=[2,0.5,1]
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.runtime import formats
from experiments.runtime.tables import change, in_words, number, text_table
from experiments.starting.launch import command
from sscq.baselines.objective import Task
from sscq.loop.measures import all_measures
from sscq.loop.quality import ALL_MEASURES
from sscq.situations.situation_sets import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from configs.schema import EvaluateConfig
    from experiments.cases.kb_case import StoredCase, StoredContender
    from experiments.runtime.run_folder import RunFolder
    from plants import Plant
    from sscq.fitness import Fitness
    from sscq.verdict.comparison import Comparison, Sample

    Tables = Mapping[str, np.ndarray]

_SHOWN = {"iae": "IAE", "entropy_difference_abs": "entropy", "total_variation": "travel"}


def evaluate(config: EvaluateConfig, folder: RunFolder) -> None:
    """Run all controllers in the same rollouts, print the tables and write metrics.json."""
    from experiments.cases.kb_case import prepared

    case = prepared(config)
    if not config.quiet:
        print(_announcement(config, case))

    def compute(_: Path) -> Tables:
        return {f"{c.name}.{kind}": _rollouts(config, case, c, kind) for c in case.contenders for kind in case.blocks}

    tables = folder.stage("judgement", compute, *formats.as_npz("quality.npz"))
    folder.write_json("metrics.json", metrics(config, case, tables))
    for kind in case.blocks:
        print("\n".join(["", _by_situation(case, tables, kind), "", _by_controller(config, case, tables, kind)]))
        print(_sentence(config, case, tables, kind))
    print(f"numbers: {folder.path / 'metrics.json'}")


def _announcement(config: EvaluateConfig, case: StoredCase) -> str:
    kb = case.kb
    sets = ", ".join(
        f"{len(block[0])} {kind}" + (f" x {len(block)} seeds" if len(block) > 1 else "")
        for kind, block in case.blocks.items()
    )
    lines = [f"knowledge base {config.kb} of plant {kb.plant}: {kb.n_rules} rules; situations: {sets}"]
    return "\n".join([*lines, *(f"warning: {warning}" for warning in case.warnings)])


def _rollouts(config: EvaluateConfig, case: StoredCase, contender: StoredContender, kind: str) -> np.ndarray:
    """All measures and the fitness of one controller [measure, seed, situation]."""
    blocks = case.blocks[kind]
    options = {"integrator": config.integrator, "algebraic_loop": config.algebraic_loop}
    several = tuple(s for block in blocks for s in block)
    names = measures(case.plant)
    table = np.empty((len(names), len(several)))
    for controller, places in contender.within(several, case.plant):
        some = tuple(several[place] for place in places)
        task = Task(case.plant, some, case.fitness, config.integration_step, options, config.threads)
        quality = task.quality(controller, contender.theta[None])
        table[0, places], table[1, places] = case.fitness.per_situation(quality)[:, 0], quality.diverged_at[:, 0]
        table[2:, places] = [quality.until_lost[name][:, 0] for name in names[2:]]
    return table.reshape(len(table), len(blocks), len(blocks[0]))


def measures(plant: Plant | None = None) -> tuple[str, ...]:
    """Return what the rows of a table of rollouts are: those of every plant first, then the measures of its own."""
    return ("fitness", "diverged_at", *(ALL_MEASURES if plant is None else all_measures(plant)))


def _mean(tables: Tables, name: str, kind: str, row: int = 0) -> float:
    """Mean of the fitness or of a measure over the rollouts that survive, NaN where none does."""
    table = tables[f"{name}.{kind}"]
    alive = ~np.isfinite(table[1])
    return float(table[row][alive].mean()) if alive.any() else float("nan")


def _failures(tables: Tables, name: str, kind: str) -> int:
    return int(np.isfinite(tables[f"{name}.{kind}"][1]).sum())


def compared(config: EvaluateConfig, fitness: Fitness, tables: Tables, name: str, kind: str) -> Comparison:
    """Return a controller's comparison with the reference gains on the same rollouts."""
    from experiments.cases.kb_case import BASELINE
    from sscq.verdict.comparison import Sample, compare

    def sample(which: str) -> Sample:
        table, error = tables[f"{which}.{kind}"], fitness.error
        tracking = table[measures().index(error)] if error in fitness.terms else None
        travel = table[measures().index("total_variation")]
        return Sample(table[0], travel, np.isfinite(table[1]), error=tracking, error_name=error.upper())

    return compare(sample(name), sample(BASELINE), config.seed)


# -------------------------------------------------------------------------------------------------------- in the file


def metrics(config: EvaluateConfig, case: StoredCase, tables: Tables) -> dict[str, Any]:
    """Return all numbers as plain data."""
    controllers = {
        c.name: {
            "title": c.title,
            **{kind: _numbers(case, tables, c.name, kind) for kind in case.blocks},
        }
        for c in case.contenders
    }
    others = [c.name for c in case.contenders[1:]]
    return {
        "plant": case.plant.name,
        "knowledge_base": case.kb.content_hash,
        "fitness": case.fitness.plain(),
        "seeds": {kind: len(block) for kind, block in case.blocks.items()},
        "warnings": case.warnings,
        "controllers": controllers,
        "comparisons": {
            n: {k: asdict(compared(config, case.fitness, tables, n, k)) for k in case.blocks} for n in others
        },
    }


def _numbers(case: StoredCase, tables: Tables, name: str, kind: str) -> dict[str, Any]:
    table = tables[f"{name}.{kind}"]
    return {
        "fitness": _mean(tables, name, kind),
        "failures": _failures(tables, name, kind),
        "measures": {m: _mean(tables, name, kind, 2 + k) for k, m in enumerate(measures(case.plant)[2:])},
        "situations": dict(zip((s.name for s in case.blocks[kind][0]), table[0].mean(axis=0), strict=True)),
    }


# ---------------------------------------------------------------------------------------------------------- in print


def _by_situation(case: StoredCase, tables: Tables, kind: str) -> str:
    """Mean fitness over the seeds, situation by situation."""
    base, *others = case.contenders
    head = [f"{kind} situation", base.title]
    for other in others:
        head += [other.title, "change"]
    rows = []
    for k, situation in enumerate(case.blocks[kind][0]):
        values = [float(tables[f"{c.name}.{kind}"][0][:, k].mean()) for c in case.contenders]
        cells = [f"{values[0]:.4g}"]
        for value in values[1:]:
            cells += [f"{value:.4g}", change(value, values[0])]
        rows.append((situation.name, *cells))
    return text_table(head, rows)


def _by_controller(config: EvaluateConfig, case: StoredCase, tables: Tables, kind: str) -> str:
    """Means over the rollouts that survive, controller by controller; changes where both survive."""
    changes = {c.name: compared(config, case.fitness, tables, c.name, kind).mean.value for c in case.contenders[1:]}
    own = [measure.name for measure in case.plant.measures]
    rows, rows_shown = [], [measures(case.plant).index(m) for m in (*_SHOWN, *own)]
    for c in case.contenders:
        failures, value = _failures(tables, c.name, kind), _mean(tables, c.name, kind)
        rows.append((
            c.title + (f" ({failures} FAILED)" if failures else ""), number(value),
            change(1.0 + changes[c.name], 1.0) if c.name in changes else "",
            *(number(_mean(tables, c.name, kind, row)) for row in rows_shown),
        ))  # fmt: skip
    return text_table(("controller", "fitness", "change", *_SHOWN.values(), *map(in_words, own)), rows)


def _sentence(config: EvaluateConfig, case: StoredCase, tables: Tables, kind: str) -> str:
    found = compared(config, case.fitness, tables, "knowledge_base", kind)
    change = found.mean if len(case.blocks[kind]) > 1 else f"{100 * found.mean.value:+.1f} %"
    survived = " that both survive" if any(found.failures) else ""
    where = (
        f"fitness {change} in {kind} situations{survived}, better in {100 * found.wins:.0f} % of the rollouts, "
        f"actuator travel {100 * found.travel.value:+.1f} %"
    )
    if found.passes:
        return f"The knowledge base is better than its reference gains: {where}."
    return f"The knowledge base does not prove better than its reference gains ({where}): {'; '.join(found.reasons)}."


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; ``situations=unforeseen`` is short for ``sets=unforeseen``."""
    words = sys.argv[1:] if arguments is None else arguments
    _main([_long(word) for word in words])


def _long(word: str) -> str:
    key, _, value = word.partition("=")
    return f"sets={value}" if key == "situations" and value in {*KINDS, "all"} else word


def _check(config: EvaluateConfig) -> None:
    from experiments.cases.kb_case import prepared

    prepared(config)


_main = command("evaluate", evaluate, _check)

if __name__ == "__main__":
    main()
