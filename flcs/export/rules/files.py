"""Files that hold rules alone, a file for each channel, and beside them the complement with all that they lack.

Their proof: random inputs of a channel's rules, what a file of the rules alone must say there, and what came.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from flcs.exchange import ExchangeError, complement, restored, system_of
from flcs.exchange.of_knowledge_base import as_files_say
from flcs.export.proof import OK, Proof, unchecked
from plants.core.names import identifier

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from flcs import KnowledgeBase
    from flcs.exchange import FuzzySystem
    from flcs.export.job import Job

    Array = NDArray[np.float64]


COMPLEMENT = "complement.json"


def stem(plant: str, channel: str) -> str:
    """Return a file's name without its ending."""
    return identifier(f"{plant}_{channel}")


def names_of(kb: KnowledgeBase, ending: str) -> list[str]:
    """Return the files' names, a channel each."""
    return [f"{stem(kb.plant, base.name)}.{ending}" for base in kb.channels]


def written(kb: KnowledgeBase, ending: str, write: Callable[[FuzzySystem], str]) -> dict[str, str]:
    """Return the files' texts by name; none where the format cannot carry this knowledge base."""
    if refused(kb, write):
        return {}
    texts = {name: write(system_of(kb, k)) for k, name in enumerate(names_of(kb, ending))}
    return {**texts, COMPLEMENT: json.dumps(complement(kb), indent=1, ensure_ascii=False, allow_nan=False) + "\n"}


def refused(kb: KnowledgeBase, write: Callable[[FuzzySystem], str]) -> str:
    """Return why the format cannot carry a knowledge base; empty where it can."""
    try:
        for k in range(len(kb.channels)):
            write(system_of(kb, k))
    except ExchangeError as error:
        return str(error)
    return ""


def comes_back(kb: KnowledgeBase, folder: Path, ending: str, read: Callable[[str], FuzzySystem]) -> str:
    """Return what is wrong with a knowledge base that is read back from its files; empty where it is the same."""
    systems = [read((folder / name).read_text(encoding="utf-8")) for name in names_of(kb, ending)]
    document = json.loads((folder / COMPLEMENT).read_text(encoding="utf-8"))
    back = restored(document, systems)
    return "" if back.content_hash == kb.content_hash else "the knowledge base that comes back is another one"


def settled(
    job: Job, folder: Path, ending: str, bound: float,
    write: Callable[[FuzzySystem], str], read: Callable[[str], FuzzySystem],
) -> Proof | None:  # fmt: skip
    """Return the proof that needs no other program: nothing was written, or what comes back is wrong; else None.

    Parameters
    ----------
    ending : str
        Of the files' names; the target's name as well.
    """
    why = refused(job.kb, write)
    if why:
        return unchecked(ending, f"not written: {why}")
    wrong = comes_back(job.kb, folder, ending, read)
    return Proof(ending, "own reader", "failed", wrong, bound) if wrong else None


RANDOM = 10_000
_FIRES = 1e-3  # sum of firing strengths: where nothing fires every program has a way of its own
_MOST_TRIES = 20


@dataclass(frozen=True, eq=False)
class GainPoints:
    """Inputs of one channel inside the taught ranges where its rules fire, and the gains there.

    Attributes
    ----------
    names : tuple of str
        Of the gains, with the channel.
    inputs : array [n, n_inputs]
    rules_alone : array [n, n_gains]
        Weighted mean of the rules.
    spans : array [n_gains]
        The box.
    least : array [n]
        Smallest firing strength above 0.
    same : float
        Share of all places inside the taught ranges where that is the controller's own gain, to 1e-9 of the box.
    """

    names: tuple[str, ...]
    inputs: Array
    rules_alone: Array
    spans: Array
    least: Array
    same: float

    def firing_above(self, strength: float) -> GainPoints:
        """Return the places where each rule fires more than `strength` or not at all, for programs that round there."""
        kept = self.least > strength
        return replace(self, inputs=self.inputs[kept], rules_alone=self.rules_alone[kept], least=self.least[kept])


def gain_points(kb: KnowledgeBase, channel: int, count: int = RANDOM, seed: int = 0) -> GainPoints:
    """Draw inputs of a channel.

    Raises
    ------
    ValueError
        If its rules fire hardly anywhere.
    """
    one = replace(kb, channels=(kb.channels[channel],))
    base, rng = one.channels[0], np.random.default_rng(seed)
    on = np.array([rule.on for rule in base.rules])
    kept: list[Array] = []
    drawn = np.empty((0, len(base.inputs)))
    for _ in range(_MOST_TRIES):
        drawn = np.stack([rng.uniform(v.low, v.high, count) for v in base.inputs], axis=1)
        kept.append(drawn[(one.firing(drawn) * on).sum(axis=1) > _FIRES])
        if sum(map(len, kept)) >= count:
            break
    inputs = np.concatenate(kept)[:count]
    if not len(inputs):
        raise ValueError(f"the rules of channel {base.name!r} fire nowhere inside their ranges")
    span = np.array(base.high) - np.array(base.low)
    span = np.where(span > 0.0, span, 1.0)
    apart = np.abs(as_files_say(one).gains(drawn) - one.gains(drawn)) / span
    names = tuple(f"gain_{kb.suffixed(name, channel)}" for name in base.gain_names)
    same = float(np.mean(apart.max(axis=1) <= 1e-9))
    strengths = one.firing(inputs)
    least = np.where(strengths > 0.0, strengths, np.inf).min(axis=1)
    return GainPoints(names, inputs, as_files_say(one).gains(inputs), span, least, same)


def proof_of(
    target: str, checker: str, bound: float, pairs: Sequence[tuple[GainPoints, Array]], **numbers: Any
) -> Proof:
    """Return the proof of gains [n, n_gains] that another program gave at the first n inputs of each channel."""
    errors: dict[str, float] = {}
    for points, found in pairs:
        difference = np.abs(found - points.rules_alone[: len(found)]) / points.spans
        largest = np.where(np.isfinite(difference), difference, np.inf).max(axis=0, initial=0.0)
        for name, error in zip(points.names, map(float, largest), strict=True):
            errors[name] = max(errors.get(name, 0.0), error)
    samples = sum(len(found) for _, found in pairs)
    worst = max(errors, key=lambda name: errors[name])
    good = errors[worst] <= bound and samples > 0
    reason = "" if good else f"{worst} differs by {errors[worst]:.3g} of its box; allowed are {bound:g}"
    same = {p.names[0].removeprefix("gain_"): round(p.same, 4) for p, _ in pairs}
    numbers = {"share_of_ranges_with_the_controllers_gains": same, **numbers}
    return Proof(target, checker, OK if good else "failed", reason, bound, samples, errors, numbers)
