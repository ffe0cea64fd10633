"""Envelopes: ranges that fit the plant, situations that stay in them, one kernel for all."""

import re
from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from plants.excitation import Constant, Ramp, Sine
from sscq.loop.closed_loop import ClosedLoop
from sscq.worst.envelope import PATHS, Envelope
from sscq.worst.genome import EnvelopeGenes
from tests.reference.closed_loop_twin import uncompiled

FOPDT = plants.get("fopdt")
FULL = Envelope(
    parameters={"K": (0.7, 1.3), "L": (0.2, 0.4)}, initial={"output": (-1, 1)}, reference={"output": (0.5, 1.5)},
    kinds=("step", "ramp", "sine"), load={"load": (-0.5, 0.5)}, excitation={"load": (0.0, 0.2)},
    noise={"output": (0.0, 0.05)}, delay=(0.0, 0.1), authority=(0.5, 1.0), rate_limit=(5.0, 50.0), delay_step=0.05,
    t_end=8.0,
)  # fmt: skip


@pytest.mark.parametrize("name", plants.names(tasks=True))
def test_the_usual_envelope_of_every_plant_fits_it_and_holds_its_nominal_plant(name):
    plant = plants.get(name)
    envelope = sscq.usual_envelope(plant)
    genes = EnvelopeGenes(plant, envelope)
    assert len(genes.box.free) >= 4
    for quantity in plant.parameters:
        low, high = envelope.parameters.get(quantity.name, (quantity.nominal,) * 2)
        assert low <= quantity.nominal <= high
    for genome in genes.draw(20, 0):
        situation = genes.situation(genome)
        plant.values("parameters", situation.parameters)  # raises beyond the plant's bounds
        plant.values("states", situation.initial)


def test_draws_are_uniform_in_the_ranges():
    """Moments of 20 000 draws within five standard errors, and every one of the steps about equally often."""
    genes = EnvelopeGenes(FOPDT, FULL)
    drawn = genes.draw(20_000, 3)
    low, high = np.array(genes.box.low), np.array(genes.box.high)
    assert ((drawn >= low) & (drawn <= high)).all()
    shares = (drawn - low) / (high - low)
    error = 5.0 / np.sqrt(20_000)
    for axis, share in zip(genes.axes, shares.T, strict=True):
        assert share.mean() == pytest.approx(0.5, abs=error * 0.41), axis.name  # deviation 0.29, of three steps 0.41
    kinds = drawn[:, [axis.name for axis in genes.axes].index("kind")]
    assert np.bincount(kinds.astype(int)) / 20_000 == pytest.approx(np.full(3, 1 / 3), abs=error * 0.48)
    assert np.abs(np.corrcoef(shares.T) - np.eye(len(genes.axes))).max() < error
    assert (genes.draw(20_000, 4) != drawn).any(axis=1).all()
    np.testing.assert_array_equal(genes.draw(50, 3), drawn[:50])


def test_a_genome_becomes_the_situation_that_its_values_say():
    genes = EnvelopeGenes(FOPDT, FULL)
    values = {
        "parameters.K": 1.1, "parameters.L": 0.25, "initial.output": 0.5, "reference.output": 1.2, "kind": 1.0,
        "load.load": -0.3, "excitation.load": 0.1, "noise.output": 0.02, "delay": 0.1, "authority": 0.8,
        "rate_limit": 20.0, "path": 12345.0,
    }  # fmt: skip
    situation = genes.situation(genes.genome(values))
    assert dict(situation.parameters) == {"K": 1.1, "L": 0.25}
    assert (situation.delay, situation.limits, situation.rate_limit, situation.seed) == (0.1, (-8.0, 8.0), 20.0, 12345)
    assert situation.references(FOPDT)[0].parts == (Constant(0.0), Ramp(1.2 / 2.0, 0.0, 2.0))
    load, noise = situation.excitations(FOPDT)[0].parts
    assert (load.height, load.at, noise.variance) == (-0.3, 4.0, pytest.approx(0.01))
    assert genes.values(genes.genome(values)) == values
    sine = genes.situation(genes.genome({**values, "kind": 2.0}))
    assert sine.references(FOPDT)[0].parts == (Constant(0.0), Sine(1.2, 0.25))


def test_all_situations_have_one_kernel():
    """Also where an amplitude, a delay or a kind does not occur among those simulated."""
    genes = EnvelopeGenes(FOPDT, FULL)
    bare = genes.genome(
        {axis.name: 1.0 if axis.name == "authority" else axis.low for axis in genes.axes}
        | {"load.load": 0.0, "rate_limit": 5.0}
    )
    several = [(), (bare,), tuple(genes.draw(3, 0))]
    with uncompiled():
        texts = {
            ClosedLoop(FOPDT, PID(), [*map(genes.situation, group), *genes.anchors()], 0.05, lanes=1).kernel.text
            for group in several
        }
    assert len(texts) == 1


def test_an_output_without_a_range_stays_where_it_stands():
    plant = plants.get("cstr")
    genes = EnvelopeGenes(plant, Envelope(kinds=("ramp",)))
    at_rest = plant.initial()[plant.index("states", "temperature")]
    assert genes.situation(genes.draw(1, 0)[0]).references(plant)[0].parts == (Constant(at_rest),)


def test_ranges_without_width_are_fixed_and_without_noise_there_are_no_paths():
    genes = EnvelopeGenes(FOPDT, Envelope(parameters={"K": (1.0, 1.0), "T": (0.5, 2.0)}))
    assert [genes.axes[i].name for i in genes.box.free] == ["parameters.T"]
    assert EnvelopeGenes(FOPDT, FULL).box.high[-1] == PATHS - 1.0


def test_the_document_reads_back_and_refuses_what_it_should_not_hold():
    document = FULL.document()
    assert Envelope.from_document(document) == FULL
    for change, message in (
        ({"delays": [0, 1]}, "expected a mapping with the keys"),
        ({"delay": [0.1, 0.0]}, "delay must be .low, high. with 0 <= low <= high"),
        ({"delay": "0..1"}, "delay must be .low, high., got '0..1'"),
        ({"noise": {"output": [0.0, True]}}, "noise.output. must be a finite number, got True"),
        ({"load": [0, 1]}, "load must map names"),
        ({"kinds": "step"}, "kinds must be a list"),
        ({"kinds": ["stair"]}, "kinds.0. must be one of step, ramp, sine, got 'stair'"),
        ({"t_end": 0.0}, "t_end must be above 0 s, got 0.0"),
        ({"rate_limit": [0.0, 1.0]}, "rate_limit.0. must be above 0 1/s, got 0.0"),
    ):
        with pytest.raises(ValueError, match=message):
            Envelope.from_document({**document, **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parameters": {"k": (1, 2)}}, "no name among the parameters of plant 'fopdt': 'k'"),
        ({"parameters": {"T": (-1, 2)}}, "parameters[T] must lie in [0.001, inf] s, got [-1, 2]"),
        ({"initial": {"output": (-2e3, 0)}}, "initial[output] must lie in [-1000, 1000]"),
        ({"reference": {"load": (0, 1)}}, "no controlled output 'load'"),
        ({"delay": (0.01, 0.02)}, "no multiple of 0.05 s lies in the range of delay, [0.01, 0.02]"),
    ],
)
def test_ranges_that_do_not_fit_the_plant_are_refused(change, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        EnvelopeGenes(FOPDT, replace(FULL, **change))


def test_a_share_of_limits_that_are_not_shared_is_refused():
    with pytest.raises(ValueError, match="authority needs the same finite command limits"):
        EnvelopeGenes(plants.get("two_tanks"), Envelope(authority=(0.5, 1.0)))


def declaring(plant, **groups):
    """The plant with ranges of its own."""
    return replace(plant, task=replace(plant.task, ranges=plants.OperatingRanges(**groups)))


def test_ranges_that_a_plant_declares_replace_those_of_its_situations():
    tanks = plants.get("two_tanks")
    before = sscq.usual_envelope(declaring(tanks))
    after = sscq.usual_envelope(declaring(tanks, parameters={"pump": (3e-6, 3.3e-6)}, delay=(0.0, 1.0)))
    assert dict(after.parameters) == {"pump": (3e-6, 3.3e-6)}, "a group that is given is complete"
    assert after.delay == (0.0, 1.0)
    assert after.reference == before.reference, "a group that is left out spans what the situations span"


def test_declared_ranges_are_widened_to_hold_situations_that_are_given():
    mine = sscq.Situation("mine", reference=3.0, parameters={"K": 2.0}, noise=0.1, delay=0.5, initial=(-1.0,))
    declared = FOPDT.ranges
    found = sscq.usual_envelope(FOPDT, held=[mine])
    assert found.reference["output"] == (declared.reference["output"][0], 3.0)
    assert found.parameters == {**declared.parameters, "K": (declared.parameters["K"][0], 2.0)}
    assert found.noise["output"] == (0.0, 0.1)
    assert found.delay == (0.0, 0.5)
    assert found.initial["output"] == (-1.0, 0.0)
    assert found.load == declared.load


def test_draws_have_the_disturbances_of_the_situations_that_are_named():
    plant = plants.get("quarter_car")
    named = {one["name"]: one for one in plant.situations["unforeseen"] if one["name"] in ("waves", "humps")}
    ranges = declaring(plant, load={}, excitation={}, excitations_of=tuple(named))
    genes = EnvelopeGenes(plant, sscq.usual_envelope(ranges))
    roads = {name: sscq.Situation(**one).excitations(plant) for name, one in named.items()}
    drawn = [genes.situation(genome).excitations(plant) for genome in genes.draw(40, 3)]
    met = [name for one in drawn for name, road in roads.items() if one == road]
    assert len(met) == len(drawn), "each draw has one of them, and no other road"
    assert set(met) == set(named)


def test_an_envelope_with_disturbances_of_situations_reads_back_and_knows_their_names():
    plant = plants.get("quarter_car")
    name = plant.situations["taught"][0]["name"]
    envelope = sscq.usual_envelope(declaring(plant, excitations_of=(name,)))
    assert Envelope.from_document(envelope.document()) == envelope
    with pytest.raises(ValueError, match="no such"):
        EnvelopeGenes(plant, replace(envelope, excitations_of=("no such",)))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"delay": (1.0, 0.0)}, "low <= high"),
        ({"noise": {"lower": (-1.0, 1.0)}}, "0 <= low"),
        ({"reference": {"lower": 1.0}}, "must be \\[low, high\\]"),
    ],
)
def test_what_is_no_range_is_refused_where_it_is_declared(groups, message):
    with pytest.raises(ValueError, match=message):
        plants.OperatingRanges(**groups)


@pytest.mark.parametrize(
    ("groups", "problem"),
    [
        ({"parameters": {"pumpe": (1.0, 2.0)}}, "pump"),
        ({"parameters": {"pump": (1e-6, 2e-6)}}, "must hold the nominal value"),
        ({"reference": {"lower": (0.0, 99.0)}}, "inside its bounds"),
        ({"authority": (0.0, 1.0)}, "share of the command limits"),
        ({"excitations_of": ("no such",)}, "no such"),
    ],
)
def test_check_reports_declared_ranges_that_do_not_fit(groups, problem):
    problems = plants.check(declaring(plants.get("two_tanks"), **groups)).problems
    assert any("declared ranges" in text and problem in text for text in problems), problems


def test_a_channel_without_a_declared_range_is_asked_for_what_the_plants_situations_ask_for():
    """Of the cart and pole: upright. Its nominal start leans, and nothing holds it there."""
    plant = plants.get("cart_pole")
    angle = plant.measurements[plant.index("measurements", "angle")]
    assert "angle" not in plant.ranges.reference
    assert angle.nominal != 0.0
    envelope = sscq.usual_envelope(plant)
    assert envelope.reference == {"angle": (0.0, 0.0), "position": (-1.0, 1.0)}
    genes = EnvelopeGenes(plant, envelope)
    for genome in genes.draw(8, 0):
        angle, position = genes.situation(genome).references(plant)
        assert angle.parts == (Constant(0.0),)
        assert position.parts != (Constant(0.0),)
