"""The energy-Lyapunov identity along a closed loop's trajectory: where V = E + kp e^2 / 2 comes from and goes to.

For a force on the controlled coordinate q and a constant reference (e = r - q)

    V' = -T0 S' - kd e'^2 + w_I q' + kp' e^2 / 2 + q' w,

with the stored integral action w_I = int ki e dt and the disturbances' power q' w. So plant and derivative action take
energy out, the integral and a rising kp put it in. A sampled loop holds its command, which adds one more term, first
order in the sample time: a spring whose force is held feeds kp (dq)^2 / 2 into every sample. With it the account is
exact but for the quadrature of the plant's own powers, so that what is left over is a test of the whole
implementation: plant, law, gains and record. The integral action is computed by the law itself, from the recorded
measurements.

Source: the identity is the passivity argument for collocated PD control (S. Arimoto and F. Miyazaki, 1984), with gains
that move.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sscq.certificates.recorded_run import powers, replay
from sscq.loop.record import Recorder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from plants import Plant
    from plants.core.motion.trajectory import Trajectory
    from sscq.certificates.recorded_run import Powers, Replay
    from sscq.loop.spec import LoopSpec
    from sscq.situations.situation import Situation

    Array = NDArray[np.float64]


TOLERANCE = 1e-6  # of the turnover: what the account may miss at the plant's own step


@dataclass(frozen=True, eq=False)
class EnergyLyapunov:
    """The account of V = E + sum of kp e^2 / 2 over a run of n steps.

    Attributes
    ----------
    time, V : ndarray [n + 1], s, J
    terms : mapping of str to ndarray [n], J
        What each step adds to V: "plant dissipation", "derivative action", "integral action", "change of kp",
        "disturbance", "sampling" (hold and filter of the P and D terms), "limits" (of command and actuator).
    residual : ndarray [n + 1], J
        V less its start and all terms so far: the error of the quadrature, of order 4 in the step as that of RK4.
    command_mismatch : float
        Largest difference between the recorded command and the law's, replayed.
    falling : float
        Share of steps in which V falls.
    limited : float
        Share of steps in which the input is not what the law demands.
    slew_limit : float
        Largest constant rate of kp that plant dissipation and derivative action balance on average along this run,
        2 <T0 S' + kd e'^2> / <e^2>; negative: they feed energy in even at constant kp.
    slew_used : float
        <kp' e^2> / <e^2>: the rate of kp as this run weighs it, to be compared with the limit.
    thermodynamic_falling, thermodynamic_rate : float
        A diagnostic and no proof: share of time with V_T' < 0 and its mean, of V_T = sum e^2 / 2 + S^2 / 2 with S the
        integral of plant's less controller's entropy production.
    """

    time: Array
    V: Array
    terms: Mapping[str, Array]
    residual: Array
    command_mismatch: float
    falling: float
    limited: float
    slew_limit: float
    slew_used: float
    thermodynamic_falling: float
    thermodynamic_rate: float

    @property
    def turnover(self) -> float:
        """Energy that went through the account [J]: what a residual is to be compared with."""
        return float(max(np.abs(self.V).max(), *(np.abs(part).sum() for part in self.terms.values())))

    @property
    def closure(self) -> float:
        """Largest residual over the turnover."""
        return float(np.abs(self.residual).max()) / (self.turnover or 1.0)

    @property
    def closes(self) -> bool:
        """Whether the account closes within 1e-6 and the replayed law gives the recorded commands."""
        return self.closure <= TOLERANCE and self.command_mismatch <= TOLERANCE

    def numbers(self) -> dict[str, Any]:
        """Return the sums as plain data."""
        return {
            "terms": {name: float(part.sum()) for name, part in self.terms.items()},
            "start": float(self.V[0]),
            "end": float(self.V[-1]),
            "closure": self.closure,
            "closes": self.closes,
            "command_mismatch": self.command_mismatch,
            "falling": self.falling,
            "limited": self.limited,
            "slew_limit": self.slew_limit if math.isfinite(self.slew_limit) else None,
            "slew_used": self.slew_used,
            "thermodynamic_falling": self.thermodynamic_falling,
            "thermodynamic_rate": self.thermodynamic_rate,
        }

    def __str__(self) -> str:
        return _text(self)


def _text(found: EnergyLyapunov) -> str:
    """The account as text."""
    falls = f"falling in {100 * found.falling:.0f} % of the time"
    closes = "closes" if found.closes else "DOES NOT CLOSE"
    residual = f"residual {found.closure:.1e} of the turnover ({found.turnover:.4g} J)"
    lines = [
        f"V = E + kp e^2 / 2 from {found.V[0]:.6g} to {found.V[-1]:.6g} J, {falls}:",
        *(f"  {name:<18} {part.sum():+.6g} J" for name, part in found.terms.items()),
        f"The account {closes}: {residual}; replayed and recorded commands differ by {found.command_mismatch:.1e}.",
    ]
    if found.limited:
        lines.append(f"The input is limited in {100 * found.limited:.0f} % of the time.")
    lines.append(_slew_text(found))
    lines.append(
        f"Diagnostic, no proof: V_T = e^2 / 2 + S^2 / 2 falls in {100 * found.thermodynamic_falling:.0f} % of the time "
        f"(mean rate {found.thermodynamic_rate:+.4g} 1/s)."
    )
    return "\n".join(lines)


def _slew_text(found: EnergyLyapunov) -> str:
    if found.slew_limit < 0.0:
        return "Slew limit of kp: none, plant and derivative action feed energy in even at constant kp."
    if not math.isfinite(found.slew_limit):
        return "Slew limit of kp: none, there is no error."
    return (
        f"Slew limit of kp: {found.slew_limit:.4g} per s on average along this run; used: {found.slew_used:+.4g} per s."
    )


_ROUNDING = 1e-9  # relative: a smaller difference between demand and input is none
_CLEAN = ("delay", "output_delay", "jitter", "dropout", "command_dropout")
_SENSORS = ("noise", "quantisation")


def not_available(plant: Plant, controller: Any) -> str:
    """Return why the identity does not hold for such a loop; empty where it does."""
    for block in ("energy", "entropy_rate", "supplied_power"):
        if getattr(plant, block) is None:
            return f"plant {plant.name!r} gives no {block}"
    if plant.advance is not None:
        return f"plant {plant.name!r} moves by a step map of its own (advance), whose energy errors are of first order"
    if plant.after_step is not None:
        return f"plant {plant.name!r} changes its state between steps (after_step), where its energy jumps"
    for channel in plant.channels:
        if not channel.collocated or channel.rate is None:
            return f"the command of channel {channel.output!r} is no force on a coordinate whose rate is measured"
    laws = controller.laws if hasattr(controller, "laws") else controller
    for law in laws if isinstance(laws, (tuple, list)) else (laws,):
        if "integral" not in getattr(law, "state_names", ()) or "b" in law.gain_names:
            return f"it is for PID laws on the error, got {type(law).__name__}"
        if getattr(law, "set_point_weight", 1.0) != 1.0 or law.action != "direct":
            return "it is for direct PID laws on the whole error (set_point_weight 1)"
    return ""


def energy_lyapunov(
    plant: Plant,
    controller: Any,
    gains: Any,
    situation: Situation,
    step: float | None = None,
    integrator: str = "rk4",
) -> EnergyLyapunov:
    """Record a closed loop and return its account of V.

    Parameters
    ----------
    plant : Plant
        Collocated in all channels, with energy, supplied power and entropy rate.
    controller, gains, integrator
        As for :func:`sscq.record`.
    situation : Situation
        With constant references, and sensors and links without noise and delay.
    step : float, optional
        Left out: the plant's own [s].

    Raises
    ------
    ValueError
        Where the identity does not hold: no collocated plant, another law, a moving reference, noise or delay; or where
        the run diverges.
    """
    reason = not_available(plant, controller)
    if reason:
        raise ValueError(f"no energy-Lyapunov identity: {reason}")
    unclean = [name for name in _CLEAN if getattr(situation, name)]
    unclean += [name for name in _SENSORS if any(_levels(situation, name, plant))]
    if unclean:
        raise ValueError(
            f"the energy-Lyapunov identity is for what the law sees exactly, but situation {situation.name!r} has "
            f"{', '.join(unclean)}; use dataclasses.replace to set them to 0"
        )
    recorder = Recorder(plant, controller, (situation,), step or plant.step, integrator)
    return account(plant, recorder.loop.spec, recorder(gains), situation)


def _levels(situation: Situation, name: str, plant: Plant) -> list[float]:
    return situation.noise_levels(plant) if name == "noise" else situation.quanta(plant)


def account(plant: Plant, spec: LoopSpec, run: Trajectory, situation: Situation) -> EnergyLyapunov:
    """Return the account of a recorded run; see :func:`energy_lyapunov`."""
    r = run.group("reference")
    if np.ptp(r, axis=0).any():
        raise ValueError(f"the energy-Lyapunov identity needs constant references; situation {situation.name!r} moves")
    q, rate = (
        run.outputs[:, [spec.output_index(getattr(channel, key)) for channel in plant.channels]]
        for key in ("output", "rate")
    )
    law, own, e = replay(spec, run, q, rate), powers(plant, spec, run, situation), r - q
    V = own.energy + 0.5 * (law.kp * e**2).sum(axis=1)
    terms, limited = _terms(run, law, own, e, rate)
    share, mean = _thermodynamic(run, e, rate)
    return EnergyLyapunov(
        time=run.time,
        V=V,
        terms=terms,
        residual=V - V[0] - np.concatenate([[0.0], np.cumsum(sum(terms.values()))]),
        command_mismatch=law.mismatch,
        falling=float((np.diff(V) < 0.0).mean()),
        limited=limited,
        **_slew(terms, float((np.diff(run.time)[:, None] * e[:-1] ** 2).sum())),
        thermodynamic_falling=share,
        thermodynamic_rate=mean,
    )


def _terms(run: Trajectory, law: Replay, own: Powers, e: Array, rate: Array) -> tuple[dict[str, Array], float]:
    """What each step adds to V, and the share of steps with a limited input."""
    u, demand = run.group("inputs")[:-1], law.demand[:-1]
    moved = -np.diff(e, axis=0)
    power = 0.5 * law.kd[:-1] * (rate[1:] ** 2 + rate[:-1] ** 2)
    derivative = -np.diff(run.time) * power.sum(axis=1)
    held = (demand - law.integral[:-1]) * moved  # of P and D terms, as the plant got it
    spring = 0.5 * law.kp[:-1] * (e[:-1] ** 2 - e[1:] ** 2)  # kp e dq, as V counts it
    limited = np.abs(u - demand) > _ROUNDING * (1.0 + np.abs(demand))
    terms = {
        "plant dissipation": -own.dissipated,
        "derivative action": derivative,
        "integral action": (law.integral[:-1] * moved).sum(axis=1),
        "change of kp": 0.5 * (np.diff(law.kp, axis=0) * e[1:] ** 2).sum(axis=1),
        "disturbance": own.disturbed,
        "sampling": (held - spring).sum(axis=1) - derivative,
        "limits": np.where(limited, (u - demand) * moved, 0.0).sum(axis=1),
    }
    return terms, float(limited.any(axis=1).mean())


def _slew(terms: Mapping[str, Array], weight: float) -> dict[str, float]:
    """Rates of kp [per s]: that which the dissipation balances on average, and that of the run; weight: int e^2 dt."""
    if weight == 0.0:
        return {"slew_limit": math.inf, "slew_used": 0.0}
    taken = -float((terms["plant dissipation"] + terms["derivative action"]).sum())
    return {"slew_limit": 2.0 * taken / weight, "slew_used": 2.0 * float(terms["change of kp"].sum()) / weight}


def _thermodynamic(run: Trajectory, e: Array, rate: Array) -> tuple[float, float]:
    of_plant, of_controller = run.group("entropy_rates").T
    difference = of_plant - of_controller
    h = np.diff(run.time)
    total = np.concatenate([[0.0], np.cumsum(difference[:-1] * h)])
    slope = -(e * rate).sum(axis=1) + total * difference
    return float((slope < 0.0).mean()), float(slope.mean())
