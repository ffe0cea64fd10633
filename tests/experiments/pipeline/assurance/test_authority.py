"""With `assurance.authority=certified` rules move the gains no farther than one Lyapunov function reaches."""

from copy import copy, deepcopy
from dataclasses import replace

import pytest

import plants
from experiments.pipeline.assurance import authority
from experiments.pipeline.assurance.stability import certified_situations
from experiments.pipeline.refining import Refining
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


def test_a_search_that_requires_a_function_keeps_all_authority_and_is_better_than_taking_it_back(run, asked):
    pytest.importorskip("clarabel")
    asked.config.assurance.authority = "required"
    asked = replace(asked, evaluations=2000)
    task, wide = task_of(run), stretched(run, 4.0).controller.kb
    wide = wide.with_channel(0, replace(wide.channels[0], high=(30.0,) * 3))
    bench = copy(run.bench)
    bench.setup, bench.asked = asked, None  # the stretched rules keep no margins
    searches = Refining(bench, task, task, "kb", "knowledge base", None)
    back = authority.held(asked, task, wide)
    assert back.inference.authority < 1.0
    kb = authority.held(asked, task, authority.within_one(asked, task, wide, searches.within))
    left = FuzzyController(kb, laws=asked.laws)
    assert kb.inference.authority == 1.0
    assert certify(asked.plant, left, None, certified_situations(asked), step=asked.step).holds
    assert searches.judged(kb) < searches.judged(back)
    spent = sum(one.entry.evaluations for one in searches.tried)
    assert len(searches.tried) == authority.ROUNDS
    assert spent <= 1.2 * (1.0 - authority.free_share(asked)) * asked.evaluations  # a search ends with a generation


def test_rules_that_have_a_function_are_searched_on_freely(run, asked):
    pytest.importorskip("clarabel")
    near, far = (stretched(run, factor).controller.kb for factor in (0.05, 4.0))
    assert not authority.goes_on_freely(asked, task_of(run), near)  # certified is not required
    asked.config.assurance.authority = "required"
    assert authority.goes_on_freely(asked, task_of(run), near)
    assert not authority.goes_on_freely(asked, task_of(run), far)


def test_where_a_function_is_there_all_evaluations_are_free_and_begin_as_half_of_them(run, asked, monkeypatch):
    asked.config.assurance.authority = "required"
    asked = replace(asked, evaluations=600)
    bench, task, start = copy(run.bench), task_of(run), stretched(run, 0.05).controller.kb
    bench.setup, bench.asked = asked, None
    searches = Refining(bench, task, task, "kb", "knowledge base", None)
    half, entry = searches.best(start)
    assert entry.evaluations <= 1.2 * 0.5 * asked.evaluations
    monkeypatch.setattr(authority, "held", lambda setup, task, kb: kb)
    found = searches.all_freely(half, start)
    spent = sum(one.entry.evaluations for one in searches.tried)
    assert 0.8 * asked.evaluations <= spent <= 1.2 * asked.evaluations
    assert searches.judged(found) <= searches.judged(half)
    for (name, short), (same, long) in zip(entry.histories, searches.tried[0].entry.histories, strict=False):
        n = len(short.best) - 1  # the last step of a search with few evaluations is a shorter one
        assert (name, list(short.best[:n])) == (same, list(long.best[:n]))
    none = replace(start, inference=replace(start.inference, authority=0.0))
    monkeypatch.setattr(authority, "held", lambda setup, task, kb: none)
    assert searches.all_freely(half, start) is half  # what may keep its authority only in part is no better


def test_without_the_requirement_nothing_is_searched_again(run, asked):
    wide = stretched(run, 4.0).controller.kb
    assert authority.within_one(asked, task_of(run), wide, None) is wide
    assert authority.free_share(asked) == 1.0
