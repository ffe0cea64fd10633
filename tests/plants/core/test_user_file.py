"""A user's plant file: executed, its plants found, its mistakes told with file and line."""

import sys

import pytest

import plants
from plants.core import registry

GOOD = """
from plants import Plant, Quantity, register

def derivative(t, x, u, w, p):
    return (-p[0] * x[0],)

DECAY = Plant(name="users_decay", states=(Quantity("x", "1", 1.0),), parameters=(Quantity("rate", "1/s", {rate}),),
              derivative=derivative)
"""


@pytest.fixture
def write(tmp_path):
    def written(text, name="my_plant.py"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return written


def test_plants_that_stand_in_the_file_are_registered(write):
    said = []
    path = write(GOOD.format(rate=2.0))
    (plant,) = plants.load_plant_file(path, say=said.append)
    assert plant is plants.get("users_decay")
    assert plant.derivative(0.0, (3.0,), (), (), (2.0,)) == (-6.0,)
    assert said == [f"executing {path} (a plant file is Python code)"]


def test_plants_that_the_file_registers_are_found_and_those_it_uses_are_not(write):
    text = GOOD.format(rate=2.0) + "\nimport plants\nregister(DECAY)\nVDP = plants.get('van_der_pol')\n"
    text += "from dataclasses import replace\nregister(replace(VDP, name='users_oscillator'))\n"
    found = plants.load_plant_file(str(write(text)))
    assert sorted(plant.name for plant in found) == ["users_decay", "users_oscillator"]


def test_a_file_may_register_a_plant_with_tasks_and_be_loaded_again(write):
    tasks = "from dataclasses import replace\nFAST = replace(DECAY, name='users_fast', step=0.001)\n"
    path = write(GOOD.format(rate=2.0) + tasks + "register(DECAY, tasks={'fast': FAST})\n")
    for _ in range(2):
        (plant,) = plants.load_plant_file(path)
        assert plant.name == "users_decay"
        assert plants.get("users_decay", task="fast").step == 0.001
        assert "users_fast" not in plants.names()
    plants.load_plant_file(write(GOOD.format(rate=3.0)))
    assert plants.tasks("users_decay") == ()


@pytest.mark.parametrize("register", ["", "register(DECAY)\n"])
def test_loading_a_file_again_replaces_its_plants(write, register):
    plants.load_plant_file(write(GOOD.format(rate=2.0) + register))
    plants.load_plant_file(write(GOOD.format(rate=3.0) + register))
    assert plants.get("users_decay").parameters[0].nominal == 3.0


def test_a_file_that_breaks_leaves_its_former_plants(write):
    plants.load_plant_file(write(GOOD.format(rate=2.0)))
    with pytest.raises(plants.PlantFileError):
        plants.load_plant_file(write(GOOD.format(rate=3.0) + "register(DECAY)\n1 / 0\n"))
    assert plants.get("users_decay").parameters[0].nominal == 2.0
    plants.load_plant_file(write(GOOD.format(rate=4.0) + "register(DECAY)\n"))
    assert plants.get("users_decay").parameters[0].nominal == 4.0


def test_a_file_may_replace_a_known_plant_and_be_loaded_again(write):
    replacing = "import plants\nfrom dataclasses import replace\n"
    replacing += "plants.register(replace(plants.get('fopdt'), text='{text}'), replace=True)\n"
    for text in ("mine", "mine again"):
        plants.load_plant_file(write(replacing.format(text=text)))
        assert plants.get("fopdt").text == text


@pytest.mark.parametrize("end", ["1 / 0", "raise SystemExit(3)", "register(DECAY)\nregister(3)"])
def test_a_file_that_breaks_replaces_nothing(write, end):
    before = registry.snapshot()
    text = "import plants\nfrom dataclasses import replace\nfrom plants import register\n"
    text += "register(replace(plants.get('van_der_pol'), text='hijacked'), replace=True)\n"
    with pytest.raises(plants.PlantFileError):
        plants.load_plant_file(write(text + end + "\n"))
    assert registry.snapshot() == before


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1\ndef f(:\n    pass\n", r"my_plant\.py, line 2: invalid syntax: def f\(:"),
        ("x = 1\n\ny = x / 0\n", r"my_plant\.py, line 3: ZeroDivisionError: division by zero"),
        ("import numpi\n", r"my_plant\.py, line 1: ModuleNotFoundError: No module named 'numpi'"),
        ("x = 1\n", r"my_plant\.py: it gives no plant; end it with plants\.register"),
        (
            GOOD.format(rate=2.0).replace("derivative=derivative", "derivativ=derivative"),
            "line 7: TypeError: .*derivativ",
        ),
        (
            GOOD.format(rate=2.0).replace("users_decay", "van_der_pol"),
            "a plant called 'van_der_pol' is registered already",
        ),
        (
            "import sys\nsys.path[0:0] = []\ndef f():\n    raise KeyError('no gain')\nf()\n",
            "line 4: KeyError: 'no gain'",
        ),
    ],
    ids=["syntax", "exception", "import", "none", "argument", "taken", "deep"],
)
def test_mistakes_are_told_with_file_and_line(write, text, told):
    before = plants.names()
    with pytest.raises(plants.PlantFileError, match=told):
        plants.load_plant_file(write(text))
    assert plants.names() == before


def test_a_file_that_is_not_there_or_no_python_is_refused(tmp_path, write):
    with pytest.raises(plants.PlantFileError, match="there is no plant file"):
        plants.load_plant_file(tmp_path / "absent.py")
    with pytest.raises(plants.PlantFileError, match=r"a plant file is a Python file \(\.py\)"):
        plants.load_plant_file(write("", "plant.txt"))


def test_block_mistakes_come_out_of_the_check_with_the_files_line(write):
    text = GOOD.format(rate=2.0).replace("return (-p[0] * x[0],)", "return (x[0] if x[0] > 0.0 else 0.0,)")
    path = write(text)
    (plant,) = plants.load_plant_file(path)
    (told,) = [line for line in plants.check(plant).advice if "compiled by numba" in line]
    assert f": {path}:5 in derivative: comparison of a traced number; use where" in told
    (plant,) = plants.load_plant_file(write(GOOD.format(rate=2.0).replace("x[0],)", "x[0], 1.0)")))
    (problem,) = plants.check(plant).problems
    assert problem == f"{path}:4: derivative must return 1 (one rate per state (x)), got 2"


def test_the_files_module_can_be_looked_up_by_name(write):
    plants.load_plant_file(write(GOOD.format(rate=2.0)))
    assert plants.get("users_decay").derivative.__module__ in sys.modules
