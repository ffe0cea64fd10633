"""The Van der Pol study: which designs it asks for, and its table; nothing is designed here."""

import pytest

from experiments import design
from experiments.runtime import formats
from experiments.runtime.errors import UserError
from experiments.runtime.run_folder import RunFolder
from experiments.studies.van_der_pol import study


@pytest.fixture
def designed(monkeypatch):
    """Designs as they are asked for; each finishes at once."""
    asked = []

    def main(words):
        asked.append(tuple(words))
        folder = next(word.partition("=")[2] for word in words if word.startswith(("output=", "resume=")))
        with RunFolder.create(folder, command="design", config={}, overrides=list(words)) as run:
            formats.write_json(run.path / "metrics.json", {"seed": len(asked)})

    monkeypatch.setattr(design, "main", main)
    return asked


def test_a_variant_is_designed_once_with_its_own_words(designed, tmp_path):
    extra = (
        "budget.evaluations=60",
        "network.inputs=[e,e_rate]",
    )
    assert study.run("margins", 2, tmp_path, extra) == {"seed": 1}
    assert study.run("margins", 2, tmp_path, extra) == {"seed": 1}  # finished: not repeated
    assert designed == [
        ("experiment=van_der_pol_study", "seed=2", "fitness.max_sensitivity=1.8", *extra,
         f"output={tmp_path / 'margins-2'}", "quiet=true"),
    ]  # fmt: skip


def test_a_design_made_with_other_words_is_not_taken(designed, tmp_path):
    study.run("plain", 0, tmp_path, ("budget=small",))
    with pytest.raises(UserError, match=r"plain-0 was made with budget=small; choose another folder"):
        study.run("plain", 0, tmp_path)


def test_an_unknown_variant_is_told_before_anything_runs(designed):
    with pytest.raises(UserError, match="did you mean 'margins'"):
        study.main(["plain", "margin"])
    assert not designed


def test_losses_are_marked_in_the_table():
    def one(title, value):
        measures = {"unforeseen": {"total_variation": 12.0}}
        return {"title": title, "fitness_declared": {"taught": 1.0, "unforeseen": value}, "measures": measures}

    controllers = {"fixed": one("fixed PID", 2.0), "table": one("gain table over x", 2.5),
                   "knowledge_base": one("knowledge base", 1.8)}  # fmt: skip
    lines = study.table("plain", [{"controllers": controllers, "sentence": "Use it."}])
    assert "| fixed PID | 1.000 | 2.000 |  | 12 |" in lines
    assert "| best gain table | 1.000 | 2.500 | +25.0 % **loss** | 12 |" in lines
    assert "| knowledge base | 1.000 | 1.800 | -10.0 % | 12 |" in lines
    assert "| oracle | - | - | - | - |" in lines
    assert "Seed 0: Use it." in lines
