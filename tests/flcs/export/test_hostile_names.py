"""Names and texts of plants and knowledge bases reach code: as identifiers and harmless comments, or a reason why not."""

import json
import re
from pathlib import Path

import pytest

import plants
from controllers import PID
from experiments.report import exports
from experiments.runtime.run_folder import RunFolder
from flcs import Inference, KnowledgeBase
from flcs.export.c.source import texts
from flcs.export.machine import Machine, MachineSignal
from flcs.export.matlab import tables as matlab_tables
from flcs.export.pid_block import VendorForm
from flcs.export.proof import OK
from flcs.export.rules import skfuzzy as skfuzzy_target
from flcs.export.targets import TARGETS, Target
from plants.core.names import comment, identifier
from tests.reference.exports import job_of, rule_base

PYTHON = 'evil"""\nopen("pwned", "w")\n"""'
C = "*/ int injected(void) { return 1; } /*"
MATLAB = "room'); fopen('pwned', 'w'); x=('"
HOSTILE = [
    PYTHON,
    C,
    MATLAB,
    "*) END_FUNCTION_BLOCK (*",
    "</script><script>alert(1)",
    "a\u2028b",
    "\\",
    "??/",
    "//",
    "${name}",
    "$(x)",
    "",
]


def job(name="my-pendulum", output="heat flow", state="room temperature", unit="K"):
    """A job of a plant with these names."""

    def derivative(t, x, u, w, p):
        return p[0] * (u[0] - x[0]), x[0] - x[1]

    plant = plants.register(plants.Plant(
        name=name, states=(plants.Quantity(output, unit, text=C), plants.Quantity(state, unit)),
        parameters=(plants.Quantity("rate", "1/s", 1.0),), inputs=(plants.Quantity("u", unit),),
        channels=(plants.Channel(output=output, low=-5.0, high=5.0),), derivative=derivative,
    ))  # fmt: skip
    law = PID(sample_time=0.01, derivative_filter_time=0.03)
    base = rule_base(plant, plant.channels[0], ["e", state], law, 0)
    kb = KnowledgeBase(name, (base,), Inference(), tick=0.03, plant_parameters={"rate": 1.0})
    return job_of(kb, ({"reference": 1.0, "t_end": 0.2},))


@pytest.fixture(scope="module")
def named():
    """A job with names that are no identifiers."""
    found = job()
    plants.core.registry.restore({n: p for n, p in plants.core.registry.snapshot().items() if n != "my-pendulum"})
    return found


@pytest.mark.parametrize("target", ["c", "st", "js", "python", "onnx", "skfuzzy", "tables"])
def test_names_with_blanks_and_hyphens_are_exported(named, target, tmp_path, monkeypatch):
    monkeypatch.setitem(plants.core.registry.snapshot(), "my-pendulum", named.plant)
    place = tmp_path / target
    for name, content in TARGETS[target].files(named).items():
        assert "/" not in name
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    assert TARGETS[target].prove(named, place).status == OK


def test_matlabs_files_are_written_too(named):
    files = TARGETS["matlab"].files(named)
    assert "my_pendulum_controller_step.m" in files
    assert "t(1).inputs = {'e', 'room temperature'};" in files["my_pendulum_scheduler_tables.m"]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_comment_ends_nothing_and_begins_nothing(text):
    found = comment(f"a {text} b")
    assert not re.search(r"\*/|/\*|\*\)|\(\*|//|</|<!|\"|\\|\?\?|[\x00-\x1f\u2028\u2029]", found)
    assert comment(found) == found
    for mark in ("*", "/", "(", ")"):
        assert not re.search(r"\*/|/\*|\*\)|\(\*|//", comment(f"{mark}{text}{mark}"))


@pytest.mark.parametrize("text", HOSTILE)
def test_units_and_texts_stay_in_comments(text):
    signal = MachineSignal("a", unit=text, text=text)
    machine = Machine(text, text, (signal,), (signal,), {"a": 0.0}, (), 0.1)
    for content in texts(machine).values():
        code = re.sub(r"/\*.*?\*/", "", content, flags=re.DOTALL)
        assert "injected" not in code.replace(machine.name, "").replace(machine.name.upper(), "")
    compile(f'"""{machine.text}"""  # {signal.described}', "x", "exec")
    assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", machine.name)


def test_a_channels_name_executes_nothing_in_the_scikit_fuzzy_target(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hostile = job("../../x", PYTHON, MATLAB)
    files = TARGETS["skfuzzy"].files(hostile)
    assert all(Path(name).name == name for name in files)
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    assert skfuzzy_target.prove(hostile, tmp_path).status == OK
    assert not (tmp_path / "pwned").exists()
    tables = matlab_tables.texts(hostile.kb, "x", VendorForm())["x_tables.m"]
    assert "t(1).inputs = {'e', 'room''); fopen(''pwned'', ''w''); x=('''};" in tables
    assert json.loads(TARGETS["tables"].files(hostile)[f"{identifier('../../x_' + PYTHON)}.json"])


def test_a_target_that_cannot_be_written_is_a_row_with_its_reason(named, tmp_path, monkeypatch):
    def refused(_):
        raise ValueError("names of\nletters")

    def broken(*_):
        raise KeyError("slot")

    known = {
        "c": TARGETS["tables"],
        "js": Target("js", "", refused, broken),
        "st": Target("st", "", lambda _: {}, broken),
    }
    monkeypatch.setattr(exports, "TARGETS", known)
    with RunFolder.create(tmp_path / "run", command="export", config={}) as folder:
        proofs = exports.write(named, ["js", "st", "c"], folder, quiet=True)
    assert [(p.target, p.status, p.reason) for p in proofs[:2]] == [
        ("js", "not checked", "not written: names of letters"), ("st", "failed", "KeyError: 'slot'"),
    ]  # fmt: skip
    assert proofs[2].status == OK
    assert len(json.loads((tmp_path / "run/manifest.json").read_text())["proofs"]) == 3
    assert "not written: names of letters" in exports.table(proofs)


def test_signals_that_would_have_one_name_are_refused_before_anything_is_searched():
    states = tuple(plants.Quantity(name, "K") for name in ("heat flow", "heat-flow"))
    twins = plants.Plant("twins", states, derivative=lambda t, x, u, w, p: x)
    with pytest.raises(
        ValueError, match="'heat flow' and 'heat-flow' of plant 'twins' have one name in exports; rename one"
    ):
        exports.check_names(twins)
