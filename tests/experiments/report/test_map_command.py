"""`sscq map`: a stored knowledge base over two ranges, as a page, a table and numbers."""

import csv
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from experiments import cli
from experiments.runtime import formats
from flcs.refinement.genome import with_reference

pytestmark = pytest.mark.usefixtures("own_folder")

WORDS = ("x=mu:[0.5,2]", "y=delay:[0,0.1]", "points=5", "seeds=2", "margin_points=3", "threads=1", "output=run")


def test_a_map_is_drawn_with_its_table_and_numbers(capsys, kb_file):
    cli.main(["map", f"kb={kb_file}", *WORDS])
    told = capsys.readouterr().out
    numbers = json.loads(Path("run/metrics.json").read_text())
    table = list(csv.reader(Path("run/map.csv").read_text().splitlines()))
    assert table[0][:2] == ["parameters.mu", "delay"]
    assert len(table) == 1 + 25
    assert numbers["points"] == 25
    assert "mu 0.5 .. 2 N s/m, delay 0 .. 0.1 s" in told
    page = Path("run/map.html").read_text()
    for title in ("change of J by the knowledge base", "J, reference gains", "Ms, knowledge base"):
        assert title in page
    changes = [float(row[4]) / float(row[2]) - 1.0 for row in table[1:]]
    assert numbers["change"]["worst"] == pytest.approx(max(changes))


def test_equal_controllers_cost_the_same_everywhere(capsys, knowledge_base, tmp_path):
    with_reference(knowledge_base).save(tmp_path / "still.json")
    cli.main(["map", f"kb={tmp_path / 'still.json'}", *WORDS])
    assert "knowledge base and reference gains cost the same everywhere" in capsys.readouterr().out
    numbers = json.loads(Path("run/metrics.json").read_text())
    assert numbers["better_share"] == numbers["change"]["best"] == numbers["change"]["worst"] == 0.0


def test_a_finished_map_is_drawn_again_from_its_stages(kb_file):
    cli.main(["map", f"kb={kb_file}", *WORDS])
    first = Path("run/map.html").read_bytes()
    cli.main(["map", "resume=run"])
    assert Path("run/map.html").read_bytes() == first


@pytest.mark.parametrize(("name", "array"), [("lost", None), ("cost", np.ones((2, 5, 4))), ("x", np.arange(5))])
def test_a_stage_of_a_stranger_is_refused_in_a_sentence(capsys, kb_file, name, array):
    """Its hash fits: whoever writes a folder writes that, too."""
    cli.main(["map", f"kb={kb_file}", *WORDS])
    place, record = Path("run/stages/map/map.npz"), Path("run/stages/map/stage.json")
    arrays = {**formats.read_npz(place), name: array}
    np.savez(place, **{key: value for key, value in arrays.items() if value is not None})
    stage = json.loads(record.read_text())
    stage["files"]["map.npz"] = hashlib.sha256(place.read_bytes()).hexdigest()
    record.write_text(json.dumps(stage))
    with pytest.raises(SystemExit):
        cli.main(["map", "resume=run"])
    assert f"array '{name}' of stage 'map' must be float64" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("x=mu:[0.5,2]",), "a map needs x=NAME:[LOW,HIGH] and y=NAME:[LOW,HIGH]"),
        (("x=mu:[0.5,2]", "y=dellay:[0,1]"), "did you mean 'delay'?"),
        (("x=mu:[2,0.5]", "y=delay:[0,1]"), "a lower and a higher finite end"),
        (("x=mu:[0.5,2]", "y=mu:[0.5,2]"), "a map is over two quantities"),
        (("x=mu:[0.5,2]", "y=delay:[0,1]", "situation=far steps"), "did you mean 'far step'?"),
        (("x=mu:[0.5,2]", "y=delay:[0,1]", "device=cuda"), "leave device=cuda out to run on the CPU"),
    ],
)
def test_what_does_not_fit_is_said_before_anything_runs(capsys, monkeypatch, kb_file, words, message):
    monkeypatch.setattr("plants.core.gpu.driver.LIBRARIES", ("there-is-no-such-library.so",))
    with pytest.raises(SystemExit):
        cli.main(["map", f"kb={kb_file}", *words])
    assert message in capsys.readouterr().err
    assert not Path("runs").exists()
