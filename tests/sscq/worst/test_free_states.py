"""Starts of closed chains are drawn from what may be chosen, and stay in its ranges."""

from pathlib import Path

import numpy as np
import pytest

import plants
import sscq
from sscq.worst.free_states import free_states
from sscq.worst.genome import EnvelopeGenes

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"


@pytest.fixture(scope="module")
def press():
    return plants.load_plant_file(EXAMPLES / "crank_press.py")[0]


def test_the_crank_alone_is_drawn_and_keeps_to_its_range(press):
    envelope = sscq.usual_envelope(press)
    assert envelope.initial == {"crank": pytest.approx((-0.5, 2.5))}
    genes = EnvelopeGenes(press, envelope)
    for genome in genes.draw(50, 1):
        situation = genes.situation(genome)
        x, p = press.start(situation.initial, situation.parameters)  # no StartWarning, which is an error in tests
        assert x[0] == pytest.approx(genes.values(genome)["initial.crank"], abs=1e-12)
        assert press.fulfils(x, p)


def test_a_state_that_a_dead_centre_pins_is_not_free(press):
    """The slider moves with the crank, but not at the dead centres, where its place tells nothing of the angle."""
    names = ["slider", "rod", "crank"]
    across, dead = press.start({"crank": 1.0}), press.start({"crank": 0.0})
    assert free_states(press, names, [across]) == ["slider"]
    assert free_states(press, names, [across, dead]) == ["rod"]
    assert free_states(press, names, [press.start({"crank": np.pi / 2}), dead]) == ["crank"]


def test_ranges_of_states_that_follow_are_refused(press):
    ranges = {"crank": (0.0, 1.0), "slider": (0.4, 0.5)}
    with pytest.raises(
        ValueError, match="has ranges of crank, slider, but from crank the others follow.*leave out slider"
    ):
        EnvelopeGenes(press, sscq.Envelope(initial=ranges))


def test_without_constraints_all_states_are_free():
    plant = plants.get("pendulum")
    names = [q.name for q in plant.states]
    assert free_states(plant, names, [plant.start()]) == names
