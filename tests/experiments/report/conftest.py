"""A finished run that the tests of the report only read."""

import pytest

from experiments.report import files
from tests.experiments import finished_run

OVERRIDES = ["plant=van_der_pol", "controller.own_gains=[2,0.5,1]"]


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("run") / "one"


@pytest.fixture(scope="session")
def run(place):
    return finished_run.stored(place, overrides=OVERRIDES)


@pytest.fixture(scope="session")
def data(run, place):
    """What the page is drawn from."""
    return files.load(place)
