"""A design's integration step: too coarse for the plant, it is refused, refined or accepted; the sample time stays."""

import pytest

import plants
from configs.schema import DesignConfig
from experiments.runtime.errors import UserError
from experiments.settings.integration_step import settle_step
from plants.core.checks.motion import advised_steps

FASTEST = 400.0  # 1/s: rk4 is accurate at 0.0002 s, usable up to 0.001 s


@pytest.fixture(autouse=True)
def fast_lag():
    plant = plants.Plant(
        "fast_lag", (plants.Quantity("speed", "rad/s", 0.0, -10.0, 10.0),),
        inputs=(plants.Quantity("voltage", "V", 0.0, -5.0, 5.0),), step=0.01,
        derivative=lambda t, x, u, w, p: (FASTEST * (u[0] - x[0]),), channels=(plants.Channel("speed"),),
    )  # fmt: skip
    plants.register(plant, replace=True)
    return plant


def config(**settings):
    return DesignConfig(**{"plant": "fast_lag", "step": 0.01, **settings})


def test_the_advised_steps_are_those_of_check(fast_lag):
    assert advised_steps(fast_lag) == (0.0002, 0.001)
    assert plants.check(fast_lag).step == 0.0002


def test_a_step_that_is_too_coarse_is_refused_with_the_one_that_would_do():
    with pytest.raises(
        UserError, match=r"step=0\.01 s is too coarse .* Say step=0\.0002 \(the sample time stays 0\.01 s\)"
    ):
        settle_step(config())


def test_the_advised_step_is_taken_and_the_sample_time_stays(capsys):
    given = config(coarse_step="refine")
    settle_step(given)
    assert (given.step, given.controller.sample_time) == (0.0002, 0.01)
    assert "taken: step=0.0002, and the sample time stays 0.01 s" in capsys.readouterr().err


def test_it_divides_the_step_that_was_given():
    given = config(step=0.003, coarse_step="refine")
    settle_step(given)
    assert given.step == pytest.approx(0.0002)
    assert 0.003 / given.step == pytest.approx(round(0.003 / given.step))
    assert given.controller.sample_time == 0.003


def test_it_may_be_accepted_with_a_warning(capsys):
    given = config(coarse_step="accept")
    settle_step(given)
    assert given.step == 0.01
    assert "warning: step=0.01 s is too coarse" in capsys.readouterr().err


def test_a_finer_step_leaves_the_sample_time_and_says_so(capsys):
    given = config(step=0.001)
    settle_step(given)
    assert (given.step, given.controller.sample_time) == (0.001, 0.01)
    assert "sample time 0.01 s, the plant's own" in capsys.readouterr().err


def test_a_sample_time_that_is_given_counts():
    given = config(step=0.001)
    given.controller.sample_time = 0.002
    settle_step(given)
    assert given.controller.sample_time == 0.002


def test_implicit_integrators_have_no_such_limit():
    given = config(integrator="rosenbrock")
    settle_step(given)
    assert given.step == 0.01
