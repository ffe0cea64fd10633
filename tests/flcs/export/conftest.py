"""What the tests of the exports share."""

import pytest

from tests.reference.exports import job_of, knowledge_base


@pytest.fixture(scope="session")
def job():
    """One channel, noise on a sensor, a disturbance, a delay."""
    situations = ({"reference": 1.0}, {"reference": 0.5, "noise": 0.02, "seed": 3}, {"reference": 1.0, "delay": 0.05})
    return job_of(knowledge_base(), situations)
