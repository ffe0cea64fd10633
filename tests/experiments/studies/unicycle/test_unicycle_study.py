"""The unicycle's comparison: its declaration, its tables and what they conclude, on verdicts that are known."""

from dataclasses import replace

import numpy as np
import pytest

import plants
from experiments.runtime.errors import UserError
from experiments.studies.engine.outcomes import quality as quality_table
from experiments.studies.engine.outcomes import survival
from experiments.studies.unicycle.comparison import PushOutcomes, UnicycleStudy, rides_of
from plants.unicycle import BETA0
from plants.unicycle.tasks import FAST, SLOW

STUDY = UnicycleStudy()
DECLARED = STUDY.declaration()
MEASURES = STUDY.head["measures"]
RNG = np.random.default_rng(0)
TITLES = {"fixed": "fixed PID", "knowledge_base": "knowledge base", "lqr": "LQR"}
SIZES = RNG.uniform(80.0, 120.0, (8, 24))


def verdict(by_knowledge=1.0, by_lqr=1.0, stood=(0.8, 0.8, 0.8)):
    """Regions that are the fixed one's, scaled; of 100 situations the first ones are survived."""
    upright = {name: np.arange(100) < 100 * share for name, share in zip(TITLES, stood, strict=True)}
    quality = {name: {m: np.full(100, 1.0 + k) for m in MEASURES} for k, name in enumerate(TITLES)}
    sizes = {"fixed": SIZES, "knowledge_base": by_knowledge * SIZES, "lqr": by_lqr * SIZES}
    return PushOutcomes("design-0", TITLES, upright, quality, sizes, SIZES)


def test_survival_is_paired_with_the_fixed_gains():
    """90 of 100 against 80: won 10, lost none, +10 points; the bootstrap's interval is about 1.96 * sqrt(0.09/100)."""
    one = verdict(stood=(0.8, 0.9, 0.7))
    row = next(line for line in survival(one.stood, one.titles) if line.startswith("| knowledge"))
    cells = [cell.strip() for cell in row.split("|")[1:-1]]
    assert cells[1] == "90 of 100"
    assert cells[3:5] == ["10", "0"]
    assert cells[5].startswith("+10.0 [")
    low, high = (float(x) for x in cells[5].split("[")[1].rstrip("]").split(","))
    assert low == pytest.approx(10.0 - 5.9, abs=1.1)  # steps of a point
    assert high == pytest.approx(10.0 + 5.9, abs=1.1)


def test_quality_counts_where_all_stood_alone():
    """70 of 100 situations, and twice the fixed gains' values are +100 %."""
    one = verdict(stood=(0.8, 0.9, 0.7))
    lines = quality_table(one.quality, one.stood, one.titles, MEASURES)
    assert "70 of 100" in lines[0]
    row = next(line for line in lines if line.startswith("| knowledge"))
    assert row.count("2 (+100.0 % [+100.0, +100.0])") == len(MEASURES)


@pytest.mark.parametrize(("scale", "said"), [(1.2, "**met**"), (1.05, "**not met**"), (0.9, "**not met**")])
def test_the_aim_is_asked_of_the_area(scale, said):
    """A region 1.2 times as wide has 1.44 times the area, whatever rides are resampled."""
    (line,) = STUDY.aims([verdict(by_knowledge=scale)], DECLARED)
    assert said in line
    assert f"{100 * (scale**2 - 1):+.1f} %" in line


def test_the_aim_is_not_reliable_where_the_interval_reaches_below():
    """Half of the rides alone gain: the mean is +22 %, resampled means are not."""
    one = verdict()
    sizes = np.where(np.arange(8)[:, None] < 4, 1.2 * SIZES, SIZES)
    (line,) = STUDY.aims([replace(one, sizes=one.sizes | {"knowledge_base": sizes})], DECLARED)
    assert "met on the mean, not reliably" in line


def test_the_conclusion_names_what_to_use():
    """The simplest where all are alike, the best in both where there is one, else each for what it does best."""
    assert "Use: fixed PID." in STUDY.conclusion([verdict()])
    assert "Use: LQR." in STUDY.conclusion([verdict(by_lqr=1.2, stood=(0.8, 0.8, 0.9))])
    told = STUDY.conclusion([verdict(by_knowledge=1.2, stood=(0.8, 0.8, 0.9))])
    assert "Use LQR where all kinds of disturbance come, knowledge base against single pushes." in told


def test_regions_within_the_grip_count_up_to_it():
    """All radii beyond the grip: full area, no change."""
    line = next(x for x in STUDY.regions(verdict(by_knowledge=1.2), 340.0, 50.0) if x.startswith("| knowledge"))
    cells = [cell.strip() for cell in line.split("|")[1:-1]]
    assert cells[2].startswith("+44.0 %")
    assert cells[3] == "100.0 %"
    assert cells[4] == "+0.0 % [+0.0, +0.0]"


def test_the_declaration_fits_the_plant_and_names_200_situations_at_least():
    """Two designs at least, rides over the speeds."""
    assert DECLARED.own["drawn"]["number"] >= 200
    assert len(DECLARED.designs) >= 2
    assert len(rides_of(DECLARED)) == DECLARED.own["region"]["rides"]


def test_other_situations_than_the_declared_ones_are_refused(tmp_path):
    """Also entries that are missing."""
    text = STUDY.file.read_text(encoding="utf-8")
    hashed = DECLARED.situations["unicycle_pushed"]
    (tmp_path / "other.yaml").write_text(text.replace(hashed, "0" * 64), encoding="utf-8")
    with pytest.raises(UserError, match="are not those declared"):
        STUDY.declaration(tmp_path / "other.yaml")
    (tmp_path / "less.yaml").write_text(text.replace("  number: 300\n", ""), encoding="utf-8")
    with pytest.raises(UserError, match="number"):
        STUDY.declaration(tmp_path / "less.yaml")


def test_hard_pushes_are_the_task_of_a_plant_of_its_own():
    """Two speeds taught, starts backwards at each, roll gains of either sign; the other plants' task is untouched."""
    pushed, mild = plants.get("unicycle:pushed"), plants.get("unicycle:speed_hold")
    asked = {round((one["reference"]["lean"] - BETA0) / 0.02, 9) for one in pushed.situations["taught"]}
    assert asked == {SLOW, FAST}
    assert sum(one["initial"][8] < 0.0 for one in pushed.situations["taught"]) == 2
    assert pushed.channels[1].gains_low[0] < 0.0 < pushed.channels[1].gains_high[0]
    assert mild.channels[1].gains_low[0] > 0.0
    assert pushed.situations["unforeseen"] == mild.situations["unforeseen"]
    assert not {one["name"] for one in pushed.situations["taught"]} & {one["name"] for one in mild.situations["taught"]}
