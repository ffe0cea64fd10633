"""The published JSON Schema of report.json: not stale, accepts what a run writes, refuses what reading refuses."""

import json
from dataclasses import dataclass
from pathlib import Path

import jsonschema
import pytest

from experiments.report.kind_schemas import described
from experiments.report.plain_data import plain
from experiments.report.report_schema import schema
from tests.experiments.report_example import example

PUBLISHED = Path(__file__).parents[3] / "docs/reference/report.schema.json"


@pytest.fixture(scope="module")
def document():
    return {"schema": "sscq-report", "version": 1, "report": json.loads(json.dumps(plain(example())))}


def test_the_published_schema_is_that_of_the_records():
    """If not: python -m experiments.report.report_schema > docs/reference/report.schema.json"""
    assert json.loads(PUBLISHED.read_text(encoding="utf-8")) == json.loads(json.dumps(schema()))


def test_it_accepts_a_report_and_what_a_run_writes(document, run):
    validator = jsonschema.Draft202012Validator(schema())
    validator.validate(document)
    folder = run.bench.folder.path
    assert run.judgement.robustness is not None
    validator.validate(json.loads((folder / "report.json").read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("place", "value"),
    [(("title",), 3), (("foreign",), 1), (("verdict", "recommended"), None), (("controllers", 0, "key"), 1.0)],
)
def test_it_refuses_what_is_no_report(document, place, value):
    changed = json.loads(json.dumps(document))
    where = changed["report"]
    for key in place[:-1]:
        where = where[key]
    where[place[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(changed, schema())


def test_fields_are_described_as_in_the_docstring():
    @dataclass
    class Found:
        """A thing.

        Attributes
        ----------
        low, high : float
            Ends [s];
            in order.
        rows : array [n, 2]
            Pairs.
        name : str

        Raises
        ------
        ValueError : never
        """

    assert described(Found) == {
        "low": "Ends [s]; in order.",
        "high": "Ends [s]; in order.",
        "rows": "array [n, 2]: Pairs.",
    }
