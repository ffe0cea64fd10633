"""What is tested of every registered plant, of the balancing vehicles: in a file of its own, for another process."""

import pytest

import plants
from tests.plants.core.checks.test_registered_plants import (
    once,
    test_a_plants_own_step_is_accurate,
    test_it_keeps_its_contract,
    test_the_recommended_step_is_accurate,
)

__all__ = [
    "test_a_plants_own_step_is_accurate",
    "test_it_keeps_its_contract",
    "test_the_recommended_step_is_accurate",
]


@pytest.fixture(
    scope="module", params=once(name for name in plants.names(tasks=True) if name.startswith("balancing_vehicle"))
)
def report(request):
    return plants.check(plants.get(request.param))
