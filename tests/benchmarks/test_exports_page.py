"""The page of exported controllers: its knowledge bases, and that it says what was measured."""

import numpy as np

from benchmarks import exports
from flcs.export.proof import Proof


def test_its_knowledge_bases_have_different_rules_inside_the_box():
    kb = exports.knowledge_base("cart_pole", 5, "triangular")
    assert kb.n_rules == 50
    for base in kb.channels:
        gains = np.array([rule.gains for rule in base.rules])
        assert len(np.unique(gains[:, 0])) == 25
        assert (gains >= base.low).all()
        assert (gains <= base.high).all()


def test_the_page_shows_failures_as_such():
    good = Proof(
        "c", "gcc", "ok", "", 1e-12, 100, {"u": 3.2e-16},
        {"rom_bytes": 4746, "numbers_of_state": 27, "hostile": "7 sequences, 5 samples distrusted, 3 tripped",
         "closed_loop": {"up": 1.4e-17, "down": 2e-17}}, 23.4e-9,
    )  # fmt: skip
    bad = Proof("c_float", "gcc", "failed", "u differs", 2e-4, 100, {"u": 0.5}, {})
    rows = [
        exports.ExportRow("van_der_pol", 25, "triangular", good), exports.ExportRow("van_der_pol", 25, "triangular", bad),
    ]  # fmt: skip
    text = exports.page(rows, {"processor": "some"})
    assert "| van_der_pol | 25 | triangular | double | 4746 | 27 | 23.4 | 3.2e-16 | 2.0e-17 |" in text
    assert "| van_der_pol | 25 | triangular | single | - | - | 0.0 | 5.0e-01 (failed: u differs) | - |" in text
    assert "- van_der_pol, 25 rules, double: 7 sequences" in text
    assert "- van_der_pol, 25 rules, single: u differs" in text
