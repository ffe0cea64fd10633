"""Plants of other packages: found by their entry points, listed with their package, broken ones told."""

import sys

import pytest

import plants
from experiments import cli
from plants.core import registry

GOOD = """
import plants

def derivative(t, x, u, w, p):
    return (u[0] - x[0],)

LAG = plants.Plant(
    name="lag_of_a_package", states=(plants.Quantity("level", "m"),), inputs=(plants.Quantity("flow", "m/s"),),
    channels=(plants.Channel(output="level"),), derivative=derivative, text="A lag.",
)
KNOWN = plants.get("van_der_pol")

def several():
    from dataclasses import replace
    return [replace(LAG, name="slow_lag"), replace(LAG, name="quick_lag")]

def own():
    plants.register(plants.Plant(name="half", states=LAG.states, derivative=derivative))
    raise RuntimeError("no licence")
"""
ENTRIES = """[sscq.plants]
lag = lag_package
lags = lag_package:several
missing = lag_package.nothing_here
number = lag_package:__name__
taken = lag_package:KNOWN
unlicensed = lag_package:own
"""


@pytest.fixture(autouse=True)
def nothing_loaded_yet(monkeypatch):
    """What one test installs is not known to the next."""
    monkeypatch.setattr(registry, "_loaded", {})


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package as pip installs it: a module, and metadata beside it."""
    (tmp_path / "lag_package.py").write_text(GOOD)
    about = tmp_path / "lag_package-1.2.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: lag-package\nVersion: 1.2\n")
    (about / "entry_points.txt").write_text(ENTRIES)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("lag_package", None)


def test_a_name_that_is_not_registered_is_looked_for_in_other_packages(package):
    assert "lag_of_a_package" not in plants.names()
    assert plants.get("lag_of_a_package").text == "A lag."
    assert plants.get("quick_lag") is not plants.get("slow_lag")


def test_broken_ones_do_not_stop_the_rest(package):
    found = {one.entry: one for one in plants.load_installed()}
    assert found["lag"].plants == ("lag_of_a_package",)
    assert found["lags"].plants == ("slow_lag", "quick_lag")
    assert "No module named 'lag_package.nothing_here'" in found["missing"].problem
    assert "must give a plant, got str" in found["number"].problem
    assert "must give a plant" in found["taken"].problem  # it only passes on what the project has
    assert found["unlicensed"].problem == "RuntimeError: no licence"
    assert "half" not in plants.names()  # what it registered before it failed is taken back


def test_they_are_listed_with_their_package(package, capsys):
    cli.main(["plants"])
    shown = capsys.readouterr()
    lines = {line.split()[0]: line for line in shown.out.splitlines() if line}
    assert "lag-package 1.2" in lines["lag_of_a_package"]
    assert " - " in lines["van_der_pol"]
    assert "package" in lines["plant"]
    assert "plants 'unlicensed' of lag-package 1.2 cannot be used: RuntimeError: no licence" in shown.err


def test_an_unknown_plant_tells_what_could_not_be_loaded(package):
    with pytest.raises(ValueError, match="did you mean 'slow_lag'.*could not be loaded:.*no licence"):
        plants.get("slow_lagg")


def test_without_such_packages_nothing_is_said(capsys):
    cli.main(["plants"])
    shown = capsys.readouterr()
    assert shown.err == ""
    assert "package" not in shown.out.splitlines()[0].split()


def test_they_are_designed_for_by_name(package, tmp_path, capsys):
    cli.main(["simulate", "plant=quick_lag", "t_end=1", f"output={tmp_path / 'run'}"])
    assert (tmp_path / "run").is_dir()
