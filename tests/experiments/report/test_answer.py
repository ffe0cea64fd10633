"""What a design prints last: gains to type in, and what they change."""

from dataclasses import replace

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
    nodes = gain_nodes(kb, 0)
    assert len(nodes) == 15
    at = np.array([[kb.channels[0].inputs[0].low, kb.channels[0].inputs[1].low]])
    assert nodes[0][1] == pytest.approx(kb.gains(at)[0, :3])
    chosen = replace(data, verdict=replace(data.verdict, recommended="knowledge_base"))
    text = "\n".join(answer(chosen, kb))
    assert text.count("  at error ") == 15
    assert "the whole table: knowledge_base_table*.csv" in text
    assert "  at error " not in "\n".join(answer(replace(data, verdict=replace(data.verdict, recommended="fixed")), kb))


def test_constant_gains_need_no_table(data):
    kb = data.knowledge.kb
    base = kb.channels[0]
    constant = replace(base, rules=tuple(replace(rule, gains=base.reference) for rule in base.rules))
    assert gain_nodes(replace(kb, channels=(constant,)), 0) == []


def test_a_search_cut_short_is_said_to_have_been(data):
    late = replace(data.evidence, unfinished="knowledge base (\N{MINUS SIGN}3.0\N{NO-BREAK SPACE}%)")
    last = answer(replace(data, evidence=late), data.knowledge.kb)[-1]
    assert last.startswith("A longer search may recommend another controller")
    assert last.endswith("knowledge base (-3.0 %).")
    done = answer(replace(data, evidence=replace(late, unfinished="")), data.knowledge.kb)
    assert "A longer search" not in "\n".join(done)
