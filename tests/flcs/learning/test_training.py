"""The network and its hybrid training: twin of the knowledge base, recovery, determinism, honest stopping."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier, Event
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import flcs
from flcs import Inference, KnowledgeBase, NetworkConfig, SugenoNetwork, fit, imitate
from flcs.learning import training
from flcs.learning.imitation import prune
from flcs.learning.rows import validation_situations

SHAPES = ("triangular", "trapezoid", "gaussian", "bell")
EXACT = 1e-12
SURE = NetworkConfig(prior_weight=0.0, smoothness=0.0, ridge=1e-10)


@pytest.mark.parametrize("t_norm", ["product", "minimum"])
@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("shape", SHAPES)
def test_network_is_the_knowledge_base(builders, shape, order, t_norm):
    kb = builders["kb"](shape, order, t_norm=t_norm, authority=0.8)
    kb = kb.with_channel(0, kb.channels[0].switched([k != 3 for k in range(9)]))
    x = np.random.default_rng(1).uniform(-7.0, 7.0, (300, 2))
    network = SugenoNetwork(kb)
    gains = network.gains(torch.from_numpy(x)).detach().numpy()
    np.testing.assert_allclose(gains, kb.gains(x), atol=EXACT)
    back = network.knowledge_base()
    np.testing.assert_allclose(back.gains(x), kb.gains(x), atol=EXACT)


def test_network_of_several_channels(several):
    x = np.random.default_rng(1).uniform(-3.0, 8.0, (200, 4))
    gains = SugenoNetwork(several).gains(torch.from_numpy(x)).detach().numpy()
    np.testing.assert_allclose(gains, several.gains(x), atol=EXACT)


def test_shares_sum_to_one_where_rules_fire(builders):
    kb = builders["kb"]("gaussian")
    network = SugenoNetwork(kb).networks()[0]
    x = torch.from_numpy(builders["rows"](kb).inputs)
    total = network.firing(x).sum(1)
    shares = network.shares(x).sum(1)
    enough = total >= kb.inference.fallback
    assert enough.any()
    assert (~enough).any()
    assert torch.allclose(shares[enough], torch.ones_like(shares[enough]), atol=1e-14, rtol=0.0)
    assert (shares[~enough] < 1.0).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_any_parameters_make_valid_terms(builders, shape):
    network = SugenoNetwork(builders["kb"](shape))
    generator = torch.Generator().manual_seed(0)
    for _ in range(20):
        with torch.no_grad():
            for parameter in network.networks()[0].terms.parameters():
                parameter.copy_(4.0 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
            for layer in network.networks()[0].term_layers():
                layer.keep_inside()
        for variable in network.knowledge_base().channels[0].inputs:  # which checks order and smallest widths
            edge = 1e-9 * (variable.high - variable.low)
            assert variable.low - edge <= variable.centres[0]
            assert variable.centres[-1] <= variable.high + edge


def test_gradients_are_those_of_finite_differences(builders):
    network = SugenoNetwork(builders["kb"]("bell", 1)).networks()[0]
    x = torch.from_numpy(np.random.default_rng(4).uniform(-2.0, 2.0, (20, 2)))
    parameters = list(network.parameters())

    def loss(*values):
        return torch.func.functional_call(network, dict(zip(names, values, strict=True)), (x,)).square().sum()

    names = [name for name, _ in network.named_parameters()]
    assert torch.autograd.gradcheck(loss, parameters)


@pytest.mark.parametrize("shape", ["triangular", "gaussian"])
def test_hybrid_training_recovers_a_known_system(builders, shape):
    """Terms start displaced by up to a sixth of the range; training leads them back."""
    truth = builders["kb"](shape, seed=7)
    rows = builders["rows"](truth, n=600)
    base = truth.channels[0]
    moved = tuple(
        replace(v, centres=tuple(c + d * (v.high - v.low) for c, d in zip(v.centres, (0.1, -0.15, -0.12), strict=True)))
        for v in base.inputs
    )
    network = SugenoNetwork(truth.with_channel(0, replace(base, inputs=moved)))
    history = fit(network, rows, replace(SURE, rounds=150, steps=5, learning_rate=0.01, patience=150))
    # Mean squared errors of shares of the box: training must remove at least 99 % of what displaced terms leave.
    assert history.validation[0] > 1e-4
    assert min(history.validation) < 0.01 * history.validation[0]
    found = network.knowledge_base()
    if shape == "triangular":  # Gaussian terms of other centres and widths can do nearly the same
        for variable, known in zip(found.channels[0].inputs, base.inputs, strict=True):
            np.testing.assert_allclose(variable.centres, known.centres, atol=0.04 * (known.high - known.low))
    assert np.abs(found.gains(rows.inputs) - rows.gains).mean() < 0.1


def test_training_goes_back_to_the_best_validated_terms(builders):
    kb = builders["kb"]("gaussian")
    rows = builders["rows"](kb, n=80, noise=4.0)
    config = NetworkConfig(rounds=200, learning_rate=0.05, patience=6)
    network, shorter = SugenoNetwork(kb), SugenoNetwork(kb)
    history = fit(network, rows, config)
    assert history.best_round == int(np.argmin(history.validation))
    assert 0 < history.best_round < len(history.validation) - 1 <= history.best_round + 6
    assert len(history.validation_situations) == 1
    fit(shorter, rows, replace(config, rounds=history.best_round))
    assert shorter.knowledge_base() == network.knowledge_base()


def test_one_situation_alone_leaves_the_terms(builders):
    kb = builders["kb"]()
    rows = builders["rows"](kb, n_situations=1)
    network = SugenoNetwork(kb)
    history = fit(network, rows, NetworkConfig())
    assert history.validation == ()
    assert len(history.training) == 1
    for variable, known in zip(network.knowledge_base().channels[0].inputs, kb.channels[0].inputs, strict=True):
        np.testing.assert_allclose(variable.centres, known.centres, rtol=1e-13)


def test_validation_situations_are_whole_and_seeded():
    situation = np.repeat([4, 7, 9, 11, 20], 13)
    chosen = {validation_situations(situation, 0.4, seed) for seed in range(20)}
    assert len(chosen) > 1
    assert all(len(c) == 2 and set(c) < {4, 7, 9, 11, 20} for c in chosen)
    assert validation_situations(situation, 0.4, 3) == validation_situations(situation, 0.4, 3)
    assert validation_situations(situation, 0.0, 3) == ()
    assert validation_situations(situation[:13], 0.4, 3) == ()


def test_same_seed_same_bytes_for_any_number_of_threads(builders):
    kb = builders["kb"]("gaussian")
    rows = builders["rows"](kb, noise=1.0)
    texts, before = [], torch.get_num_threads()
    for threads in (1, 2):
        torch.set_num_threads(threads)
        network = SugenoNetwork(kb)
        fit(network, rows, NetworkConfig(rounds=10), seed=3)
        assert torch.get_num_threads() == threads
        texts.append(json.dumps(network.knowledge_base().document()))
    torch.set_num_threads(before)
    assert texts[0] == texts[1]
    assert not torch.are_deterministic_algorithms_enabled()


def test_fits_in_several_threads_leave_torch_as_it_was():
    """Both settings belong to the process; one fit ends while another, begun after it, still runs."""
    before, both, ended = torch.get_num_threads(), Barrier(2, timeout=20), Event()

    def fitted(ends_first):
        if not ends_first:
            begun.wait(20)
        with training.one_thread:
            begun.set()
            both.wait()
            assert ends_first or ended.wait(20)
            assert torch.get_num_threads() == 1
        ended.set()

    begun = Event()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(fitted, (True, False)))
    assert torch.get_num_threads() == before
    assert not torch.are_deterministic_algorithms_enabled()


def test_wrong_columns_are_refused(builders, several):
    rows = builders["rows"](builders["kb"]())
    with pytest.raises(ValueError, match="teaching rows must have the inputs"):
        fit(SugenoNetwork(several), rows, NetworkConfig())


def test_a_base_without_rules_can_be_trained(builders):
    base = replace(builders["base"](), rules=())
    kb = KnowledgeBase("p", base, Inference())
    network = SugenoNetwork(kb)
    fit(network, builders["rows"](kb), NetworkConfig(rounds=0))
    np.testing.assert_array_equal(network.knowledge_base().gains([[0.0, 0.0]]), [base.reference])


def test_what_torch_has_no_form_of_is_refused_and_not_trained_as_another(kb):
    x = torch.zeros(1, 2, dtype=torch.float64)
    network = SugenoNetwork(kb).networks()[0]
    network.how = SimpleNamespace(t_norm="einstein")
    with pytest.raises(NotImplementedError, match="t-norm 'einstein' has no form for training"):
        network.firing(x)
    layer = SugenoNetwork(kb).networks()[0].term_layers()[0]
    layer.variable = SimpleNamespace(shape=SimpleNamespace(name="cosine"))
    with pytest.raises(NotImplementedError, match="shape 'cosine' have no form for training"):
        layer(x[:, 0])


def test_no_rounds_are_least_squares_as_the_network_has_them(builders):
    kb, config = builders["kb"]("gaussian"), NetworkConfig(rounds=0)
    rows = builders["rows"](kb, noise=1.0)
    network = SugenoNetwork(kb)
    history = fit(network, rows, config)
    found = imitate(kb, rows, config)
    assert found.training["validation_situations"] == list(history.validation_situations)
    assert found.training["validation_error"] == pytest.approx(np.sqrt(history.validation[0]), rel=1e-9)
    pruned, _ = prune(network.knowledge_base(), rows, config)
    # The network's terms go through its own coordinates and back, which moves last digits.
    np.testing.assert_allclose(found.gains(rows.inputs), pruned.gains(rows.inputs), rtol=1e-9)


def test_without_torch_only_training_is_refused(builders, monkeypatch):
    kb = builders["kb"]()
    rows = builders["rows"](kb)
    for name in ("torch", "flcs.learning.network", "flcs.learning.training"):
        monkeypatch.setitem(sys.modules, name, None)
    assert imitate(kb, rows, NetworkConfig(rounds=0)).n_rules > 0
    with pytest.raises(ModuleNotFoundError, match=r"needs torch, .*: pip install 'sscq\[torch\]' .*network\.rounds=0"):
        imitate(kb, rows, NetworkConfig())
    with pytest.raises(ModuleNotFoundError, match="needs torch"):
        _ = flcs.fit
