"""References that move: a signal from the configuration is added to the constant reference, and to nothing else."""

import numpy as np
import pytest

import plants
import sscq
from configs import rules
from configs.schema import DesignConfig, ExcitationConfig, SituationConfig, SituationsConfig
from controllers import PID
from experiments.settings import setup
from experiments.settings.situations import situation

PLANT = plants.get("van_der_pol")


def built(seed=3, **given):
    config = SituationConfig(t_end=2.0, seed=seed, **given)
    rules.check(config)
    return situation("moving", config, PLANT, seed=0)


def test_without_a_signal_the_reference_is_the_number():
    assert built(reference=0.7).reference == {"position": 0.7}


def test_the_recorded_reference_is_the_one_computed_by_hand():
    """A sine on a constant in a run of the compiled loop, and the error that the controller sees."""
    sine = ExcitationConfig(kind="sine", amplitude=0.5, frequency=0.8)
    case = built(reference=0.7, reference_signal=sine)
    run = sscq.record(PLANT, PID(), (3.0, 0.5, 1.0), case, step=0.01)
    by_hand = 0.7 + 0.5 * np.sin(2.0 * np.pi * 0.8 * run.time)
    # The same formula in double precision: a few units in the last place, the kernel's sine within 1e-15 of NumPy's.
    np.testing.assert_allclose(run.group("reference")[:, 0], by_hand, rtol=0.0, atol=1e-13)
    seen, error = run.group("signals")[:, 0], by_hand - run["position"]
    np.testing.assert_allclose(seen[:-1], error[:-1], rtol=0.0, atol=1e-13)  # nothing is sampled at the very end


def test_a_ramp_is_added_to_the_constant():
    ramp = ExcitationConfig(kind="ramp", slope=0.4, at=0.5, until=1.5)
    signal = built(reference=0.7, reference_signal=ramp).references(PLANT)[0]
    assert [signal.at(t) for t in (0.0, 0.5, 1.0, 1.5, 2.0)] == pytest.approx([0.7, 0.7, 0.9, 1.1, 1.1], abs=1e-15)


def test_every_channel_gets_the_signal():
    plant = plants.get("planar_quadrotor")
    config = SituationConfig(
        reference=0.2, reference_signal=ExcitationConfig(kind="sine", amplitude=0.1, frequency=0.5)
    )
    case = situation("moving", config, plant, seed=0)
    assert [round(s.at(0.5), 12) for s in case.references(plant)] == [0.3] * len(plant.channels)
    assert len(plant.channels) > 1


def test_numbers_drawn_for_the_reference_are_not_those_of_the_disturbance():
    noise = ExcitationConfig(kind="numpy_white", variance=1.0)
    first, again, other = (built(seed, reference_signal=noise, excitation=noise) for seed in (3, 3, 4))
    assert first == again
    assert first.references(PLANT) != other.references(PLANT)
    assert first.references(PLANT)[0].parts != first.excitations(PLANT)[0].parts


@pytest.mark.parametrize("kind", ["sine", "step", "prbs"])
def test_a_signal_of_no_height_is_refused(kind):
    taught = {"still": SituationConfig(reference_signal=ExcitationConfig(kind=kind))}
    with pytest.raises(
        ValueError, match=rf"reference_signal of kind={kind} has amplitude 0 .*reference_signal.amplitude"
    ):
        rules.check(SituationsConfig(taught=taught))


def test_what_is_wrong_inside_the_signal_is_told_with_its_name():
    config = SituationsConfig(
        taught={"swept": SituationConfig(reference_signal=ExcitationConfig(kind="chirp", amplitude=1.0))}
    )
    with pytest.raises(ValueError, match="reference_signal.*stop_frequency is missing"):
        rules.check(config)


def test_it_reaches_the_situations_of_a_design():
    moving = SituationConfig(reference=0.5, reference_signal=ExcitationConfig(kind="step", amplitude=0.3, at=1.0))
    situations = SituationsConfig(taught={"late step": moving}, validation={"b": moving}, unforeseen={"c": moving})
    job = setup(DesignConfig(plant="van_der_pol", situations=situations, threads=1))
    for number in (0, 1):
        for kind in ("taught", "validation", "unforeseen"):
            signal = job.repetition(kind, number)[0].references(PLANT)[0]
            assert (signal.at(0.5), signal.at(1.5), signal.last_jump()) == (0.5, 0.8, 1.0)


def test_a_situation_begins_where_its_names_say():
    plant = plants.get("cart_pole")
    found = built(initial={"angle": 0.2})
    assert (
        plant.start(found.initial)[0] == plant.start([0.2 if q.name == "angle" else q.nominal for q in plant.states])[0]
    )
