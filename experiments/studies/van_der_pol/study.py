"""The Van der Pol study: the whole ladder, three design seeds; margins, more inputs, noisy sensors, delays.

    python -m experiments.studies.van_der_pol.study        # all variants, into runs/study; finished ones stay
    python -m experiments.studies.van_der_pol.study plain  # one variant

Prints a table for each variant: fitness J in the taught and in the unforeseen situations as declared, change against
the best fixed PID of the same run, actuator travel; losses are marked. Knowledge bases that were taught with delays
are judged at delays inside and outside of what was taught. `docs/studies/van_der_pol.md` is written from these numbers.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.runtime import formats
from experiments.runtime.errors import UserError, user_errors
from experiments.runtime.tables import change
from experiments.studies.engine.series import design_in
from plants.core.names import unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from experiments.settings import Setup
    from flcs import KnowledgeBase


DELAYS = (0.0, 0.05, 0.1, 0.15, 0.16, 0.17, 0.18, 0.2, 0.25, 0.3)
_SEEDS = 10
_HEAD = ("delay [s]", "fixed PID", "knowledge base", "change", "giving way", "change", "share of its authority")


def delay_sweep(folders: Sequence[Path]) -> list[str]:
    """Return a table of mean fitness over finished designs as Markdown lines."""
    from experiments.runtime.launch import stored_settings
    from experiments.runtime.run_folder import read_record
    from experiments.settings import setup
    from flcs import KnowledgeBase

    cases = [
        (setup(stored_settings("design", read_record(f)["config"])), KnowledgeBase.load(f / "knowledge_base.json"))
        for f in folders
    ]
    out = [
        f"The same knowledge bases at delays that they were and were not taught, mean J of {len(cases)} designs,",
        f"{_SEEDS} seeds of each unforeseen situation. Giving way: outside the valid range the gains move to the",
        "reference gains, as `sscq evaluate` and `flcs.FuzzyController.under(delay=...)` do.", "",
        "| " + " | ".join(_HEAD) + " |", "|---" * len(_HEAD) + "|",
    ]  # fmt: skip
    for delay in DELAYS:
        values, shares = zip(*(_judged(job, kb, delay) for job, kb in cases), strict=True)
        base, own, giving = np.mean(values, axis=0)
        cells = (f"{delay:g}", f"{base:.2f}", f"{own:.2f}", change(own, base, "**loss**"), f"{giving:.2f}",
                 change(giving, base, "**loss**"), f"{np.mean(shares):.2f}")  # fmt: skip
        out.append("| " + " | ".join(cells) + " |")
    return [*out, ""]


def _judged(job: Setup, kb: KnowledgeBase, delay: float) -> tuple[tuple[float, float, float], float]:
    """Mean fitness of reference gains, knowledge base and knowledge base that gives way; the share that is left."""
    from controllers import ConstantGains, Controller, gain_names
    from flcs import FuzzyController
    from flcs.knowledge_base.valid_range import share

    several = [replace(s, delay=delay) for n in range(_SEEDS) for s in job.repetition("unforeseen", n)]
    task = job.task().on(several)
    constant = Controller(job.laws, ConstantGains(gain_names(job.laws)))
    fuzzy = FuzzyController(kb, laws=job.laws)
    reference = np.array([gain for base in kb.channels for gain in base.reference])

    def mean(controller: Controller | FuzzyController, theta: np.ndarray) -> float:
        return float(job.fitness.per_situation(task.quality(controller, theta[None])).mean())

    kept = share(kb, {"delay": delay})
    own = mean(fuzzy, fuzzy.theta)
    giving = own if kept == 1.0 else mean(fuzzy.under(delay=delay), fuzzy.theta)
    return (mean(constant, reference), own, giving), kept


SEEDS = (0, 1, 2)
VARIANTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "plain": ("as first done: no margin constraint, no sensor noise", ()),
    "position": (
        "with the position as a third input: mirrored rules, four searches, all of the fixed PID's travel when taught",
        (
            "network.inputs=[e,e_rate,position]",
            "network.mirrored=true",
            "search.tries=4",
            "budget.evaluations=60000",
            "fitness.travel_share=1",
        ),
    ),
    "margins": ("with Ms at most 1.8 at the operating points", ("fitness.max_sensitivity=1.8",)),
    "noise": (
        "with sensor noise 0.02, derivative filter 50 ms, delay 20 ms, all taught",
        (
            "situations.noise=0.02",
            "situations.delay=0.02",
            "controller.derivative_filter_time=0.05",
            "controller.rate_source=difference",
        ),
    ),
    "delays": (
        "with delays of 0, 0.05, 0.1 and 0.15 s taught, sensor noise 0.02, derivative filter 50 ms",
        (
            "situations.taught_delays=[0,0.05,0.1,0.15]",
            "situations.noise=0.02",
            "controller.derivative_filter_time=0.05",
            "controller.rate_source=difference",
        ),
    ),
}
_SWEPT = "delays"  # the variant whose knowledge bases are judged at delays inside and outside their range
_ROWS = (
    "open_loop", "fixed", "two_degree", "table", "imitation", "knowledge_base", "knowledge_base_free", "oracle",
)  # fmt: skip


def run(variant: str, seed: int, root: Path, extra: Sequence[str] = ()) -> dict[str, Any]:
    """Run or resume one design and return its metrics."""
    folder = root / f"{variant}-{seed}"
    design_in(folder, ("experiment=van_der_pol_study", f"seed={seed}"), (*VARIANTS[variant][1], *extra))
    metrics: dict[str, Any] = formats.read_json(folder / "metrics.json")
    return metrics


def table(variant: str, found: Sequence[dict[str, Any]]) -> list[str]:
    """Return the table of one variant as Markdown lines."""
    head = "| controller | " + " | ".join(
        f"seed {s}: taught | unforeseen | change | travel" for s, _ in zip(SEEDS, found, strict=False)
    )
    title = VARIANTS[variant][0]
    lines = [f"### {title[:1].upper()}{title[1:]}", "", head + " |", "|---" * (1 + 4 * len(found)) + "|"]
    for name in _ROWS:
        cells = []
        for metrics in found:
            if name not in metrics["controllers"]:
                cells += ["-"] * 4
                continue
            one, fixed = metrics["controllers"][name], metrics["controllers"]["fixed"]
            value, base = one["fitness_declared"]["unforeseen"], fixed["fitness_declared"]["unforeseen"]
            told = "" if name == "fixed" else change(value, base, "**loss**")
            cells += [
                f"{one['fitness_declared']['taught']:.3f}", f"{value:.3f}", told,
                f"{one['measures']['unforeseen']['total_variation']:.0f}",
            ]  # fmt: skip
        lines.append(f"| {_title(name, found)} | " + " | ".join(cells) + " |")
    lines += ["", *(f"Seed {s}: {m['sentence']}" for s, m in zip(SEEDS, found, strict=False)), ""]
    return lines


def _title(name: str, found: Sequence[dict[str, Any]]) -> str:
    titles = {m["controllers"][name]["title"] for m in found if name in m["controllers"]}
    return "best gain table" if name == "table" else next(iter(titles), name)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the variants named (all by default), print their tables; all run, write docs/studies/van_der_pol.md."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    extra = [word for word in words if "=" in word]
    variants = [word for word in words if "=" not in word] or list(VARIANTS)
    with user_errors():
        for variant in variants:
            if variant not in VARIANTS:
                raise UserError(unknown("variant", variant, tuple(VARIANTS)))
        lines: list[str] = []
        for variant in variants:
            text = _of_variant(variant, Path("runs/study"), extra)
            lines += text
            print("\n".join(text))
    if set(variants) == set(VARIANTS) and not extra:
        Path("docs/studies/van_der_pol.md").write_text(_page(lines), encoding="utf-8")


def _of_variant(variant: str, root: Path, extra: Sequence[str]) -> list[str]:
    """Run the designs of one variant and return its table, and its sweep of delays where it has one."""
    text = table(variant, [run(variant, seed, root, extra) for seed in SEEDS])
    if variant == _SWEPT:
        text += delay_sweep([root / f"{variant}-{seed}" for seed in SEEDS])
    return text


def _page(lines: Sequence[str]) -> str:
    text = [
        "# The Van der Pol study", "",
        (
            "Written by `python -m experiments.studies.van_der_pol.study`: the whole ladder, three design seeds, the "
            "declared situations;"
        ),
        "travel is the mean total variation of the command over the repeated unforeseen situations. The first",
        "knowledge base is searched at no more travel than the fixed PID has in the taught situations.", "", *lines,
    ]  # fmt: skip
    return "\n".join(text).rstrip() + "\n"


if __name__ == "__main__":
    main()
