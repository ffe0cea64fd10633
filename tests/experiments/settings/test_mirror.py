"""Whether the rule base is its own mirror image is worked out from the plant, its limits and the inputs."""

from __future__ import annotations

import pytest

from configs.schema import ControllerConfig, NetworkSettings, SituationsConfig
from experiments.settings import setup
from tests.experiments import finished_run


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"network": NetworkSettings()}, True),  # an odd plant
        ({"network": NetworkSettings(mirrored=False)}, False),
        ({"network": NetworkSettings(inputs=["e", "position"])}, False),  # may not change sign with the state
        ({"network": NetworkSettings(centres={"e": [-1.0, 0.0, 2.0]})}, False),
        ({"network": NetworkSettings(), "controller": ControllerConfig(limits=[-20.0, 10.0])}, False),
    ],
)
def test_odd_plants_have_mirrored_rules_unless_something_speaks_against_it(changes, expected):
    assert setup(finished_run.configuration(**changes)).network.mirrored is expected


def test_plants_that_are_not_odd_have_none():
    given = finished_run.configuration(plant="cstr", network=NetworkSettings(), situations=SituationsConfig())
    assert setup(given).network.mirrored is False
