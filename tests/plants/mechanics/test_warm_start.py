"""What was derived is kept: a second process derives and compiles nothing; what cannot be trusted is derived again."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from experiments.reproduce.mechanics import systems
from plants.core.elementary import cos
from plants.core.kernel import cache
from plants.mechanics import Mechanism, derivation

ROOT = Path(__file__).parents[3]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SSCQ_CACHE", str(tmp_path))
    return tmp_path


def rates(plant):
    x = tuple(np.linspace(0.1, 0.5, len(plant.states)))
    return plant.derivative(0.0, x, (0.1,) * len(plant.inputs), (), plant.nominal())


def pendulum(gravity=9.81):
    mech = Mechanism("pendulum_of_a_test")
    a = mech.coordinates("a")
    da = mech.rates()
    m, l = mech.parameters(m=0.5, l=0.8)
    mech.kinetic(m * l**2 * da**2 / 2)
    mech.potential(-m * gravity * l * cos(a))
    return mech


COLD = """
import sys
from experiments.reproduce.mechanics import systems
import plants
plant = systems.cart(1).build()
run = plants.simulate(plant, 0.1, 1e-2, (0, 0, 0, 0, 0, 0.3, 0.1, 0.2, 0.3))
print(run.states[-1].tolist(), 'symengine' in sys.modules)
"""


def in_a_process(code, folder, **environment):
    given = {**os.environ, "SSCQ_CACHE": str(folder), "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run([sys.executable, "-c", code], env=given, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def contents(folder):
    """Which file stands under each name, and its bytes: whatever is written anew is another file (its time of use is not)."""
    return {path.name: (path.stat().st_ino, path.read_bytes()) for path in folder.iterdir()}


def test_a_second_process_derives_and_compiles_nothing(tmp_path):
    first = in_a_process(COLD, tmp_path)
    kept = contents(tmp_path)
    assert sum(name.startswith("mechanism_") for name in kept) == 1
    assert sum(name.endswith(".o") for name in kept) == 1
    second = in_a_process(COLD, tmp_path)
    assert second.split("]")[0] == first.split("]")[0]
    assert second.split("]")[1].split()[0] == "False"  # no computer algebra
    assert contents(tmp_path) == kept


@pytest.mark.usefixtures("folder")
def test_what_changes_the_key(monkeypatch):
    declared = pendulum().declared()
    options = {"form": "free", "derivatives": "smaller", "feedback": None}
    keys = [derivation.storage_key(declared, options)]
    assert derivation.storage_key(pendulum().declared(), options) == keys[0]
    keys.append(derivation.storage_key(pendulum(9.8).declared(), options))
    changes = ({"form": "routh"}, {"derivatives": "tape"}, {"feedback": (1.0, 2.0)})
    keys.extend(derivation.storage_key(declared, options | change) for change in changes)
    for extend in (
        lambda mech, a, da: mech.force({a: -0.1 * da}),
        lambda mech, a, da: mech.force({a: -0.1 * da}, kind="dissipative"),
        lambda mech, a, da: mech.velocity_constraint(da),
        lambda mech, a, da: mech.position_constraint(a),
        lambda mech, a, da: mech.gap(a),
        lambda mech, a, da: mech.basis(w=(2.0,)),
        lambda mech, a, da: mech.basis(w=(1.0 + a**2,)),
        lambda mech, a, da: mech.measure("a2", a * a),
        lambda mech, a, da: mech.inputs("F"),
        lambda mech, a, da: mech.disturbances("F"),
    ):
        mech = pendulum()
        extend(mech, *(mech.names.symbols[kind][0] for kind in "qv"))
        keys.append(derivation.storage_key(mech.declared(), options))
    derivation._versions.cache_clear()
    version = derivation.importlib.metadata.version
    monkeypatch.setattr(derivation.importlib.metadata, "version", lambda name: version(name) + ".1")
    keys.append(derivation.storage_key(declared, options))
    derivation._versions.cache_clear()
    assert len(set(keys)) == len(keys)


def counted(monkeypatch):
    """How often something is derived."""

    calls = []
    smallest = derivation._smallest
    monkeypatch.setattr(derivation, "_smallest", lambda *a: calls.append(a) or smallest(*a))
    return calls


def test_the_second_build_reads_what_the_first_kept(folder, monkeypatch):
    calls = counted(monkeypatch)
    wanted = rates(systems.sleigh().build())
    assert len(calls) == 1
    plant = systems.sleigh().build()
    assert len(calls) == 1
    assert rates(plant) == wanted
    assert plant.equations.facts["derivatives"] == systems.sleigh().build().equations.facts["derivatives"]
    cache.clear()
    assert not list(folder.glob("mechanism_*"))


def _hostile(record):
    record["lines"][-1] = ["__import__('os').system('touch hostile')", 0]


def _beyond(record):
    record["lines"][0] = ["const", "0x1p+99999"]


DAMAGES = {
    "empty": lambda text: "",
    "cut": lambda text: text[: len(text) // 2],
    "no text": lambda text: "\udcff",
    "another kind": lambda text: "[1, 2]",
    "deep": lambda text: "[" * 200000,
    "without a seal": lambda text: text.partition("\n")[2].partition("\n")[2],
    "a wrong number": lambda text: text.replace('"const"', '"input"', 1),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_or_hostile_file_is_derived_anew(damage, folder, monkeypatch):
    wanted = rates(systems.sleigh().build())
    (path,) = folder.glob("mechanism_*.json")
    sound = path.read_text()
    path.write_bytes(DAMAGES[damage](sound).encode(errors="surrogateescape"))
    calls = counted(monkeypatch)
    monkeypatch.chdir(folder)
    assert rates(systems.sleigh().build()) == wanted
    assert len(calls) == 1
    assert path.read_text() == sound  # and the file is mended
    assert not list(folder.glob("hostile*"))


@pytest.mark.parametrize(
    "change", [_hostile, _beyond, lambda record: record.pop("lines")], ids=["hostile", "beyond", "cut"]
)
def test_what_is_sealed_and_no_derivation_is_derived_anew(change, folder, monkeypatch):
    wanted = rates(systems.sleigh().build())
    (path,) = folder.glob("mechanism_*.json")
    key = path.stem.removeprefix("mechanism_")
    record = json.loads(cache.sealed(path, key))
    change(record)
    cache.seal(path, key, json.dumps(record).encode())
    calls = counted(monkeypatch)
    monkeypatch.chdir(folder)
    assert rates(systems.sleigh().build()) == wanted
    assert len(calls) == 1
    assert not list(folder.glob("hostile*"))


def test_a_cache_that_cannot_be_written_costs_one_warning(tmp_path, monkeypatch):
    occupied = tmp_path / "file"
    occupied.write_text("")
    monkeypatch.setenv("SSCQ_CACHE", str(occupied / "below"))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = rates(systems.sleigh().build())
        rates(systems.rolling_disk().build())
    assert [str(w.message) for w in caught if "cannot be used" in str(w.message)] == [str(caught[0].message)]
    monkeypatch.setenv("SSCQ_CACHE", str(tmp_path / "good"))
    assert rates(systems.sleigh().build()) == found


ORDER = """
import hashlib
from experiments.reproduce.mechanics import systems
for name in "{before}".split():
    getattr(systems, name)().build()
for make, form in ((systems.pinned_body, "gauss"), (systems.rolling_disk, "quasi"), (systems.snakeboard, "quasi")):
    plant = make().build(form, check=False)
    print(hashlib.sha256(repr((plant.equations.source(), plant.equations.facts)).encode()).hexdigest())
"""


def test_programs_do_not_depend_on_hash_seeds_or_on_what_was_built_before(tmp_path):
    """Each process derives for itself, in a cache of its own."""
    found = {
        in_a_process(ORDER.replace("{before}", before), tmp_path / str(seed), PYTHONHASHSEED=str(seed))
        for seed, before in ((0, ""), (1, "trailers sleigh"), (77, "double_pendulum rigid_body turntable"))
    }
    assert len(found) == 1
    assert len(set(next(iter(found)).split())) == 3
