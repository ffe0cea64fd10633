"""Stored designs in fresh situations: what is declared, and comparisons whose answer is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from experiments.runtime.errors import UserError
from experiments.studies.van_der_pol import confirmation
from tests.flcs.conftest import make_kb


@pytest.fixture(scope="module")
def declared():
    return replace(confirmation.declaration(), draws=60)


def bases():
    """The fixed gains as a knowledge base, and one whose rules have a fifth of them."""
    kb = make_kb(tick=0.02)
    (base,) = kb.channels
    silent = replace(kb, inference=replace(kb.inference, authority=0.0))
    weak = tuple(0.2 * gain for gain in base.reference)
    rules = tuple(replace(rule, gains=weak) for rule in base.rules)
    low = tuple(min(a, b) for a, b in zip(base.low, weak, strict=True))
    return silent, kb.with_channel(0, replace(base, rules=rules, low=low))


def test_without_authority_a_knowledge_base_is_its_reference_gains(declared):
    ratio, found = confirmation.compared(bases()[0], declared)
    assert ratio == pytest.approx(1.0, abs=1e-12)
    assert (found.mean.value, found.wins, found.new_failures) == (0.0, 0.0, 0)
    assert not found.passes


def test_weak_gains_lose_and_are_marked(declared, tmp_path):
    ratio, found = confirmation.compared(bases()[1], declared)
    assert ratio > 1.1
    assert found.mean.low > 0.0
    assert "LOSS" in confirmation.row(tmp_path / "run" / "knowledge_base.json", ratio, found)[2]


def test_delays_and_noise_are_those_that_were_taught(declared):
    kb = replace(bases()[0], valid_range={"delay": [0.0, 0.1], "noise": [0.02, 0.02]})
    found = confirmation.conditions(kb, declared.envelope)
    assert found.delay == (0.0, 0.1)
    assert found.noise == {"position": (0.02, 0.02)}
    assert confirmation.conditions(bases()[0], declared.envelope) == declared.envelope


def test_the_same_draws_are_judged_whatever_the_block(declared, monkeypatch):
    whole = confirmation.sample(bases()[1], declared, fixed=False)
    monkeypatch.setattr(confirmation, "_BLOCK", 17)
    np.testing.assert_array_equal(confirmation.sample(bases()[1], declared, fixed=False).fitness, whole.fitness)
    assert whole.fitness.shape == (60, 1)
    assert len(np.unique(whole.fitness)) == 60


def test_another_plant_and_nothing_to_judge_are_refused(declared, tmp_path):
    with pytest.raises(UserError, match=r"declared for van_der_pol, the knowledge base is of duffing"):
        confirmation.compared(replace(bases()[0], plant="duffing"), declared)
    with pytest.raises(UserError, match="no knowledge base found"):
        confirmation.files([tmp_path])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("draws: 1000", "draws: 20"), "draws must be a whole number of at least 40"),
        (("draws: 1000", "drawn: 1000"), "missing or unknown: drawn, draws"),
        (("mu: [0.5, 2.0]", "mu: [2.0, 0.5]"), r"parameters\[mu\] must be \[low, high\]"),
    ],
)
def test_a_declaration_is_checked(tmp_path, change, message):
    path = tmp_path / "confirmation.yaml"
    path.write_text(confirmation.DECLARED.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    with pytest.raises((UserError, ValueError), match=message):
        confirmation.declaration(path)


def test_a_page_lists_all_rows():
    text = confirmation.page("40 situations", [("a", "0.7", "-30 %", "", "", "", "0", "97 %")])
    assert "40 situations" in text
    assert "| a | 0.7 | -30 % |" in text
