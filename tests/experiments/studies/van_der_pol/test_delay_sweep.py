"""The sweep of delays: knowledge bases whose answer is known, at delays inside and outside of what they were taught."""

from dataclasses import asdict, replace

import numpy as np
import pytest

import sscq
from controllers import ConstantGains, Controller, gain_names
from experiments.runtime.run_folder import RunFolder
from experiments.settings import setup
from experiments.studies.van_der_pol import study
from tests.experiments import finished_run
from tests.reference.closed_loop_twin import uncompiled

SEEDS, WIDEST = 2, 0.1  # the authority fades within an update of the gains, four samples: from 0.1 to 0.14 s


@pytest.fixture(autouse=True)
def small():
    with pytest.MonkeyPatch.context() as patch, uncompiled():
        patch.setitem(study.VARIANTS["delays"], "judged_at", (0.05, 0.11, 0.2))
        patch.setattr(study, "_REPEATED", SEEDS)
        yield


def config():
    """Short situations: a delay of 0.2 s is a third of them."""
    found = finished_run.configuration(step=0.01)
    for several in (found.situations.taught, found.situations.validation, found.situations.unforeseen):
        for name in several:
            several[name] = replace(several[name], t_end=0.6)
    return found


def designed(path, shift):
    """A finished design whose rules differ from the reference gains by a share; taught with delays up to `WIDEST`."""
    with RunFolder.create(path, command="design", config=asdict(config()), overrides=[]):
        kb = finished_run.knowledge_base(setup(config()), shift)
        replace(kb, valid_range=kb.valid_range | {"delay": [0.0, WIDEST]}).save(path / "knowledge_base.json")
    return path


def rows(folders):
    """Cells by delay: fixed PID, knowledge base, change, with fallback, change, share of its authority."""
    cells = [line.strip("| ").split(" | ") for line in study.delay_sweep(folders) if line.startswith("| 0.")]
    return {first: others for first, *others in cells}


def test_rules_at_the_reference_gains_are_the_fixed_pid_at_every_delay(tmp_path):
    for fixed, own, change, giving, another, _ in rows([designed(tmp_path / "same", 0.0)]).values():
        assert fixed == own == giving
        assert change == another == "+0.0 %"


def test_outside_what_was_taught_the_rules_give_way_to_the_fixed_pid(tmp_path):
    found = rows([designed(tmp_path / "rules", 3.0)])
    fixed, own, _, giving, _, share = found["0.05"]
    assert share == "1.00"
    assert own == giving != fixed
    fixed, own, _, giving, change, share = found["0.2"]
    assert share == "0.00"
    assert own != fixed == giving
    assert change == "+0.0 %"
    # 10 ms of the 40 ms over which the authority fades
    assert found["0.11"][-1] == "0.75"
    assert len({found["0.11"][place] for place in (0, 1, 3)}) == 3


def test_the_fixed_pid_is_judged_in_all_unforeseen_situations_at_the_delay_itself(tmp_path):
    """Two designs that differ in nothing have the mean of one: IAE and 0.3 of the entropy difference, as configured."""
    job = setup(config())
    several = [replace(s, delay=0.2) for n in range(SEEDS) for s in job.repetition("unforeseen", n)]
    assert len(several) == 4
    constant = Controller(job.laws, ConstantGains(gain_names(job.laws)))
    quality = sscq.evaluate(job.plant, constant, finished_run.FIXED[None], several, step=0.01)
    told = np.mean(quality.iae + 0.3 * quality.entropy_difference_abs)
    folders = [designed(tmp_path / name, 1.0) for name in ("one", "other")]
    assert rows(folders)["0.2"][0] == f"{told:.2f}"
