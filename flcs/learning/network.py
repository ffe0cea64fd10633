"""The Sugeno network: a knowledge base whose numbers torch can train.

One sub-network per channel. Terms are stored so that any values of the parameters are valid: centres as the first one
and softplus distances above the smallest gap, widths as softplus above the smallest width; all in halves of the input's
range. Outputs are shares of the gains' box, limited to [0, 1], so that the gains cannot leave it. Mamdani's and
Tsukamoto's forms are trained by the shares that rules have in the gains, which are exact but for the centroid of the
maximum: that is trained as the centroid of the sum.
Source: J.-S. R. Jang, ANFIS: adaptive-network-based fuzzy inference system, IEEE Trans. Systems, Man and Cybernetics 23
(1993) 665.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor, nn

from flcs.inference.defuzzification import TINY, by_areas, voice
from flcs.inference.meaning import kept_true
from flcs.inference.membership import Bell, Gaussian, Trapezoid, Triangular, spread_apart
from flcs.inference.variable import SMALLEST_GAP

if TYPE_CHECKING:
    from flcs.inference.rule_base import Inference, Rule, RuleBase
    from flcs.inference.variable import Variable
    from flcs.knowledge_base.knowledge_base import KnowledgeBase

_GAP = 2.0 * SMALLEST_GAP  # in halves of the range
_TINY = 1e-12
_ROUNDING = 1e-9


class TermLayer(nn.Module):
    """Terms of one input: first centre, distances, widths, in halves of the range around its middle."""

    def __init__(self, variable: Variable) -> None:
        super().__init__()
        self.variable = variable
        self.middle, self.radius = 0.5 * (variable.low + variable.high), 0.5 * (variable.high - variable.low)
        centres = (_tensor(variable.centres) - self.middle) / self.radius
        self.first = nn.Parameter(centres[0].clone())
        self.raw_gaps = nn.Parameter(_inverse_softplus(centres.diff() - _GAP))
        self.raw_widths = nn.Parameter(_inverse_softplus(_tensor(variable.widths) / self.radius - _GAP))

    def centres(self) -> Tensor:
        """Return the centres [n_terms] in halves of the range."""
        gaps = _GAP + nn.functional.softplus(self.raw_gaps, threshold=50.0)
        return torch.cat([self.first[None], self.first + torch.cumsum(gaps, 0)])

    def widths(self) -> Tensor:
        """Return the widths [n_terms, or 0 for shapes without] in halves of the range."""
        return _GAP + nn.functional.softplus(self.raw_widths, threshold=50.0)

    def forward(self, x: Tensor) -> Tensor:
        """Return the memberships [n, n_terms] of scaled inputs [n]."""
        shape, centres = self.variable.shape, self.centres()
        if isinstance(shape, (Gaussian, Bell)):
            squared = ((x[:, None] - centres) / self.widths()).square()
            return torch.exp(-0.5 * squared) if isinstance(shape, Gaussian) else 1.0 / (1.0 + squared**shape.slope)
        if not isinstance(shape, (Triangular, Trapezoid)):
            raise NotImplementedError(f"terms of shape {shape.name!r} have no form for training; add one here")
        edge = shape.plateau if isinstance(shape, Trapezoid) else 0.0
        gaps = centres.diff()
        rises = ((x[:, None] - (centres[:-1] + edge * gaps)) / ((1.0 - 2.0 * edge) * gaps)).clamp(0.0, 1.0)
        one, zero = rises.new_ones(len(x), 1), rises.new_zeros(len(x), 1)
        return torch.cat([one, rises], 1) - torch.cat([rises, zero], 1)

    @torch.no_grad()
    def keep_inside(self) -> None:
        """Move the terms back where a step has led centres out of the range, or away from what they are called."""
        centres = self.centres()
        if not (bool(centres[0] >= -1.0) and bool(centres[-1] <= 1.0)):
            gaps = (len(centres) - 1) * _GAP
            self.first.copy_(centres[0].clamp(-1.0, 1.0 - gaps))
            extra = (centres.clamp(-1.0, 1.0).diff() - _GAP).clamp_min(_TINY)
            room = max(1.0 - float(self.first) - gaps, _TINY)
            self.raw_gaps.copy_(_inverse_softplus(extra * min(1.0, room / float(extra.sum()))))
        if self.variable.signed:
            self._keep_true()

    def _keep_true(self) -> None:
        centres = (self.middle + self.radius * self.centres()).numpy()[None]
        wanted = kept_true(centres, self.variable.smallest_gap)
        if abs(wanted - centres).max() > _ROUNDING * self.radius:
            scaled = (torch.from_numpy(wanted[0]) - self.middle) / self.radius
            self.first.copy_(scaled[0])
            self.raw_gaps.copy_(_inverse_softplus((scaled.diff() - _GAP).clamp_min(_TINY)))

    def trained(self) -> Variable:
        """Return the variable with the present terms."""
        v = self.variable
        centres = (self.middle + self.radius * self.centres()).detach().tolist()
        widths = (self.radius * self.widths()).detach().tolist()
        return replace(
            v,
            centres=spread_apart([float(c) for c in centres], v.smallest_gap),
            widths=tuple(max(w, v.smallest_width) for w in widths),
        )


class ChannelNetwork(nn.Module):
    """Rules of one channel: inputs [n, n_inputs] to shares of the gains' box [n, n_gains]."""

    low: Tensor
    high: Tensor
    span: Tensor
    reference: Tensor
    index: Tensor

    def __init__(self, base: RuleBase, how: Inference) -> None:
        super().__init__()
        self.base, self.how = base, how
        self.n_slopes = len(base.inputs) if how.order else 0
        self.terms = nn.ModuleList(TermLayer(variable) for variable in base.inputs)
        low, high = _tensor(base.low), _tensor(base.high)
        span = torch.where(high > low, high - low, torch.ones_like(low))
        self.register_buffer("low", low)
        self.register_buffer("high", high)
        self.register_buffer("span", span)
        self.register_buffer("reference", (_tensor(base.reference) - low) / span)
        self.register_buffer(
            "index",
            torch.tensor([base.rules[k].terms for k in base.active], dtype=torch.long).reshape(-1, len(base.inputs)),
        )
        self.consequents = nn.Parameter(self._shares([base.rules[k] for k in base.active]))

    def term_layers(self) -> list[TermLayer]:
        """Return the terms of each input."""
        return [cast("TermLayer", layer) for layer in self.terms]

    def _shares(self, rules: list[Rule]) -> Tensor:
        """Consequents of rules as shares of the box: [n_rules, 1 + slopes, n_gains]."""
        rows = []
        for rule in rules:
            constant = (_tensor(rule.gains) - self.low) / self.span
            slopes = _tensor(rule.slopes).reshape(len(rule.gains), self.n_slopes).T / self.span
            rows.append(torch.cat([constant[None], slopes]))
        return torch.stack(rows) if rows else self.low.new_zeros(0, 1 + self.n_slopes, len(self.low))

    def scaled(self, x: Tensor) -> Tensor:
        """Return the inputs limited to their ranges, in halves of the range around its middle."""
        columns = [
            (x[:, k].clamp(layer.variable.low, layer.variable.high) - layer.middle) / layer.radius
            for k, layer in enumerate(self.term_layers())
        ]
        return torch.stack(columns, 1)

    def firing(self, x: Tensor) -> Tensor:
        """Return the firing strengths [n, n_rules]."""
        inside = self.scaled(x)
        chosen = torch.stack([layer(inside[:, k])[:, self.index[:, k]] for k, layer in enumerate(self.term_layers())])
        if self.how.t_norm == "minimum":
            return chosen.amin(0)
        if self.how.t_norm == "product":
            return chosen.prod(0)
        raise NotImplementedError(f"the t-norm {self.how.t_norm!r} has no form for training; add one here")

    def confidence(self, x: Tensor) -> Tensor:
        """Return 1 inside the taught ranges, falling to 0 outside [n]."""
        outside = x.new_zeros(len(x))
        for k, layer in enumerate(self.term_layers()):
            low, high = layer.variable.low, layer.variable.high
            outside = outside + (x[:, k] - x[:, k].clamp(low, high)).abs() / (self.how.fade * (high - low))
        return (1.0 - outside).clamp_min(0.0)

    def shares(self, x: Tensor) -> Tensor:
        """Return each rule's share in the gains [n, n_rules]; they sum to 1 where enough fires, inside the ranges."""
        strengths = self.firing(x)
        total = strengths.sum(1)
        said = voice(self.how, strengths)
        if by_areas(self.how):
            said = said * (total / said.sum(1).clamp_min(TINY))[:, None]
        return said * (self.confidence(x) / total.clamp_min(self.how.fallback))[:, None]

    def basis(self, x: Tensor) -> Tensor:
        """Return what multiplies the consequents' distance from the reference: [n, n_rules, 1 + slopes]."""
        shares = self.shares(x)
        if self.how.order == 0:
            return shares[:, :, None]
        affine = torch.cat([x.new_ones(len(x), 1), self.scaled(x)], 1)
        return shares[:, :, None] * affine[:, None, :]

    def offsets(self) -> Tensor:
        """Return the consequents relative to the reference gains [n_rules, 1 + slopes, n_gains]."""
        offsets = self.consequents.clone()
        offsets[:, 0] = offsets[:, 0] - self.reference
        return offsets

    def forward(self, x: Tensor) -> Tensor:
        """Return the gains as shares of their box [n, n_gains]."""
        moved = torch.einsum("nrb,rbg->ng", self.basis(x), self.offsets())
        return (self.reference + self.how.authority * moved).clamp(0.0, 1.0)

    def gains(self, x: Tensor) -> Tensor:
        """Return the gains [n, n_gains] in their units."""
        return self.low + self.span * self(x)

    @torch.no_grad()
    def take_consequents(self, base: RuleBase) -> None:
        """Take over the consequents of a rule base with the same rules."""
        self.consequents.copy_(self._shares([base.rules[k] for k in self.base.active]))

    def trained(self) -> RuleBase:
        """Return the rule base with the present numbers; rules that are off stay as they were."""
        constants = (self.low + self.span * self.consequents[:, 0]).detach()
        slopes = (self.span * self.consequents[:, 1:]).detach()
        if self.how.order == 0:
            constants = torch.minimum(torch.maximum(constants, self.low), self.high)
        rules = list(self.base.rules)
        for row, number in enumerate(self.base.active):
            tilt = tuple(map(tuple, slopes[row].T.tolist())) if self.how.order else ()
            rules[number] = replace(rules[number], gains=tuple(constants[row].tolist()), slopes=tilt)
        return replace(self.base, inputs=tuple(layer.trained() for layer in self.term_layers()), rules=tuple(rules))


class SugenoNetwork(nn.Module):
    """The network of a knowledge base, one sub-network per channel.

    Parameters
    ----------
    kb : KnowledgeBase
        Structure and start values; rules that are off take no part. float64, on the CPU; ``.to(device)`` moves it.
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        super().__init__()
        self.kb = kb
        self.columns = [kb.columns(number) for number in range(len(kb.channels))]
        networks = [ChannelNetwork(base, kb.inference) for base in kb.channels]
        if kb.common_terms:
            for network in networks:
                network.terms = networks[0].terms
        self.channels = nn.ModuleList(networks)

    def networks(self) -> list[ChannelNetwork]:
        """Return the sub-network of each channel."""
        return [cast("ChannelNetwork", network) for network in self.channels]

    def inputs_of(self, channel: int, x: Tensor) -> Tensor:
        """Return the columns [n, n_inputs of the channel] of all inputs [n, n_inputs]."""
        return x[:, self.columns[channel]]

    def forward(self, x: Tensor) -> Tensor:
        """Return the gains of all channels as shares of their boxes [n, n_gains] for inputs [n, n_inputs]."""
        return torch.cat([network(self.inputs_of(k, x)) for k, network in enumerate(self.networks())], 1)

    def gains(self, x: Tensor) -> Tensor:
        """Return the gains of all channels [n, n_gains] in their units."""
        return torch.cat([network.gains(self.inputs_of(k, x)) for k, network in enumerate(self.networks())], 1)

    def take_consequents(self, kb: KnowledgeBase) -> None:
        """Take over the consequents of a knowledge base with the same rules."""
        for network, base in zip(self.networks(), kb.channels, strict=True):
            network.take_consequents(base)

    def knowledge_base(self) -> KnowledgeBase:
        """Return the knowledge base with the network's present numbers."""
        return replace(self.kb, channels=tuple(network.trained() for network in self.networks()))


def _tensor(values: object) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def _inverse_softplus(y: Tensor) -> Tensor:
    """Number whose softplus is `y`."""
    y = y.clamp_min(_TINY)
    return torch.where(y > 30.0, y, torch.log(torch.expm1(y.clamp_max(30.0))))
