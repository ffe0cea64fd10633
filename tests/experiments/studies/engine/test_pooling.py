"""Conditions in words: what all controllers of a design share."""

from configs.schema import ControllerConfig, FitnessConfig, SituationsConfig
from experiments.settings import setup
from experiments.studies.engine.pooling import shared
from tests.experiments import finished_run


def lines(**changes):
    return dict(line.split(": ", 1) for line in shared(setup(finished_run.configuration(**changes))))


def test_every_condition_is_told_with_its_unit():
    told = lines()
    assert told["J"].startswith("IAE + 0.3 ∫|ΔṠ| dt, each relative to what random gains that survive have")
    assert told["budget"] == "60 closed-loop evaluations for every search"
    assert told["sensors"] == "no noise"
    assert told["derivative"] == "from the measured rate, not filtered"
    assert told["sampling"] == "every 0.01 s, gains of schedules every 0.04 s; integration step 0.01 s"
    assert told["actuator travel when searched"].startswith("schedules have at most 100\u00a0% of the fixed PID's")
    assert told["margins"].startswith("Ms of at most 1.8 at the operating points")


def test_other_settings_are_told_as_they_are():
    controller = ControllerConfig(
        limits=[-2.0, 3.0], rate_limit=5.0, derivative_filter_time=0.05, rate_source="difference", sample_time=0.02
    )
    fitness = FitnessConfig(kind="lexicographic", max_sensitivity=None, travel_share=1.0)
    told = lines(
        controller=controller, fitness=fitness,
        situations=SituationsConfig(**vars(finished_run.configuration().situations) | {"noise": 0.02}),
    )  # fmt: skip
    (command,) = (text for name, text in told.items() if name.startswith("command of"))
    assert command.startswith("−2 … 3")
    assert "no faster than 5" in command
    assert told["J"] == "stability and constraints, then IAE, then entropy production"
    assert told["sensors"] == "noise with a standard deviation of up to 0.02; each situation says its own"
    assert told["derivative"] == "from differences of the samples, filtered with 0.05 s"
    assert told["sampling"].startswith("every 0.02 s, gains of schedules every 0.08 s")
    assert told["margins"] == "none asked for"
