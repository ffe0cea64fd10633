"""The machine is the simulated controller; what it does about signals that cannot be trusted."""

import math

import numpy as np
import pytest

from controllers import PID
from flcs.export.controller import installed
from flcs.export.guard import Guard
from flcs.export.machine import part
from plants import get
from tests.reference.exports import job_of, knowledge_base

ROUNDING = 1e-12  # of a range; the kernel fuses products into sums, the machine's evaluation rounds twice

LAWS = {
    "filtered": PID(sample_time=0.01, derivative_filter_time=0.03),
    "differenced": PID(sample_time=0.02, rate_source="difference"),
    "limited": PID(sample_time=0.01, limits=(-1.0, 2.0), rate_limit=20.0, hold_invalid=True),
    "led back": PID(sample_time=0.01, limits=(-1.0, 1.0), anti_windup="back_calculation", tracking_time=0.2),
}


def largest_error(job):
    worst = 0.0
    for recording in job.recordings:
        ours, simulated = job.machine.run(recording.inputs), np.isfinite(recording.outputs)
        assert simulated.any()
        worst = max(worst, float((np.abs(ours - recording.outputs) / job.spans)[simulated].max()))
    return worst


@pytest.mark.parametrize("law", LAWS)
def test_the_machine_answers_as_the_simulated_controller_did(law):
    kb = knowledge_base(law=LAWS[law], tick=0.04 if law == "differenced" else 0.03)
    situations = ({"reference": 1.0, "noise": 0.01}, {"reference": 2.0, "delay": 0.03, "output_delay": 0.04})
    assert largest_error(job_of(kb, situations)) < ROUNDING


@pytest.mark.parametrize("shape", ["gaussian", "bell", "trapezoid"])
def test_all_shapes_of_terms_leave_as_they_are(shape):
    assert largest_error(job_of(knowledge_base(shape=shape), ({"reference": 1.0},))) < ROUNDING


def test_several_channels_an_allocation_and_a_slew_limit():
    job = job_of(knowledge_base("cart_pole", slew=2.0), ({"initial": [0.1, 0.0, 0.0, 0.0], "t_end": 0.5},))
    assert {"u_force", "command_angle", "command_position"} <= {s.name for s in job.machine.outputs}
    assert largest_error(job) < ROUNDING


# ------------------------------------------------------------------------------------------------------------ the guard


def rows(machine, n, **signals):
    """Inputs [n, n_inputs]; those not named are 0, authority 1."""
    table = np.zeros((n, len(machine.inputs)))
    names = [s.name for s in machine.inputs]
    table[:, names.index("authority")] = 1.0
    for name, values in signals.items():
        table[:, names.index(name)] = values
    return table


def column(machine, outputs, name):
    return outputs[:, [s.name for s in machine.outputs].index(name)]


@pytest.fixture(scope="module")
def guarded():
    guard = Guard(patience=0.05, recovery=0.1, ramp=100.0, safe=(-3.0,))
    return installed(knowledge_base(), get("van_der_pol"), 0.01, guard)


def test_in_place_of_what_is_not_trusted_the_last_trusted_value_is_used(guarded):
    y = np.full(20, 0.3)
    held = guarded.run(rows(guarded, 20, r_position=1.0, position=y))
    for strange in (math.nan, math.inf, -math.inf, 1e16):
        y[10:13] = strange  # shorter than the patience
        spoiled = guarded.run(rows(guarded, 20, r_position=1.0, position=y))
        np.testing.assert_array_equal(column(guarded, spoiled, "u_force"), column(guarded, held, "u_force"))
        assert column(guarded, spoiled, "fault").tolist() == [0.0] * 10 + [1.0] * 3 + [0.0] * 7


def test_it_trips_after_its_patience_and_comes_back_without_a_bump(guarded):
    n, bad, back = 60, 10, 30
    y = np.full(n, 0.3)
    y[bad:back] = math.nan
    out = guarded.run(rows(guarded, n, r_position=0.3, position=y))
    tripped, u = column(guarded, out, "tripped"), column(guarded, out, "u_force")
    first = bad + 4  # the fifth sample of distrust: 0.05 s
    last = back + 9  # the tenth sample of trust: 0.1 s
    assert np.flatnonzero(tripped).tolist() == list(range(first, last))
    ramp = np.diff(u[first - 1 : first + 2])
    np.testing.assert_allclose(ramp, -1.0, rtol=1e-12)  # 100 per second, 0.01 s
    assert u[last - 1] == -3.0
    assert abs(u[last] - u[last - 1]) < 0.05  # the integral starts from the command in manual; it may move on


def test_an_operator_takes_over_and_hands_back_without_a_bump(guarded):
    manual = np.zeros(60)
    manual[20:40] = 1.0
    table = rows(guarded, 60, r_position=0.2, position=0.1, manual_position=manual, track_position=2.0)
    u = column(guarded, guarded.run(table), "u_force")
    assert np.abs(np.diff(u[19:40])).max() <= 1.0 + 1e-12
    assert u[39] == 2.0
    assert abs(u[40] - u[39]) < 0.05


def test_authority_leads_from_the_reference_gains_to_the_scheduled_ones(guarded):
    reference = knowledge_base().channels[0].reference
    gains = {}
    for share in (0.0, 0.5, 1.0, math.nan, -3.0, 7.0):
        out = guarded.run(rows(guarded, 4, r_position=0.8, position=0.1, authority=share))
        gains[share] = np.array([column(guarded, out, f"gain_{g}")[-1] for g in ("kp", "ki", "kd")])
    np.testing.assert_array_equal(gains[0.0], reference)
    np.testing.assert_allclose(gains[0.5], 0.5 * (gains[0.0] + gains[1.0]), rtol=1e-14)
    assert (gains[1.0] != gains[0.0]).any()
    np.testing.assert_array_equal(gains[-3.0], gains[0.0])
    np.testing.assert_array_equal(gains[7.0], gains[1.0])


def test_a_frozen_measurement_is_not_trusted():
    machine = installed(knowledge_base(), get("van_der_pol"), 0.01, Guard(frozen_after=0.05))
    y = np.linspace(0.0, 0.3, 40)
    y[20:] = y[20]
    fault = column(machine, machine.run(rows(machine, 40, position=y)), "fault")
    assert np.flatnonzero(fault).tolist() == list(range(25, 40))  # five samples that equal the one before


def test_ranges_are_kept_strictly():
    machine = installed(knowledge_base(), get("van_der_pol"), 0.01, Guard({"position": (-1.0, 1.0)}))
    y = np.array([0.5, 1.0, -1.0, 0.999, 2.0])
    assert column(machine, machine.run(rows(machine, 5, position=y)), "fault").tolist() == [0, 1, 1, 0, 1]


@pytest.mark.parametrize(
    ("settings", "word"),
    [({"patience": -1.0}, "patience"), ({"ramp": math.nan}, "ramp"), ({"ranges": {"y": (1.0, 1.0)}}, "range of y")],
)
def test_wrong_guards_are_refused(settings, word):
    with pytest.raises(ValueError, match=word):
        Guard(**settings)


def test_safe_commands_must_fit_the_channels():
    with pytest.raises(ValueError, match="1 channels need a safe command each"):
        installed(knowledge_base(), get("van_der_pol"), 0.01, Guard(safe=(0.0, 0.0)))


def test_a_part_knows_its_memory_and_inputs_their_number(guarded):
    def body(m):
        m["nothing"] = 1.0

    with pytest.raises(KeyError, match="no slot 'nothing'"):
        part("wrong", body, ("a", "b"))
    with pytest.raises(ValueError, match=r"expected rows of \d+ inputs \(r_position"):
        guarded.run(np.zeros((3, 2)))


# ------------------------------------------------------------------------------------------------------ its own memory


@pytest.fixture(scope="module")
def small():
    law = PID(sample_time=0.01, limits=(-1.0, 2.0), derivative_filter_time=0.03)
    return installed(knowledge_base(law=law), get("van_der_pol"), 0.01, Guard(patience=0.02, recovery=0.05))


def overwritten(machine, slot, value, n=40, at=10):
    """Memory after each of n samples; before sample `at` a slot is overwritten."""
    memory, found = dict(machine.memory), []
    (row,) = rows(machine, 1, r_position=0.5, position=0.2, velocity=0.1).tolist()
    for k in range(n):
        if k == at:
            memory[slot] = value
        machine._sample(memory, k, row)
        found.append(dict(memory))
    return found


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e30])
def test_a_state_that_cannot_be_right_trips_and_recovers(small, value):
    for slot in small.states:
        course = overwritten(small, slot, value)
        hit, end = course[10], course[-1]
        assert all(math.isfinite(one) for memory in course[10:] for one in memory.values()), slot
        assert all(-1.0 <= memory["command_position"] <= 2.0 for memory in course[10:]), slot
        if hit["fault"] == 1.0:
            assert hit["tripped"] == 1.0
        assert end["fault"] == end["tripped"] == 0.0, slot
    assert overwritten(small, "law_position_0", value)[10]["tripped"] == 1.0


@pytest.mark.parametrize("value", [-1e14, -3.0, 2.5, 1e20])
@pytest.mark.parametrize("rate_limit", [None, 20.0])
def test_a_last_command_beyond_its_limits_is_not_gone_on_from(value, rate_limit):
    law = PID(sample_time=0.01, limits=(-1.0, 2.0), rate_limit=rate_limit)
    guard = Guard(patience=0.02, recovery=0.05, ramp=5.0)
    machine = installed(knowledge_base(law=law), get("van_der_pol"), 0.01, guard)
    for slot in (name for name in machine.states if name.startswith("law_position_") and not name.endswith("_0")):
        course = overwritten(machine, slot, value)
        assert course[10]["tripped"] == 1.0, slot
        assert all(-1.0 <= memory["command_position"] <= 2.0 for memory in course[10:]), slot
        assert course[-1]["tripped"] == 0.0, slot


def test_gains_begin_as_the_reference_gains(small):
    base = knowledge_base().channels[0]
    assert [small.memory[f"gain_{name}"] for name in knowledge_base().gain_names] == list(base.reference)


def test_what_is_right_is_left_alone(small):
    whole = overwritten(small, "fresh", 0.0, at=20)
    assert not any(memory["fault"] for memory in whole)


def test_comments_tell_units_and_none_of_what_has_no_dimension(small):
    told = {signal.name: signal.described for signal in (*small.inputs, *small.outputs)}
    assert told["r_position"] == "[m] reference, -100 .. 100"
    assert told["track_position"].startswith("[N] command asked for in manual")
    assert told["authority"] == "share of the way from the reference gains to the scheduled, 0 .. 1"
    assert not any(text.startswith(("[1]", "[]")) for text in told.values())
