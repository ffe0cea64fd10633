"""How well the unicycle's equations hold: each residual is small, and is seen where something is wrong."""

from __future__ import annotations

import pytest

from benchmarks.vehicles.unicycle import checks
from benchmarks.vehicles.unicycle.checks import page
from experiments.reproduce.vehicles.unicycle import loop_forms
from plants.unicycle import UNICYCLE


def test_cases_hold_to_their_eleven_digits():
    assert max(checks.cases().values()) < 1e-10


def test_all_derivations_give_the_same_accelerations():
    """Rounding of some thousand operations; the printed form solves nine equations that are not scaled alike."""
    found = checks.apart(states=5)
    assert set(found) == {"nine coordinates, multipliers", "nine printed equations, solved", "mechanics kit"}
    assert max(found.values()) < 1e-11


def test_another_multiplier_is_seen(monkeypatch):
    right = loop_forms.multipliers
    monkeypatch.setattr(loop_forms, "multipliers", lambda x, u, w, p: right(x, u, w, (*p[:-1], 0.0)))
    found = checks.apart(states=2)
    assert found["nine coordinates, multipliers"] > 1e-3
    assert found["mechanics kit"] < 1e-11


def test_legs_stay_closed_by_construction_and_by_feedback_and_open_otherwise():
    """The specification, over 10 s: 1e-15 m, 4e-11 m with Baumgarte's feedback, 1.6e-8 m without."""
    minimal, left, fed = (checks.opening(*way) for way in (
        ("minimal", 1e-3, 0.0), ("redundant", 1e-3, 0.0), ("redundant", 1e-3, checks.KAPPA),
    ))  # fmt: skip
    assert minimal < 1e-14
    assert fed < 1e-10
    assert 1e-9 < left < 1e-7


def test_the_lowest_point_stands_still(monkeypatch):
    """And a contact point that runs along by a thousandth too fast is seen."""
    slipped, rolled = checks.slips(states=5)
    assert slipped < 1e-14 * rolled
    right = UNICYCLE.derivative

    class Sliding:
        @staticmethod
        def derivative(*block):
            rates = right(*block)
            return (*rates[:10], *(1.001 * rate for rate in rates[10:]))

    monkeypatch.setattr(checks, "UNICYCLE", Sliding)
    assert checks.slips(states=5)[0] == pytest.approx(1e-3 * rolled, rel=0.5)


def test_the_page_says_what_was_found():
    drifts = {(name, nh, step): 1e-12 for name in checks.KEPT for nh in (1.0, 0.0) for step in checks.STEPS}
    drifts["a fall of 0.4 s", 0.0, 1e-3] = 3e-9
    opened = {name: 10.0 ** -(8 + k) for k, name in enumerate(checks.OPENED)}
    text = page(checks.CheckFindings({"A1": 2e-11, "A4": 4e-11}, {"mechanics kit": 3e-14}, drifts, opened, 5e-16, 2.5))
    assert "| A1 | A4 |" in text
    assert "| 2e-11 | 4e-11 |" in text
    assert "| mechanics kit | 3e-14 |" in text
    assert "| a fall of 0.4 s | as printed | 1e-12 | 1e-12 | 3e-09 |" in text
    assert "| nine coordinates, 0.1 ms | 1e-10 |" in text
    assert "at most 5e-16 m/s at the random states, where the axle moves at up to 2.5 m/s" in " ".join(text.split())
