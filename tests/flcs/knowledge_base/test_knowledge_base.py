"""The document: exact round trip, bytes, whole files, and a clear complaint about everything that can be wrong."""

import copy
import json
import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from flcs import KnowledgeBase, KnowledgeBaseError
from flcs.knowledge_base.files import content_hash


@pytest.fixture
def full(several):
    """Every field in use."""
    return replace(
        several,
        plant_parameters={"mass": 0.1 + 0.2},
        fitness={"kind": "error_and_entropy", "normalisers": {"iae": np.float64(1.0) / 3.0}},
        taught=[{"name": "step", "seed": np.int64(3)}, {"name": "noise", "seed": 4}],
        validation=({"name": "far", "iae": 1.25, "diverged": None, "ok": True},),
        valid_range={"delay": (0.0, 0.02), "noise": np.array([0.0, 0.1])},
        stability={"largest_sensitivity": 1.7},
        training={"rules": 12},
    )


def stored(tmp_path, document):
    """A file with the document as it is, with the right hash."""
    path = tmp_path / "kb.json"
    path.write_text(json.dumps({**document, "hash": content_hash(document)}))
    return path


def changed(document, place, value):
    """A copy of the document with one entry replaced, or removed for `KeyError`."""
    result = copy.deepcopy(document)
    target = result
    for step in place[:-1]:
        target = target[step]
    if value is KeyError:
        del target[place[-1]]
    else:
        target[place[-1]] = value
    return result


def test_round_trip_is_exact(full, builders, tmp_path):
    for number, kb in enumerate((full, builders["kb"]("bell", 1), builders["kb"]("trapezoid", t_norm="minimum"))):
        path = tmp_path / f"{number}.json"
        kb.save(path)
        back = KnowledgeBase.load(path)
        assert back == kb
        assert back.content_hash == kb.content_hash
        x = np.random.default_rng(0).uniform(-9.0, 9.0, (100, len(kb.input_names)))
        np.testing.assert_array_equal(back.gains(x), kb.gains(x))
        back.save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


def test_saving_leaves_nothing_else_behind(full, tmp_path, monkeypatch):
    path = tmp_path / "kb.json"
    full.save(path)
    before = path.read_bytes()
    monkeypatch.setattr("os.fsync", lambda _: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        replace(full, plant="other").save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["kb.json"]


def test_hash_is_of_the_content(full):
    assert replace(full).content_hash == full.content_hash
    assert replace(full, plant="other").content_hash != full.content_hash
    assert content_hash(full.document()) == full.document()["hash"]


def test_a_cut_off_file_is_named(full, tmp_path):
    path = tmp_path / "kb.json"
    full.save(path)
    text = path.read_text()
    for length in (0, 1, len(text) // 2, len(text) - 3):
        path.write_text(text[:length])
        with pytest.raises(KnowledgeBaseError, match=r"kb.json is not complete JSON: .* take an intact copy"):
            KnowledgeBase.load(path)


def test_files_of_another_kind_are_refused(tmp_path):
    path = tmp_path / "kb.json"
    for content, message in (
        (b"[1, 2]", "expected a JSON mapping, got list"),
        (b"\xff\xfe\x00", "is not complete JSON: .*invalid character, line 1 column 1"),
        (b"[" * 100_000, "is not complete JSON: maximum recursion depth exceeded"),
        (b'{"format": "sscq knowledge base", "schema": NaN}', "NaN is no JSON number, line 1 column 45"),
        (b'{"format": "something else"}', "format: expected 'sscq knowledge base', got 'something else'"),
    ):
        path.write_bytes(content)
        with pytest.raises(KnowledgeBaseError, match=message):
            KnowledgeBase.load(path)
    with pytest.raises(FileNotFoundError):
        KnowledgeBase.load(tmp_path / "none.json")


@pytest.mark.parametrize("schema", [0, 4, "1", True, None])
def test_another_schema_is_refused(full, tmp_path, schema):
    with pytest.raises(KnowledgeBaseError, match="reads knowledge bases of schema 1, 2, 3, got schema"):
        KnowledgeBase.load(stored(tmp_path, changed(full.document(), ("schema",), schema)))


def places(value, way=()):
    """Every entry of a document, as the way to it."""
    if way:
        yield way
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*way, key))


_FREE = ("plant_parameters", "fitness", "taught", "validation", "valid_range", "stability", "training")


def test_every_missing_key_is_named(full, tmp_path):
    document = full.document()
    keys = [w for w in places(document) if isinstance(w[-1], str) and not (w[0] in _FREE and len(w) > 1)]
    keys = [w for w in keys if w[0] != "hash" and "law" not in w[:-1] and "shape" not in w[:-1]]
    assert len(keys) > 200
    for way in keys[::7] + keys[:20]:
        with pytest.raises(KnowledgeBaseError) as caught:
            KnowledgeBase.load(stored(tmp_path, changed(document, way, KeyError)))
        assert way[-1] in str(caught.value)


def test_every_wrong_type_is_refused(full, tmp_path):
    document = full.document()
    ways = [w for w in places(document) if not (w[0] in _FREE and len(w) > 1) and w[0] != "hash"]
    for way in ways[::9] + ways[:40]:
        for value in ({"surprise": 1}, [{}], math.pi if isinstance(way[-1], str) else "text"):
            broken = changed(document, way, value)
            if _same_kind(document, way, value):
                continue
            path = stored(tmp_path, broken)
            with pytest.raises(KnowledgeBaseError):
                pytest.fail(f"{way} = {value} was read as {KnowledgeBase.load(path)}")


def _same_kind(document, way, value):
    old = document
    for step in way:
        old = old[step]
    if isinstance(old, (float, str)) or way[-1] in {"tick", "slew", "integral_limit"}:
        return isinstance(value, str if isinstance(old, str) else float)
    return isinstance(old, type(value)) and way[0] in _FREE


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("plant",), 3, "plant: expected a text, got 3"),
        (("tick",), "fast", "tick: expected a finite number, got 'fast'"),
        (("tick",), -1.0, "tick must be a positive number"),
        (("slwe",), 1.0, "no key of .* 'slwe'; did you mean 'slew'"),
        (("taught",), {}, "taught: expected a list, got {}"),
        (("taught",), [3], r"taught\[0\]: expected a mapping, got 3"),
        (("inference", "order"), 1.0, "inference.order: expected an integer, got 1.0"),
        (("inference", "t_norm"), "produkt", "no t-norm 'produkt'; did you mean 'product'"),
        (("inference", "defuzzifier"), "centroid", "inference.defuzzifier: expected 'weighted mean', got 'centroid'"),
        (("channels",), [], "at least one channel"),
        (("channels", 0), [], r"channels\[0\]: expected a mapping, got \[\]"),
        (("channels", 0, "low"), [0.0, 0.0], r"channels\[0\]: low of channel 'left' must be finite numbers for"),
        (("channels", 0, "high", 1), None, r"channels\[0\].high\[1\]: expected a finite number, got None"),
        (("channels", 0, "high", 1), True, r"channels\[0\].high\[1\]: expected a finite number, got True"),
        (("channels", 0, "high", 1), 10**400, r"channels\[0\].high\[1\]: expected a finite number"),
        (("channels", 0, "inputs", 0, "centres"), [0.0, -1.0, 1.0], r"channels\[0\].inputs\[0\]: centres of variable"),
        (("channels", 0, "inputs", 0, "shape", "name"), "triangel", "did you mean 'triangular'"),
        (("channels", 0, "inputs", 0, "labels", 2), 1, r"labels\[2\]: expected a text, got 1"),
        (("channels", 0, "rules", 3, "terms"), [0, 7], r"rule 4 of channel 'left': 'speed' has terms 0 .. 2, got 7"),
        (("channels", 0, "rules", 3, "terms", 0), 0.0, r"rules\[3\].terms\[0\]: expected an integer, got 0.0"),
        (("channels", 0, "rules", 3, "gains"), [1.0], "gains of rule 4 of channel 'left'"),
        (("channels", 0, "rules", 3, "slopes"), [[1.0]], "slopes of rule 4"),
        (("channels", 0, "rules", 3, "slopes"), [1.0], r"slopes\[0\]: expected a list of numbers, got 1.0"),
        (("channels", 0, "rules", 3, "on"), 1, r"rules\[3\].on: expected true or false, got 1"),
        (("channels", 0, "law"), {"law": "PIDD"}, "no PID law 'PIDD'; did you mean 'PID'"),
        (("channels", 0, "law"), {"rate_limt": 3.0}, "no setting of PID 'rate_limt'; did you mean 'rate_limit'"),
        (("channels", 0, "law"), {"limits": [3.0]}, "limits must be"),
        (("channels", 0, "law", "sample_time"), 10**400, r"channels\[0\].law.sample_time: expected a finite number"),
        (("channels", 1, "integral_limit"), 0.0, "integral_limit of channel 'right' must be positive"),
    ],
)
def test_complaints_name_place_and_remedy(full, tmp_path, place, value, message):
    path = stored(tmp_path, changed(full.document(), place, value))
    with pytest.raises(KnowledgeBaseError, match=message) as caught:
        KnowledgeBase.load(path)
    assert "intact copy" in str(caught.value)


def test_infinite_numbers_in_disguise_are_refused(full, tmp_path):
    path = stored(tmp_path, full.document())
    path.write_text(path.read_text().replace('"tick": 0.02', '"tick": 1e999'))
    with pytest.raises(KnowledgeBaseError, match="expected a finite number, got one that is too large"):
        KnowledgeBase.load(path)
    path.write_text(json.dumps(full.document()).replace('"largest_sensitivity": 1.7', '"largest_sensitivity": 1e999'))
    with pytest.raises(KnowledgeBaseError, match="expected a finite number, got one that is too large"):
        KnowledgeBase.load(path)


def test_a_change_by_hand_is_noticed_and_can_be_meant(full, tmp_path):
    path = tmp_path / "kb.json"
    full.save(path)
    path.write_text(path.read_text().replace('"slew": 2.0', '"slew": 3.0'))
    with pytest.raises(KnowledgeBaseError, match=r"was changed after it was saved.*edited=True"):
        KnowledgeBase.load(path)
    edited = KnowledgeBase.load(path, edited=True)
    assert edited == replace(full, slew=3.0)
    edited.save(path)
    assert KnowledgeBase.load(path) == edited


def test_another_plant_is_refused(kb):
    kb.require_plant("van_der_pol")
    with pytest.raises(KnowledgeBaseError, match="designed for plant 'van_der_pol', got plant 'suspension'"):
        kb.require_plant("suspension")


def test_rules_read_as_sentences(builders, several):
    kb = builders["kb"]()
    base = kb.channels[0]
    rule = replace(base.rules[1], gains=(3.2, 0.5, 1.1))
    kb = kb.with_channel(0, replace(base, rules=(rule, replace(base.rules[5], gains=(1e-5, 123456.0, 0.0), on=False))))
    assert kb.sentences() == (
        "IF error is negative AND error rate is zero THEN kp = 3.2, ki = 0.5, kd = 1.1",
        "IF error is zero AND error rate is positive THEN kp = 1e-05, ki = 1.235e+05, kd = 0 (off)",
    )
    tilted = builders["kb"](order=1)
    tilted = tilted.with_channel(0, replace(tilted.channels[0], rules=(replace(rule, slopes=((1.0, -2.0),) * 3),)))
    # e is taught in [-2, 2.5]: its slope per half of the range is 1 / 2.25 per unit, from the middle 0.25 on.
    tail = "+ 0.4444 e - 0.5 e_rate"
    assert tilted.sentences()[0].endswith(f"THEN kp = 3.089 {tail}, ki = 0.3889 {tail}, kd = 0.9889 {tail}")
    words = several.sentences()[-1]
    assert words.startswith("right: IF error is positive AND error integral is positive AND speed is big THEN kp = ")


def test_rules_read_as_a_table(builders):
    kb = builders["kb"]()
    rules = list(kb.channels[0].rules)
    rules[4] = replace(rules[4], rank=1, firing=12.0, confidence=0.5)
    rules[0] = replace(rules[0], rank=2, on=False)
    lines = kb.with_channel(0, replace(kb.channels[0], rules=tuple(rules))).table().splitlines()
    assert lines[0] == "rules of position"
    assert lines[1].split() == ["rank", "e", "e_rate", "kp", "ki", "kd", "firing", "confidence"]
    assert lines[2].split()[:3] == ["1", "Z", "Z"]
    assert lines[2].split()[-2:] == ["12", "0.50"]
    assert lines[3].split()[-1] == "off"
    assert lines[4].split()[0] == "-"


def test_without_torch():
    """Reading a knowledge base and asking it for gains, as on line, needs no torch (and import is fast)."""
    code = "import sys, flcs; flcs.NetworkConfig(); assert not {'torch', 'matplotlib', 'deap'} & set(sys.modules)"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
