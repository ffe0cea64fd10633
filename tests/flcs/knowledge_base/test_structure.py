"""The published JSON Schema: not stale, accepts what is saved in every schema, refuses what is read with a complaint."""

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from flcs import Inference, KnowledgeBaseError
from flcs.inference.output_sets import OutputSets
from flcs.knowledge_base.knowledge_base import from_document
from flcs.knowledge_base.structure import json_schema

PUBLISHED = Path(__file__).parents[3] / "docs/reference/knowledge_base.schema.json"


@pytest.fixture
def documents(builders, several):
    """One of each schema."""
    kb = builders["kb"]()
    mamdani = replace(kb, inference=Inference(form="mamdani", output=OutputSets()))
    base = kb.channels[0]
    read = tuple(replace(item, name=name) for item, name in zip(base.inputs, ("speed", "load"), strict=True))
    common = replace(kb, channels=(replace(base, inputs=read),), common_terms=True)
    return {1: several.document(), 2: mamdani.document(), 3: common.document()}


def test_the_published_schema_is_that_of_the_program():
    """If not: python -m flcs.knowledge_base.structure > docs/reference/knowledge_base.schema.json"""
    assert json.loads(PUBLISHED.read_text()) == json.loads(json.dumps(json_schema()))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"form": "mamdami"}, "inference.form: expected 'sugeno', 'tsukamoto' or 'mamdani', got 'mamdami'"),
        ({"form": ["mamdani"]}, "inference.form: expected 'sugeno', 'tsukamoto' or 'mamdani', got"),
        ({"form": "tsukamoto", "defuzzifier": "weighted mean"}, "no key of inference 'width'"),
        ({"widht": 0.1}, "no key of inference 'widht'; did you mean 'width'"),
        ({"points": 0.5}, "inference.points: expected an integer, got 0.5"),
        ({"points": 0}, "inference: output sets: points must be at least 7 and at most 1001, got 0"),
        ({"implication": "clipp"}, "inference: .*'clipp'"),
    ],
)
def test_complaints_about_a_form_of_inference(documents, changes, message):
    document = documents[2]
    assert from_document(document).inference.form == "mamdani"
    with pytest.raises(KnowledgeBaseError, match=message):
        from_document({**document, "inference": {**document["inference"], **changes}})


def test_a_missing_form_is_named(documents):
    inference = {key: value for key, value in documents[3]["inference"].items() if key != "form"}
    with pytest.raises(KnowledgeBaseError, match="inference: expected the keys form, got a mapping without them"):
        from_document({**documents[3], "inference": inference})


@pytest.mark.parametrize("schema", [1, 2, 3])
def test_the_published_schema_accepts_what_is_saved_and_nothing_else(documents, schema):
    checker = jsonschema.Draft202012Validator(json.loads(PUBLISHED.read_text()))
    document = documents[schema]
    assert document["schema"] == schema
    checker.validate(document)
    rule = document["channels"][0]["rules"][0]
    for broken in (
        {**document, "schema": 3 - schema % 3, "inference": {**document["inference"], "order": "0"}},
        {**document, "slwe": 1.0},
        {key: value for key, value in document.items() if key != "tick"},
        {**document, "channels": [{**document["channels"][0], "rules": [{**rule, "on": 1}]}]},
    ):
        with pytest.raises(jsonschema.ValidationError):
            checker.validate(broken)
