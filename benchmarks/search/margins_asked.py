"""What it costs to ask gain sets for their margins, as a search does: by a quick look first, and by the whole of it.

The plant has two coupled channels (the heater); gain sets lie about gains that keep Ms, as those of a refinement do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

import plants
from benchmarks.runner.report import FigureSection
from controllers import PID
from experiments.runtime.timing import alternate, ratio
from sscq.loop.spec import LoopSpec
from sscq.margins.channels import frozen_channels
from sscq.margins.coupled.margins import coupled_penalty
from sscq.margins.margins import MarginLimits
from sscq.situations.situation import Situation

if TYPE_CHECKING:
    from benchmarks.runner.size import Size


_SETS, _LIMIT, _SPREAD = 2048, 1.8, 0.4
_ABOUT = (9.0, 0.14, 9.0)  # kp, ki, kd of both channels


def margins_asked(size: Size) -> FigureSection:
    """Time both; they give the same."""
    section = FigureSection("margins_asked", f"Margins of {_SETS:,} gain sets of two coupled channels")
    plant = plants.get("heater")
    ends = [np.tile(getattr(plant.channels[0], f"gains_{end}"), 2) for end in ("low", "high")]
    spec = LoopSpec(plant, (PID(), PID()), [Situation(name="rest")], plant.step)
    (response, *_) = frozen_channels(spec, *ends).responses
    unseen = replace(response)
    unseen.__dict__["screened"] = None  # in place of its table
    gains = np.tile(_ABOUT, 2) * np.random.default_rng(0).uniform(1.0 - _SPREAD, 1.0 + _SPREAD, (_SETS, 6))
    limits = MarginLimits(_LIMIT)
    stable, far = response.screened.look(gains, 1.0 / _LIMIT)
    paid = coupled_penalty(gains, [response], limits)
    calls = {
        "quick": lambda: coupled_penalty(gains, [response], limits),
        "whole": lambda: coupled_penalty(gains, [unseen], limits),
    }
    times = alternate(calls, size.rounds // 2)
    section.time(f"{_SETS:,} gain sets, quick look first", times["quick"], "ms", 1e3)
    section.time(f"{_SETS:,} gain sets, the whole of it", times["whole"], "ms", 1e3)
    section.ratio("the whole / quick look first", ratio(times["whole"], times["quick"]))
    section.counts = {
        "gain sets": _SETS,
        "that keep Ms": int((paid == 0.0).all(axis=0).sum()),
        "of these passed by the look": int((stable & far.all(axis=1)).sum()),
    }
    return section
