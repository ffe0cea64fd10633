"""With `assurance.authority=certified` rules move the gains no farther than one Lyapunov function reaches."""

from copy import deepcopy
from dataclasses import replace

import pytest

import plants
from experiments.pipeline.assurance import authority
from experiments.pipeline.assurance.stability import certified_situations
from experiments.runtime.errors import UserError
from flcs import FuzzyController
from sscq.certificates.certify import certify
from tests.experiments.pipeline.assurance.test_stability import stretched


@pytest.fixture
def asked(run):
    """The set-up of a finished run, as if it had been asked for certified authority."""
    config = deepcopy(run.bench.setup.config)
    config.assurance.authority = "certified"
    return replace(run.bench.setup, config=config)


def task_of(run):
    return run.bench.setup.task(fitness=run.reference.fitness)


def test_authority_is_taken_back_until_a_function_is_found(run, asked):
    pytest.importorskip("clarabel")
    wide = stretched(run, 4.0).controller.kb
    kb = authority.held(asked, task_of(run), wide)
    assert kb.inference.authority < 1.0
    assert kb.channels == wide.channels
    if kb.inference.authority > 0.0:  # what is left may be worse than the reference gains
        left = FuzzyController(kb, laws=asked.laws)
        assert certify(asked.plant, left, None, certified_situations(asked), step=asked.step).holds


def test_what_has_a_certificate_or_is_not_asked_for_one_stays(run, asked):
    pytest.importorskip("clarabel")
    near, wide = (stretched(run, factor).controller.kb for factor in (0.05, 4.0))
    assert authority.held(asked, task_of(run), near) is near
    assert authority.held(run.bench.setup, task_of(run), wide) is wide


def test_no_authority_is_left_where_the_reference_gains_have_no_function_either(run, asked, monkeypatch):
    pytest.importorskip("clarabel")
    monkeypatch.setattr(authority, "largest_authority", lambda *_, **__: None)
    kb = authority.held(asked, task_of(run), stretched(run, 4.0).controller.kb)
    assert kb.inference.authority == 0.0


def test_what_cannot_be_certified_is_refused_before_anything_is_searched(asked, monkeypatch):
    config, plant = asked.config, plants.get("van_der_pol")
    with pytest.raises(UserError, match="declares no operating_points; declare some, or leave assurance.authority"):
        authority.check(config, replace(plant, operating_points=()))
    monkeypatch.setattr(authority, "find_spec", lambda _: None)
    with pytest.raises(UserError, match="needs a solver: pip install"):
        authority.check(config, plant)
    config.assurance.authority = "margins"
    authority.check(config, plant)
