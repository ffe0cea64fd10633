"""Settings that make no sense together: authority, fallback, fade, slew limit, tick, integral limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flcs.lint.findings import Finding
from flcs.lint.subject import rates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flcs.knowledge_base.knowledge_base import KnowledgeBase
    from flcs.lint.subject import Subject

_SMALL_FALLBACK = 0.01
_SHORT_FADE, _LONG_FADE = 0.05, 5.0
_SLOW = 10.0  # times as long as the error


def find_shared(kb: KnowledgeBase) -> Iterator[Finding]:
    """Yield L801, L803 .. L806: what all channels share."""
    how = kb.inference
    if how.authority == 0.0:
        yield Finding("L801", "the authority is 0: the reference gains hold whatever the rules say")
    if how.fallback < _SMALL_FALLBACK:
        message = f"the fallback is {how.fallback:g}: a rule that fires with {how.fallback:g} decides alone"
        yield Finding("L803", message, numbers={"fallback": how.fallback})
    if how.fade < _SHORT_FADE:
        message = (
            f"the fade is {how.fade:g}: the gains are back at the reference {100 * how.fade:.1f} % outside the ranges"
        )
        yield Finding("L804", message, numbers={"fade": how.fade})
    if how.fade > _LONG_FADE:
        share = 100.0 * (1.0 - 1.0 / how.fade)
        message = f"the fade is {how.fade:g}: one whole range outside, the rules have {share:.0f} % of the say"
        yield Finding("L805", message, numbers={"fade": how.fade})
    if kb.slew is not None and kb.tick is not None and kb.slew * kb.tick >= 1.0:
        share = kb.slew * kb.tick
        message = (
            f"slew {kb.slew:g}/s times tick {kb.tick:g} s is {share:.3g} of the box in a tick, so nothing is limited"
        )
        yield Finding("L806", message, numbers={"slew": kb.slew, "tick": kb.tick})


def find_in_settings(subject: Subject) -> Iterator[Finding]:
    """Yield L802, L807 .. L810."""
    yield from _fallback(subject)
    yield from _slow_slew(subject)
    yield from _long_tick(subject)
    yield from _between_samples(subject)
    yield from _integral(subject)


def _fallback(subject: Subject) -> Iterator[Finding]:
    active, fallback = list(subject.base.active), subject.kb.inference.fallback
    if not active:
        return
    largest = float(subject.firing[:, active].sum(axis=1).max())
    if largest < (1.0 - subject.limits.thin) * fallback:
        yield subject.found(
            "L802",
            f"the fallback is {fallback:g}, but the firing strengths sum to {largest:.3g} at most: the reference gains "
            f"keep {100 * (1.0 - largest / fallback):.0f} % of the say everywhere",
            fallback=fallback, largest=largest,
        )  # fmt: skip


def _slow_slew(subject: Subject) -> Iterator[Finding]:
    names = subject.base.input_names
    rate = rates(subject).get(names.index("e")) if "e" in names else None
    if subject.kb.slew is None or not rate:
        return
    error = subject.base.inputs[names.index("e")]
    crossing, needed = (error.high - error.low) / rate, 1.0 / subject.kb.slew
    if needed > _SLOW * crossing:
        yield subject.found(
            "L807",
            f"with slew {subject.kb.slew:g}/s a gain needs {needed:.3g} s to cross its box; the error crosses its "
            f"range in {crossing:.3g} s at its largest rate",
            needed=needed, crossing=crossing,
        )  # fmt: skip


def _long_tick(subject: Subject) -> Iterator[Finding]:
    for place, rate in rates(subject).items():
        v = subject.base.inputs[place]
        gap = (v.centres[-1] - v.centres[0]) / (v.n_terms - 1)
        if subject.kb.tick is not None and rate * subject.kb.tick > gap:
            yield subject.found(
                "L808",
                f"in a tick of {subject.kb.tick:g} s {v.words} moves by up to {rate * subject.kb.tick:.3g}, its terms "
                f"are {gap:.3g} apart on average",
                input=v.name, tick=subject.kb.tick, moves=rate * subject.kb.tick, apart=gap,
            )  # fmt: skip


def _between_samples(subject: Subject) -> Iterator[Finding]:
    sample, tick = subject.base.law.get("sample_time"), subject.kb.tick
    if sample is None or tick is None:
        return
    ratio = tick / sample
    if round(ratio) < 1 or abs(ratio - round(ratio)) > 1e-6 * ratio:
        yield subject.found(
            "L809", f"the tick is {tick:g} s, which is {ratio:.4g} samples of {sample:g} s", tick=tick, sample=sample
        )


def _integral(subject: Subject) -> Iterator[Finding]:
    limit = subject.base.integral_limit
    if limit is None:
        return
    z = subject.base.inputs[subject.base.input_names.index("z")]
    reach = max(abs(z.low), abs(z.high))
    if abs(limit - reach) > 0.01 * reach:
        what = "part of the range is never reached" if limit < reach else "the integral can rest outside the range"
        yield subject.found(
            "L810",
            f"the error integral is limited to {limit:.4g}, its range is {z.low:.4g} .. {z.high:.4g}: {what}",
            limit=limit, reach=reach,
        )  # fmt: skip
