"""From firing strengths to a gain, in every form of fuzzy inference: blocks.

With R_l the firing strength of rule l, S their sum, f_l the rule's gain, all forms lead the gain away from K_ref by

    S (D - K_ref),      D = sum_l V_l f_l / sum_l V_l,

weighted with 1 / max(S, fallback) by :func:`flcs.inference.inference.infer`. They differ in the voices V_l:

- Sugeno, and Mamdani by the centre average, or by the centroid of the sum of scaled sets: V_l = R_l;
- Mamdani by the centroid of the sum of sets that are cut off: V_l = R_l (2 - R_l), their areas;
- Mamdani by the centroid of the maximum: no voices; the centroid is taken on a grid, for each gain on its own;
- Tsukamoto: the set of a rule rises from 0 at K_ref to 1 at f_l, so that at the strength R_l it says
  z_l = K_ref + R_l (f_l - K_ref); the mean of the z_l is sum_l R_l z_l / S, so V_l = R_l^2, not made to sum to S.

Sources: B. Kosko, Fuzzy systems as universal approximators, IEEE Trans. Computers 43 (1994) 1329 (additive systems: the
centroid of a sum is the mean of the centres weighted with the areas); Y. Tsukamoto, An approach to fuzzy reasoning
method, in Advances in Fuzzy Set Theory and Applications (North-Holland, 1979) 137.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from flcs.inference.output_sets import higher, lower
from plants.core.elementary import clip, maximum, where

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from flcs.inference.membership import Number, Numbers
    from flcs.inference.output_sets import OutputSets
    from flcs.inference.rule_base import Inference

TINY = 1e-12  # of a sum of areas: below it nothing fires, and the firing strengths that multiply it are as small


def voice(how: Inference, strength: Any) -> Any:
    """Weight of a rule's gain; with the centroid of the maximum, which has none, that of the sum of the sets.

    Parameters
    ----------
    how : Inference
    strength : number, array, traced number or tensor
        Firing strength, 0 .. 1.
    """
    if how.form == "tsukamoto":
        return strength * strength
    return strength * (2.0 - strength) if by_areas(how) else strength


def voices(how: Inference, strengths: Sequence[Number], total: Number) -> list[Number]:
    """Weights of the rules' gains, made to sum to the strengths' sum where the form says so: a block."""
    if how.form != "tsukamoto" and not by_areas(how):
        return list(strengths)
    found = [voice(how, strength) for strength in strengths]
    if not by_areas(how):
        return found
    scale = total / maximum(sum(found, 0.0), TINY)
    return [one * scale for one in found]


def by_areas(how: Inference) -> bool:
    """Whether the rules' weights are the areas of sets that are cut off."""
    sets = how.output
    return sets is not None and sets.defuzzifier == "centroid" and sets.implication == "minimum"


def pulls(
    how: Inference,
    strengths: Sequence[Number],
    total: Number,
    values: Sequence[Numbers],
    box: Sequence[Numbers],
    presence: Numbers | None = None,
    sums: Sequence[Numbers] | None = None,
) -> Iterator[Number]:
    """Yield S (D - K_ref) of every gain: a block.

    Parameters
    ----------
    how : Inference
    strengths : sequence [n_rules]
        Firing strengths R_l.
    total : number
        Their sum S.
    values : sequence [n_rules] of tuple [n_gains]
        What the rules say.
    box : sequence [n_gains] of (low, reference, high)
    presence : sequence [n_rules], optional
        Above 0.5 a rule takes part; strengths of the others are 0.
    sums : sequence [n_gains] of (area, moment), optional
        Of the aggregated sets on the grid, where they have been summed already.
    """  # fmt: skip
    if how.output is not None and how.output.on_grid:
        for k, ends in enumerate(box):
            places = centres([value[k] for value in values], ends)
            area, moment = grid_sums(how.output, strengths, places) if sums is None else sums[k]
            yield _centroid_pull(total, moment / maximum(area, TINY), places, ends, presence)
        return
    weights = voices(how, strengths, total)
    by_rules = sum(weights, 0.0)
    for k, (_, reference, _) in enumerate(box):
        summed = sum((v * value[k] for v, value in zip(weights, values, strict=True)), 0.0)
        yield summed - by_rules * reference


def _centroid_pull(
    total: Number, place: Number, places: Sequence[Number], box: Numbers, presence: Numbers | None
) -> Number:
    """S (D - K_ref) for a centroid at `place`, held between the rules' sets, as the exact one is.

    The grid's error must not lead out of the rules' hull, which a certificate is about.
    """
    if not places:
        return 0.0
    (low, reference, _), span = box, _span(box)
    aside = [0.0] * len(places) if presence is None else [where(p - 0.5, 0.0, 2.0) for p in presence]
    lowest = reduce(lower, [c + a for c, a in zip(places, aside, strict=True)])
    highest = reduce(higher, [c - a for c, a in zip(places, aside, strict=True)])
    inside = clip(place, lowest, highest)
    return total * (span * (inside - (reference - low) * (1.0 / span)))


def centres(gains: Sequence[Number], box: Numbers) -> list[Number]:
    """Centres of the rules' sets of one gain, as shares of its box and inside of it: a block."""
    low, span = box[0], _span(box)
    return [lower(higher((gain - low) * (1.0 / span), 0.0), 1.0) for gain in gains]


def _span(box: Numbers) -> float:
    low, _, high = box
    return float(high - low) if high > low else 1.0


def grid_sums(sets: OutputSets, strengths: Sequence[Number], places: Sequence[Number]) -> Numbers:
    """Area and moment of the aggregated set on the grid, in steps of it: a block.

    The set is 0 at both ends of the universe, so the sums are the exact integrals of its linear interpolation.
    """
    area, moment = 0.0, 0.0
    for node in sets.nodes:
        height = aggregated(sets, strengths, places, node)
        area, moment = area + height, moment + node * height
    return area, moment


def aggregated(sets: OutputSets, strengths: Sequence[Number], places: Sequence[Number], node: Number) -> Number:
    """Membership of a place in the aggregated set: a block."""
    grades = [(r, sets.grade(node, place)) for r, place in zip(strengths, places, strict=True)]
    # With the sum, what lies outside a set must not count; with the maximum the 0 below does that once for all.
    parts = [sets.implied(r, g if sets.aggregation == "maximum" else higher(g, 0.0)) for r, g in grades]
    return higher(reduce(sets.joined, parts), 0.0) if parts else 0.0
