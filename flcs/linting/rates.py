"""How fast the inputs of a channel move."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flcs.linting.subject import Subject


def rates(subject: Subject) -> dict[int, float]:
    """Return the largest rates of the inputs [unit/s] by their places.

    The rate of e is in the range of e_rate, that of z in the range of e; data with times tell the rates of all inputs.
    """
    names, inputs = subject.base.input_names, subject.base.inputs
    known: dict[int, float] = {}
    for name, rate in (("e", "e_rate"), ("z", "e")):
        if name in names and rate in names:
            v = inputs[names.index(rate)]
            known[names.index(name)] = max(abs(v.low), abs(v.high))
    if subject.data is not None and subject.data.rates is not None:
        seen = subject.data.rates[subject.kb.columns(subject.number)].tolist()
        known |= {place: max(rate, known.get(place, 0.0)) for place, rate in enumerate(seen)}
    return known
