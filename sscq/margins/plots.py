"""Nyquist curves of frozen loops with the circle that a maximum sensitivity keeps them out of (extra `plot`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.motion.plots import pyplot
from sscq.margins.channels import OneChannel, plain_gains

if TYPE_CHECKING:
    from sscq.margins.channels import FrozenChannels

_REACH = 3.0  # of the axes: beyond, a curve says nothing of margins


def nyquist(
    channels: FrozenChannels, largest: float, gains: np.ndarray, names: tuple[str, ...] = (), axes: Any = None
) -> Any:
    """Draw L(e^(i w h)) of gain sets at every operating point of every taught plant; return the axes.

    A curve that keeps out of the circle of radius 1 / Ms about -1 has a maximum sensitivity of at most Ms; whether the
    loop is stable its turns about -1 tell. Each gain set has a colour, each case a curve.

    Parameters
    ----------
    channels : FrozenChannels
    largest : float
        Ms whose circle is drawn.
    gains : array [n_sets, n_gains] or [n_gains]
    names : tuple of str, optional
        Of the gain sets.
    axes : matplotlib axes, optional

    Raises
    ------
    ValueError
        If the plant has several channels, whose loops have no curve of their own while the others are closed.
    """
    if not isinstance(channels, OneChannel):
        message = "Nyquist curves are drawn of plants with one channel; margins(gains) has the numbers of each"
        raise ValueError(message)  # noqa: TRY004  (what does not suit is the plant)
    sets = plain_gains(np.atleast_2d(np.asarray(gains, float)), 1)
    axes = pyplot().subplots(figsize=(5.0, 5.0), layout="constrained")[1] if axes is None else axes
    for number, row in enumerate(sets):
        label = names[number] if names else "kp {:.3g}, ki {:.3g}, kd {:.3g}".format(*row)
        for k, response in enumerate(channels.responses):
            basis = response.basis[::2] + 1j * response.basis[1::2]
            curve = np.append(row @ basis, row @ response.at_nyquist[:3])
            axes.plot(curve.real, curve.imag, color=f"C{number}", linewidth=1.2, label=None if k else label)
    turn = np.exp(1j * np.linspace(0.0, 2.0 * np.pi, 200))
    circle = -1.0 + turn / largest
    axes.fill(circle.real, circle.imag, color="0.85", zorder=0, label=f"Ms above {largest:g}")
    axes.plot(-1.0, 0.0, "k+")
    axes.set(xlim=(-_REACH, 1.0), ylim=(-_REACH, 1.0), aspect="equal", xlabel="real part", ylabel="imaginary part")
    axes.grid(visible=True, alpha=0.3)
    axes.legend(loc="lower right", frameon=False)
    return axes
