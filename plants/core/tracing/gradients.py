"""Derivatives in one sweep over the tape: all slopes of one output (reverse mode), or all outputs along one direction.

:func:`plants.core.tracing.trace.differentiate` takes one sweep for each input; a gradient takes one for all of
them, at some three times the operations of the function whatever their number.

Source: Griewank and Walther, Evaluating Derivatives, 2nd ed., secs. 3.1 and 3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from plants.core.tracing import calls
from plants.core.tracing.tape import Tape, Traced
from plants.core.tracing.trace import SELECTS, partial, tangents

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# A slope that counts only where some selects have chosen its branch: (condition's node, whether chosen where it is
# positive), outermost first, and the slope as if they had.
_Share = tuple[tuple[tuple[int, bool], ...], Any]


def gradient(output: Any, inputs: Sequence[Traced]) -> list[Any]:
    """All slopes of one output by reverse mode.

    Parameters
    ----------
    output : traced number, or a plain one (its slopes are 0)
    inputs : sequence of traced numbers [n]
        Inputs of the tape, or any of its numbers: the output's slope is that with respect to this number.

    Returns
    -------
    list [n]
        d output / d inputs[j], traced on the same tape; plain numbers where they are constant, 0.0 where there is no
        dependence. The branch that a select does not choose contributes exactly 0, also where its own slope is not
        finite.
    """
    if not isinstance(output, Traced):
        return [0.0] * len(inputs)
    tape, wanted = output.tape, {node.index for node in inputs}
    live = _live(tape, wanted, output.index)
    shares: dict[int, list[_Share]] = {output.index: [((), 1.0)]}
    slopes: dict[int, Any] = {}
    for node in sorted(live, reverse=True):
        branch, slope = _joined(tape, shares.pop(node, []), 0)
        if node in wanted:
            slopes[node] = _outside(tape, branch, slope)
        for argument, share in _contributions(tape, node, branch, slope):
            if argument in live and not _nothing(share[1]):
                shares.setdefault(argument, []).append(share)
    return [slopes.get(node.index, 0.0) for node in inputs]


def along(outputs: Sequence[Any], inputs: Sequence[Traced], directions: Sequence[Any]) -> list[Any]:
    """Slopes of all outputs in one direction by forward mode.

    Parameters
    ----------
    outputs : sequence of numbers [m]
        Traced, or plain ones (their slopes are 0).
    inputs : sequence of traced numbers [n]
    directions : sequence of numbers [n]
        Traced on the same tape, or plain.

    Returns
    -------
    list [m]
        The sums over j of d outputs[i] / d inputs[j] directions[j], on the same tape; 0.0 where there is no dependence.

    Raises
    ------
    ValueError
        If there is not one direction for each input.
    """
    if len(inputs) != len(directions):
        raise ValueError(f"along needs one direction for each input, got {len(directions)} for {len(inputs)} inputs")
    traced = [node for node in outputs if isinstance(node, Traced)]
    if not traced:
        return [0.0] * len(outputs)
    seeds: dict[int, Any] = {}
    for node, direction in zip(inputs, directions, strict=True):
        if isinstance(direction, Traced) or direction != 0.0:
            seeds[node.index] = seeds.get(node.index, 0.0) + direction
    tape = traced[0].tape
    found = tangents(tape, tape.needed(node.index for node in traced), seeds)
    return [found.get(node.index, 0.0) if isinstance(node, Traced) else 0.0 for node in outputs]


def _live(tape: Tape, inputs: set[int], output: int) -> set[int]:
    """Nodes that the output needs and that need one of the inputs."""
    live: set[int] = set()
    for node in tape.needed([output]):
        if node in inputs or not live.isdisjoint(tape.arguments[node]):
            live.add(node)
    return live


def _contributions(tape: Tape, node: int, branch: Any, slope: Any) -> Iterator[tuple[int, _Share]]:
    """Yield what a node of this slope gives to the slopes of its arguments."""
    name, arguments = tape.operations[node], tape.arguments[node]
    values = [Traced(tape, a) for a in arguments]
    if name in SELECTS:
        condition, then, other = SELECTS[name](values)
        yield arguments[then], ((*branch, (condition.index, True)), slope)
        yield arguments[other], ((*branch, (condition.index, False)), slope)
        return
    for k, argument in enumerate(arguments):
        if argument not in tape.constants and not _nothing(slope) and not calls.independent(name, k):
            yield argument, (branch, _times(partial(Traced(tape, node), values, k), slope))


def _nothing(slope: Any) -> bool:
    return isinstance(slope, float) and slope == 0.0


def _times(partial: Any, slope: Any) -> Any:
    if _nothing(partial):
        return 0.0
    return -slope if isinstance(partial, float) and partial == -1.0 else partial * slope


def _joined(tape: Tape, shares: Sequence[_Share], depth: int) -> Any:
    """Return the sum of shares as one: the innermost select around them all, and the slope inside of it.

    Selects are carried out only where shares of different branches meet. A branch that is not chosen so is dropped
    whole, with whatever its slopes are there.
    """
    heads = {branch[depth : depth + 1] for branch, _ in shares}
    if len(heads) == 1 and heads != {()}:
        return _joined(tape, shares, depth + 1)
    total: Any = 0.0
    for _, slope in (share for share in shares if len(share[0]) == depth):
        total = _plus(total, slope)
    inside = [share for share in shares if len(share[0]) > depth]
    for condition in dict.fromkeys(branch[depth][0] for branch, _ in inside):
        sides = (_side(tape, inside, (condition, chosen), depth) for chosen in (True, False))
        total = _plus(total, tape.apply("where", Traced(tape, condition), *sides))
    return (shares[0][0][:depth] if shares else ()), total


def _side(tape: Tape, shares: Sequence[_Share], side: tuple[int, bool], depth: int) -> Any:
    """Sum of the shares on one side of a select, seen from right inside of it."""
    branch, slope = _joined(tape, [share for share in shares if share[0][depth] == side], depth + 1)
    return _outside(tape, branch[depth + 1 :], slope)


def _outside(tape: Tape, branch: Sequence[tuple[int, bool]], slope: Any) -> Any:
    """Return the slope where all selects have chosen this branch, else 0."""
    for condition, chosen in reversed(branch):
        sides = (slope, 0.0) if chosen else (0.0, slope)
        slope = tape.apply("where", Traced(tape, condition), *sides)
    return slope


def _plus(total: Any, slope: Any) -> Any:
    """Sum of two slopes; a negated one is subtracted."""
    if isinstance(slope, Traced) and slope.tape.operations[slope.index] == "neg":
        return total - Traced(slope.tape, slope.tape.arguments[slope.index][0])
    return total + slope
