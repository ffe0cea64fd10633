"""What the section of the trade-off fronts shows."""

from __future__ import annotations

from dataclasses import dataclass

from experiments.report.records.situations import Array


@dataclass(frozen=True, eq=False)
class FrontSeries:
    """The front of one kind of controller.

    Attributes
    ----------
    name : str
    controller : str
        Key of the controller whose colour it has; empty: none.
    values : array [n, n_objectives]
    points : tuple of (name, position)
        Points that are named.
    gain_names : tuple of str
        Empty where the parameters are too many to be shown.
    gains : array [n, n_gains]
    text : str
        Evaluations, and by how much each objective can fall within the error budget.
    own_points : bool
        Its table shows its own points alone, without the ladder's controllers.
    """

    name: str
    controller: str
    values: Array
    points: tuple[tuple[str, int], ...]
    gain_names: tuple[str, ...]
    gains: Array
    text: str
    own_points: bool = False


@dataclass(frozen=True, eq=False)
class FrontView:
    """What the section shows.

    Attributes
    ----------
    labels : tuple of str
        Names of the objectives.
    series : tuple of FrontSeries
    marks : tuple of (controller key, array [n_objectives])
        Where the ladder's controllers lie.
    text : str
        What was searched, how far and how the point was chosen.
    units : tuple of str
        Of the objectives; left out: none are shown.
    whole : bool
        The drawing holds all controllers; left out, not those far from the fronts, which would press these into a
        corner.
    """

    labels: tuple[str, ...]
    series: tuple[FrontSeries, ...]
    marks: tuple[tuple[str, Array], ...]
    text: str
    units: tuple[str, ...] = ()
    whole: bool = False

    def head(self, k: int) -> str:
        """Return name and unit of an objective."""
        unit = self.units[k] if self.units else ""
        return f"{self.labels[k]} [{unit}]" if unit else self.labels[k]


def by_place(series: FrontSeries) -> dict[int, list[str]]:
    """Names of each named point, in order of the first objective."""
    found: dict[int, list[str]] = {}
    for name, i in series.points:
        found.setdefault(i, []).append(name)
    return dict(sorted(found.items()))
