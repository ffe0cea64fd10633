"""Look for the worst situation of a stored knowledge base in a declared envelope, and keep it as a counter-example.

As in::

    sscq worst kb=runs/design/20250101-120000/knowledge_base.json
    sscq worst kb=knowledge_base.json against=reference envelope.parameters='{mu: [0.5, 2]}' envelope.delay=[0,0.05]
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.runtime.progress import Progress
from experiments.runtime.tables import change
from experiments.settings.ranges import envelope
from experiments.starting.launch import command
from plants.core.gpu.driver import gpu
from plants.core.motion.modes import check_mode
from plants.core.motion.simulate import count_steps
from sscq.loop.spec import LoopSpec

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from configs.schema import WorstConfig
    from experiments.cases.counter_example import CounterExample
    from experiments.cases.kb_case import StoredContender
    from experiments.runtime.run_folder import RunFolder
    from sscq.situations.situation import Situation
    from sscq.worst.worst_case import WorstCase


def worst(config: WorstConfig, folder: RunFolder) -> None:
    """Search, print what was found, and write counter_example.json and metrics.json."""
    example, warnings = prepared(config)
    if not config.quiet:
        print("\n".join([announcement(config, example), *(f"warning: {warning}" for warning in warnings)]))

    stored, file = kept(config, example, folder)
    print(summary(example, stored["example"], stored["metrics"]))
    print(f"numbers: {folder.path / 'metrics.json'}\nrun it again: sscq replay {file}")


def kept(config: WorstConfig, example: CounterExample, folder: RunFolder) -> tuple[dict[str, Any], Path]:
    """Search and write; return the "example" and its "metrics" as plain data, and the file of the counter-example."""
    from experiments.cases import counter_example

    def compute(_: Path) -> dict[str, Any]:
        found = searched(config, example)
        named = replace(example, values=example.genes.values(found.worst_of_all.genome))
        return {"example": counter_example.document(named), "metrics": metrics(config, example, found)}

    stored: dict[str, Any] = folder.stage("search", compute, *formats.as_json("found.json"))
    file = folder.write_json("counter_example.json", stored["example"])
    folder.write_json("metrics.json", stored["metrics"])
    return stored, file


def prepared(config: WorstConfig) -> tuple[CounterExample, list[str]]:
    """Return what is to be searched, as a counter-example of nothing yet, and warnings.

    Raises
    ------
    ValueError
        If the knowledge base, the gains or the envelope do not fit the plant.
    """
    from experiments.cases import kb_case
    from experiments.cases.counter_example import CounterExample

    kb, plant = kb_case.loaded(config)
    if config.judged == "own" and config.controller.own_gains is None:
        raise UserError("judged=own needs your gains: controller.own_gains=[kp, ki, kd]")
    contenders = {c.name: c for c in kb_case.contenders_of(kb, config.controller.own_gains)}
    judged = contenders[config.judged]
    ranges = envelope(config.envelope, plant, _sample_time(config, judged))
    example = CounterExample(
        kb=kb, kb_file=str(config.kb), plant=plant, envelope=ranges,
        judged=config.judged, gains=judged.theta.tolist() if config.judged == "own" else None,
        fitness=kb_case.fitness_of(kb), fail_above=config.fail_above, step=config.integration_step,
        integrator=config.integrator, algebraic_loop=config.algebraic_loop, seed=config.seed, values={},
    )  # fmt: skip
    _check_loop(example)
    return example, kb_case.other_plant(kb, plant)


def checked(config: WorstConfig) -> tuple[CounterExample, list[str]]:
    """Return what :func:`prepared` does, before anything is written; a GPU that was asked for must be there, and do."""
    example, warnings = prepared(config)
    if config.device == "cuda" and config.resume is None:
        gpu()
        for name in {config.judged, "reference"} if config.against == "reference" else {config.judged}:
            on_gpu = replace(example.bench, options={**example.bench.options, "device": config.device})
            loop = on_gpu.loop(example.controller(name)[0], example.genes.draw(1, config.seed))
            _ = loop.device_text  # refused where a block is a call
    return example, warnings


def _sample_time(config: WorstConfig, judged: StoredContender) -> float:
    """Return the controller's sample time [s]; a law without one is sampled at every step."""
    return float(judged.controller.laws[0].sample_time or config.integration_step)


def _check_loop(example: CounterExample) -> None:
    """Raise where the loops could not be built; nothing is compiled."""
    LoopSpec(example.plant, example.controller(example.judged)[0], example.genes.anchors(), example.step)
    check_mode(example.plant, example.algebraic_loop, example.integrator)
    count_steps(example.envelope.t_end, example.step)


def searched(config: WorstConfig, example: CounterExample) -> WorstCase:
    """Return the worst situation; the reference gains run beside where the loss against them is looked for."""
    from sscq.worst.worst_case import worst_case

    controller, gains = example.controller(config.judged)
    with Progress(2 * config.evaluations, "worst", "situations", quiet=config.quiet) as progress:  # searched, drawn
        return worst_case(
            example.plant, controller, gains, example.envelope,
            against=example.controller("reference") if config.against == "reference" else None,
            fitness=example.fitness, fail_above=config.fail_above, step=example.step, evaluations=config.evaluations,
            seed=config.seed, population=config.population, polish=config.polish, integrator=config.integrator,
            algebraic_loop=config.algebraic_loop, threads=config.threads, device=config.device, report=progress.at,
        )  # fmt: skip


def metrics(config: WorstConfig, example: CounterExample, found: WorstCase) -> dict[str, Any]:
    """Return all numbers as plain data."""
    drawn = found.random_baseline
    assert drawn is not None  # noqa: S101  (the search has one)
    return {
        "against": config.against,
        "search": _numbers(example, found), "random_baseline": _numbers(example, drawn),
        "searched_beats_drawn": found.worst_of_all is found,
        "margins": _margins(example, found.worst_of_all.situation),
        "certificate": {
            "situations": drawn.n_evaluations, "skipped": drawn.n_skipped, "failures": drawn.n_failures,
            "confidence": config.confidence,
            "failure_bound": found.failure_bound(config.confidence), "failure": failure(config.fail_above),
            "distribution": "independent and uniform in every range of the envelope, noise paths included",
        },
    }  # fmt: skip


def _margins(example: CounterExample, situation: Situation) -> dict[str, Any]:
    """Margins of the judged controller about the operating points, with the situation's parameters and delays."""
    from experiments.cases.frozen_margins import frozen_margins

    controller, theta = example.controller(example.judged)
    try:
        return {"channels": frozen_margins(example.plant, controller, theta, [situation], example.step)}
    except ValueError as error:  # with these parameters nothing holds the plant at its operating points
        return {"channels": [], "reason": str(error)}


def _numbers(example: CounterExample, found: WorstCase) -> dict[str, Any]:
    return {
        "situation": example.genes.values(found.genome), "badness": found.badness,
        "median_cost": found.median_cost,
        "cost": found.J, "reference_cost": found.reference_cost, "failed": found.failed,
        "diverged_at": found.diverged_at, "evaluations": found.n_evaluations, "skipped": found.n_skipped,
        "failures": found.n_failures,
        "first_failure": found.first_failure, "history": asdict(found.history),
    }  # fmt: skip


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
    return "\n".join([*lines, *_margin_lines(numbers["margins"]), _certificate(found, proof), *caution(numbers)])


def _margin_lines(found: Mapping[str, Any]) -> list[str]:
    """Say whether the frozen loops themselves are at fault, with the plant and the delays of the worst situation."""
    from experiments.cases.frozen_margins import words

    if "reason" in found:
        return [f"no margins with the worst situation's parameters: {found['reason']}"]
    lines = words(found["channels"])
    return [f"with the worst situation's parameters and delays:\n  {lines[0]}", *lines[1:]] if lines else []


def caution(numbers: Mapping[str, Any]) -> list[str]:
    """Say where divergence is too mild a failure: a loop that swings inside its limits never leaves the region."""
    largest = max(numbers["search"]["cost"], numbers["random_baseline"]["cost"])
    usual, proof = numbers["random_baseline"]["median_cost"], numbers["certificate"]
    if proof["failures"] or proof["failure"] != failure(None) or largest <= _FAR * usual:
        return []
    reached = f"nothing drawn diverged, but costs reach {largest / usual:.3g} times the median of {usual:.3g}"
    return [f"caution: {reached}; say what is too much, such as fail_above={_FAR * usual:.3g}, and the bound counts it"]


def _certificate(found: Mapping[str, Any], proof: Mapping[str, Any]) -> str:
    skipped = found["skipped"] + proof["skipped"]
    return (
        f"failures ({proof['failure']}): {found['failures']} in the search, {proof['failures']} of "
        f"{proof['situations']} drawn; failure probability at most {100 * proof['failure_bound']:.3g} % at "
        f"{100 * proof['confidence']:g} % confidence for situations uniform in the envelope"
        + (f"; {skipped} were skipped: the plant cannot start or rest there" if skipped else "")
    )


def _words(example: CounterExample, values: Mapping[str, float]) -> str:
    from experiments.report.builders import words

    return words.situation(example.plant, example.genes.situation(example.genes.genome(values)))


def _judgement(run: Mapping[str, Any]) -> str:
    lost = run["diverged_at"]
    ending = f", DIVERGED at {lost:.4g} s" if lost is not None else ", FAILED" if run["failed"] else ""
    return f"{run['cost']:.4g}{ending}"


def _reference(run: Mapping[str, Any]) -> str:
    """Cost of the reference gains, where they ran beside."""
    return "" if run["reference_cost"] is None else f"; reference gains {run['reference_cost']:.4g}"


main = command("worst", worst, checked)

if __name__ == "__main__":
    main()
