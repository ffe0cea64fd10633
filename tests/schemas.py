"""The published JSON Schemas, for tests of what commands write."""

import json

import jsonschema

from tests.fences import DOCS

REFERENCE = DOCS / "reference"


def validator(name):
    return jsonschema.Draft202012Validator(json.loads((REFERENCE / f"{name}.schema.json").read_text(encoding="utf-8")))


def read(name, file):
    """What a file holds, which its schema accepts."""
    found = json.loads(file.read_text(encoding="utf-8"))
    validator(name).validate(found)
    return found
