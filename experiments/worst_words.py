"""What `sscq worst` prints: the envelope, the worst situation in words, the random baseline, the certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from experiments.reporting import words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from configs.worst_schema import WorstConfig
    from experiments.counter_example import CounterExample


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
            lines.append(f"  {axis.name.replace('.', ' ')}: {axis.low:g} .. {axis.high:g} {axis.unit}{every}".rstrip())
    return "\n".join(lines)


def summary(example: CounterExample, document: Mapping[str, Any], numbers: Mapping[str, Any]) -> str:
    """Return what was found, in words, beside the random baseline and the certificate."""
    found, drawn, proof = numbers["search"], numbers["random_baseline"], numbers["certificate"]
    against = "the loss against the reference gains" if numbers["against"] == "reference" else "the cost"
    both = document["found"]
    lines = [
        f"\nworst situation by {against} ({found['evaluations']} evaluated):",
        f"  {_words(example, document['situation'])}",
        f"  cost {_judgement(both['judged'])}; reference gains {_judgement(both['reference'])}",
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
    return "\n".join([*lines, _proof(found, proof)])


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
