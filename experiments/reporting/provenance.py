"""How the run can be repeated: command, seeds, configuration, versions, files. No times and no places."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from experiments import formats
from experiments.report import Provenance
from experiments.report.numbers import count, plain
from plants.core.loops import scheme

if TYPE_CHECKING:
    from experiments.reporting.case import Case

_FILES = (
    ("knowledge_base.json", "the knowledge base at equal actuator travel: terms, rules, law, record of its validation"),
    ("knowledge_base_free_travel.json", "the same with free actuator travel"),
    ("teaching_signal.csv", "best gains over time with inputs and weights"),
    ("trade_off.json", "number of rules against fitness, taught and validation, and what each rule is worth"),
    ("structure.json", "what the searches over inputs and terms found"),
    ("front_fixed.csv", "the fixed gains' trade-off front: gains and what they reach, chosen points named"),
    ("front_knowledge_base.csv", "the knowledge base's trade-off front"),
    ("front.json", "settings of the fronts and their chosen points"),
    ("metrics.json", "all numbers of the verdict"),
    ("situations.csv", "all numbers of every controller in every situation"),
    ("seeds.json", "seeds of the design, the situations and the verdict"),
    ("config.json", "command and resolved configuration"),
    ("versions.json", "programs and libraries"),
    ("stages/", "results of every stage, from which a run goes on: searches, oracle, judgement, responses"),
    ("exports/", "the knowledge base as code, with manifest.json: proofs, sizes, hashes"),
    ("times.json", "durations; nothing else depends on them"),
)


def provenance(case: Case) -> Provenance:
    """Return how to repeat the run."""
    setup, folder = case.setup, case.bench.folder
    command = " ".join(["sscq", folder.command, *map(shlex.quote, folder.overrides)])
    versions = formats.read_json(folder.path / "versions.json")
    sample = setup.laws[0].sample_time or setup.step
    facts = [
        ("integration", f"{scheme(setup.plant, setup.options['integrator'])}, step {plain(setup.step)} s"),
        ("controller sample", f"{plain(sample)} s; gains of schedules every {plain(setup.tick)} s"),
        ("evaluations of each candidate", count(setup.evaluations)),
        (
            "verdict",
            f"{setup.seeds} seeds of each {'' if setup.repeat_taught else 'validation and unforeseen '}situation",
        ),
    ]
    if setup.spread:
        facts.append(("plants of the verdict", f"parameters spread by ±{100.0 * setup.spread:g} %, one plant a seed"))
    return Provenance(
        command=command,
        seed=str(setup.seed),
        config=_yaml(folder.config),
        versions=tuple((name, version) for name, version in versions.items() if version),
        files=tuple(_files(case)),
        facts=tuple(facts),
    )


def _yaml(config: object) -> str:
    import yaml

    return str(yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=110))


def _files(case: Case) -> list[tuple[str, str]]:
    """The files of the run, the look-up tables beside their knowledge bases."""
    folder = case.bench.folder.path
    found = [(name, text) for name, text in _FILES if name == "situations.csv" or (folder / name).exists()]
    fronts = [(path.name, "the front of a law of the plant's own field") for path in folder.glob("front_rival_*.csv")]
    found += sorted(fronts)
    tables = sorted(path.name for path in folder.glob("knowledge_base*_table*.csv"))
    return [*found[:2], *((name, "its gains as a look-up table") for name in tables), *found[2:]]
