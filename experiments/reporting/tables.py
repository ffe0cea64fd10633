"""`situations.csv`: every number of the page's table of all numbers, for other programs."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from experiments.report import Quality

if TYPE_CHECKING:
    from experiments.report import ReportData
    from experiments.run_folder import RunFolder

NAME = "situations.csv"


def write(data: ReportData, folder: RunFolder) -> None:
    """Write one row for every controller in every situation."""
    measures = [f.name for f in fields(Quality)]
    own = [one.name for one in data.own_measures]
    header = ["kind", "situation", "controller", "seeds", "failures", "cost", "cost_low", "cost_high", *measures, *own]
    rows = []
    for situation in data.situations:
        for controller in data.controllers:
            result = controller.result(situation.name)
            if result is not None:
                cost = (result.cost.value, result.cost.low, result.cost.high)
                values = [getattr(result.quality, m) for m in measures]
                head = [situation.group, situation.name, controller.key, situation.seeds, result.failures]
                rows.append([*head, *cost, *values, *result.own])
    folder.write_csv(NAME, header, rows)
