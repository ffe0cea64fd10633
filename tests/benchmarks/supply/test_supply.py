"""What the program is built of is written down, and true: NOTICE, bill of materials, lock file."""

import json
import re
from email.message import Message
from importlib import metadata

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from benchmarks.supply import __main__ as supply
from benchmarks.supply.components import ROOT, closure, licence, requirements


def test_the_notice_is_what_installed_metadata_say_and_marks_copyleft():
    text = supply.notice()
    assert (ROOT / "NOTICE").read_text(encoding="utf-8") == text, "run `make supply`"
    for name in ("deap", "moocore", "casadi"):
        assert re.search(rf"^\* {name}: .*(LGPL|Lesser)", text, re.MULTILINE)
    assert "* numpy" not in text


def test_every_requirement_and_what_it_needs_is_in_the_bill_with_version_and_licence():
    bill = supply.bill("0.1.0")
    found = {one["name"].lower(): one for one in bill["components"]}
    for text in requirements():
        name = Requirement(text).name
        assert found[name.lower()]["version"] == metadata.version(name)
    assert {"antlr4-python3-runtime", "cffi"} <= set(found)  # of hydra-core, moocore
    assert all(one["licenses"][0]["license"]["name"] for one in found.values())
    known = {one["bom-ref"] for one in bill["components"]} | {bill["metadata"]["component"]["bom-ref"]}
    for one in bill["dependencies"]:
        assert {one["ref"], *one["dependsOn"]} <= known
    assert len(bill["dependencies"][0]["dependsOn"]) == len(requirements())
    assert json.loads(json.dumps(bill))["bomFormat"] == "CycloneDX"


def test_a_licence_comes_from_the_expression_the_field_or_the_classifiers():
    told = Message()
    assert licence(told) == "not named in its metadata"
    told["Classifier"] = "License :: OSI Approved :: MIT License"
    assert licence(told) == "MIT"
    told["License"] = "A text\nof many lines"
    assert licence(told) == "MIT"
    told["License-Expression"] = "BSD-3-Clause"
    assert licence(told) == "BSD-3-Clause"


def test_what_is_not_installed_is_told():
    with pytest.raises(ModuleNotFoundError, match="no-such-package is not installed: `make venv`"):
        closure(["no-such-package>=1"])


def test_the_lock_file_has_a_hash_for_each_requirement_at_the_version_of_the_constraints():
    lines = [line for line in (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    assert all(re.fullmatch(r"[a-z0-9._-]+==\S+ --hash=sha256:[0-9a-f]{64}", line) for line in lines)
    locked = dict(line.split(" ")[0].split("==") for line in lines)
    locked = {canonicalize_name(name): version for name, version in locked.items()}
    pinned = dict(
        line.split("==") for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").split() if "==" in line
    )
    pinned = {canonicalize_name(name): version for name, version in pinned.items()}
    for text in requirements():
        name = canonicalize_name(Requirement(text).name)
        assert locked[name] == pinned[name]
    assert all(pinned.get(name, version) == version for name, version in locked.items())
