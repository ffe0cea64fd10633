"""How a run can be repeated: command, seed, configuration, versions, files; no times and no places."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import yaml

from experiments.report.records.report_data import Provenance
from experiments.runtime import formats
from experiments.runtime.run_folder import read_record

if TYPE_CHECKING:
    from pathlib import Path

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


def provenance(run: Path) -> Provenance:
    """Return how the run in a folder can be repeated."""
    record, versions = read_record(run), formats.read_json(run / "versions.json")
    return Provenance(
        command=" ".join(["sscq", record["command"], *map(shlex.quote, record["overrides"])]),
        seed=str(record["config"]["seed"]),
        config=str(yaml.safe_dump(record["config"], sort_keys=False, allow_unicode=True, width=110)),
        versions=tuple((name, version) for name, version in versions.items() if version),
        files=tuple(_files(run)),
    )


def _files(run: Path) -> list[tuple[str, str]]:
    """The files of the run, the look-up tables beside their knowledge bases."""
    found = [(name, text) for name, text in _FILES if (run / name).exists()]
    fronts = [(path.name, "the front of a law of the plant's own field") for path in run.glob("front_rival_*.csv")]
    found += sorted(fronts)
    tables = sorted(path.name for path in run.glob("knowledge_base*_table*.csv"))
    return [*found[:2], *((name, "its gains as a look-up table") for name in tables), *found[2:]]
