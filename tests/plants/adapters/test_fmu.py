"""Functional mock-up units as plants: one made here from a C model, and one that another package carries."""

import importlib.util
import math
import runpy
import shutil
import zipfile
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from plants.adapters.fmu import FmuDeclaration, fmu_plant
from plants.core.elementary import exp
from sscq.loop.slow import SlowLimits, SlowLoop, SlowPlantError, crew

pytest.importorskip("fmpy", reason="FMPy is not installed")

LAG = FmuDeclaration(name="lag", disturbances=["load"], parameters={"gain.k": 1.0, "T": 0.5})


@pytest.fixture(scope="module")
def unit(tmp_path_factory):
    """Return what writes the unit of the pages."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    make = runpy.run_path(str(Path(__file__).parents[3] / "docs" / "examples" / "lag_unit.py"))["make"]
    folder = tmp_path_factory.mktemp("lag")
    return lambda kind="CoSimulation": make(folder / f"{kind}.fmu", kind)


def twin():
    """The same lag in equations of the project's own."""
    q = plants.Quantity
    return plants.Plant(
        "twin", (q("y", "1", 0.25),), (q("gain_k", "1", 1.0), q("T", "s", 0.5)), (q("valve_u", "V"),), (q("load", "1"),),
        channels=(plants.Channel("y", low=-8.0, high=8.0, collocated=False),),
        derivative=lambda t, x, u, w, p: ((p[0] * u[0] + w[0] - x[0]) / p[1],),
        advance=lambda t, x, u, w, p, h: (x[0] + (1.0 - exp(-h / p[1])) * (p[0] * u[0] + w[0] - x[0]),),
    )  # fmt: skip


def test_declaration_is_filled_from_the_unit(unit):
    plant = fmu_plant(unit(), LAG).plant
    assert [q.name for q in plant.inputs] == ["valve_u"]
    assert (plant.inputs[0].unit, plant.step) == ("V", 0.05)
    assert [(q.name, q.nominal) for q in plant.states] == [("y", 0.25)]
    assert [(q.name, q.nominal) for q in plant.parameters] == [("gain_k", 1.0), ("T", 0.5)]
    (channel,) = plant.channels
    assert (channel.output, channel.low, channel.high) == ("y", -8.0, 8.0)


def test_loop_around_the_unit_is_that_around_its_equations(unit):
    situations = [
        sscq.Situation("step", reference=1.0, excitation=0.2, t_end=2.0, noise=0.01, delay=0.1),
        sscq.Situation("other", reference=-1.0, t_end=1.5, parameters={"T": 1.0, "gain_k": 2.0}, initial={"y": 0.5}),
        sscq.Situation("broken", reference=20.0, t_end=2.0),  # the unit gives up beyond 3, and so does the bound below
    ]
    gains = np.array([[2.0, 1.0, 0.1], [5.0, 4.0, 0.0]])
    slow = fmu_plant(unit(), LAG)
    loop = SlowLoop(slow, PID(), situations, 0.05)
    with closing(crew(slow, 0)) as members:
        found = loop.evaluate(gains, members)
    bounded = plants.Plant(**{**vars(twin()), "states": (plants.Quantity("y", "1", 0.25, high=3.0),)})
    expected = sscq.evaluate(bounded, PID(), gains, situations, 0.05)
    assert expected.failed[2].all()
    for name, values in expected.until_lost.items():
        np.testing.assert_allclose(found.until_lost[name], values, rtol=1e-9, atol=1e-9, err_msg=name)
    np.testing.assert_array_equal(found.diverged_at, expected.diverged_at)


_HANGS = "for (volatile int k = 0; !k;) ;"
_CRASHES = "*(volatile int *)0 = 1;"
_GREEDY = "for (int k = 0; k < 64; k++) { char *p = malloc(1 << 26); p[0] = 1; p[1 << 25] = 1; }"


@pytest.mark.parametrize(
    ("then", "told"),
    [
        (_HANGS, "did not answer within 2 s and was ended"),
        (_CRASHES, "its process died .signal 11.; its program crashed"),
        (_GREEDY, "its process died .signal 11.; its program crashed"),
        (None, "ValueError: the unit lacks a function of FMI 2.0: .*fmi2DoStep"),
    ],
)
def test_a_unit_that_hangs_crashes_or_lacks_a_function_is_a_sentence(tmp_path, monkeypatch, then, told):
    """Nothing of it is left: no process, no folder; the greedy one asks for 4 GiB."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    lag = runpy.run_path(str(Path(__file__).parents[3] / "docs" / "examples" / "lag_unit.py"))
    model = lag["_MODEL"]
    if then is None:
        model = model.replace("int fmi2DoStep", "int fmi2DoNothing")
    else:
        model = model.replace("double *v = ((lag *)c)->v;", f"double *v = ((lag *)c)->v; {then}")
    lag["make"].__globals__["_MODEL"] = model
    slow = fmu_plant(lag["make"](tmp_path / "bad.fmu"), LAG)
    loop = SlowLoop(slow, PID(), [sscq.Situation(reference=0.5, t_end=0.2)], 0.05)
    limits = SlowLimits(seconds=2.0 if then == _HANGS else 60.0, memory=2**30)
    with closing(crew(slow, 1, limits=limits)) as members, pytest.raises(SlowPlantError, match=told) as raised:
        loop.evaluate(np.array([[1.0, 0.0, 0.0]]), members)
    assert "\n" not in str(raised.value)
    assert [p.name for p in tmp_path.iterdir()] == ["bad.fmu"]


def test_substeps(unit):
    """The exact lag does not mind being stepped in parts."""
    settings = {}
    for substeps in (1, 4):
        slow = fmu_plant(unit(), FmuDeclaration(disturbances=["load"], substeps=substeps))
        with closing(slow.open()) as session:
            session.start((), {})
            settings[substeps] = [session.step(0.1 * k, [1.0], [0.0], 0.1)[0] for k in range(5)]
    np.testing.assert_allclose(settings[4], settings[1], rtol=1e-12)
    assert settings[1][-1] == pytest.approx(1.0 + (0.25 - 1.0) * math.exp(-1.0))


def test_refusals(unit):
    with pytest.raises(ValueError, match="co-simulation"):
        fmu_plant(unit("ModelExchange"))
    with pytest.raises(ValueError, match="did you mean 'gain.k'"):
        fmu_plant(unit(), FmuDeclaration(parameters={"gaink": 1.0}))
    with pytest.raises(ValueError, match="no input 'y'"):
        fmu_plant(unit(), FmuDeclaration(inputs=["y"]))
    with pytest.raises(ValueError, match="is no parameter"):
        fmu_plant(unit(), FmuDeclaration(disturbances=["load"], parameters={"y": 1.0}))
    with pytest.raises(ValueError, match="declare channels"):
        fmu_plant(unit())  # two inputs


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (None, "not a zip file"),
        ("other.xml", "no item named 'modelDescription.xml'"),
        ("modelDescription.xml", "modelDescription.xml, line 1"),
    ],
)
def test_what_is_no_unit_is_refused_in_a_sentence(tmp_path, name, text):
    file = tmp_path / "no.fmu"
    file.write_text("no archive")
    if name:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(name, "<broken")
    with pytest.raises(ValueError, match=f"no.fmu: expected a functional mock-up unit .*{text}"):
        fmu_plant(file)


@pytest.mark.parametrize("path", ["../outside.txt", "/outside_of_a_unit.txt"])
def test_nothing_is_unpacked_outside_and_nothing_is_left(unit, tmp_path, monkeypatch, path):
    file = Path(shutil.copy(unit(), tmp_path / "with_a_path.fmu"))
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(path, "text")
    folder = tmp_path / "unpacked"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    declared = FmuDeclaration(disturbances=["load"])
    if path.startswith("/"):
        with pytest.raises(Exception, match="Illegal path"):
            fmu_plant(file, declared).open()
    else:
        fmu_plant(file, declared).open().close()
    assert not Path(path).exists()
    assert list(folder.iterdir()) == []
    assert sorted(p.name for p in tmp_path.iterdir()) == ["unpacked", "with_a_path.fmu"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"channels": 5},
        {"channels": [3]},
        {"inputs": "valve.u"},
        {"parameters": [1.0]},
        {"region": {"y": 5}},
        {"step": "fast"},
        {"step": 0.0},
        {"substeps": 0},
    ],
)
def test_declarations_of_another_kind_are_refused(wrong):
    with pytest.raises(
        ValueError, match=f"declaration of a unit: .*{'step' if 'substeps' in wrong else next(iter(wrong))}"
    ):
        FmuDeclaration(**wrong)


def test_a_region_of_what_is_not_shown_is_refused(unit):
    with pytest.raises(ValueError, match="region: no state 'z'"):
        fmu_plant(unit(), FmuDeclaration(disturbances=["load"], region={"z": [0, 1]}))


def test_a_unit_that_the_project_did_not_write():
    """A mass on a spring from OpenModelica, in the package gemseo-fmu: what it settles at follows from its numbers."""
    found = importlib.util.find_spec("gemseo_fmu")
    if found is None or found.origin is None:
        pytest.skip("gemseo-fmu is not installed")
    file = Path(found.origin).parent / "problems" / "fmu_files" / "linux" / "Mass_Damper.fmu"
    declared = FmuDeclaration(
        channels=[{"output": "y", "low": -50.0, "high": 50.0}], shown=["mass.v"], substeps=10,
        parameters={"spring.c": 100.0, "damper.d": 10.0, "mass.m": 1.0},
    )  # fmt: skip
    with closing(fmu_plant(file, declared).open()) as session:
        resting = session.start((100.0, 10.0, 1.0), {})
        for k in range(500):
            rest = session.step(0.01 * k, [0.0], [], 0.01)
        session.start((100.0, 10.0, 1.0), {})
        for k in range(500):
            pushed = session.step(0.01 * k, [20.0], [], 0.01)
    assert len(resting) == 2
    assert abs(pushed[0] - rest[0]) == pytest.approx(20.0 / 100.0, rel=1e-3)  # force over stiffness
    assert abs(pushed[1]) < 1e-6
