"""The JSON Schema of `report.json`, made from the records that it holds and what their docstrings say of each field.

python -m experiments.report.report_schema > docs/reference/report.schema.json
"""

from __future__ import annotations

import json
from typing import Any

from experiments.report.files import SCHEMA, VERSION
from experiments.report.kind_schemas import WORDS, KindSchemas
from experiments.report.records.report_data import ReportData


def schema() -> dict[str, Any]:
    """Return the schema, with a definition for each record."""
    records = KindSchemas(WORDS)
    whole = {"schema": {"const": SCHEMA}, "version": {"const": VERSION}, "report": records.of(ReportData)}
    told = {"type": "object", "properties": whole, "required": list(whole), "additionalProperties": False}
    return records.document("report.json of a design", told)


if __name__ == "__main__":
    print(json.dumps(schema(), indent=1, ensure_ascii=False))
