"""A short run in operation: the Van der Pol oscillator under constant gains, two moves a window."""

from dataclasses import replace

import numpy as np
import pytest

import plants
from controllers import PID
from sscq.fitness import Fitness
from sscq.margins.margins import MarginLimits
from sscq.operation.contest import Contest
from sscq.operation.course import read_course
from sscq.operation.estimate import DeclaredMeasurement
from sscq.operation.programme import Programme
from sscq.operation.renewal import FixedRenewal, OperatingTask
from sscq.operation.supervisor import SupervisorSettings
from sscq.situations.situation_sets import standard_sets

GAINS = np.array([15.0, 3.0, 4.0])


@pytest.fixture(scope="session")
def contest():
    """Return a maker of contests: course, further fields of the contest, settings of the supervisor."""
    plant = plants.get("van_der_pol")
    taught = tuple(replace(one, t_end=8.0) for one in standard_sets(plant)["taught"][:2])
    laws = (PID(sample_time=0.02),)

    def made(course, windows=3, estimator=None, threads=1, **settings):
        programme = Programme(plant, taught, windows, 2, 0.01)
        task = OperatingTask(
            plant,
            (*taught, programme.period),
            Fitness(entropy_weight=0.0),
            0.01,
            laws,
            np.zeros(3),
            np.array([40.0, 10.0, 10.0]),
            MarginLimits(3.0),
            400.0,
            300,
            threads=threads,
        )
        given = read_course(course)
        chosen = SupervisorSettings(searched=2, judged=6, **{"ahead": 0.0, **settings})
        instrument = estimator or DeclaredMeasurement(given, 0.02, {"mu": (0.0, 10.0)})
        knowledge = FixedRenewal(laws, GAINS)
        return Contest(task, programme, given, instrument, knowledge, GAINS, chosen, {"mu": 1.0}, 4)

    return made
