"""Situations: what they hold, and what they say when they are wrong."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import plants
import sscq
from controllers import PID
from plants.excitation import Signal, Sine, Step, UniformFilter, WhiteNoise
from sscq import Situation
from sscq.loop.closed_loop import ClosedLoop

VDP, FOPDT = plants.get("van_der_pol"), plants.get("fopdt")
POSITION = VDP.channels[0]
TWO = replace(  # a second channel and a second disturbance, to tell names from places
    VDP, name="two", channels=(POSITION, replace(POSITION, output="velocity", rate=None)),
    inputs=(*VDP.inputs, replace(VDP.inputs[0], name="other")),
    disturbances=(*VDP.disturbances, replace(VDP.disturbances[0], name="wind")),
)  # fmt: skip


# ------------------------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"delay": -0.1}, "situation 'bad': delay must be at least 0 s, got -0.1"),
        ({"delay": math.nan}, "situation 'bad': delay must be at least 0 s, got nan"),
        ({"output_delay": math.inf}, "situation 'bad': output_delay must be finite and at least 0 s, got inf"),
        ({"jitter": -0.1}, "situation 'bad': jitter must be at least 0 and at most 1, got -0.1"),
        ({"jitter": 1.5}, "jitter must be at least 0 and at most 1, got 1.5"),
        ({"jitter": math.nan}, "jitter must be at least 0 and at most 1, got nan"),
        ({"dropout": 1.0}, "situation 'bad': dropout must be at least 0 and below 1, got 1.0"),
        ({"command_dropout": -0.1}, "command_dropout must be at least 0 and below 1, got -0.1"),
        ({"dropout": math.nan}, "dropout must be at least 0 and below 1, got nan"),
        ({"t_end": 0.0}, "situation 'bad': t_end must be above 0 s, got 0.0"),
        ({"t_end": math.nan}, "situation 'bad': t_end must be above 0 s, got nan"),
        ({"seed": -1}, "situation 'bad': seed must be at least 0, got -1"),
        ({"seed": 1.0}, "situation 'bad': seed must be a whole number, got 1.0"),
        ({"seed": True}, "situation 'bad': seed must be a whole number, got True"),
        ({"limits": (1.0, 1.0)}, r"limits must be \[low, high\] with low < high, got \(1.0, 1.0\)"),
        ({"limits": (2.0, -2.0)}, r"limits must be \[low, high\] with low < high, got \(2.0, -2.0\)"),
        ({"limits": (math.nan, 1.0)}, r"limits\[0\] must be a number, got nan"),
        ({"limits": (1.0,)}, r"limits must be \[low, high\] with low < high, got \(1.0,\)"),
        ({"limits": (0.0, 1.0, 2.0)}, r"limits must be \[low, high\] with low < high"),
    ],
)
def test_what_needs_no_plant_is_refused_at_once(given, says):
    with pytest.raises(ValueError, match=says):
        Situation("bad", **given)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"reference": {"positon": 1.0}}, "situation 'bad': no reference 'positon'; did you mean 'position'?"),
        ({"reference": (1.0, 2.0)}, r"situation 'bad': 2 reference signals for 1 \(position\)"),
        ({"reference": math.nan}, "a signal is a finite number"),
        ({"reference": "1.0"}, "a signal is a finite number, a part such as Step"),
        ({"excitation": {"exitation": 1.0}}, "situation 'bad': no excitation 'exitation'; did you mean 'excitation'?"),
        ({"excitation": [0.0, WhiteNoise(1.0)]}, r"situation 'bad': 2 excitation signals for 1 \(excitation\)"),
        ({"noise": {"velocty": 0.1}}, "situation 'bad': no measurement 'velocty'; did you mean 'velocity'?"),
        ({"noise": {"velocity": -0.1}}, "situation 'bad': noise.velocity must be at least 0, got -0.1"),
        ({"noise": -0.1}, "situation 'bad': noise must be at least 0, got -0.1"),
        ({"noise": math.nan}, "noise must be at least 0, got nan"),
        ({"quantisation": {"velocty": 0.1}}, "situation 'bad': no measurement 'velocty'; did you mean 'velocity'?"),
        ({"quantisation": -0.1}, "quantisation must be at least 0, got -0.1"),
        ({"rate_limit": {"forse": 1.0}}, "situation 'bad': no plant input 'forse'; did you mean 'force'?"),
        (
            {"rate_limit": 0.0},
            "rate_limit must be above 0 1/s, got 0.0",
        ),
        ({"rate_limit": math.inf}, "rate_limit must be finite and above 0 1/s, got inf"),
        ({"dead_zone": -0.1}, "dead_zone must be at least 0, got -0.1"),
        ({"backlash": {"force": math.nan}}, "backlash.force must be at least 0, got nan"),
        (
            {"parameters": {"muu": 1.0}},
            "no name among the parameters of plant 'van_der_pol': 'muu'; did you mean 'mu'?",
        ),
        ({"parameters": (1.0, 2.0)}, r"parameters of plant 'van_der_pol' must have 1 values \(mu\), got 2"),
        ({"parameters": {"mu": math.inf}}, "'mu' among the parameters of plant 'van_der_pol' must be finite, got inf"),
        ({"initial": (1.0,)}, r"states of plant 'van_der_pol' must have 2 values \(position, velocity\), got 1"),
        ({"initial": {"speed": 1.0}}, "no name among the states of plant 'van_der_pol': 'speed'"),
        ({"excitation": WhiteNoise(1.0, hold=0.015)}, "hold time 0.015 s must be a multiple of the step 0.01 s"),
    ],
)
def test_what_does_not_fit_the_plant_is_refused_by_the_loop(given, says):
    with pytest.raises(ValueError, match=says):
        ClosedLoop(VDP, PID(), (Situation("bad", **given, t_end=1.0),)).start_rows(0)


def test_filters_of_one_run_need_equal_sub_steps():
    several = [Situation(f"{a}", excitation=UniformFilter(1.0, a), t_end=1.0) for a in (1.0, 30.0)]
    with pytest.raises(ValueError, match=r"the same number of filter sub-steps per step, got \[1, 15\]"):
        ClosedLoop(VDP, PID(), several)


# ------------------------------------------------------------------------------------------------------ what it holds


def test_names_and_places_are_told_apart():
    second = Situation(reference={"velocity": 2.0}, excitation={"wind": Step(1.0)}, noise={"velocity": 0.3})
    assert [s.at(1.0) for s in second.references(TWO)] == [0.0, 2.0]
    assert [s.at(1.0) for s in second.excitations(TWO)] == [0.0, 1.0]
    assert second.noise_levels(TWO) == [0.0, 0.3]


def test_a_bare_signal_is_the_first_ones():
    bare = Situation(reference=Sine(1.0, 0.25), excitation=Step(1.0) + 2.0, noise=0.2)
    assert [s.at(1.0) for s in bare.references(TWO)] == pytest.approx([1.0, 0.0])
    assert [s.at(1.0) for s in bare.excitations(TWO)] == [3.0, 0.0]
    assert bare.noise_levels(TWO) == [0.2, 0.2]  # of every controlled output
    assert bare.noise_levels(VDP) == [0.2, 0.0]


def test_converters_are_the_outputs_and_actuators_the_inputs():
    given = Situation(quantisation=0.1, rate_limit=2.0, dead_zone={"other": 0.3})
    assert given.quanta(VDP) == [0.1, 0.0]
    assert given.quanta(TWO) == [0.1, 0.1]
    assert given.of_inputs("rate_limit", TWO) == [2.0, 2.0]
    assert given.of_inputs("dead_zone", TWO) == [0.0, 0.3]
    assert given.of_inputs("backlash", TWO) == [0.0, 0.0]


def test_sequences_fill_the_first_places():
    several = Situation(reference=[None, 2.0], excitation=(1.0,))
    assert [s.at(0.0) for s in several.references(TWO)] == [0.0, 2.0]
    assert [s.at(0.0) for s in several.excitations(TWO)] == [1.0, 0.0]
    assert Situation().references(TWO) == [Signal(), Signal()]


@given(
    name=st.text(max_size=20),
    seed=st.integers(0, 2**64 - 1),
    delay=st.floats(0.0, 1e3),
    t_end=st.floats(1e-3, 1e6),
    low=st.floats(-1e6, 1e6),
    width=st.floats(1e-3, 1e6),
)
def test_whatever_makes_sense_is_taken(name, seed, delay, t_end, low, width):
    situation = Situation(name, seed=seed, delay=delay, output_delay=delay, t_end=t_end, limits=(low, low + width))
    assert (situation.name, situation.seed, situation.t_end) == (name, seed, t_end)


def test_its_text_is_no_part_of_it():
    assert Situation("a", text="long") == Situation("a")
    assert Situation("a") != Situation("b")


def test_it_is_public():
    assert sscq.Situation is Situation


def test_a_notebook_shows_what_is_not_as_by_default():
    shown = sscq.Situation("far & away", reference=2.0, delay=0.1, text="a <step>")._repr_html_()
    assert "<b>far &amp; away</b> a &lt;step&gt;" in shown
    assert "<td>reference</td><td>2.0</td>" in shown
    assert "<td>delay</td><td>0.1</td>" in shown
    assert "noise" not in shown
