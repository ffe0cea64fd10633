"""The car's comparison: what it declares, its words, its sentences; slowly, a tiny design and its page."""

import json
import re

import numpy as np
import pytest

import plants
from experiments.studies.suspension import animation, comparison, contributions
from experiments.studies.suspension.families import GROUPS, Family, at_equal_tyre_load, group_of
from plants.core.motion.trajectory import Trajectory
from plants.suspension.signals import REST


def test_the_declared_plants_and_situations_are_there():
    declared = comparison.SuspensionStudy().declaration()
    assert comparison.aim_of(declared).measures == ("ride_comfort", "tyre_load_variation")
    for name in declared.situations:
        plant = plants.find(name)
        found = [group_of(kind, one["name"]) for kind in ("taught", "unforeseen") for one in plant.situations[kind]]
        assert {group: found.count(group) for group in GROUPS} == {"taught": 5, "listed": 8, "drawn": 28}


def test_parts_are_told_for_every_group():
    """Five plants, the last one the study's own: struts' loops where it says so, choice together where it says so."""
    variants = contributions.variants()
    assert [len(plant.channels) for plant, _ in variants.values()] == [3, 3, 6, 6, 6]
    assert [struts for _, struts in variants.values()] == [False, False, False, True, True]
    state = list(REST)
    state[7], state[10:] = 0.3, [0.8, -0.5, 0.3, 0.4]
    settings = [
        plant.allocate(0.0, tuple(state), (800.0, -200.0, 100.0) + (0.0,) * (len(plant.channels) - 3), plant.nominal())
        for plant, _ in variants.values()
    ]
    assert settings[2] == settings[4]
    assert len(set(settings)) == 4
    one = {group: {"ride_comfort": 0.4, "tyre_load_variation": 0.15} for group in GROUPS}
    rows = contributions.table({"a": one})
    assert rows[2] == "| a |" + " 0.4000 | 0.1500 |" * 3


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
    page = animation.page(car, {"a <b>": drive, "other": drive})
    assert not re.search("https?://", page)
    assert "a &lt;b&gt;: weighted acceleration 0.500 m/s\u00b2, tyre-load variation 0.250." in page
    data = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    assert data["who"] == ["a <b>", "other"]
    assert [view["name"] for view in data["views"]] == ["from the left", "front axle from behind"]
    assert data["drives"][0]["frames"] == 5  # 40 a second


# ------------------------------------------------------------------------------------------------------------ slow


@pytest.mark.slow
def test_a_tiny_design_is_judged_and_told(tmp_path, capsys):
    words = ["together-0", f"folder={tmp_path}", "budget.evaluations=60", "budget.teacher_generations=1",
             "budget.verdict_seeds=2"]  # fmt: skip
    comparison.SuspensionStudy().main(words)
    told = capsys.readouterr().out
    assert "### Unforeseen situations, drawn" in told
    assert "| modified sky-hook |" in told
    animation.main([str(tmp_path / "together-0"), str(tmp_path / "page.html")])
    assert (tmp_path / "page.html").stat().st_size > 1e5
