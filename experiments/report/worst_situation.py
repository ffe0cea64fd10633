"""What `sscq worst` prints: the envelope, the worst situation in words, the random baseline, the certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.cases.frozen_margins import words as margin_words
from experiments.report.builders import words
from experiments.runtime.tables import change

if TYPE_CHECKING:
    from collections.abc import Mapping

    from configs.schema import WorstConfig
    from experiments.cases.counter_example import CounterExample


_FAR = 10.0  # times the median: a cost that no working loop has


def failure(fail_above: float | None) -> str:
    """Return what counts as a failure, in words."""
    return "divergence" if fail_above is None else f"divergence or a cost above {fail_above:g}"


def announcement(config: WorstConfig, example: CounterExample) -> str:
    """Return what is searched: the ranges that have a width."""
    lines = [f"knowledge base {config.kb} of plant {example.plant.name}; the envelope, uniform in:"]
    for axis in example.genes.axes:
        if axis.name == "kind":
            lines.append(f"  reference kind: {', '.join(example.envelope.kinds)}")
        elif axis.name != "path" and axis.low < axis.high:
            every = f" by {axis.quantum:g}" if axis.quantum else ""
            unit = f" {axis.unit}" if axis.unit not in {"", "1"} else ""
            lines.append(f"  {axis.name.replace('.', ' ')}: {axis.low:g} .. {axis.high:g}{unit}{every}")
    return "\n".join(lines)


def summary(example: CounterExample, document: Mapping[str, Any], numbers: Mapping[str, Any]) -> str:
    """Return what was found, in words, beside the random baseline and the certificate."""
    found, drawn, proof = numbers["search"], numbers["random_baseline"], numbers["certificate"]
    against = "the loss against the reference gains" if numbers["against"] == "reference" else "the cost"
    both = document["found"]
    compared = change(both["judged"]["cost"], both["reference"]["cost"])
    lines = [
        f"\nworst situation by {against} ({found['evaluations']} evaluated):",
        f"  {_words(example, document['situation'])}",
        f"  cost {_judgement(both['judged'])}; reference gains {_judgement(both['reference'])} ({compared})",
    ]
    if numbers["searched_beats_drawn"]:
        lines += [
            f"worst of {drawn['evaluations']} drawn at random:",
            f"  {_words(example, drawn['situation'])}",
            f"  cost {_judgement(drawn)}{_reference(drawn)}",
        ]
    else:
        lines.append(
            f"  drawn at random: the search found no worse than cost {_judgement(found)}{_reference(found)}; give it "
            "more evaluations"
        )
    return "\n".join([*lines, *_margins(numbers["margins"]), _proof(found, proof), *caution(numbers)])


def _margins(found: Mapping[str, Any]) -> list[str]:
    """Say whether the frozen loops themselves are at fault, with the plant and the delays of the worst situation."""
    if "reason" in found:
        return [f"no margins with the worst situation's parameters: {found['reason']}"]
    lines = margin_words(found["channels"])
    return [f"with the worst situation's parameters and delays:\n  {lines[0]}", *lines[1:]] if lines else []


def caution(numbers: Mapping[str, Any]) -> list[str]:
    """Say where divergence is too mild a failure: a loop that swings inside its limits never leaves the region."""
    worst = max(numbers["search"]["cost"], numbers["random_baseline"]["cost"])
    usual, proof = numbers["random_baseline"]["median_cost"], numbers["certificate"]
    if proof["failures"] or proof["failure"] != failure(None) or worst <= _FAR * usual:
        return []
    reached = f"nothing drawn diverged, but costs reach {worst / usual:.3g} times the median of {usual:.3g}"
    return [f"caution: {reached}; say what is too much, such as fail_above={_FAR * usual:.3g}, and the bound counts it"]


def _proof(found: Mapping[str, Any], proof: Mapping[str, Any]) -> str:
    return (
        f"failures ({proof['failure']}): {found['failures']} in the search, {proof['failures']} of "
        f"{proof['situations']} drawn; failure probability at most {100 * proof['failure_bound']:.3g} % at "
        f"{100 * proof['confidence']:g} % confidence for situations uniform in the envelope"
    )


def _words(example: CounterExample, values: Mapping[str, float]) -> str:
    return words.situation(example.plant, example.genes.situation(example.genes.genome(values)))


def _judgement(run: Mapping[str, Any]) -> str:
    return f"{run['cost']:.4g}{_ending(run)}"


def _reference(run: Mapping[str, Any]) -> str:
    """Cost of the reference gains, where they ran beside."""
    return "" if run["reference_cost"] is None else f"; reference gains {run['reference_cost']:.4g}"


def _ending(run: Mapping[str, Any]) -> str:
    if run["diverged_at"] is not None:
        return f", DIVERGED at {run['diverged_at']:.4g} s"
    return ", FAILED" if run["failed"] else ""
