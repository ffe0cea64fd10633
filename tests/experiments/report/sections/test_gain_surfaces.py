"""Gain surfaces on the page: where the loop went in their own two inputs."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from experiments.report.page import render
from experiments.report.records.learning import Knowledge
from tests.experiments.report_example import example

TRACK = re.compile(r'<path d="([^"]+)" class="visited"')


def watched(controller, value):
    """The controller with one more column of what its schedule saw: an output that stood at a value."""

    def of(result):
        seen = np.column_stack([result.response.seen, np.full(len(result.response.seen), value)])
        return replace(result, response=replace(result.response, seen=seen))

    return replace(controller, results=tuple(map(of, controller.results)))


def rises(track):
    """Vertical steps of a path whose steps are relative."""
    steps = track.partition("l")[2]
    return [int(step) for step in re.findall(r"-?\d+", steps)][1::2]


def test_surfaces_over_an_output_show_where_the_loop_went_in_it():
    """Not in the error's rate: an output that stood still is a level line."""
    data = example(5.0, 0.02)
    (base,) = data.knowledge.kb.channels
    error, second = base.inputs[:2]
    over = replace(base, inputs=(error, replace(second, name="level"), *base.inputs[2:]))
    assert any(any(rises(track)) for track in TRACK.findall(render(data)))  # the rate did move
    controllers = tuple(watched(c, 0.5 * (second.low + second.high)) for c in data.controllers)
    known = Knowledge(replace(data.knowledge.kb, channels=(over,)), controller="kb")
    tracks = TRACK.findall(render(replace(data, controllers=controllers, knowledge=known)))
    assert tracks
    assert not any(any(rises(track)) for track in tracks)
