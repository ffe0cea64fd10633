"""Gains of a controller in the forms in which they are typed in, and the margins that they keep."""

from __future__ import annotations

from dataclasses import dataclass

NAN = float("nan")
INF = float("inf")

NO_ACTION = 0.01
"""Share of the proportional part below which the integral or the derivative part is none.

An error that lasts over the horizon T moves the integral part by T / Ti of the proportional one. The slow mode that
takes such an error away has the rate ki G / (1 + kp G): below 1 / Ti for a static gain G > 0 of the plant, of an
unstable one below (1 + Ms) / Ti. So where Ti is longer than 100 T, 97 to 99 % of the error that a constant load leaves
are there at the end: for whoever types the gains in, it stays. The filtered derivative part is at no frequency larger
than N times the proportional one.
"""


@dataclass(frozen=True)
class ChannelGains:
    """Gains of one channel in parallel form, u = kp e + ki int(e) + kd e'; the page derives K, Ti, Td, N.

    Attributes
    ----------
    kp, ki, kd : float
        Fixed gains, or the reference gains of a schedule.
    filter_time : float
        Derivative filter time [s], at least the sample time, which passes the rate unchanged; 0: none; NaN: unknown.
    set_point_weight : float
        Weight b of the reference in the proportional part.
    low, high : tuple of 3 floats, or None
        Range of (kp, ki, kd) that a schedule can give; None: the gains are fixed.
    at : str
        Where a schedule gives them, for example "|e| = 0 m".
    nodes : tuple of ChannelGains
        The further nodes of a gain table, each with its `at`: with them the table can be typed in.
    horizon : float
        Longest judged situation [s]; NaN: not known.
    """

    kp: float
    ki: float
    kd: float
    filter_time: float = NAN
    set_point_weight: float = 1.0
    low: tuple[float, float, float] | None = None
    high: tuple[float, float, float] | None = None
    at: str = ""
    nodes: tuple[ChannelGains, ...] = ()
    horizon: float = NAN

    @property
    def standard(self) -> tuple[float, float, float, float]:
        """K, Ti [s], Td [s] and N of K (e + 1/Ti int(e) + Td e' filtered with Td/N); NaN where kp = 0 leaves none.

        Ti is infinite, Td 0, where that action is practically none (`NO_ACTION`).
        """
        if not self.kp:
            return 0.0, NAN, NAN, NAN
        ti, td = self.kp / self.ki if self._integral(self.ki) else INF, self.kd / self.kp
        n = NAN if not td else td / self.filter_time if self.filter_time else INF
        return (self.kp, ti, 0.0, NAN) if abs(n) < NO_ACTION else (self.kp, ti, td, n)

    @property
    def ruled(self) -> bool:
        """Whether rules move the gains: they are in no one row, and a table's nodes do not say them."""
        return self.low is not None and self.high is not None and self.low != self.high and not self.nodes

    @property
    def integrates(self) -> bool:
        """Whether any of these gains, of the nodes or of a schedule's range takes a lasting error away."""
        reach = () if self.low is None or self.high is None else (self.low[1], self.high[1])
        return any(self._integral(ki) for ki in (self.ki, *reach)) or any(node.integrates for node in self.nodes)

    @property
    def weakest_stands_still(self) -> bool:
        """Whether a schedule's range holds gains without integral action."""
        return self.low is not None and not self._integral(self.low[1])

    def _integral(self, ki: float) -> bool:
        """Whether an error that lasts the whole horizon moves the integral by a share of kp e that counts."""
        shortest = NO_ACTION * abs(self.kp) / self.horizon if self.horizon > 0.0 else 0.0
        return abs(ki) > shortest


@dataclass(frozen=True)
class MarginPoint:
    """Margins of the linearised loop at one operating point, the worst over what `PointMargins.text` says.

    Attributes
    ----------
    sensitivity_peak : float
        Ms, largest magnitude of the sensitivity function; infinite: unstable.
    delay_margin : float
        Seconds of extra delay until instability; infinite: never.
    phase_margin, gain_margin : float
        Degrees; factor.
    """

    operating_point: str
    sensitivity_peak: float
    delay_margin: float
    phase_margin: float = NAN
    gain_margin: float = NAN


@dataclass(frozen=True)
class PointMargins:
    """Robustness of one controller; `text` says over what it was taken (plants, delays).

    Attributes
    ----------
    points : tuple of MarginPoint
        With the gains that stand there at rest.
    passing_peak : float
        Largest Ms about the points with gains that are passed through; NaN where the gains stand.
    """

    points: tuple[MarginPoint, ...]
    text: str = ""
    passing_peak: float = NAN

    @property
    def sensitivity_peak(self) -> float:
        """Largest Ms of all points; NaN without any."""
        return max((p.sensitivity_peak for p in self.points), default=NAN)

    @property
    def delay_margin(self) -> float:
        """Smallest delay margin [s] of all points; NaN without any."""
        return min((p.delay_margin for p in self.points), default=NAN)
