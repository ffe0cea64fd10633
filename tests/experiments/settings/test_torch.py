"""Where torch is not installed a design says so before anything is searched; without training it needs none."""

import pytest

from configs.schema import NetworkSettings
from experiments.runtime.errors import UserError
from experiments.settings import learning, setup
from tests.experiments import finished_run


def test_training_without_torch_is_refused_before_anything_is_searched(monkeypatch):
    monkeypatch.setattr(learning, "find_spec", lambda _: None)
    with pytest.raises(UserError, match=r"pip install 'sscq\[torch\]' .*network\.rounds=0"):
        setup(finished_run.configuration(network=NetworkSettings()))
    assert setup(finished_run.configuration(network=NetworkSettings(rounds=0))).network.rounds == 0
