"""What commands that read logs print."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from experiments.runtime.tables import text_table
from sscq.identification.assessing.valve import GAIN
from sscq.identification.ensemble import interval_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sscq.identification.assessing.assessment import LoopAssessment
    from sscq.identification.ensemble import Ensemble
    from sscq.identification.reading.log import Log
    from sscq.identification.reading.signs import LogFinding

_WIDTH = 110
_RARE = 0.01  # share of the members below which a structure is not told of
_TOLD = ("dead_time", "lag", "decay", "slope", "gain", "damping", "period", "curve")


def print_assessment(log: Log, found: LoopAssessment) -> None:
    """Print what was found of a loop."""
    print(f"{log.name}: {len(log)} rows of {log.step:g} s, {len(log.stretches)} stretch(es)")
    for finding in found.findings:
        print_finding(finding)
    if found.present is not None:
        p = found.present
        print(f"present gains: kp {p.kp:.4g}, ki {p.ki:.4g}, kd {p.kd:.4g}")
    if found.ensemble is not None:
        print()
        print(ensemble_table(found.ensemble))
        if found.margins is not None:
            print(quantiles("Ms of the present loop", found.margins.sensitivity[0]))
            print(quantiles("its delay margin [s]", found.margins.delay_margin[0]))
        index = found.minimum_variance
        if np.isfinite(index):
            print(
                f"minimum-variance index {index:.2f} (1: nothing to gain; a PID cannot reach 1, and need not be as "
                "restless as what can)"
            )
        if found.valve is not None:
            print(f"valve: {found.valve.text} (gain {found.valve.gain:.1f}, from {GAIN:g} on it is said to lag)")
    print()
    print(f"no gains from this log: {found.refusal}" if found.refusal else "plants can be told from this log")


def print_finding(finding: LogFinding) -> None:
    """Print a finding and what to do about it."""
    head = f"  {finding.severity:<8}"
    print(textwrap.fill(finding.text, _WIDTH, initial_indent=head, subsequent_indent=" " * 10))
    if finding.advice:
        print(textwrap.fill(finding.advice, _WIDTH, initial_indent=" " * 10 + "-> ", subsequent_indent=" " * 13))


def ensemble_table(ensemble: Ensemble) -> str:
    """Return the plants' parameters as a table of quantiles, a structure after the other."""
    rows: list[Sequence[str]] = []
    total = sum(map(len, ensemble.members))
    shown = [group for group in ensemble.members if len(group) > _RARE * total]
    for group in shown:
        share = f" ({100.0 * len(group) / total:.0f} %)" if len(shown) > 1 else ""
        for name in group.structure.parameters:
            if name in _TOLD:
                low, middle, high = interval_of(group.column(name))
                label = f"{group.structure.name}{share}: {name.replace('_', ' ')}"
                rows.append((label, *(f"{value:.3g}" for value in (low, middle, high))))
    return text_table(("plants that explain the log", "5 %", "median", "95 %"), rows)


def quantiles(label: str, values: np.ndarray) -> str:
    """Return 5 %, median and 95 % of values in a line."""
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95], method="inverted_cdf")
    return f"{label}: {middle:.3g} (5 % below {low:.3g}, 95 % below {high:.3g})"
