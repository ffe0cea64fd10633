"""Adam, as `torch.optim.Adam` steps, to the last bit, without what that imports.

Making one of torch's optimisers imports its compiler (`torch._dynamo`, with sympy): most of a second, as much as torch
itself, for a network whose whole training takes a tenth of one.
Source: D. P. Kingma and J. Ba, Adam: a method for stochastic optimization, ICLR 2015, algorithm 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

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
