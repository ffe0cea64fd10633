"""The fuzzy controller: a knowledge base that schedules the gains of PID laws, on line and in the compiled loop.

Mamdani's centroid of the maximum needs sums over a grid. In the compiled loop the grid is a loop of the kernel, not
thousands of statements: before it the firing strengths (and the sets' centres, where a search may move them) are put
into rows; at every point of the grid the aggregated set's area and moment grow; behind it the gains are made of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import gain_names, pid_form
from controllers.protocols import Sweep
from flcs.inference import defuzzification, inference
from flcs.inference.inference import RuleNumbers, firing, own_numbers
from flcs.inference.rule_base import OWN_INPUTS, check_authority
from flcs.knowledge_base import probes as kb_probes
from flcs.knowledge_base import valid_range
from flcs.knowledge_base.gain_hull import gain_hull, vertices
from flcs.knowledge_base.knowledge_base import KnowledgeBase
from flcs.knowledge_base.theta import GROUPS, ThetaLayout
from plants.core.elementary import clip

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from controllers.probes import Near, Probes
    from controllers.protocols import Law
    from flcs.inference.membership import Number, Numbers
    from flcs.inference.rule_base import RuleBase
    from flcs.knowledge_base.lookup import LookupTable
    from sscq.certificates.gain_hull import GainHull

    Inputs = Callable[[int, Numbers, Numbers], Numbers]
    Gains = Callable[[Numbers, Numbers, Numbers, Sequence[Sequence[Numbers]]], tuple[Numbers, Numbers]]


@dataclass(frozen=True)
class FuzzySchedule:
    """Gains of all channels from a knowledge base; see :class:`controllers.Schedule`.

    Its state `k` is the error integral z of each channel that uses it, then, with a slew limit, the gains before.

    Attributes
    ----------
    kb : KnowledgeBase
    authority : float
        Share of the way from the reference gains to the scheduled ones, 0 .. 1.
    free : tuple of {"consequents", "rules", "terms"}
        Numbers that are parameters theta; the others are compiled in.
    tables : tuple of LookupTable
        One per channel, in place of the rules. Empty: the rules.
    """

    kb: KnowledgeBase
    authority: float = 1.0
    free: tuple[str, ...] = GROUPS
    tables: tuple[LookupTable, ...] = ()

    def __post_init__(self) -> None:
        """Check."""
        object.__setattr__(self, "authority", check_authority(self.authority))
        object.__setattr__(self, "free", self.layout.free)
        if self.tables and (self.free or len(self.tables) != len(self.kb.channels)):
            raise ValueError(
                f"look-up tables replace the rules of all {len(self.kb.channels)} channels and have no free numbers, "
                f"got {len(self.tables)} tables with free={self.free}; use free=()"
            )

    @cached_property
    def layout(self) -> ThetaLayout:
        """Order of the parameters."""
        return ThetaLayout(self.kb, self.free)

    @property
    def gain_names(self) -> tuple[str, ...]:
        """Names of the gains it gives."""
        return self.kb.gain_names

    @cached_property
    def theta_names(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(entry.name for entry in self.layout.entries())

    @property
    def tick(self) -> float | None:
        """Time between two updates [s]."""
        return self.kb.tick

    @property
    def signals(self) -> tuple[str, ...]:
        """Extra plant outputs."""
        return self.kb.signals

    @property
    def integrating(self) -> tuple[int, ...]:
        """Channels that use the error integral."""
        return tuple(i for i, base in enumerate(self.kb.channels) if "z" in base.input_names)

    @property
    def n_states(self) -> int:
        """Number of scheduler states."""
        return len(self.initial())

    def initial(self) -> tuple[float, ...]:
        """Return the state at t = 0: no integral; a slew limit starts from the reference gains."""
        before = tuple(gain for base in self.kb.channels for gain in base.reference) if self.kb.slew else ()
        return (0.0,) * len(self.integrating) + before

    def gains(self, t: Number, s: Numbers, k: Numbers, theta: Numbers) -> tuple[Numbers, Numbers]:  # noqa: ARG002
        """Return the gains at this tick and the new state: a block.

        Parameters
        ----------
        t : number
            Time [s]; not used.
        s : tuple
            Error and error rate of each channel, then the plant outputs named in ``signals``.
        k : tuple [n_states]
            z is the integral up to this tick; this tick's error is added to it after its use.
        theta : tuple [n_theta]
        """
        return self._gains(s, k, theta, None)

    @cached_property
    def settled(self) -> FuzzySchedule:
        """The schedule with gains that have arrived where a slew limit lets them go."""
        return self if self.kb.slew is None else replace(self, kb=replace(self.kb, slew=None))

    def at_rest(self, theta: NDArray[np.float64], outputs: Sequence[NDArray[np.float64]]) -> Probes:
        """Return where its gains stand without control errors; see :func:`flcs.knowledge_base.probes.at_rest`."""
        return kb_probes.at_rest(self.kb, self._columns(theta), outputs)

    def probes(self, theta: NDArray[np.float64], near: Near, count: int, seed: int = 0) -> Probes:
        """Return where all gains that it may give near a point are seen; see :mod:`flcs.knowledge_base.probes`."""
        return kb_probes.probes(self.kb, self._columns(theta), near, count, seed)

    def vertices(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return gain sets whose hull holds all that it gives [n, n_sets, n_gains], of theta [n, n_theta] each."""
        return vertices(self.kb, self._columns(theta), self.authority)

    def _columns(self, theta: NDArray[np.float64]) -> list[RuleNumbers]:
        return self.layout.numbers(tuple(np.ascontiguousarray(theta.T)[:, :, None]))

    @cached_property
    def sweep(self) -> Sweep | None:
        """The same in three blocks, where output sets are summed over a grid."""
        if self.tables or not self.kb.inference.apart:
            return None
        return sweep_over_grid(self.kb, self.layout, self.inputs, self._gains)

    def _gains(self, s: Numbers, k: Numbers, theta: Numbers, sums: Sequence[Any] | None) -> tuple[Numbers, Numbers]:
        n = len(self.integrating)
        z = dict(zip(self.integrating, k[:n], strict=True))
        values: list[Number] = []
        for i, numbers in enumerate(self.layout.numbers(theta)):
            values += self._channel(i, self.inputs(i, s, k), numbers, None if sums is None else sums[i])
        z_new = tuple(self._integrated(i, s[2 * i], z[i]) for i in self.integrating)
        if self.kb.slew:
            values = self._slowed(values, k[n:])
            return tuple(values), (*z_new, *values)
        return tuple(values), z_new

    def _channel(self, i: int, x: Numbers, numbers: inference.RuleNumbers, sums: Sequence[Numbers] | None) -> Numbers:
        if self.tables:
            return self.tables[i].block(x, self.authority)
        return inference.infer(self.kb.channels[i], self.kb.inference, x, numbers, self.authority, sums)

    def inputs(self, i: int, s: Numbers, k: Numbers) -> Numbers:
        """Return the inputs of a channel's rules at this tick; arguments as of :meth:`gains`."""
        z = dict(zip(self.integrating, k[: len(self.integrating)], strict=True))
        first = 2 * len(self.kb.channels)
        own = {"e": s[2 * i], "e_rate": s[2 * i + 1], "z": z.get(i)}
        extra = dict(zip(self.signals, s[first:], strict=True))
        return tuple(own[name] if name in OWN_INPUTS else extra[name] for name in self.kb.channels[i].input_names)

    def _integrated(self, i: int, error: Number, z: Number) -> Number:
        limit = self.kb.channels[i].integral_limit or 0.0
        return clip(z + (self.kb.tick or 0.0) * error, -limit, limit)  # both are set where z is used

    def _slowed(self, values: Sequence[Number], before: Numbers) -> list[Number]:
        spans = [high - low for base in self.kb.channels for low, high in zip(base.low, base.high, strict=True)]
        share = (self.kb.slew or 0.0) * (self.kb.tick or 0.0)  # both are set here
        steps = [share * span for span in spans]
        return [clip(v, old - step, old + step) for v, old, step in zip(values, before, steps, strict=True)]


@dataclass(frozen=True)
class FuzzyController:
    """A controller for :func:`sscq.evaluate`: PID laws whose gains follow a knowledge base.

    Attributes
    ----------
    kb : KnowledgeBase
    authority : float, optional
        Share of the way from the reference gains to the scheduled ones; left out, the knowledge base's own.
    lookup : bool, or sequence of LookupTable
        Use look-up tables in place of the rules: those given, or ones with the default grid. For judging a table in
        closed loop; unrolled, 33 x 33 nodes take some ten seconds to compile.
    free : tuple of {"consequents", "rules", "terms"}
        Numbers that a search may change; the others are compiled in, which is faster. With `lookup` none are.
    laws : tuple of laws, optional
        One per channel; left out, those that the knowledge base was designed for.

    Examples
    --------
    One kernel refines the rules of a knowledge base in closed loop, then the winner is written back::

        controller = FuzzyController(kb)
        result = sscq.search.genetic.evolve(evaluate, controller.theta_low, controller.theta_high, config, seed)
        better = controller.with_theta(result.genome)
    """

    kb: KnowledgeBase
    authority: float | None = None
    lookup: bool | Sequence[LookupTable] = False
    free: tuple[str, ...] = GROUPS
    laws: tuple[Law, ...] = field(default=())

    def __post_init__(self) -> None:
        """Check and coerce."""
        if not isinstance(self.kb, KnowledgeBase):
            raise TypeError(f"expected a KnowledgeBase (KnowledgeBase.load reads one), got {type(self.kb).__name__}")
        given: object = self.laws
        laws = tuple(given) if isinstance(given, (tuple, list)) else (given,)
        laws = laws or tuple(pid_form.build(base.law) for base in self.kb.channels)
        object.__setattr__(self, "laws", laws)
        if gain_names(laws) != self.kb.gain_names:
            raise ValueError(
                f"the knowledge base gives the gains {self.kb.gain_names}, the laws take {gain_names(laws)}; give one "
                "law per channel with these gains"
            )
        if self.lookup:
            object.__setattr__(self, "free", ())
        self.schedule  # noqa: B018  (built now, so that its complaints come from here)

    @cached_property
    def schedule(self) -> FuzzySchedule:
        """The gain schedule."""
        authority = self.kb.inference.authority if self.authority is None else self.authority
        return FuzzySchedule(self.kb, authority, tuple(self.free), self._tables())

    def _tables(self) -> tuple[LookupTable, ...]:
        if not self.lookup:
            return ()
        if isinstance(self.lookup, bool):
            return tuple(self.kb.lookup_table(i, tolerance=None) for i in range(len(self.kb.channels)))
        return tuple(self.lookup)

    @property
    def theta(self) -> NDArray[np.float64]:
        """The knowledge base's own numbers [n_theta]."""
        return np.array([entry.value for entry in self.schedule.layout.entries()])

    @property
    def theta_names(self) -> tuple[str, ...]:
        """Names of the numbers: "kp[N,Z]", "on[N,Z]", "e.N.centre", ..."""
        return self.schedule.theta_names

    @property
    def theta_low(self) -> NDArray[np.float64]:
        """Lower bounds for a search [n_theta]: gains in their box, centres short of half-way to their neighbours."""
        return np.array([entry.low for entry in self.schedule.layout.entries()])

    @property
    def theta_high(self) -> NDArray[np.float64]:
        """Upper bounds for a search [n_theta]."""
        return np.array([entry.high for entry in self.schedule.layout.entries()])

    def with_theta(self, theta: ArrayLike) -> KnowledgeBase:
        """Return the knowledge base with these numbers in place of its own.

        Raises
        ------
        ValueError
            If there are not n_theta finite numbers.
        """
        values = np.asarray(theta, dtype=float)
        if values.shape != (len(self.theta_names),) or not np.isfinite(values).all():
            raise ValueError(
                f"theta must be {len(self.theta_names)} finite numbers, got shape {values.shape}: {values}"
            )
        return self.schedule.layout.write(values.tolist())

    def frozen(self) -> FuzzyController:
        """Return the controller with all numbers compiled in: the fastest form, with no parameters left."""
        return replace(self, free=())

    def under(self, **conditions: float) -> FuzzyController:
        """Return the controller for a loop whose conditions are known: outside the taught range it falls back.

        Parameters
        ----------
        **conditions : float
            delay, output_delay [s] and noise (standard deviation), see :mod:`flcs.knowledge_base.valid_range`.
        """
        return replace(self, authority=self.schedule.authority * valid_range.share(self.kb, conditions))

    @property
    def gain_hull(self) -> GainHull:
        """Vertices of all gains that it can give."""
        return gain_hull(self.kb, self.schedule.authority)

    def gains(self, inputs: ArrayLike) -> Any:
        """Return the gains [n, n_gains] for inputs [n, n_inputs], by rules; see :meth:`KnowledgeBase.gains`."""
        return self.kb.gains(inputs, self.schedule.authority)


def sweep_over_grid(kb: KnowledgeBase, layout: ThetaLayout, inputs: Inputs, gains: Gains) -> Sweep:
    """Return the gains of a knowledge base with output sets on a grid as three blocks.

    Parameters
    ----------
    kb : KnowledgeBase
    layout : ThetaLayout
        Which of its numbers are parameters.
    inputs : callable (channel, s, k) -> inputs of its rules
    gains : callable (s, k, theta, sums [channel][gain] of (area, moment)) -> (gains, new state)
    """
    sets, moved = kb.inference.output, "consequents" in layout.free
    if sets is None:
        raise ValueError("only output sets are summed over a grid, and this knowledge base has none")
    rules = [tuple(range(len(base.rules))) if "rules" in layout.free else base.active for base in kb.channels]
    sizes = [len(base.gain_names) for base in kb.channels]

    def begin(t: Number, s: Numbers, k: Numbers, theta: Numbers) -> tuple[Numbers, Numbers]:  # noqa: ARG001
        held: list[Number] = []
        for i, (base, numbers) in enumerate(zip(kb.channels, layout.numbers(theta), strict=True)):
            held += firing(base, kb.inference, inputs(i, s, k), numbers)[1]
            held += [place for row in _places(base, numbers, rules[i]) for place in row] if moved else []
        return tuple(held), (0.0,) * (1 + 2 * sum(sizes))

    def advance(held: Numbers, moving: Numbers) -> Numbers:
        node, sums, first = -sets.width + sets.step * moving[0], list(moving[1:]), 0
        column = 0
        for i, base in enumerate(kb.channels):
            n = len(rules[i])
            strengths, first = held[first : first + n], first + n
            own = None if moved else own_numbers(base)
            places: Sequence[Number]
            for k in range(sizes[i]):
                if own is None:
                    places, first = held[first : first + n], first + n
                else:
                    places = _places(base, own, rules[i])[k]
                height = defuzzification.aggregated(sets, strengths, places, node)
                sums[column] = sums[column] + height
                sums[column + 1] = sums[column + 1] + node * height
                column += 2
        return (moving[0] + 1.0, *sums)

    def end(t: Number, s: Numbers, k: Numbers, theta: Numbers, moving: Numbers) -> tuple[Numbers, Numbers]:  # noqa: ARG001
        pairs = iter(zip(moving[1::2], moving[2::2], strict=True))
        return gains(s, k, theta, [[next(pairs) for _ in range(size)] for size in sizes])

    n_held = sum(len(r) * (1 + (size if moved else 0)) for r, size in zip(rules, sizes, strict=True))
    return Sweep(sets.points, n_held, 1 + 2 * sum(sizes), begin, advance, end)


def _places(base: RuleBase, numbers: RuleNumbers, rules: Sequence[int]) -> list[Sequence[Number]]:
    """Centres of the rules' sets of every gain."""
    box = zip(base.low, base.reference, base.high, strict=True)
    return [defuzzification.centres([numbers.gains[r][k][0] for r in rules], ends) for k, ends in enumerate(box)]
