"""From a teaching signal to a knowledge base: sane from few noisy rows, the same for the same seed."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import plants
from controllers import PID
from flcs import KnowledgeBase, NetworkConfig, TeachingRows, design, imitate

REFERENCE = (3.62, 0.59, 3.17)


def teaching_signal(n_situations=6, n=60, noise=1.5, seed=1, channels=1):
    """Noisy gains of a receding search: kp rises with the error, kd with its magnitude; little is known near rest."""
    rng = np.random.default_rng(seed)
    parts = []
    for s in range(n_situations):
        time = 0.3 * np.arange(n)
        rows = []
        for _ in range(channels):
            e = rng.uniform(-2.0, 2.0) * np.exp(-time / 4.0) * np.cos(1.5 * time + rng.uniform(0.0, 3.0))
            rate = np.gradient(e, time)
            gains = np.stack([4.0 + 2.0 * np.tanh(2.0 * e), 0.6 + 0.2 * np.abs(rate), 3.0 + 2.0 * np.abs(e)], axis=1)
            known = np.minimum(1.0, np.abs(e) + 0.05)
            rows.append(
                (np.stack([e, rate, np.cumsum(e) * 0.3], axis=1), gains + noise * rng.normal(size=(n, 3)), known)
            )
        inputs, gains = (np.concatenate([r[k] for r in rows], axis=1) for k in (0, 1))
        parts.append((np.full(n, s), inputs, np.clip(gains, 0.0, 10.0), rows[0][2]))
    situation, inputs, gains, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    ends = [""] if channels == 1 else [f"_{c + 1}" for c in range(channels)]
    return SimpleNamespace(
        situation=situation, inputs=inputs, gains=gains, weight=weight,
        input_names=tuple(f"{name}{end}" for end in ends for name in ("error", "error_rate", "error_integral")),
        gain_names=tuple(f"{name}{end}" for end in ends for name in ("kp", "ki", "kd")),
    )  # fmt: skip


def test_few_noisy_rows_give_a_sane_knowledge_base():
    kb = design(teaching_signal(), 0.0, 10.0, REFERENCE, plant="van_der_pol", tick=0.3)
    e, rate = np.meshgrid(np.linspace(-4.0, 4.0, 41), np.linspace(-4.0, 4.0, 41))
    gains = kb.gains(np.stack([e.ravel(), rate.ravel()], axis=1))
    assert (gains >= 0.0).all()
    assert (gains <= 10.0).all()
    # Noise of 1.5 on a few hundred correlated rows: means over a rule's rows are good to about a unit.
    truth = 4.0 + 2.0 * np.tanh(2.0 * 0.8)
    assert kb.gains([[0.8, 0.0]])[0, 0] == pytest.approx(truth, abs=1.2)
    assert kb.gains([[0.8, 0.0]])[0, 0] > kb.gains([[-0.8, 0.0]])[0, 0] + 1.0
    np.testing.assert_allclose(kb.gains([[9.0, 9.0], [-9.0, 9.0]]), [REFERENCE] * 2, atol=1e-12)
    assert 0.1 < kb.training["explained_variance"]["kp"] < 0.9
    assert kb.n_rules == len(kb.channels[0].rules) == kb.training["rules"]


def test_what_nobody_knows_stays_at_the_reference():
    signal = teaching_signal()
    signal.weight = np.zeros(len(signal.weight))
    kb = design(signal, 0.0, 10.0, REFERENCE)
    assert kb.n_rules == 0
    np.testing.assert_array_equal(kb.gains([[0.3, -0.2]]), [REFERENCE])
    signal.weight = np.full(len(signal.weight), 1e-6)
    np.testing.assert_allclose(design(signal, 0.0, 10.0, REFERENCE).gains([[0.3, -0.2]]), [REFERENCE], atol=1e-3)


def test_same_seed_same_bytes(tmp_path):
    config = NetworkConfig(shape="gaussian", rounds=6, choose_inputs=True, terms=None, inputs=("e", "e_rate", "z"))
    for number in range(2):
        design(teaching_signal(), 0.0, 10.0, REFERENCE, config=config, seed=4, tick=0.1).save(
            tmp_path / f"{number}.json"
        )
    texts = [(tmp_path / f"{number}.json").read_bytes() for number in range(2)]
    assert texts[0] == texts[1]
    other = design(teaching_signal(), 0.0, 10.0, REFERENCE, config=config, seed=5, tick=0.1)
    assert json.loads(texts[0])["training"]["seed"] != other.training["seed"]
    assert KnowledgeBase.load(tmp_path / "0.json").content_hash == json.loads(texts[0])["hash"]


@pytest.mark.parametrize("shape", ["triangular", "trapezoid", "gaussian", "bell"])
def test_a_smooth_teacher_is_imitated(shape):
    config = NetworkConfig(shape=shape, terms=5, prior_weight=0.01, smoothness=0.0, max_rules=None)
    kb = design(teaching_signal(noise=0.0), 0.0, 10.0, REFERENCE, config=config)
    explained = kb.training["explained_variance"]
    assert min(explained["kp"], explained["kd"]) > 0.9
    assert explained["ki"] > 0.6  # it hardly moves: prior and smoothness hold it
    assert kb.training["rules"] < kb.training["rules_before_pruning"] == 25


def test_plant_and_laws_are_carried():
    plant, law = plants.get("van_der_pol"), PID(limits=(-20.0, 20.0))
    records = {"fitness": {"kind": "error"}, "valid_range": {"delay": [0.0, 0.02]}, "taught": [{"name": "a"}]}
    kb = design(
        teaching_signal(), 0.0, 10.0, REFERENCE, plant=plant, plant_parameters={"mu": 2.0}, laws=law, tick=0.02,
        slew=1.0, config=NetworkConfig(inputs=("e", "z"), rounds=0), integral_limit=0.7, **records,
    )  # fmt: skip
    assert kb.plant == "van_der_pol"
    assert kb.plant_parameters["mu"] == 2.0
    assert kb.channels[0].name == plant.channels[0].output
    assert kb.channels[0].law == {"law": "PID", "limits": [-20.0, 20.0]}
    assert kb.channels[0].integral_limit == 0.7
    assert (kb.fitness, kb.taught) == (records["fitness"], records["taught"])
    assert kb.channels[0].inputs[1].unit.endswith(" s")


def test_several_channels_have_their_own_rules():
    signal = teaching_signal(channels=2)
    kb = design(signal, (0, 0, 0), (10, 10, 10), REFERENCE, config=NetworkConfig(rounds=2))
    assert kb.input_names == ("e_1", "e_rate_1", "e_2", "e_rate_2")
    assert kb.gain_names == signal.gain_names
    config = NetworkConfig(rounds=0)
    for k, base in enumerate(design(signal, 0, 10, REFERENCE, config=config).channels):
        alone = SimpleNamespace(**vars(signal))
        alone.inputs, alone.gains = (a[:, 3 * k : 3 * k + 3] for a in (signal.inputs, signal.gains))
        alone.input_names, alone.gain_names = ("e", "e_rate", "z"), ("kp", "ki", "kd")
        assert base.inputs == design(alone, 0, 10, REFERENCE, config=config).channels[0].inputs


def test_more_rows_teach_an_earlier_result():
    first = design(teaching_signal(n_situations=2), 0.0, 10.0, REFERENCE)
    later = imitate(first, teaching_signal(seed=9), NetworkConfig(rounds=3))
    assert later.training["rows"] == 360
    assert later.channels[0].counts == first.channels[0].counts
    assert later != first


def test_authority_is_no_matter_of_imitation():
    config = NetworkConfig(rounds=5, validation_share=0.0)
    full = design(teaching_signal(n_situations=2), 0.0, 10.0, REFERENCE, config=config)
    careful = imitate(replace(full, inference=replace(full.inference, authority=0.3)), teaching_signal(), config)
    assert careful.inference.authority == 0.3
    assert careful.channels == imitate(full, teaching_signal(), config).channels
    assert careful.training["best_round"] > 0


def test_the_error_integral_is_taught_as_it_is_seen_on_line():
    """A teacher's integral runs away; the controller's own stops at its limit."""
    signal = teaching_signal(noise=0.0)
    far = SimpleNamespace(**vars(signal))
    far.inputs = signal.inputs.copy()
    far.inputs[:, 2] = np.clip(far.inputs[:, 2], -0.4, 0.4)
    start = design(far, 0.0, 10.0, REFERENCE, config=NetworkConfig(inputs=("e", "z"), rounds=0), tick=0.3)
    limited = replace(start, channels=(replace(start.channels[0], integral_limit=0.4),))
    assert (np.abs(signal.inputs[:, 2]) > 0.4).any()
    assert imitate(limited, signal).channels == imitate(limited, far).channels


def test_uninformative_inputs_are_dropped_on_request():
    signal = teaching_signal(noise=0.3)
    signal.inputs[:, 1] = np.random.default_rng(0).normal(size=len(signal.inputs))
    kb = design(signal, 0.0, 10.0, REFERENCE, config=NetworkConfig(choose_inputs=True, rounds=0))
    assert kb.input_names == ("e",)


def test_terms_are_chosen_by_a_search_on_request():
    def search(evaluate, low, high):
        genomes = np.linspace(low, high, 9)
        return genomes[np.argmin(evaluate(genomes))]

    config = NetworkConfig(terms=None, rounds=0)
    counts = [
        design(teaching_signal(), 0.0, 10.0, REFERENCE, config=config, search_terms=s).channels for s in (None, search)
    ]
    for (base,) in counts:
        assert all(2 <= n <= 9 for n in base.counts)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weight": -np.ones(360)}, "weights of a teaching signal must not be negative"),
        ({"gains": np.full((360, 3), np.nan)}, "gains of a teaching signal must be finite, got .* in row 0"),
        ({"inputs": np.zeros((360, 2))}, r"inputs of a teaching signal must have shape \(360, 3\)"),
        ({"situation": np.zeros(3)}, r"situation of a teaching signal must have shape \(360,\)"),
        (
            {"input_names": ("e", "rate", "z")},
            "no input of channel 1 in the teaching signal: 'e_rate'; did you mean 'rate'",
        ),
    ],
)
def test_wrong_teaching_signals_are_refused(change, message):
    signal = SimpleNamespace(**(vars(teaching_signal()) | change))
    with pytest.raises(ValueError, match=message):
        design(signal, 0.0, 10.0, REFERENCE)


def test_wrong_boxes_and_settings_are_refused():
    signal = teaching_signal()
    with pytest.raises(ValueError, match="kp of channel 'channel 1' must satisfy low <= reference <= high"):
        design(signal, 5.0, 10.0, REFERENCE)
    with pytest.raises(ValueError, match="high of channel 'channel 1' must be finite numbers"):
        design(signal, 0.0, (10.0, np.inf, 10.0), REFERENCE)
    with pytest.raises(ValueError, match="reference_gains must have one number for each of"):
        design(signal, 0.0, 10.0, (1.0, 2.0))
    with pytest.raises(ValueError, match="got 2 laws"):
        design(signal, 0.0, 10.0, REFERENCE, laws=(PID(), PID()))
    with pytest.raises(ValueError, match="make 6561 rules"):
        design(
            signal, 0.0, 10.0, REFERENCE, tick=1.0, config=NetworkConfig(terms=9, inputs=("e", "e_rate", "z", "error"))
        )
    with pytest.raises(TypeError, match="expected a teaching signal, got list, which lacks inputs"):
        design([1, 2], 0.0, 10.0, REFERENCE)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"shape": "triangle"}, "shape must be one of triangular, .*, got 'triangle'; did you mean 'triangular'"),
        ({"terms": (3, 3, 3)}, "one number, or one per input"),
        ({"firing": "sum"}, "firing must be one of total, maximum, got 'sum'"),
        ({"keep_firing": 0.0}, "keep_firing must be above 0 and at most 1, got 0.0"),
        ({"evenness": 2.0}, "evenness must be at least 0 and at most 1, got 2.0"),
        ({"prior_weight": -1.0}, "prior_weight must be at least 0, got -1.0"),
        ({"max_rules": 0}, "max_rules must be at least 1, got 0"),
        ({"inputs": ()}, "at least one"),
    ],
)
def test_wrong_network_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        NetworkConfig(**settings)


def test_rows_of_a_teaching_signal_stay_as_they_are():
    rows = TeachingRows.of(teaching_signal())
    assert TeachingRows.of(rows) is rows
    assert rows.n_channels == 1
    assert rows.gains_of(0) == (("kp", "ki", "kd"), [0, 1, 2])
    np.testing.assert_array_equal(rows.chosen([3, 5]).weight, rows.weight[[3, 5]])
    assert replace(rows).input_names == rows.input_names
