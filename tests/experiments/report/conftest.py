"""What the page of the finished run is drawn from, which the tests of the report only read."""

import pytest

from experiments.report import files


@pytest.fixture(scope="session")
def data(run, place):
    """What the page is drawn from."""
    return files.load(place)
