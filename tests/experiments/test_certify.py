"""The command `sscq certify`: what it prints, and its exit codes."""

import json
import sys

import pytest

from experiments import certify, cli
from flcs import KnowledgeBase, RuleBase, Variable
from flcs.inference.rule_base import Rule

GOOD = ((3.0, 1.0, 3.0), (5.0, 2.0, 4.0), (4.0, 1.0, 5.0))


@pytest.fixture
def stored(tmp_path):
    def save(gains=GOOD, **settings):
        e = Variable("e", "m", -1.5, 1.5, (-1.0, 0.0, 1.0))
        rules = tuple(Rule((i,), row) for i, row in enumerate(gains))
        base = RuleBase("position", (e,), rules, (0.0,) * 3, (20.0,) * 3, (4.0, 1.5, 4.0), law={"sample_time": 0.01})
        kb = KnowledgeBase("van_der_pol", (base,), **settings)
        kb.save(tmp_path / "kb.json")
        return kb, str(tmp_path / "kb.json")

    return save


def left_with(*words):
    with pytest.raises(SystemExit) as stop:
        cli.main(["certify", *words])
    return stop.value.code


def test_a_certificate_that_holds(stored, capsys):
    pytest.importorskip("clarabel")
    _, path = stored()
    cli.main(["certify", path, "--no-energy"])  # exit code 0
    text = capsys.readouterr().out
    assert "Certificate holds" in text
    assert "Proved:" in text
    assert "Not covered:" in text
    assert "Margins of frozen gains, the worst over" in text
    assert "  position: Ms " in text


def test_margins_of_several_channels(tmp_path, capsys):
    """Rules of the cart that go with those of the pole, each channel on a line of its own."""
    pytest.importorskip("clarabel")
    bases = []
    for name, gains, high in (
        ("angle", ((50.0, 0.0, 14.0), (55.0, 0.0, 15.0)), (80.0, 0.0, 20.0)),
        ("position", ((1.0, 0.1, 2.5), (1.2, 0.12, 2.6)), (6.0, 1.0, 10.0)),
    ):
        e = Variable("e", "1", -1.0, 1.0, (-0.5, 0.5))
        rules = tuple(Rule((term,), row) for term, row in enumerate(gains))
        bases.append(RuleBase(name, (e,), rules, (0.0,) * 3, high, gains[0], law={"sample_time": 0.01}))
    KnowledgeBase("cart_pole", tuple(bases)).save(tmp_path / "kb.json")
    cli.main(["certify", str(tmp_path / "kb.json"), "--no-energy", "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document["certificate"]["holds"] is True
    angle, position = document["margins"]
    assert (angle["channel"], position["channel"]) == ("angle", "position")
    for one in (angle, position):
        assert one["stable"] is True
        assert 1.0 < one["sensitivity"] < 3.0
        assert one["at"]["sensitivity"] == "upright"
    assert angle["gain_reduction"] is not None  # with less gain the pole falls
    cli.main(["certify", str(tmp_path / "kb.json"), "--no-energy"])
    text = capsys.readouterr().out
    assert "each channel's loop opened, the others closed with their gains of the same set" in text
    assert f"  angle: Ms {angle['sensitivity']:.3g} at upright, gain margin" in text


def test_one_bad_rule_leaves_with_1_and_its_name(stored, capsys):
    pytest.importorskip("clarabel")
    kb, path = stored((*GOOD[:2], (4.0, 1.0, 0.3)))
    assert left_with(path, "--no-energy", "--json") == 1
    document = json.loads(capsys.readouterr().out)
    assert document["knowledge_base"] == kb.content_hash
    assert document["certificate"]["worst"] == "rule [e P] at position 0"
    assert document["certificate"]["holds"] is False
    assert document["energy"] is None
    # About rest ki < (1 + kp) (kd - 1) with kp = 4, kd = 4 - 3.7 a, ki = 1.5 - a / 2 at authority a: a < 0.75.
    assert 0.6 < document["certified_with"]["authority"] < 0.75
    assert document["certified_with"]["decay"] > 0.0


def test_what_cannot_be_read_or_done_leaves_with_2(stored, capsys, tmp_path, monkeypatch):
    assert left_with(str(tmp_path / "no.json")) == 2
    assert left_with(str(tmp_path)) == 2
    _, path = stored()
    monkeypatch.setitem(sys.modules, "clarabel", None)
    assert left_with(path, "--no-energy") == 2
    assert "pip install 'sscq[assurance]'" in capsys.readouterr().err


def test_delays_are_their_own_and_those_that_were_taught(stored):
    import plants

    kb, _ = stored(valid_range={"delay": [0.0, 0.02], "output_delay": [0.01, 0.01], "noise": [0.0, 0.1]})
    several = certify.situations(kb, plants.get("van_der_pol"), "taught")
    own = {(0.0, 0.0)}  # what a situation itself has is asked about as well
    assert {(s.delay, s.output_delay) for s in several} == own | {(0.0, 0.01), (0.02, 0.01)}
    assert len(certify.situations(kb, plants.get("van_der_pol"), "all")) == 3 * 12


@pytest.mark.slow
def test_the_energy_account_is_printed(stored, capsys):
    pytest.importorskip("clarabel")
    _, path = stored()
    cli.main(["certify", path])
    text = capsys.readouterr().out
    assert "Energy account of 'step up'" in text
    assert "The account closes" in text
