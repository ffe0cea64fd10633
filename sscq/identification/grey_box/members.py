"""Plants of known equations that could have produced the logs of a loop, with the tests that say whether to use them.

ensemble = identify_grey(GreyBox(plant, ("upper hole",), step=4.0), records)
ensemble.refusal                                     # "" or why the log cannot tell
ensemble.sets(0.05)                                  # parameters of the members, by name
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.identification.extended_filter import ExtendedFilter
from sscq.identification.ensemble import EVIDENCE_ROUNDS, FAR_SHARE, INPUT_EVIDENCE, PORTMANTEAU, UNSETTLED
from sscq.identification.grey_box.prior import GreyPrior
from sscq.identification.prior import LoopScales
from sscq.identification.residuals import ResidualTest, residual_test
from sscq.identification.sampler import PosteriorSample, climbed, sampled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from plants.identification.grey_box import GreyBox
    from plants.identification.record import LoopRecord

    Array = NDArray[np.float64]

_OF_DATA = 4.0
_TRIED = 256  # draws of which one at least has to have a likelihood
_TOLD = 0.8  # of a prior's deviation: a parameter that keeps more of it is hardly told by the log


@dataclass(frozen=True, eq=False)
class GreyEnsemble:
    """Members of a box.

    Attributes
    ----------
    box : GreyBox
    records : tuple of LoopRecord
    prior : GreyPrior
    sample : PosteriorSample
    residuals : ResidualTest
        Of the best member.
    input_evidence : float
        Gain in log density over a plant whose command does nothing.
    """

    box: GreyBox
    records: tuple[LoopRecord, ...]
    prior: GreyPrior
    sample: PosteriorSample
    residuals: ResidualTest
    input_evidence: float

    @cached_property
    def parameters(self) -> Array:
        """Of all members [n, n_parameters], in the order of the box's names."""
        return self.prior.parameters(self.sample.members)

    def column(self, name: str) -> Array:
        """Return one parameter of all members [n]."""
        return np.asarray(self.parameters[:, self.box.parameters.index(name)])

    @property
    def untold(self) -> tuple[str, ...]:
        """Fitted parameters of which the logs hardly tell more than was known before."""
        deviations = self.sample.members[:, : len(self.box.fitted)].std(axis=0) / self.prior.deviation
        return tuple(name for name, d in zip(self.box.fitted, deviations, strict=True) if d > _TOLD)

    @property
    def refusal(self) -> str:
        """Why no controller should be designed from these logs; empty: none of the tests speaks against it."""
        name, found = self.box.plant.name, self.residuals
        if self.input_evidence < INPUT_EVIDENCE:
            return (
                f"the output hardly follows the command (evidence {self.input_evidence:.1f}, at least "
                f"{INPUT_EVIDENCE:g}): step the set point up and down, each until the output has settled, and log that"
            )
        if found.portmanteau > PORTMANTEAU:
            return (
                f"no {name} explains the log: what is left over is correlated (Ljung-Box of {found.lags} lags "
                f"{found.portmanteau:.0f}, at most {PORTMANTEAU:g}); fit further parameters, or load another quantity"
            )
        if found.far > FAR_SHARE:
            return (
                f"no {name} explains the log: {100.0 * found.far:.1f} % of the rows are beyond four deviations "
                f"(at most {100.0 * FAR_SHARE:g} %)"
            )
        if self.sample.spread_ratio >= UNSETTLED:
            return (
                f"the members differ from search to search (R-hat {self.sample.spread_ratio:.2f}): the log has several "
                f"explanations; fit fewer parameters"
            )
        return ""


def identify_grey(
    box: GreyBox,
    records: Sequence[LoopRecord],
    *,
    seed: int = 0,
    longest_dead_time: float | None = None,
    threads: int | None = None,
    on_round: Callable[[int, int], None] | None = None,
) -> GreyEnsemble:
    """Return members of a plant that could have produced the logs of one loop.

    Parameters
    ----------
    box : GreyBox
    records : sequence of LoopRecord
        In the units of the plant's output and command. The plant is the same in all, the loads are each log's own.
    seed : int
    longest_dead_time : float, optional
        [s]; left out, an eighth of the longest log, at most 150 s.
    threads : int, optional
        None: all processors. The result does not depend on it.
    on_round : function of (round, of how many), optional

    Raises
    ------
    ValueError
        If the command or the output does not move in any record.
    """
    several, width = tuple(records), box.plant.channels[0].high - box.plant.channels[0].low
    if not np.isfinite(width):  # as usual, a log covers a part of what there is
        width = _OF_DATA * float(np.ptp(np.concatenate([record.input for record in several])))
    scales = LoopScales.of(several, width, longest_dead_time)
    for name, moved in (("command", scales.input_range), ("measured output", scales.output_range)):
        if not moved > 0.0:
            raise ValueError(f"the {name} does not move in any record, so nothing can be told of the plant")
    prior, known = GreyPrior(box, scales), ExtendedFilter(box)
    density = _Posterior(known, prior, several, threads)
    if not np.isfinite(density(prior.draws(_TRIED, np.random.default_rng([seed, 0])))).any():
        raise ValueError(
            f"no parameters that were tried have a likelihood: {box.plant.name} runs away with a step of "
            f"{box.step / box.parts:g} s (is it stiff?), or the log is in other units than its output and command"
        )
    sample = sampled(density, prior.draws, prior.asked, seed, on_round)
    best = prior.parameters(sample.members)[int(sample.log_density.argmax())]
    seen = [known.seen(record, best) for record in several]
    still = tuple(replace(r, input=np.full(len(r), r.origin[1])) for r in several)
    without = climbed(_Posterior(known, prior, still, threads), sample.members, EVIDENCE_ROUNDS, 0)
    evidence = float(sample.log_density.max() - without)
    return GreyEnsemble(box, several, prior, sample, residual_test(seen), evidence)


class _Posterior:
    """Log density of coordinates after the logs; nothing is filtered where there is none before."""

    def __init__(self, known: ExtendedFilter, prior: GreyPrior, records: Sequence[LoopRecord], threads: Any) -> None:
        self.known, self.prior, self.records, self.threads = known, prior, records, threads
        self.starts = [known.box.start(record) for record in records]

    def __call__(self, coordinates: Array) -> Array:
        found = self.prior.log_density(coordinates)
        inside = np.isfinite(found)
        if inside.any():
            # All rows are filtered together, whatever is inside: a row's likelihood does not depend on the others.
            some = np.where(inside[:, None], coordinates, coordinates[inside][0])
            parameters = self.prior.parameters(some)
            after = self.known.log_likelihoods(self.records, parameters, self.threads, self.starts)
            found = np.where(inside, found + after, -np.inf)
        return found
