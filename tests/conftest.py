"""Settings of all tests: generated examples are the same in every run, compiling may take its time, plants stay a test's own."""

import pytest
from hypothesis import settings

from plants.core import registry

settings.register_profile("project", deadline=None, derandomize=True, database=None, max_examples=50)
settings.load_profile("project")


def pytest_addoption(parser):
    """`--count N`: that many seeds in the differential runs, whose short versions are part of every run."""
    parser.addoption("--count", type=int, default=0, help="seeds of the differential runs")


@pytest.fixture(autouse=True)
def _plants_as_before():
    """Plants that a test registers are gone after it, so that no other test depends on the order of the files."""
    known = registry.snapshot()
    yield
    registry.restore(known)
