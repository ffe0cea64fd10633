"""Adam, against the library's optimiser, and what training must not import."""

import subprocess
import sys

import torch

from flcs.learning.training import Adam


def test_steps_are_those_of_the_library_to_the_last_bit():
    """One parameter gets no gradient in some steps, one never does."""
    generator = torch.Generator().manual_seed(1)
    start = [torch.randn(n, generator=generator, dtype=torch.float64) for n in (4, 3, 2)]
    ours, theirs = ([torch.nn.Parameter(p.clone()) for p in start] for _ in range(2))
    steps = Adam(ours, 0.03), torch.optim.Adam(theirs, lr=0.03)
    for number in range(60):
        for parameters, optimiser in zip((ours, theirs), steps, strict=True):
            optimiser.zero_grad()
            first, second, _ = parameters
            loss = (first.sin() * torch.arange(4.0, dtype=torch.float64)).sum()
            if number % 3:
                loss = loss + second.square().square().sum()
            loss.backward()
            optimiser.step()
    for mine, other in zip(ours, theirs, strict=True):
        assert torch.equal(mine, other)
    assert not torch.equal(ours[1], start[1])
    assert torch.equal(ours[2], start[2])


_TRAINING = """
import sys
import numpy as np
from flcs import NetworkConfig, design

class Signal:
    situation = np.repeat([0, 1], 30)
    inputs = np.random.default_rng(0).uniform(-1.0, 1.0, (60, 2))
    gains = 1.0 + inputs[:, :1] * np.ones(3)
    weight = np.ones(60)
    input_names, gain_names = ("error", "error_rate"), ("kp", "ki", "kd")

kb = design(Signal(), 0.0, 3.0, 1.0, config=NetworkConfig(rounds=2))
assert kb.training["rounds"] > 0, kb.training
print(sorted(name for name in sys.modules if name.partition(".")[0] == "sympy" or name == "torch._dynamo"))
"""


def test_training_does_not_import_the_librarys_compiler():
    done = subprocess.run([sys.executable, "-c", _TRAINING], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
