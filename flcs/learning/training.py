"""Hybrid training of the Sugeno network: consequents by least squares, terms by gradient steps, in turns.

The consequents are the exact minimum for the present terms (:mod:`flcs.learning.least_squares`); with them fixed, the
terms make some steps of Adam. Training stops by its error in validation *situations*: rows of one situation follow each
other and are no independent test.
Source: J.-S. R. Jang, ANFIS, IEEE Trans. Systems, Man and Cybernetics 23 (1993) 665, sec. III (hybrid learning).

Adam steps as `torch.optim.Adam` does, to the last bit, without what that imports.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
import torch

from flcs.learning.least_squares import fit_consequents
from flcs.learning.rows import validation_situations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from flcs.learning.config import NetworkConfig
    from flcs.learning.network import SugenoNetwork
    from flcs.learning.rows import TeachingRows


@dataclass(frozen=True)
class History:
    """Course of a training.

    Attributes
    ----------
    training, validation : tuple of float [n_rounds]
        Weighted mean squared errors of the gains as shares of their box; the first with the initial terms. Validation
        is empty without validation situations.
    best_round : int
        Round whose terms were kept.
    validation_situations : tuple of int
    """

    training: tuple[float, ...]
    validation: tuple[float, ...]
    best_round: int
    validation_situations: tuple[int, ...]


def fit(network: SugenoNetwork, data: TeachingRows, config: NetworkConfig, seed: int = 0) -> History:
    """Train a network in place.

    Parameters
    ----------
    network : SugenoNetwork
    data : TeachingRows
        Inputs and gains in the order of the network's knowledge base.
    config : NetworkConfig
    seed : int
        Chooses the validation situations.

    Returns
    -------
    History

    Raises
    ------
    ValueError
        If the data's columns are not the knowledge base's.
    """
    _check(network, data)
    held = validation_situations(data.situation, config.validation_share, seed)
    is_held = np.isin(data.situation, held)
    taught, test = data.chosen(~is_held), data.chosen(is_held) if held else None
    with one_thread:
        history = _Trainer(network, taught, test, config).run(held)
        refresh_consequents(network, data, config)
    return history


def refresh_consequents(network: SugenoNetwork, data: TeachingRows, config: NetworkConfig) -> None:
    """Set all consequents to the least-squares solution for the present terms."""
    network.take_consequents(fit_consequents(network.knowledge_base(), data, config))


class _Trainer:
    """Alternating steps, and the best terms so far."""

    def __init__(
        self, network: SugenoNetwork, taught: TeachingRows, test: TeachingRows | None, config: NetworkConfig
    ) -> None:
        self.network, self.taught, self.test, self.config = network, taught, test, config
        self.x, self.y = torch.tensor(taught.inputs), torch.from_numpy(_shares_of_box(network, taught.gains))
        self.weight = torch.tensor(taught.weight / max(taught.weight.sum(), 1e-300))
        terms = (p for channel in network.networks() for p in channel.terms.parameters())
        self.terms = list(dict.fromkeys(terms))  # common terms are the same parameters in all channels
        self.adam = Adam(self.terms, config.learning_rate)
        self.training: list[float] = []
        self.validation: list[float] = []

    def run(self, held: tuple[int, ...]) -> History:
        """Alternate until the rounds are used up or validation no longer improves; go back to the best terms."""
        can_stop = self.test is not None
        rounds = self.config.rounds if can_stop or self.config.validation_share == 0.0 else 0
        best_error, best_round, best_terms = np.inf, 0, self._copied()
        for number in range(rounds + 1):
            refresh_consequents(self.network, self.taught, self.config)
            error = self._record()
            if error < best_error:
                best_error, best_round, best_terms = error, number, self._copied()
            if number == rounds or number - best_round >= self.config.patience:
                break
            self._step_terms()
        with torch.no_grad():
            for parameter, value in zip(self.terms, best_terms, strict=True):
                parameter.copy_(value)
        return History(tuple(self.training), tuple(self.validation), best_round, held)

    def _record(self) -> float:
        with torch.no_grad():
            self.training.append(float(self._loss(self.x, self.y, self.weight)))
            if self.test is None:
                return self.training[-1]
            y = torch.from_numpy(_shares_of_box(self.network, self.test.gains))
            weight = torch.tensor(self.test.weight / max(self.test.weight.sum(), 1e-300))
            self.validation.append(float(self._loss(torch.tensor(self.test.inputs), y, weight)))
        return self.validation[-1]

    def _loss(self, x: torch.Tensor, y: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return (weight * (self.network(x) - y).square().mean(1)).sum()

    def _step_terms(self) -> None:
        for _ in range(self.config.steps):
            self.adam.zero_grad()
            self._loss(self.x, self.y, self.weight).backward()
            self.adam.step()
            for channel in self.network.networks():
                for layer in channel.term_layers():
                    layer.keep_inside()

    def _copied(self) -> list[torch.Tensor]:
        return [parameter.detach().clone() for parameter in self.terms]


def _shares_of_box(network: SugenoNetwork, gains: NDArray[np.float64]) -> NDArray[np.float64]:
    low = np.concatenate([channel.low.numpy() for channel in network.networks()])
    span = np.concatenate([channel.span.numpy() for channel in network.networks()])
    return np.asarray(np.clip((gains - low) / span, 0.0, 1.0))


def _check(network: SugenoNetwork, data: TeachingRows) -> None:
    expected = (network.kb.input_names, network.kb.gain_names)
    if (data.input_names, data.gain_names) != expected:
        raise ValueError(
            f"teaching rows must have the inputs {expected[0]} and gains {expected[1]} of the knowledge base, got "
            f"{data.input_names} and {data.gain_names}"
        )


class _OneThread:
    """One thread and deterministic algorithms within, everything as it was behind the last that is within.

    Both belong to the process, and several designs may train in its threads at once.
    """

    def __init__(self) -> None:
        self._lock, self._within, self._before = Lock(), 0, (1, 0)

    def __enter__(self) -> None:
        with self._lock:
            if not self._within:
                self._before = torch.get_num_threads(), torch.get_deterministic_debug_mode()
                torch.set_num_threads(1)
                torch.set_deterministic_debug_mode("error")  # `use_deterministic_algorithms` imports torch's compiler
            self._within += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._within -= 1
            if not self._within:
                torch.set_num_threads(self._before[0])
                torch.set_deterministic_debug_mode(self._before[1])


one_thread = _OneThread()


_MEAN, _SQUARE = 0.9, 0.999  # decay of the running means of gradient and squared gradient
_EPSILON = 1e-8


class Adam:
    """Steps down the gradient, each number's scaled by the size that its gradient usually has.

    Parameters
    ----------
    parameters : sequence of Tensor
        Changed in place; those without a gradient stay as they are.
    rate : float
        Usual size of a step.
    """

    def __init__(self, parameters: Sequence[torch.Tensor], rate: float) -> None:
        self.parameters, self.rate = list(parameters), rate
        self._means = [torch.zeros_like(p) for p in self.parameters]
        self._squares = [torch.zeros_like(p) for p in self.parameters]
        self._steps = [0] * len(self.parameters)

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Make one step with the present gradients."""
        for k, parameter in enumerate(self.parameters):
            gradient = parameter.grad
            if gradient is None:
                continue
            self._steps[k] += 1
            mean = self._means[k].lerp_(gradient, 1.0 - _MEAN)
            square = self._squares[k].mul_(_SQUARE).addcmul_(gradient, gradient, value=1.0 - _SQUARE)
            # Both means begin at 0; these factors make up for it.
            of_mean, of_square = 1.0 - _MEAN ** self._steps[k], 1.0 - _SQUARE ** self._steps[k]
            parameter.addcdiv_(mean, (square.sqrt() / of_square**0.5).add_(_EPSILON), value=-(self.rate / of_mean))
