"""The unicycle's printed coefficients: their reader, the derivation they are held against, the counts, the page."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.printed_unicycle import page
from benchmarks.runner import pages
from experiments.reproduce.printed_unicycle import agreement, effects, reference
from experiments.reproduce.printed_unicycle import motion as printed_unicycle_motion
from experiments.reproduce.printed_unicycle.agreement import (
    CORRECT,
    INSERTED,
    LITERAL,
    NEITHER,
    REPAIRED,
    WRONG,
    random_states,
    referred,
    verdicts,
)
from experiments.reproduce.printed_unicycle.coefficients import FAMILIES, coefficients, references
from experiments.reproduce.printed_unicycle.formula import FormulaError, read
from experiments.reproduce.printed_unicycle.geometry import COORDINATES, LENGTHS, N, closures, terms, vectors, weights
from experiments.reproduce.printed_unicycle.motion import balance, posture
from plants.unicycle import UNICYCLE, motion

NAMES = ("e1", "e2", "Rw", "β", "ZU", "ZU2B", "Rwe6")
VALUES = {"e1": 0.4, "e2": 0.3, "Rw": 0.15, "β": 0.2, "ZU": 0.7, "ZU2B": 0.9, "Rwe6": 0.5}


@pytest.fixture(scope="module")
def found():
    return verdicts()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("e1e2cos(β)", 0.12 * np.cos(0.2)),
        ("e12", 0.16),
        ("cos(β)2e22", np.cos(0.2) ** 2 * 0.09),
        ("12e12sin(2β)", 0.08 * np.sin(0.4)),
        ("-2e1[Rw-e2]", 0.12),
        ("e1++e2--Rw", 0.55),
        ("(e1-e2)2", 0.01),
        ("cos(ZU2B)", np.cos(0.9)),  # the longest name that fits, not ZU squared
        ("e1Rwe6", 0.2),
        ("2(Rw+e1)2e2", 0.6 * 0.55**2),
    ],
)
def test_printed_text_means_what_its_typesetting_lost(text, value):
    assert read("X", text, NAMES)(VALUES) == pytest.approx(value, rel=1e-14)


def test_formulas_are_written_with_squares_and_fractions():
    assert read("X", "-12e12sin(2β)++cos(β)2", NAMES).written == "−½ e1² sin(2 β) + cos(β)²"


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')", "lambda:e1", "e1**2", "e1/e2", "e1*e2", "e1;e2", "e1 e2", "exp(e1)", "sin", "sine1", "e7", "3e1", "1.5e1",
        "", "()", "e1+", "e1)", "(e1", "(e1]", "-+e1", "e1.real", "e1[0]", "e122", "[e1 for e1 in e2]", "(" * 399, "e1" * 201,
    ],
)  # fmt: skip
def test_nothing_but_arithmetic_is_read(text):
    with pytest.raises(FormulaError, match="^AB01: "):
        read("AB01", text, NAMES)


def test_errors_name_coefficient_and_position():
    with pytest.raises(FormulaError, match=r"AB01: .* at position 4, got 'K' in 'e1\+>>>K1'"):
        read("AB01", "e1+K1", NAMES)


def kinetic(q, u, p, h=1e-6):
    """Energy by difference quotients along the motion: nothing of the tape."""
    lengths = [p[name] for name in LENGTHS]
    ahead, behind = (np.array(vectors(tuple(q + s * h * u), tuple(lengths))) for s in (1.0, -1.0))
    speeds = ((ahead - behind) / (2.0 * h)).reshape(7, 4, 3)
    speeds[:, 0, :2] += p["Rw"] * u[3] * np.array([np.cos(q[0]), np.sin(q[0])])
    return 0.5 * np.einsum("bpv,bvc,bvc->", weights(p), speeds, speeds)


def test_mass_terms_are_those_of_the_energy():
    """Central differences of step 1e-6 are exact to 1e-10 of values of order 1 to 100."""
    state = random_states(1)[0]
    u = np.random.default_rng(0).uniform(-1.0, 1.0, N)
    assert kinetic(state.q, u, state.p) == pytest.approx(0.5 * u @ state.terms.mass.sum(axis=(0, 1)) @ u, rel=1e-8)


def test_inserted_terms_are_christoffels_symbols_of_the_mass_matrix():
    """Difference quotients of step 1e-5: their error is 1e-10 of the terms."""
    state, h = random_states(1)[0], 1e-5
    slopes = np.stack(
        [
            (terms(state.q + h * e, state.p).mass - terms(state.q - h * e, state.p).mass).sum(axis=(0, 1)) / (2 * h)
            for e in np.eye(N)
        ],
        axis=-1,
    )
    symbols = 0.5 * (slopes + slopes.swapaxes(1, 2) - slopes.transpose(2, 0, 1))
    inserted = state.terms.inserted.sum(axis=(0, 1))
    np.testing.assert_allclose(inserted, symbols, atol=1e-7 * np.abs(symbols).max())
    right = state.terms.velocity.sum(axis=(0, 1))
    assert np.abs(right - inserted).max() > 0.1 * np.abs(inserted).max()


def test_what_rolling_loses_is_the_momentum_to_the_left_and_does_no_work():
    state = random_states(1)[0]
    u = np.random.default_rng(1).uniform(-1.0, 1.0, N)
    lost = np.einsum("bpkij,i,j->k", state.terms.velocity - state.terms.inserted, u, u)
    assert np.flatnonzero(np.abs(lost) > 1e-12).tolist() == [COORDINATES.index("alpha"), COORDINATES.index("theta_w")]
    assert lost[0] / u[3] == pytest.approx(-lost[3] / u[0], rel=1e-12)  # Rw p_y, of either sign
    assert abs(lost @ u) < 1e-12 * np.abs(lost * u).max()


def test_forms_differ_by_factors_of_nothing_and_of_two():
    """Chaplygin's correction: translational terms with the wheel's rate vanish in yaw and double in the wheel."""
    rows = [line.split(" | ") for line in page.differences()[2:]]
    factors = {(equation.strip("| "), factor.strip(" |")) for equation, _, _, factor in rows}
    missing = "not 0, where rolling inserted leaves 0"
    assert factors == {("α", "0 times"), ("α", missing), ("θw", "2 times"), ("θw", missing)}
    assert len(rows) == 16


def test_closed_loops_are_closed():
    p = reference.UNEQUAL
    at = posture(reference.X2, p)
    assert np.abs(closures(tuple(at.q), tuple(p[name] for name in LENGTHS))).max() < 1e-15


def test_counts(found):
    """The specification's count, definition by definition: 292 agree, 23 with rolling inserted, 58 are wrong.

    It has 257 and 35 where there are 258 and 34: six references are read here, five times Ti for Tt is repaired.
    """
    assert len(found) == len(coefficients()) == 373
    assert Counter(one.status for one in found) == {LITERAL: 258, REPAIRED: 34, INSERTED: 23, WRONG: 58}
    assert Counter(one.corrected for one in found) == {"": 315, CORRECT: 57, INSERTED: 1}
    agree = Counter(one.coefficient.family for one in found if one.status in {LITERAL, REPAIRED})
    assert [agree[family] for family in FAMILIES] == [33, 11, 11, 22, 7, 61, 35, 19, 19, 17, 6, 14, 37]
    assert all(bool(one.coefficient.corrected) == (one.status == WRONG) for one in found)


def test_verdicts_do_not_hang_on_the_states_or_the_tolerance(found):
    other = verdicts(states=random_states(2, seed=3))
    assert [one.status for one in other] == [one.status for one in found]
    distances = np.array([one.distance for one in found])
    assert not ((distances > 1e-12) & (distances < 1e-2)).any()


def test_references_hold_but_for_two_that_lead_nowhere():
    of = referred()
    assert (len(of.hold), of.nowhere, of.fail) == (36, ("T303", "T403"), ())
    spoiled = [replace(one, factor=-one.factor) for one in references()]
    assert len(referred(spoiled).fail) == 36


def test_every_coefficient_whose_sign_is_turned_is_found():
    every = [one for one in coefficients() if one.note != "by reference"]
    turned = [replace(one, printed=f"-[{one.right}]", repaired="", corrected="") for one in every]
    again = verdicts(turned, random_states(1))
    assert len(again) == 367
    assert {one.status for one in again} == {WRONG}
    assert {one.corrected for one in again} == {NEITHER}


def test_a_spoiled_correction_is_not_called_correct():
    one = next(one for one in coefficients() if one.name == "GL14B")
    wrong = replace(one, corrected=f"{one.corrected}cos(β)")
    (verdict,) = verdicts([wrong])
    assert (verdict.status, verdict.corrected) == (WRONG, NEITHER)


def test_a_repair_that_cannot_be_read_says_where():
    one = next(one for one in coefficients() if one.name == "AB03")
    with pytest.raises(FormulaError, match="AB03: .* at position 12, got 'N'"):
        verdicts([replace(one, repaired="")])


def test_the_plant_moves_by_the_same_equations():
    """Ten times the rounding of sums of some hundred terms."""
    gaps = agreement.distances(states=20)
    assert max(gaps.mass, gaps.force, gaps.energy) < 1e-13


def test_a_plant_without_the_term_would_be_seen(monkeypatch):
    right = motion.force
    monkeypatch.setattr(motion, "force", lambda t, x, u, w, p: right(t, x, u, w, (*p[:-1], 1.0 - p[-1])))
    gaps = agreement.distances(states=5)
    assert gaps.force > 1e-3
    assert gaps.mass < 1e-13


def test_specifications_cases_with_and_without_the_term():
    """Both are given to eleven digits."""
    for ours, given in effects.cases().values():
        np.testing.assert_allclose(ours, given, rtol=5e-11)


def test_printed_yaw_is_off_by_the_lost_term_over_the_inertia():
    """Upright the lost term is Rw theta_w' p_y, p_y minus the height of the masses times the roll rate: linear in both."""
    found = effects.off("gamma")
    at = effects.SPEEDS.index(1.0), effects.RATES.index(1.0)
    x = (0.0, 0.0, reference.TRIM, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0 / 0.15, 0.0)
    of = balance(posture(x, reference.NOMINAL), reference.NOMINAL)
    lost = np.array(of.inserted)  # on the side of the accelerations
    expected = -np.linalg.solve(np.array(of.mass), lost)[0]
    assert lost[0] > 0.0
    assert found[at] == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(found, found[at] * np.outer(effects.SPEEDS, effects.RATES), rtol=1e-9)
    yawing = effects.off("alpha")
    assert (yawing > 0.0).all()


def test_trajectory_of_the_specification():
    """Given to nine digits, of numbers up to 21."""
    end = printed_unicycle_motion.run(2.0, reference.START_T1, step=1e-3)[-1]
    np.testing.assert_allclose(end, reference.T1[2.0], rtol=5e-9, atol=5e-10)


def test_both_forms_keep_energy_and_part():
    falls = {
        nh: printed_unicycle_motion.run(0.5, reference.START_T2, step=1e-3, nh=nh, **printed_unicycle_motion.FREE)
        for nh in (0.0, 1.0)
    }
    assert max(effects.drift(fall) for fall in falls.values()) < 1e-11  # RK4 at 1 ms
    assert np.abs(falls[0.0][-1, :3] - falls[1.0][-1, :3]).max() > 0.1
    slowed = printed_unicycle_motion.run(
        0.5, reference.START_T2, step=1e-3, **printed_unicycle_motion.FREE | {"Dcor": 1.0}
    )
    assert effects.drift(slowed) > 1e-5  # and what is lost is seen


def test_parameters_are_the_plants():
    assert len(reference.NOMINAL) == len(UNICYCLE.parameters) - 1


@pytest.mark.slow  # eight seconds of motion, many times
def test_page_is_what_its_command_writes(tmp_path):
    page.write(page.measured(), {}, tmp_path)
    text = (tmp_path / "unicycle_agreement.md").read_text(encoding="utf-8")
    assert "**292 of 373 printed coefficients agree**" in text
    kept = pages.STUDIES / "unicycle_agreement.md"
    lines = [line for line in kept.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert [line for line in text.splitlines() if line.startswith("| ")] == lines
    assert "<svg" in (tmp_path / page.FIGURE).read_text(encoding="utf-8")
