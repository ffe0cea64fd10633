"""Valves that stick or have play: whether a log is explained better by a position that lags its command.

The position acts on the plant, not the command. With play it follows at half the play's width; a sticking valve stands
until the command is away by more than its band, then jumps (M. A. A. S. Choudhury et al., Control Engineering Practice
13, 2005, whose two parameters these are). Both act on the known input, outside the filter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sscq.identification.ensemble import log_posterior
from sscq.identification.sampler import climbed

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from plants.identification.row import Spans
    from sscq.identification.ensemble import Ensemble, StructureFit

    Array = NDArray[np.float64]

WIDTHS = (0.15, 0.3, 0.6, 1.0, 1.5, 2.2, 3.2, 4.5)
"""Of play, and bands of sticking, in hundredths of the input's span."""

JUMPS = (0.3, 0.6, 0.9)
"""Of the band."""

GAIN = 5.0
"""In log density, from which on a valve is said to stick or to have play."""

_ROUNDS = 60


@dataclass(frozen=True)
class ValveFinding:
    """The lagging valve that explains a log best.

    Attributes
    ----------
    kind : {"play", "sticking"}
    width : float
        Of the play, or the band, in hundredths of the input's span.
    jump : float
        Of a sticking valve, as a share of its band; 0 for play.
    gain : float
        In log density, over a valve that follows.
    """

    kind: str
    width: float
    jump: float
    gain: float

    @property
    def lags(self) -> bool:
        """Whether the log tells that it does."""
        return self.gain > GAIN

    def positions(self, command: Array, input_span: float = 100.0) -> Array:
        """Return where the valve was for commands [n]."""
        size = self.width * input_span / 100.0
        return with_play(command, size) if self.kind == "play" else with_sticking(command, size, self.jump)

    @property
    def text(self) -> str:
        """What is said of it."""
        if not self.lags:
            return "the valve follows its command, as far as the log tells"
        return f"the valve sticks or has play of about {self.width:g} %"


def with_play(command: Array, width: float) -> Array:
    """Return positions [n] of a valve with play: it follows at half its width, and begins where its command is."""
    found, position = np.empty(len(command)), float(command[0])
    for k, value in enumerate(command.tolist()):
        position = min(max(position, value - 0.5 * width), value + 0.5 * width)
        found[k] = position
    return found


def with_sticking(command: Array, band: float, jump: float) -> Array:
    """Return positions [n] of a valve that stands until its command is away by a band, then follows short of the rest.

    The rest, band minus jump (a share of the band), is what the command is ahead of the moving valve.
    """
    found, position, short = np.empty(len(command)), float(command[0]), (1.0 - jump) * band
    for k, value in enumerate(command.tolist()):
        away = value - position
        if abs(away) > band:
            position = value - np.copysign(short, away)
        found[k] = position
    return found


def valve_finding(
    ensemble: Ensemble,
    output_span: float = 100.0,
    input_span: float = 100.0,
    threads: int | None = None,
    on_trial: Callable[[int, int], None] | None = None,
) -> ValveFinding:
    """Return which lagging valve explains the ensemble's logs best, and by how much.

    Walkers begin at the members of the more probable structure; the valve that follows has as many rounds.
    """
    fit = ensemble.fits[int(ensemble.weights.argmax())]
    tried = [("play", width, 0.0) for width in WIDTHS]
    tried += [("sticking", width, jump) for width in WIDTHS for jump in JUMPS]
    spans = (output_span, input_span)
    best = _climb(ensemble, fit, lambda u: u, spans, threads)
    found = []
    for number, (kind, width, jump) in enumerate(tried):
        one = ValveFinding(kind, width, jump, 0.0)
        value = _climb(ensemble, fit, partial(one.positions, input_span=input_span), spans, threads)
        found.append(replace(one, gain=value - best))
        if on_trial is not None:
            on_trial(number + 1, len(tried))
    return max(found, key=lambda one: one.gain)


def _climb(
    ensemble: Ensemble, fit: StructureFit, move: Callable[[Array], Array], spans: Spans, threads: int | None
) -> float:
    records = [replace(record, input=move(record.input)) for record in ensemble.records]
    density = partial(log_posterior, records, fit.prior, ensemble.sense, spans, threads)
    return climbed(density, fit.sample.members, _ROUNDS, ensemble.seed)
