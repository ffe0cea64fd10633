"""What a certificate costs: which designs have one, and by how much they win less."""

import pytest

from experiments.studies.afterwards import certificates
from experiments.studies.afterwards.certificates import MARGINS, REQUIRED, CertifiedPair
from experiments.studies.engine.template import Template


def change(value):
    return {"value": value, "low": value - 0.01, "high": value + 0.01}


def found(outcome, authority, value):
    return {"outcome": outcome, "authority": authority, "J": change(value), "error": change(value), "new_failures": 0}


BEFORE = found("none", 1.0, -0.2)


@pytest.mark.parametrize(
    ("outcome", "authority", "holds"),
    [("holds", 1.0, True), ("holds", 0.9, False), ("resting", 1.0, False), ("not made", None, False)],
)
def test_certified_is_who_has_a_function_at_the_whole_authority(outcome, authority, holds):
    pair = CertifiedPair("fopdt, seed 0", {MARGINS: BEFORE, REQUIRED: found(outcome, authority, -0.15)})
    assert pair.holds(REQUIRED) is holds
    assert pair.price == pytest.approx(0.05)


def test_the_page_counts_and_tells():
    pairs = [
        CertifiedPair("fopdt, seed 0", {MARGINS: BEFORE, REQUIRED: found("holds", 1.0, -0.15)}),
        CertifiedPair("cstr, seed 0", {MARGINS: BEFORE, REQUIRED: found("holds", 0.0, 0.02)}),
    ]
    text = " ".join(certificates.page(Template.of("certificates"), pairs, "1a2b (4)").split())
    assert "Of 2 knowledge bases 0 have a certificate" in text
    assert "and 1 where it is required" in text
    assert "The price is +13.5 points of J in the mean, +22.0 at most; 1 of the required ones are worse" in text
    assert "| fopdt, seed 0 | none | 1 | holds | 1 | -20.0 % [-21.0, -19.0] |" in text


def test_a_design_tells_its_certificate_and_is_judged_in_fresh_draws(finished):
    told = certificates.outcome(finished.folder, 8)
    assert told["outcome"] in {"holds", "none", "not found", "resting", "unstable"}
    assert told["J"].low <= told["J"].value <= told["J"].high
