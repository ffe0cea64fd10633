"""The car's comparison: what it declares, its words, its sentences; slowly, a tiny design and its page."""

import hashlib
import json
import re

import numpy as np
import pytest
import yaml

import plants
from experiments import suspension_animation, suspension_study, suspension_tables
from experiments.errors import UserError
from experiments.suspension_declaration import DECLARED, declaration
from experiments.suspension_families import Family, at_equal_tyre_load
from experiments.suspension_tables import Judged
from experiments.suspension_timing import measured
from plants.core.trajectory import Trajectory
from plants.suspension.signals import REST
from sscq.bootstrap import Change

TITLES = {"rival_sky_hook": "sky-hook", "fixed": "fixed PID", "knowledge_base": "knowledge base", "oracle": "oracle"}


# ----------------------------------------------------------------------------------------------------- declaration


def test_the_plants_situations_are_what_is_declared():
    found = declaration()
    assert found.digest == hashlib.sha256(DECLARED.read_bytes()).hexdigest()
    assert {one["plant"] for one in found.designs.values()} <= set(plants.names())
    assert found.digest in "\n".join(found.lines())
    assert all(entry in "\n".join(found.lines()) for entry in found.history)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("situations", "0" * 64, "not those declared"),
        ("aim", {"share": 0.05}, "best_of"),
        ("designs", {"a": {"plant": "suspension"}}, "seed"),
        ("more", 1, "missing or unknown: more"),
    ],
)
def test_other_declarations_are_refused(tmp_path, key, value, message):
    given = yaml.safe_load(DECLARED.read_text(encoding="utf-8")) | {key: value}
    path = tmp_path / "declared.yaml"
    path.write_text(yaml.safe_dump(given), encoding="utf-8")
    with pytest.raises(UserError, match=message):
        declaration(path)


def test_words_are_its_own_or_the_designs():
    declared = declaration()
    chosen = suspension_study.options(["base-0", "folder=x", "network.terms=5"], declared)
    assert (chosen.designs, str(chosen.folder), chosen.overrides) == (("base-0",), "x", ("network.terms=5",))
    assert suspension_study.options([], declared).designs == tuple(declared.designs)
    for word, message in (
        ("plain0", "did you mean 'plain-0'"),
        ("seed=1", "own affair"),
        ("situations.delay=1", "own"),
    ):
        with pytest.raises(UserError, match=message):
            suspension_study.options([word], declared)


# ---------------------------------------------------------------------------------------------------------- tables


def judged(ride, tyre, j):
    """Rollouts of 6 seeds in 2 situations: the sky-hook's, and `ride`, `tyre` times as much."""
    rows = ("ride_comfort", "tyre_load_variation", "stroke", "stroke_beyond", "lift_off", "entropy_plant")
    base = 1.0 + 0.2 * np.random.default_rng(0).random((len(rows), 6, 2))
    scaled = base.copy()
    scaled[0], scaled[1] = ride * base[0], tyre * base[1]
    tables = {(name, kind): base if name == "rival_sky_hook" else scaled for name in TITLES
              for kind in ("taught", "unforeseen")}  # fmt: skip
    fitness = {"rival_sky_hook": 1.0, "fixed": j, "knowledge_base": j, "oracle": 0.9 * j}
    metrics = {
        "controllers": {name: {"fitness": {"taught": one, "unforeseen": one}} for name, one in fitness.items()},
        "recommended": "fixed", "sentence": "Use the fixed gains.",
    }  # fmt: skip
    return Judged(tables, rows, TITLES, (metrics,), {"taught": ("a", "b"), "unforeseen": ("c", "d")})


@pytest.mark.parametrize(
    ("ride", "tyre", "met"),
    [
        ((-0.08, -0.09, -0.07), (0.0, -0.01, 0.01), "met"),
        ((-0.06, -0.09, -0.03), (-0.1, -0.2, -0.01), "met on the mean, not reliably"),
        ((-0.08, -0.09, -0.07), (0.02, 0.01, 0.03), "not met, as the tyre load varies reliably more"),
        ((-0.04, -0.05, -0.03), (0.02, 0.01, 0.03), "not met, and the tyre load varies more"),
        ((-0.04, -0.06, -0.03), (0.0, -0.01, 0.01), "not met"),
    ],
)
def test_the_aim_s_words(ride, tyre, met):
    assert suspension_tables._met(Change(*ride), Change(*tyre), 0.05) == met


def test_what_is_known_of_made_up_rollouts_is_said():
    """Every rollout differs by the same factor, so the interval closes on it."""
    found = judged(0.9, 0.99, 0.95)
    change = found.change("fixed", "rival_sky_hook", "taught", "ride_comfort")
    np.testing.assert_allclose((change.value, change.low, change.high), -0.1, rtol=1e-9)
    said = "\n".join(suspension_tables.aim(found, 0.05, ["rival_sky_hook"]))
    assert said.count("**met**") == 4
    (better,) = suspension_tables.conclusion(found, 0.05, ["rival_sky_hook"])
    assert "meets the aim on taught and unforeseen roads" in better
    worse = suspension_tables.conclusion(judged(0.97, 0.99, 0.95), 0.05, ["rival_sky_hook"])[0]
    assert "does not meet the aim" in worse
    assert "use the fixed PID" in worse
    rows = suspension_tables.table(found, "taught", "rival_sky_hook")
    assert len(rows) == 2 + len(TITLES)
    assert "-10.0 % [-10.0, -10.0]" in next(row for row in rows if "fixed PID" in row)
    assert "lowest J 0.95, fixed PID" in suspension_tables.verdict(found)[1]
    assert len(suspension_tables.by_situation(found, ("fixed",), "rival_sky_hook")) == 2 + 4


def test_families_are_compared_at_equal_tyre_load():
    """At 0.2 one law is 10 % better; the other catches up at 0.3, halfway to a setting that the first has nothing for."""

    def family(title, ride):
        tyre = np.array([0.1, 0.2, 0.4])
        return Family(title, {kind: np.array(ride) for kind in ("taught", "unforeseen")},
                      dict.fromkeys(("taught", "unforeseen"), tyre))  # fmt: skip

    found = {"fixed": family("ours", [2.0, 0.9, 0.95]), "rival": family("theirs", [2.0, 1.0, 0.8])}
    assert found["fixed"].front("taught").tolist() == [0, 1]
    assert found["rival"].front("taught").tolist() == [0, 1, 2]
    rows = at_equal_tyre_load(found, ["rival"], (0.2, 0.3))
    assert "| ours | 0.9000 (-10.0 %) | -10.0 %, tyre load +0.0 % | 0.9000 (+0.0 %)" in rows[2]  # theirs: 1, then 0.9
    assert (
        at_equal_tyre_load(
            found | {"far": Family("far", found["rival"].ride, {k: 3.0 * v for k, v in found["rival"].tyre.items()})},
            ["rival"],
            (0.2,),
        )[-1]
        == "| far | - | - |"
    )


# ------------------------------------------------------------------------------------------------------- animation


def test_the_page_holds_the_drives_and_needs_no_network():
    car = plants.get("suspension_unilateral")
    extra = ("ride_comfort", "tyre_load_variation")
    names = [*(q.name for q in (*car.states, *car.inputs, *car.disturbances)), *extra]
    values = np.zeros((101, len(names)))
    values[:, :14] = REST
    values[:, -2:] = 0.5, 0.25
    groups = {"states": slice(0, 14), "inputs": slice(14, 22), "disturbances": slice(22, 30)}
    drive = Trajectory(np.arange(101) * 1e-3, values, tuple(names), ("",) * len(names), groups)
    page = suspension_animation.page(car, {"a <b>": drive, "other": drive})
    assert not re.search("https?://", page)
    assert "a &lt;b&gt;: weighted acceleration 0.500 m/s\u00b2, tyre-load variation 0.250." in page
    data = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    assert data["who"] == ["a <b>", "other"]
    assert [view["name"] for view in data["views"]] == ["from the left", "front axle from behind"]
    assert data["drives"][0]["frames"] == 5  # 40 a second


# ------------------------------------------------------------------------------------------------------------ slow


@pytest.mark.slow
def test_a_tiny_design_is_judged_and_told(tmp_path, capsys):
    words = ["base-0", f"folder={tmp_path}", "budget.evaluations=60", "budget.teacher_generations=1",
             "budget.verdict_seeds=2"]  # fmt: skip
    suspension_study.main(words)
    told = capsys.readouterr().out
    assert "Unforeseen situations" in told
    assert "| modified sky-hook |" in told
    suspension_animation.main([str(tmp_path / "base-0"), str(tmp_path / "page.html")])
    assert (tmp_path / "page.html").stat().st_size > 1e5


@pytest.mark.slow
def test_timing_runs():
    assert measured(6, 1)["wall"] > 0.0
