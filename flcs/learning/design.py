"""From a teaching signal to a knowledge base: ranges, terms, rules on their grid; then imitation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from controllers import pid_form
from flcs.inference.rule_base import RuleBase, full_grid
from flcs.knowledge_base.knowledge_base import KnowledgeBase
from flcs.learning.config import NetworkConfig
from flcs.learning.imitation import imitate
from flcs.learning.rows import TeachingRows, merged, mirrored_rows
from flcs.learning.variables import variables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from controllers.protocols import Law
    from flcs.inference.rule_base import Rule
    from flcs.inference.variable import Variable
    from flcs.learning.information import Search
    from plants import Plant

_MOST_GRID_RULES = 1_000


def design(
    teaching_signal: Any,
    low: ArrayLike,
    high: ArrayLike,
    reference_gains: ArrayLike,
    *,
    config: NetworkConfig | None = None,
    seed: int = 0,
    plant: Plant | str = "",
    plant_parameters: Mapping[str, float] | None = None,
    laws: Law | Sequence[Law] | None = None,
    tick: float | None = None,
    slew: float | None = None,
    integral_limit: float | None = None,
    search_terms: Search | None = None,
    seen: Sequence[Mapping[str, tuple[float, float]]] | None = None,
    **records: Any,
) -> KnowledgeBase:
    """Return the knowledge base that imitates a teaching signal.

    Parameters
    ----------
    teaching_signal : object with arrays situation [n], inputs [n, n_inputs], gains [n, n_gains], weight [n] and names
        Such as `sscq`'s; see :class:`flcs.TeachingRows`.
    low, high : array [n_gains], or [gains of one channel], or a number
        Box of the gains.
    reference_gains : array, as `low`
        Hold where nothing is taught.
    config : NetworkConfig, optional
    seed : int
        Of everything random: which situations validate, permutation tests.
    plant : Plant, or its name
        A plant also gives its parameters' nominal values, the channels' names and the inputs' units.
    plant_parameters : mapping, optional
        Parameter values of the design where they differ from the nominal ones.
    laws : law or sequence of laws, optional
        The PID of each channel, which the knowledge base then carries.
    tick : float, optional
        Time between two updates of the gains [s].
    slew : float, optional
        Largest rate of a gain in shares of its box [1/s].
    integral_limit : float, optional
        Largest magnitude of the error integral z, if it is an input; left out, the end of its range.
    search_terms : callable, optional
        Search over the linguistic variables, for ``config.terms=None``; see
        :func:`flcs.learning.term_search.search_terms` and :func:`flcs.learning.term_search.genetic`.
    seen : sequence of mappings of input to (low, high), optional
        What a closed loop has met, channel after channel: the ranges of the inputs hold at least this.
    **records
        Further fields of the knowledge base: fitness, taught, validation, valid_range, stability.

    Returns
    -------
    KnowledgeBase
        Ranked and without the rules that hardly fire; what was searched of the structure is in ``training``.

    Raises
    ------
    ValueError
        If the rows, the box or the settings do not fit together.

    Examples
    --------
    >>> kb = flcs.design(result.teaching_signal, (0, 0, 0), (10, 10, 10), (3.6, 0.6, 3.2), tick=0.02)  # doctest: +SKIP
    """
    settings = config or NetworkConfig()
    rows = merged(TeachingRows.of(teaching_signal), settings.merge_within)
    if settings.mirrored:
        rows = mirrored_rows(rows)
    given = {"low": low, "high": high, "reference_gains": reference_gains}
    box = [_per_gain(name, value, rows) for name, value in given.items()]
    forms = _forms(laws, rows.n_channels)
    bases, records_of = [], {}
    for channel in range(rows.n_channels):
        names, places = rows.gains_of(channel)
        met = None if seen is None else seen[channel]
        found = variables(rows, channel, places, settings, seed, search_terms, plant, met)
        lowest, highest, reference = (tuple(part[places].tolist()) for part in box)
        rules = _grid(found.inputs, reference, settings)
        parts = (found.inputs, rules, lowest, highest, reference, names, integral_limit, forms[channel])
        bases.append(RuleBase(_name(plant, channel), *parts))
        if found.record:
            records_of[bases[-1].name] = found.record
    start = KnowledgeBase(
        plant=plant if isinstance(plant, str) else plant.name,
        channels=tuple(bases),
        inference=settings.inference(),
        tick=tick,
        slew=slew,
        common_terms=settings.common_terms,
        plant_parameters=_parameters(plant, plant_parameters),
        **records,
    )
    kb = imitate(start, rows, settings, seed)
    return replace(kb, training={**kb.training, "structure": records_of}) if records_of else kb


def _grid(variables: Sequence[Variable], reference: tuple[float, ...], config: NetworkConfig) -> tuple[Rule, ...]:
    counts = [variable.n_terms for variable in variables]
    n_rules = int(np.prod(counts))
    if n_rules > _MOST_GRID_RULES:
        raise ValueError(
            f"{' x '.join(map(str, counts))} terms make {n_rules} rules, at most {_MOST_GRID_RULES} can be trained; "
            "use fewer terms or inputs"
        )
    return full_grid(counts, reference, config.order)


def _per_gain(what: str, value: ArrayLike, rows: TeachingRows) -> NDArray[np.float64]:
    """One number per gain of all channels, from all, from one channel's, or from one number."""
    given, n = np.asarray(value, dtype=float), len(rows.gain_names)
    if given.ndim == 0:
        return np.full(n, float(given))
    if given.ndim == 1 and n % rows.n_channels == 0 and len(given) == n // rows.n_channels:
        given = np.tile(given, rows.n_channels)
    if given.shape != (n,):
        raise ValueError(f"{what} must have one number for each of {rows.gain_names}, got shape {np.shape(value)}")
    return given


def _forms(laws: Law | Sequence[Law] | None, n_channels: int) -> list[dict[str, Any]]:
    if laws is None:
        return [{} for _ in range(n_channels)]
    several: list[Any] = list(laws) if isinstance(laws, (list, tuple)) else [laws] * n_channels
    if len(several) != n_channels:
        raise ValueError(f"the teaching signal has the gains of {n_channels} channels, got {len(several)} laws")
    return [pid_form.describe(law) for law in several]


def _name(plant: Plant | str, channel: int) -> str:
    return f"channel {channel + 1}" if isinstance(plant, str) else plant.channels[channel].output


def _parameters(plant: Plant | str, given: Mapping[str, float] | None) -> dict[str, float]:
    if isinstance(plant, str):
        return dict(given or {})
    return dict(zip((q.name for q in plant.parameters), plant.values("parameters", given), strict=True))
