"""The schemas that are published in docs/reference, and the command that writes them.

python -m experiments.schemas.published docs/reference
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from experiments.cases import counter_example
from experiments.log.sheet import SCHEMA as SHEET
from experiments.log.sheet import CommissioningRecord
from experiments.operate import record as operation
from experiments.pipeline import front_files
from experiments.report import exports, outputs
from experiments.report.kind_schemas import NULL, KindSchemas
from experiments.report.records.metrics import DesignMetrics
from experiments.runtime import run_record
from experiments.starting import sweep
from plants.core import atomic_files
from sscq.identification import stored
from sscq.identification.loop_knowledge import LoopKnowledge

if TYPE_CHECKING:
    from collections.abc import Mapping


class PublishedSchema(NamedTuple):
    """The format of a file.

    Attributes
    ----------
    title : str
        Which file, of whom.
    record : type
        What it holds.
    fixed : mapping
        Values that fields always have.
    """

    title: str
    record: Any
    fixed: Mapping[str, Any] = {}

    def document(self) -> dict[str, Any]:
        """Return the schema."""
        records = KindSchemas(NULL)
        return records.document(self.title, records.record(self.record, self.fixed))


def _stamped(module: Any) -> dict[str, Any]:
    return {"schema": module.SCHEMA, "version": module.VERSION}


PUBLISHED = {
    "run": PublishedSchema("config.json of a run", run_record.RunRecord, _stamped(run_record)),
    "seeds": PublishedSchema("seeds.json of a design", outputs.SeedsRecord),
    "metrics": PublishedSchema("metrics.json of a design", DesignMetrics),
    "front": PublishedSchema("front.json of a design", front_files.FrontsRecord, _stamped(front_files)),
    "sweep": PublishedSchema("sweep.json of a command with -m", sweep.SweepRecord, _stamped(sweep)),
    "counter_example": PublishedSchema(
        "counter_example.json of `sscq worst`", counter_example.CounterExampleRecord, _stamped(counter_example)
    ),
    "manifest": PublishedSchema("manifest.json of an export", exports.Manifest, _stamped(exports)),
    "operation": PublishedSchema(
        "operation.json of `sscq operate`", operation.OperationRecord, {"schema": operation.SCHEMA}
    ),
    "commissioning": PublishedSchema("commissioning.json of `sscq commission`", CommissioningRecord, {"schema": SHEET}),
    "loop": PublishedSchema("loop.json beside a log", LoopKnowledge),
    "identified": PublishedSchema("identified.json of `sscq identify`", stored.EnsembleRecord, _stamped(stored)),
}
"""By the first part of the file's name in docs/reference."""


def text(name: str) -> str:
    """Return a schema as its file has it."""
    return json.dumps(PUBLISHED[name].document(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name in PUBLISHED:
        atomic_files.write(Path(sys.argv[1]) / f"{name}.schema.json", text(name))
