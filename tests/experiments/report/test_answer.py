"""What a design prints last: gains to type in, and what they change."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from experiments.report.answer import answer, gain_nodes


def test_both_forms_of_both_controllers_are_printed(data):
    text = "\n".join(answer(data, data.knowledge.kb))
    head = next(line for line in text.splitlines() if line.startswith("controller"))
    assert head.split() == ["controller", "K", "[N/m]", "Ti", "[s]", "Td", "[s]", "N", "kp", "[N/m]", "ki", "[N/(m",
                            "s)]", "kd", "[N", "s/m]", "b", "Ms", "travel", "[N]"]  # fmt: skip
    own = next(line for line in text.splitlines() if line.startswith("your present gains"))
    k, ti, td, n, kp, ki, kd, b = map(float, own.split()[-10:-2])
    assert (k, kp, ki, kd, b) == (2.0, 2.0, 0.5, 1.0, 1.0)
    assert (ti, td) == pytest.approx((k / ki, kd / k))
    assert n == pytest.approx(td / 0.01)  # no filter: one sample passes the rate unchanged
    assert f"{data.controller(data.verdict.recommended).name} (recommended)" in text


def test_every_measure_is_told_with_its_interval(run, data):
    line = next(line for line in answer(data, data.knowledge.kb) if " against fixed PID: " in line)
    judged, case = run.judgement, run.case
    subject = case.verdict.recommended if case.verdict.recommended != "fixed" else "knowledge_base"
    change = judged.verdict.comparisons[subject].mean
    assert f"cost J {100 * change.value:+.1f} % [{100 * change.low:+.1f}, {100 * change.high:+.1f}]" in line
    for name in ("IAE", "∫|ΔṠ| dt", "travel", "Ms"):
        assert name in line


def test_a_recommended_schedule_is_a_table_over_its_variables(data):
    kb = data.knowledge.kb
    nodes, inputs = gain_nodes(kb, 0), kb.channels[0].inputs
    assert len(nodes.rows) == inputs[0].n_terms * inputs[1].n_terms
    at = np.array([[inputs[0].centres[0], inputs[1].centres[0]]])
    assert nodes.rows[0][1] == pytest.approx(kb.gains(at)[0, :3])
    chosen = replace(data, verdict=replace(data.verdict, recommended="knowledge_base"))
    text = "\n".join(answer(chosen, kb))
    assert text.count("  at error ") == len(nodes.rows)
    assert nodes.between in text
    assert "a finer table: knowledge_base_table*.csv; as code: sscq export kb=RUN/knowledge_base.json" in text
    assert "  at error " not in "\n".join(answer(replace(data, verdict=replace(data.verdict, recommended="fixed")), kb))


def test_constant_gains_need_no_table(data):
    kb = data.knowledge.kb
    base = kb.channels[0]
    constant = replace(base, rules=tuple(replace(rule, gains=base.reference) for rule in base.rules))
    assert gain_nodes(replace(kb, channels=(constant,)), 0).rows == ()


def bilinear(axes, table, at):
    """Gains at a point of a table [n_a, n_b, 3] over two axes, constant beyond their ends."""
    for axis, x in zip(axes, at, strict=True):
        inside = np.clip(x, axis[0], axis[-1])
        k = min(int(np.searchsorted(axis, inside, side="right")), len(axis) - 1)
        share = (inside - axis[k - 1]) / (axis[k] - axis[k - 1])
        table = (1.0 - share) * table[k - 1] + share * table[k]
    return table


@pytest.mark.parametrize("finer", [False, True])
def test_how_well_a_table_tells_the_other_gains_is_measured(data, finer):
    """A rule that is missing makes gains between the centres of its terms bend."""
    kb = data.knowledge.kb
    base = kb.channels[0]
    kb = replace(kb, channels=(replace(base, rules=base.rules[1:]),))
    nodes = gain_nodes(kb, 0, finer=finer)
    axes = [list(v.centres) for v in base.inputs]
    if finer:
        axes = [sorted([*axis, *((a + b) / 2.0 for a, b in pairwise(axis))]) for axis in axes]
    table = np.array([gains for _, gains in nodes.rows]).reshape(*map(len, axes), 3)
    told = int(nodes.between.partition("at most ")[2].partition(" %")[0])
    at = np.random.default_rng(0).uniform([v.low for v in base.inputs], [v.high for v in base.inputs], (2000, 2))
    errors = np.abs([bilinear(axes, table, point) for point in at] - kb.gains(at)[:, :3])
    shares = 100.0 * errors.max(axis=0) / np.abs(table).max(axis=(0, 1))
    assert 0.5 * told - 1.0 <= shares.max() <= told + 0.5  # both look at some points only
    assert told <= 10 if finer else told > 5


def test_a_search_cut_short_is_said_to_have_been(data):
    late = replace(data.evidence, unfinished="knowledge base (\N{MINUS SIGN}3.0\N{NO-BREAK SPACE}%)")
    last = answer(replace(data, evidence=late), data.knowledge.kb)[-1]
    assert last.startswith("A longer search may recommend another controller")
    assert last.endswith("knowledge base (-3.0 %).")
    done = answer(replace(data, evidence=replace(late, unfinished="")), data.knowledge.kb)
    assert "A longer search" not in "\n".join(done)
