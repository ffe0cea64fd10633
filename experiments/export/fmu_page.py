"""The page of documentation inside a functional mock-up unit."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from experiments.export.machine import Machine, Signal

_TIMING = """In each step of {time:.12g} s the controller executes a sample with the inputs that were set before the
step; the outputs are there after it and hold until the next one. A master that steps the controller first and then
hands its outputs to the plant for the same step reproduces the simulated loop; one that steps both side by side adds
a sample of delay. A longer step must be a multiple of the sample time: the inputs are held, the samples executed."""


def page(machine: Machine) -> str:
    """Return the page as HTML."""
    tables = [
        f"<h2>{title}</h2><table><tr><th>name</th><th>unit</th><th>range</th><th>what it is</th></tr>"
        + "".join(map(_row, signals))
        + "</table>"
        for title, signals in (("Inputs", machine.inputs), ("Outputs", machine.outputs))
    ]
    head = f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{escape(machine.name)}</title></head>'
    timing = escape(_TIMING.format(time=machine.sample_time))
    return f"{head}<body><h1>{escape(machine.text)}</h1><p>{timing}</p>{''.join(tables)}</body></html>\n"


def _row(signal: Signal) -> str:
    free = math.isinf(signal.low) and math.isinf(signal.high)
    cells = (signal.name, signal.unit, "" if free else f"{signal.low:.6g} .. {signal.high:.6g}", signal.text)
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
