"""The scheduler alone: gains of the simulation, forms of a PID block, trust, and the loop with a block that is not ours."""

from dataclasses import replace

import numpy as np
import pytest

import plants
from controllers import Gains
from experiments.report import exports
from flcs.export import pid_block
from flcs.export.guard import Guard
from flcs.export.pid_block import NAMES, VendorForm, as_parallel, forms
from flcs.export.recording import recordings
from flcs.export.scheduler import is_scheduler, scheduler, scheduler_job
from tests.reference.exports import job_of, knowledge_base

BOX = (0.0, 10.0, 5.0)


@pytest.fixture(scope="module")
def alone(job):
    machine = scheduler(job.kb, job.plant, job.step)
    seen = recordings(job.kb, job.plant, job.situations, job.step, machine)
    return replace(job, machine=machine, recordings=tuple(seen))


def column(job, table, name):
    return table[:, [s.name for s in job.machine.outputs].index(name)]


def test_its_gains_are_those_of_the_simulation(alone):
    assert is_scheduler(alone.machine)
    assert alone.machine.sample_time == pytest.approx(0.03)  # the tick, not the sample
    for recording in alone.recordings:
        ours = alone.machine.run(recording.inputs)
        assert len(ours) > 30
        simulated = np.isfinite(recording.outputs)
        assert simulated.any(axis=0).sum() == 3  # kp, ki, kd
        # One inference with 9 rules: compiled and plain evaluation are some 1e-15 apart.
        np.testing.assert_allclose(ours[simulated], recording.outputs[simulated], rtol=1e-13)
        assert np.ptp(column(alone, ours, "gain_kp")) > 0.01


def test_several_channels_read_each_their_own_errors():
    kb = knowledge_base(next(n for n in plants.names() if len(plants.get(n).channels) == 2))
    machine = scheduler(kb, plants.get(kb.plant), 0.005)
    outputs = [c.output for c in plants.get(kb.plant).channels]
    assert [s.name for s in machine.inputs][:4] == [f"{k}_{o}" for o in outputs for k in ("e", "e_rate")]
    rows = np.zeros((1, len(machine.inputs)))
    rows[:, -1] = 1.0
    still = machine.run(rows)[0]
    rows[0, 2] = 0.5
    moved = machine.run(rows)[0]
    changed = {
        s.name for s, a, b in zip(machine.outputs, still, moved, strict=True) if a != b and s.name[:5] == "gain_"
    }
    assert changed
    assert changed <= {"gain_kp_2", "gain_ki_2", "gain_kd_2"}
    found = {s.name: value for s, value in zip(machine.outputs, moved, strict=True)}
    for k, name in enumerate(outputs, 1):
        assert found[f"K_{name}"] == pytest.approx(found[f"gain_kp_{k}"], rel=1e-12) or not found[f"standard_{name}"]
    assert found[f"K_{outputs[1]}"] != found[f"K_{outputs[0]}"]


def test_the_standard_and_series_forms_are_those_of_the_text_books():
    rng = np.random.default_rng(0)
    for kp, ki, kd in rng.uniform((0.5, 0.05, 0.0), (10.0, 2.0, 0.5), (200, 3)):
        found = dict(zip(NAMES, map(float, forms((kp, ki, kd), BOX, VendorForm())), strict=True))
        standard = Gains(kp, ki, kd).to_standard()
        expected = (standard.gain, standard.integral_time, standard.derivative_time)
        np.testing.assert_allclose([found["K"], found["Ti"], found["Td"]], expected, rtol=1e-12)
        assert found["standard"] == 1.0
        assert found["series"] == float(standard.integral_time >= 4.0 * standard.derivative_time)
        if found["series"]:
            series = standard.to_series()
            expected = (series.gain, series.integral_time, series.derivative_time)
            np.testing.assert_allclose([found["Ks"], found["Tis"], found["Tds"]], expected, rtol=1e-9)


@pytest.mark.parametrize(("unit", "second"), [("s", 1.0), ("min", 60.0)])
@pytest.mark.parametrize("kind", ["standard", "series"])
def test_back_from_a_form_are_the_gains(kind, unit, second):
    form, gains = VendorForm(unit, 500.0), (4.0, 0.5, 0.3)
    values = tuple(map(float, forms(gains, BOX, form)))
    assert values[1] == pytest.approx(8.0 / second)
    np.testing.assert_allclose(as_parallel(values, form, kind), gains, rtol=1e-12)


@pytest.mark.parametrize(
    ("gains", "expected", "standard"),
    [
        ((4.0, 0.0, 0.2), (4.0, 9999.0, 0.05), 1.0),  # no integral action
        ((4.0, 1e-9, 0.2), (4.0, 9999.0, 0.05), 1.0),
        ((0.0, 0.5, 0.0), (1e-5, 2e-5, 0.0), 0.0),  # the form has no integral controller
        ((4.0, -0.5, 0.2), (4.0, 9999.0, 0.05), 0.0),
        ((4.0, 0.5, -0.2), (4.0, 8.0, 0.0), 0.0),
    ],
)
def test_what_a_form_cannot_say_is_flagged(gains, expected, standard):
    found = tuple(map(float, forms(gains, BOX, VendorForm())))
    np.testing.assert_allclose(found[:3], expected, rtol=1e-12, atol=1e-15)
    assert found[3] == standard


def test_gains_of_the_other_sign():
    found = tuple(map(float, forms((-4.0, -0.5, -0.2), (-10.0, 0.0, -5.0), VendorForm())))
    np.testing.assert_allclose(found[:4], (-4.0, 8.0, 0.05, 1.0), rtol=1e-12)


def test_double_zeros_of_ziegler_and_nichols_have_a_series_form():
    found = tuple(map(float, forms((4.0, 16.0 / (4.0 * 0.3), 0.3), BOX, VendorForm())))  # Ti = 4 Td
    np.testing.assert_allclose(found[4:], (2.0, 0.15, 0.15, 1.0), rtol=1e-5)


@pytest.mark.parametrize("bad", [{"unit": "h"}, {"longest": 0.0}, {"longest": np.inf}])
def test_forms_refuse(bad):
    with pytest.raises(ValueError, match="PID block"):
        VendorForm(**bad)


def test_distrust_gives_the_reference_gains_and_recovers(job):
    machine = scheduler(job.kb, job.plant, job.step, Guard(patience=0.06, recovery=0.09))
    rows = np.tile([0.5, 0.1, 1.0], (12, 1))
    rows[3:6, 0] = np.nan
    found = machine.run(rows)
    names = [s.name for s in machine.outputs]
    kp, fault, tripped = (found[:, names.index(n)] for n in ("gain_kp", "fault", "tripped"))
    assert fault.tolist() == [0] * 3 + [1] * 3 + [0] * 6
    assert tripped.tolist() == [0] * 4 + [1] * 4 + [0] * 4  # after two bad samples, until three good ones
    assert np.isfinite(found).all()
    assert (kp[4:8] == job.kb.channels[0].reference[0]).all()
    assert (kp[[0, 3, 8]] != job.kb.channels[0].reference[0]).all()
    assert scheduler(job.kb, job.plant, job.step).run([[0.5, 0.1, 0.0]])[0, 0] == job.kb.channels[0].reference[0]


def test_a_job_of_the_whole_controller_has_one_of_its_scheduler(job, alone):
    assert scheduler_job(alone) is alone
    made = scheduler_job(job)
    assert scheduler_job(job) is made
    (drawn,) = made.recordings
    assert drawn.inputs.shape == (10_000, 3)
    base = job.kb.channels[0]
    assert drawn.inputs[:, 0].min() < base.inputs[0].low
    assert drawn.inputs[:, 0].max() > base.inputs[0].high


def test_other_blocks_are_judged_against_our_law():
    job = job_of(knowledge_base(tick=0.03), ({"reference": 1.0, "t_end": 3.0}, {"reference": -0.5, "t_end": 3.0}))
    found = pid_block.judged(job.kb, job.plant, job.situations, job.step, VendorForm())
    blocks = found["blocks"]
    assert next(iter(blocks)) == pid_block.OURS
    ours = np.array(blocks[pid_block.OURS]["iae"])
    same = np.array(blocks["K, Ti, Td standard, integral of K e / Ti"]["iae"])
    bumpy = np.array(blocks["parallel, integral of e"]["iae"])
    again = np.array(blocks["K, Ti, Td standard, integral of e"]["iae"])
    np.testing.assert_allclose(same, ours, rtol=1e-9)  # the same gains, converted there and back
    np.testing.assert_allclose(again, bumpy, rtol=1e-9)
    assert (np.abs(bumpy / ours - 1.0) > 1e-6).all()
    page = exports.pid_block_page(found, VendorForm())
    assert "parallel, integral of e" in page
    assert "s0; s1" in page
