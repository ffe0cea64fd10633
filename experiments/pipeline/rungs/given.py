"""The knowledge base that a design starts from, as it is; it costs the design no search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controllers import pid_form
from experiments.pipeline.judging import of_kb
from experiments.pipeline.rungs.rung import Rungs
from experiments.settings import start

if TYPE_CHECKING:
    from experiments.pipeline.bench import Bench

NAME = "given"
_TITLE = "knowledge base given as start"


def rungs(bench: Bench) -> Rungs:
    """Return the rung; none where the design starts from nothing."""
    setup = bench.setup
    kb = start.given(setup)
    if kb is None or setup.start is None:
        return Rungs()
    text = f"of {setup.config.start}; rules and terms as stored"
    laws = [pid_form.describe(law) for law in setup.laws]
    other = [base.name for base, law in zip(setup.start.channels, laws, strict=True) if base.law not in ({}, law)]
    if other:
        text += f", under the PID law of this design, which is another than its own ({', '.join(other)})"
    return Rungs((of_kb(NAME, _TITLE, text, bench, kb, 0),), (f"{_TITLE}: {text}",), {NAME: kb})
