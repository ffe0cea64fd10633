"""A run is gone on with only with the plant that it was begun with, also where that stands in no file."""

import inspect
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest

import plants
from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.starting.opening import composed, run
from experiments.starting.plant_choice import own_program
from plants import Channel, OperatingRanges, Plant, Quantity


def lag(gain):
    return Plant(
        name="lag_of_ones_own",
        states=(Quantity("level", "m", 0.0, -5.0, 5.0),),
        parameters=(Quantity("time", "s", 2.0),),
        inputs=(Quantity("inflow", "m"),),
        channels=(Channel("level", low=-1.0, high=1.0),),
        ranges=OperatingRanges(parameters={"time": (1.0, 3.0)}),
        derivative=lambda t, x, u, w, p: ((gain * u[0] - x[0]) / p[0],),
        step=0.1,
    )


LAG = lag(1.0)


def digest(plant):
    plants.register(plant, replace=True)
    return own_program(SimpleNamespace(plant=plant.name, plant_file=None))


def test_the_same_plant_has_the_same_digest_in_every_process():
    told = "from plants import Channel, OperatingRanges, Plant, Quantity, register\n" + inspect.getsource(lag)
    told += "from types import SimpleNamespace\nfrom experiments.starting.plant_choice import own_program\n"
    told += "register(lag(1.0))\nprint(own_program(SimpleNamespace(plant='lag_of_ones_own', plant_file=None)))"
    found = {subprocess.check_output([sys.executable, "-c", told], text=True).strip() for _ in range(2)}
    assert found == {digest(LAG)}


@pytest.mark.parametrize(
    "other",
    [
        lag(2.0),
        replace(LAG, ranges=OperatingRanges(parameters={"time": (1.0, 4.0)})),
        replace(LAG, channels=(Channel("level", low=-1.0, high=2.0),)),
        replace(LAG, parameters=(Quantity("time", "s", 2.5),)),
        replace(LAG, energy=lambda t, x, u, w, p: x[0] * x[0], entropy_rate=lambda t, x, u, w, p: x[0] * x[0]),
    ],
)
def test_another_one_has_another(other):
    assert digest(other) != digest(LAG)


def test_words_about_it_do_not_matter():
    assert digest(replace(LAG, text="A lag.")) == digest(LAG)


def test_plants_of_files_and_packages_have_none():
    plants.register(LAG)
    assert own_program(SimpleNamespace(plant=LAG.name, plant_file="lag.py")) is None
    assert own_program(SimpleNamespace(plant="fopdt", plant_file=None)) is None
    assert own_program(SimpleNamespace(plant=None, plant_file=None)) is None


def nothing(config, folder):
    """A job that is done already."""


def opened(place, *words):
    given = [*words, "quiet=true"]
    return run("simulate", nothing, None, composed("simulate", given), given)


def test_a_run_refuses_another_plant_of_the_name(tmp_path):
    place = tmp_path / "run"
    plants.register(LAG)
    opened(place, f"plant={LAG.name}", f"output={place}")
    assert formats.read_json(place / "config.json")["plant"] == digest(LAG)
    opened(place, f"resume={place}")
    plants.register(lag(2.0), replace=True)
    with pytest.raises(UserError, match=f"begun with another plant of the name '{LAG.name}'"):
        opened(place, f"resume={place}")


def test_so_does_a_sweep_that_goes_on(tmp_path):
    place = tmp_path / "0"
    given = [f"plant={LAG.name}", "quiet=true"]
    plants.register(LAG)
    for _ in range(2):
        run("simulate", nothing, None, composed("simulate", given), given, sweep=place)
    plants.register(lag(2.0), replace=True)
    with pytest.raises(UserError, match="begun with another plant of the name"):
        run("simulate", nothing, None, composed("simulate", given), given, sweep=place)


def test_a_run_of_a_plant_that_comes_with_the_project_says_nothing_of_it(tmp_path):
    place = tmp_path / "run"
    opened(place, "plant=fopdt", f"output={place}")
    assert "plant" not in formats.read_json(place / "config.json")


def test_a_plant_in_the_place_of_a_provided_one_is_told_from_it(tmp_path):
    provided, of_provided, of_own = plants.get("fopdt"), tmp_path / "provided", tmp_path / "own"
    opened(of_provided, "plant=fopdt", f"output={of_provided}")
    plants.register(replace(LAG, name="fopdt"), replace=True)
    try:
        with pytest.raises(UserError, match="begun with another plant of the name 'fopdt'"):
            opened(of_provided, f"resume={of_provided}")
        opened(of_own, "plant=fopdt", f"output={of_own}")
        opened(of_own, f"resume={of_own}")
    finally:
        plants.register(provided, replace=True)
    opened(of_provided, f"resume={of_provided}")
    with pytest.raises(UserError, match="begun with another plant of the name 'fopdt'"):
        opened(of_own, f"resume={of_own}")
