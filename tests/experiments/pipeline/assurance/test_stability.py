"""Stability as part of a design: fixed gains one by one, schedules by a common function, and why there is nothing."""

from dataclasses import replace

import numpy as np
import pytest

from experiments.pipeline.assurance import stability
from experiments.pipeline.assurance.stability import certified_situations
from flcs import FuzzyController, KnowledgeBase
from sscq.certificates.certify import certify, frozen_family
from sscq.certificates.quadratic_lyapunov import SolverMissingError
from tests.experiments.finished_run import FIXED
from tests.experiments.pipeline.test_choice import tuned


def asked(run, one):
    return stability.finding(run.bench.setup, one)


def stretched(run, factor):
    """The knowledge base with its rules' gains that many times as far from the reference."""
    kb = run.refined["equal"].kb
    base = kb.channels[0]
    far = [np.maximum(FIXED + factor * (np.array(rule.gains) - FIXED), 1e-3) for rule in base.rules]
    rules = tuple(replace(rule, gains=tuple(gains)) for rule, gains in zip(base.rules, far, strict=True))
    wide: KnowledgeBase = replace(kb, channels=(replace(base, rules=rules, high=(1e3,) * 3),))
    controller = FuzzyController(wide, laws=run.bench.setup.laws)
    return replace(tuned(run.bench, FIXED, "knowledge_base"), controller=controller, theta=controller.theta)


def test_fixed_gains_are_stable_at_every_point_by_the_poles_of_each_loop(run):
    found = run.judgement.stability["fixed"]
    setup = run.bench.setup
    family = frozen_family(setup.plant, setup.laws, FIXED, certified_situations(setup), step=setup.step)
    radii = np.abs(np.linalg.eigvals(family.members()[1])).max(axis=1)
    assert found.outcome == stability.STABLE
    assert found.loops == len(radii) == len(setup.plant.operating_points)  # all taught situations have one plant
    assert found.decay == pytest.approx(-np.log(radii.max()) / family.sample_time, rel=1e-9)
    assert found.authority is None
    assert "gain set" not in found.slowest


@pytest.mark.parametrize(
    ("gains", "outcome"),
    [
        ((0.2, 0.0, 0.0), stability.UNSTABLE),
        ((5.0, 1e-10, 4.0), stability.RESTING),
        ((5.0, 0.0, 4.0), stability.STABLE),
    ],
)
def test_what_is_said_of_fixed_gains(run, gains, outcome):
    """Van der Pol's damping is negative about rest; next to no ki leaves a mode that rounding cannot tell from rest."""
    assert asked(run, tuned(run.bench, np.array(gains))).outcome == outcome


def test_a_schedule_has_a_common_function_as_the_command_says(run):
    pytest.importorskip("clarabel")
    found, setup = run.judgement.stability["knowledge_base"], run.bench.setup
    one = next(c for c in run.group if c.name == "knowledge_base")
    command = certify(setup.plant, one.controller, None, certified_situations(setup), step=setup.step)
    assert (found.outcome == stability.HOLDS) == command.holds
    assert found.loops == command.n_members
    assert 0.0 < found.decay <= command.decay * (1.0 + 1e-6)


def test_rules_without_integral_action_are_not_called_unstable(run):
    """Their integral stands still: no function falls along it, but nothing grows either."""
    pytest.importorskip("clarabel")
    kb = run.refined["equal"].kb
    base = kb.channels[0]
    lazy = tuple(replace(rule, gains=(rule.gains[0], 0.0, rule.gains[2])) for rule in base.rules[:1])
    controller = FuzzyController(replace(kb, channels=(replace(base, rules=(*lazy, *base.rules[1:])),)))
    one = replace(tuned(run.bench, FIXED, "knowledge_base"), controller=controller, theta=controller.theta)
    assert asked(run, one).outcome == stability.RESTING


def test_without_one_the_largest_authority_is_told(run):
    pytest.importorskip("clarabel")
    found = asked(run, stretched(run, 4.0))
    assert found.outcome in {stability.NONE, stability.UNSTABLE}
    assert 0.0 < found.certified_authority < found.authority == 1.0
    setup = run.bench.setup
    less = replace(stretched(run, 4.0).controller, authority=found.certified_authority)
    assert certify(setup.plant, less, None, certified_situations(setup), step=setup.step).holds


def test_why_there_is_nothing(run, monkeypatch):
    no_points = replace(run.bench.setup, plant=replace(run.bench.setup.plant, operating_points=()))
    assert "declares no operating points" in stability.finding(no_points, tuned(run.bench, FIXED)).reason
    with monkeypatch.context() as patched:
        patched.setattr(stability, "MOST", 10)
        found = asked(run, stretched(run, 1.0))
        assert found.outcome == stability.NOT_MADE
        assert "`sscq certify` asks them" in found.reason

    def missing(*_, **__):
        raise SolverMissingError("needs clarabel")

    monkeypatch.setattr(stability, "certified", missing)
    assert asked(run, stretched(run, 1.0)).reason == "needs clarabel"


def test_what_measures_more_is_not_taken_for_a_pid(run):
    """Its loops would look open: gains kp, ki, kd of the outputs are what the frozen loops are made of."""
    other = replace(tuned(run.bench, FIXED), plant=run.bench.setup.plant)
    assert "no PID" in asked(run, other).reason


def test_delays_that_were_taught_are_meant(run):
    late = certified_situations(run.bench.setup)
    assert len(late) == 2 * len(run.bench.setup.named["taught"])  # one delay alone: 0
    sets = {**run.bench.setup.sets, "taught": tuple(replace(s, delay=0.03) for s in run.bench.setup.sets["taught"][:1])}
    sets["taught"] += run.bench.setup.sets["taught"][1:]
    delays = {s.delay for s in certified_situations(replace(run.bench.setup, sets=sets))}
    assert delays == {0.0, 0.03}
