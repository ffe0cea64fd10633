"""The Van der Pol study: the whole ladder, three design seeds; margins, more inputs, noisy sensors, delays.

    python -m experiments.studies van_der_pol          # all variants, into runs/study; finished ones stay
    python -m experiments.studies van_der_pol plain    # one variant

Prints a table for each variant: fitness J in the taught and in the unforeseen situations as declared, change against
the best fixed PID of the same run, actuator travel; losses are marked. Knowledge bases that were taught with delays
are judged at delays inside and outside of what was taught.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import ConstantGains, Controller, gain_names
from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.runtime.run_folder import read_record
from experiments.runtime.tables import change, markdown_table
from experiments.settings import setup
from experiments.starting.opening import stored_settings
from experiments.studies.engine.pooling import ROWS, title_of
from experiments.studies.engine.series import design_in
from experiments.studies.engine.template import Template
from flcs import FuzzyController, KnowledgeBase
from flcs.knowledge_base.valid_range import share
from plants.core import atomic_files
from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.settings import Setup

TEMPLATE = Template.of("van_der_pol")
VARIANTS: dict[str, dict[str, Any]] = TEMPLATE.head["variants"]
SEEDS: list[int] = TEMPLATE.head["seeds"]
_SWEPT = "delays"  # the variant whose knowledge bases are judged at delays inside and outside their range
_REPEATED = 10  # seeds of each unforeseen situation there


def run(variant: str, seed: int, root: Path, extra: Sequence[str] = ()) -> dict[str, Any]:
    """Run or resume one design and return its metrics."""
    folder = root / f"{variant}-{seed}"
    design_in(folder, ("experiment=van_der_pol_study", f"seed={seed}"), (*VARIANTS[variant]["words"], *extra))
    metrics: dict[str, Any] = formats.read_json(folder / "metrics.json")
    return metrics


def table(variant: str, found: Sequence[dict[str, Any]]) -> list[str]:
    """Return the table of one variant as Markdown lines."""
    seeds, title = SEEDS[: len(found)], VARIANTS[variant]["title"]
    rows = [[title_of(name, found), *(cell for one in found for cell in _cells(name, one))] for name in ROWS]
    head = [
        "controller",
        *(cell for seed in seeds for cell in (f"seed {seed}: taught", "unforeseen", "change", "travel")),
    ]
    return [*TEMPLATE.lines("variant", {
        "title": f"{title[:1].upper()}{title[1:]}", "ladder": markdown_table(head, rows),
        "sentences": [f"Seed {seed}: {one['sentence']}" for seed, one in zip(seeds, found, strict=True)],
    }), ""]  # fmt: skip


def _cells(name: str, metrics: dict[str, Any]) -> list[str]:
    """One controller of a design: fitness taught and unforeseen, change against the fixed PID, travel."""
    known = metrics["controllers"]
    if name not in known:
        return ["-"] * 4
    taught, value = (known[name]["fitness_declared"][kind] for kind in ("taught", "unforeseen"))
    base = known["fixed"]["fitness_declared"]["unforeseen"]
    told = "" if name == "fixed" else change(value, base, "**loss**")
    return [f"{taught:.3f}", f"{value:.3f}", told, f"{known[name]['measures']['unforeseen']['total_variation']:.0f}"]


# -------------------------------------------------------------------------------------------------------------- delays

_HEAD = ("delay [s]", "fixed PID", "knowledge base", "change", "with fallback", "change", "share of its authority")


def delay_sweep(folders: Sequence[Path]) -> list[str]:
    """Return a table of mean fitness over finished designs, by delay, as Markdown lines."""
    cases, rows = _cases(folders), []
    for delay in VARIANTS[_SWEPT]["judged_at"]:
        values, shares = zip(*(_judged(job, kb, delay) for job, kb in cases), strict=True)
        base, own, giving = np.mean(values, axis=0)
        rows.append([f"{delay:g}", f"{base:.2f}", f"{own:.2f}", change(own, base, "**loss**"), f"{giving:.2f}",
                     change(giving, base, "**loss**"), f"{np.mean(shares):.2f}"])  # fmt: skip
    sweep = markdown_table(_HEAD, rows)
    return [*TEMPLATE.lines("delays", {"designs": len(cases), "seeds": _REPEATED, "sweep": sweep}), ""]


def _cases(folders: Sequence[Path]) -> list[tuple[Setup, KnowledgeBase]]:
    return [
        (setup(stored_settings("design", read_record(f)["config"])), KnowledgeBase.load(f / "knowledge_base.json"))
        for f in folders
    ]


def _judged(job: Setup, kb: KnowledgeBase, delay: float) -> tuple[tuple[float, float, float], float]:
    """Mean fitness of reference gains, knowledge base and knowledge base that falls back; the share that is left."""
    several = [replace(s, delay=delay) for n in range(_REPEATED) for s in job.repetition("unforeseen", n)]
    task = job.task().on(several)
    constant = Controller(job.laws, ConstantGains(gain_names(job.laws)))
    fuzzy = FuzzyController(kb, laws=job.laws)
    reference = np.array([gain for base in kb.channels for gain in base.reference])

    def mean(controller: Controller | FuzzyController, theta: np.ndarray) -> float:
        return float(job.fitness.per_situation(task.quality(controller, theta[None])).mean())

    left = share(kb, {"delay": delay})
    own = mean(fuzzy, fuzzy.theta)
    giving = own if left == 1.0 else mean(fuzzy.under(delay=delay), fuzzy.theta)
    return (mean(constant, reference), own, giving), left


def page(lines: Sequence[str]) -> str:
    """Return the whole page of all variants' lines."""
    return TEMPLATE.page({"sections": list(lines)})


def main(words: Sequence[str]) -> None:
    """Run the variants named (all by default), print their tables, and write the page if all were run."""
    extra = [word for word in words if "=" in word]
    variants = [word for word in words if "=" not in word] or list(VARIANTS)
    for variant in variants:
        if variant not in VARIANTS:
            raise UserError(unknown("variant", variant, tuple(VARIANTS)))
    lines: list[str] = []
    root = Path(TEMPLATE.head["folder"])
    for variant in variants:
        part = table(variant, [run(variant, seed, root, extra) for seed in SEEDS])
        if variant == _SWEPT:
            part += delay_sweep([root / f"{variant}-{seed}" for seed in SEEDS])
        print("\n".join(part))
        lines += part
    if set(variants) == set(VARIANTS) and not extra:
        atomic_files.write(Path(TEMPLATE.head["page"]), page(lines))
