"""``sscq import``: knowledge bases from files, and what is said where something is missing."""

import json

import pytest

from experiments import cli
from flcs import KnowledgeBase
from flcs.exchange import fcl_writer, fis_writer, system_of
from flcs.export.rules.files import written
from tests.reference.exports import knowledge_base

pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.fixture
def kb():
    return knowledge_base()


def put(folder, texts):
    for name, text in texts.items():
        (folder / name).write_text(text)


@pytest.mark.parametrize(("ending", "write"), [("fis", fis_writer.write), ("fcl", fcl_writer.write)])
def test_exported_files_come_back_by_the_command(own_folder, kb, ending, write):
    put(own_folder, written(kb, ending, write))
    cli.main(["import", f"van_der_pol_position.{ending}", "--complement", "complement.json", "-o", "back.json"])
    assert KnowledgeBase.load("back.json").content_hash == kb.content_hash


def test_the_complement_beside_our_own_files_is_found_and_keeps_the_reference_gains(own_folder, kb, capsys):
    put(own_folder, written(kb, "fis", fis_writer.write))
    cli.main(["import", "van_der_pol_position.fis", "-o", "back.json"])
    assert KnowledgeBase.load("back.json").content_hash == kb.content_hash
    cli.main(["import", "van_der_pol_position.fis", "--plant", "van_der_pol", "-o", "named.json"])
    assert KnowledgeBase.load("named.json").channels[0].reference == kb.channels[0].reference
    assert "what the files lack: complement.json" in capsys.readouterr().out


def test_a_complement_of_other_files_is_not_taken(own_folder, kb, refused):
    put(own_folder, {**written(kb, "fis", fis_writer.write), "theirs.fis": fis_writer.write(system_of(kb))})
    assert "say for which plant" in refused("import", "theirs.fis")


def test_nothing_is_overwritten(own_folder, kb, refused):
    put(own_folder, {**written(kb, "fis", fis_writer.write), "knowledge_base.json": "mine"})
    message = refused("import", "van_der_pol_position.fis")
    assert "knowledge_base.json is there already and is not overwritten; choose another name with -o FILE" in message
    assert (own_folder / "knowledge_base.json").read_text() == "mine"


def test_what_a_file_lacks_is_given_and_told(own_folder, kb, capsys):
    put(own_folder, {"theirs.fis": fis_writer.write(system_of(kb)).replace("Name='z'", "Name='sum of errors'")})
    channel = {"inputs": {"sum of errors": "z"}, "reference": {"kp": 6.0, "ki": 1.5}, "law": {"sample_time": 0.01}}
    put(own_folder, {"settings.json": json.dumps({"tick": 0.04, "fade": 0.5, "channels": [channel]})})
    cli.main(["import", "theirs.fis", "--plant", "van_der_pol", "--settings", "settings.json"])
    found = KnowledgeBase.load("knowledge_base.json")
    assert (found.tick, found.inference.fade, found.channels[0].reference) == (0.04, 0.5, (6.0, 1.5, 5.0))
    assert found.channels[0].law == {"sample_time": 0.01}
    assert [v.unit for v in found.channels[0].inputs] == ["m", "m s"]
    told = capsys.readouterr().out
    assert "ki from 0 to 10, reference 1.5" in told
    assert "fade 0.5" in told


def test_refusals_name_file_and_line(own_folder, kb, refused):
    text = fis_writer.write(system_of(kb))
    put(own_folder, {"a.fis": text.replace("'wtaver'", "'wtsum'"), "good.fis": text, "a.txt": ""})
    message = refused("import", "a.fis", "--plant", "van_der_pol")
    assert "a.fis: line 12: expected defuzzmethod 'wtaver'" in message
    assert "got 'wtsum'" in message
    assert "ends in .fis or .fcl, got 'a.txt'" in refused("import", "a.txt")
    assert "say for which plant" in refused("import", "good.fis")
    assert "no plant 'van_der_pl'" in refused("import", "good.fis", "--plant", "van_der_pl")
    assert "give tick [s]" in refused("import", "good.fis", "--plant", "van_der_pol")
    put(own_folder, {"s.json": json.dumps({"tik": 1.0})})
    assert "did you mean 'tick'" in refused("import", "good.fis", "--plant", "van_der_pol", "--settings", "s.json")
    put(own_folder, {"s.json": json.dumps({"tick": 0.1, "channels": [{"ranges": {"e": 5}}]})})
    with_settings = ("good.fis", "--plant", "van_der_pol", "--settings", "s.json")
    assert "ranges.e must be [low, high], got 5" in refused("import", *with_settings)
    put(own_folder, {"s.json": json.dumps({"tick": 0.1, "channels": [{"inputs": 3}]})})
    assert "inputs must be a mapping of names, got 3" in refused("import", *with_settings)
    assert "leave --settings and --plant out" in refused("import", "good.fis", "--complement", "s.json", "--plant", "x")
    assert "a file (and an entry" in refused("import", "good.fis", "good.fis", "--plant", "van_der_pol")
