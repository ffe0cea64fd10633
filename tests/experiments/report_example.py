"""A complete run report, filled from Van der Pol loops that are simulated here in plain NumPy."""

import math

import numpy as np

from experiments.report.records.gains import ChannelGains, MarginPoint, PointMargins
from experiments.report.records.learning import Knowledge, SearchHistory, TeachingView
from experiments.report.records.report_data import Provenance, ReportData, ReportWarning
from experiments.report.records.results import (
    ActuatorUse,
    ChannelView,
    ControllerResult,
    Estimate,
    NotAvailable,
    Response,
    SituationInfo,
    SituationResult,
)
from experiments.report.records.verdict import Criterion, JudgedText, VerdictComparison, VerdictText
from flcs import KnowledgeBase, Rule, RuleBase, Variable
from flcs.refinement.rule_count import TradeOff, TradeOffPoint
from sscq.teaching.teaching_signal import TeachingSignal

GAINS = ("kp", "ki", "kd")
CHANNEL = ChannelView("position", "m", "force", "N", -20.0, 20.0, ("N/m", "N/(m s)", "N s/m"))
# name, group, seed, reference, q0, v0, mu, variance
CASES = (
    ("step to 1.5", "taught", 1, 1.5, 0.1, 0.0, 1.0, 0.3),
    ("to rest from 2", "taught", 2, 0.0, 2.0, 0.0, 1.0, 0.3),
    ("to −1, moving", "taught", 3, -1.0, 1.5, -1.0, 1.0, 0.3),
    ("to 0.5, far side", "taught", 4, 0.5, -2.0, 0.0, 1.0, 0.3),
    ("step to 2, checked", "validation", 7, 2.0, 0.5, 0.0, 1.1, 0.45),
    ("larger step", "unforeseen", 11, 2.5, 0.0, 0.0, 1.0, 0.3),
    ("uniform noise", "unforeseen", 12, 1.5, 0.1, 0.0, 1.0, 0.4),
    ("mu doubled", "unforeseen", 13, 0.0, 2.5, 0.1, 2.0, 0.3),
    ("double noise", "unforeseen", 14, -1.5, 1.0, 0.0, 1.0, 0.6),
    ("mu halved", "unforeseen", 15, 1.0, -2.0, 2.0, 0.5, 0.3),
)
# key, label, gains (kp, ki, kd); None: open loop
LADDER = (
    ("open", "open loop", None),
    ("present", "your present gains", (1.0, 1.0, 1.0)),
    ("fixed", "best fixed gains", (3.62, 0.59, 3.17)),
    ("two", "two-degree-of-freedom gains", (3.4, 0.7, 3.0)),
    ("table", "gain table on q²", (3.9, 0.7, 3.6)),
    ("kb", "knowledge base (rule-based gain schedule)", (6.0, 0.98, 7.57)),
)


def schedule(key, e, rate):
    """Made-up schedules: gentle where it moves fast towards the reference."""
    kp, ki, kd = {k: g for k, _, g in LADDER}[key] or (0.0, 0.0, 0.0)
    far, fast, away = math.tanh(abs(e)), math.tanh(0.3 * abs(rate)), math.tanh(e * rate)
    if key == "table":
        kp, kd = kp + 0.5 * far, kd - 0.9 * far
    if key == "kb":
        kp, kd = (
            max(kp + 0.3 * far - 7.5 * fast + 0.3 * away, 0.1),
            max(kd - 2.3 * far - 1.15 * fast + 4.23 * away, 0.1),
        )
    return kp, ki, kd


def simulate(key, case, t_end, step):
    """Euler with everything held: good enough to be looked at. Returns a response and its total variation."""
    _, _, seed, r, q, v, mu, variance = case
    n = round(t_end / step)
    noise = np.random.default_rng(seed).standard_normal(int(t_end / 0.1) + 1) * math.sqrt(variance)
    rows, w = np.empty((n + 1, 9)), 0.0
    for k in range(n + 1):
        e = r - q
        kp, ki, kd = schedule(key, e, -v)
        free = kp * e + w - kd * v
        u = min(max(free, -20.0), 20.0)
        w += step * ki * e if abs(free) < 20.0 or free * e < 0.0 else 0.0
        rows[k] = q, u, kp, ki, kd, mu * (q * q - 1.0) * v * v, kd * v * v, e, -v
        xi = noise[int(k * step / 0.1 + 1e-9)]
        q, v = q + step * v, v + step * (mu * (1.0 - q * q) * v - (1.0 + xi) * q + u + xi)
    time = step * np.arange(n + 1)
    return Response(
        time=time,
        reference=np.full((n + 1, 1), r),
        output=rows[:, :1],
        command=rows[:, 1:2],
        gains=rows[:, 2:5],
        entropy_rates=rows[:, 5:7],
        entropies=np.vstack([np.zeros(2), step * np.cumsum(rows[:-1, 5:7], axis=0)]),
        seen=rows[:, 7:9],
    )


def scored(case, response):
    """Cost and measures from a response."""
    e, u, step = response.seen[:, 0], response.command[:, 0], response.time[1]
    plant, controller = response.entropy_rates.T
    difference = plant - controller
    iae, travel = step * np.abs(e).sum(), np.abs(np.diff(u)).sum()
    measures = {
        "iae": iae,
        "ise": step * (e**2).sum(),
        "itae": step * (response.time * np.abs(e)).sum(),
        "effort": step * (u**2).sum(),
        "total_variation": travel,
        "overshoot": float(max(0.0, np.max(-e / e[0]))),
        "settling_time": float("nan"),
        "entropy_plant": step * plant.sum(),
        "entropy_controller": step * controller.sum(),
        "entropy_difference": step * difference.sum(),
        "entropy_difference_abs": step * np.abs(difference).sum(),
    }
    cost = iae + 0.15 * measures["entropy_difference_abs"] + 0.002 * travel
    use = ActuatorUse(u.min(), u.max(), float(np.mean(np.abs(u) >= 20.0)))
    return SituationResult(case[0], Estimate(cost, 0.93 * cost, 1.08 * cost), measures, (use,), response)


def ladder_row(key, label, gains, t_end, step):
    """One controller in all situations."""
    results = tuple(scored(case, simulate(key, case, t_end, step)) for case in CASES)
    cost = {}
    for group in ("taught", "validation", "unforeseen"):
        mean = np.mean([r.cost.value for r, c in zip(results, CASES, strict=True) if c[1] == group])
        cost[group] = Estimate(mean, 0.94 * mean, 1.07 * mean)
    if gains is None:
        missing = NotAvailable("no feedback, no gains")
        return ControllerResult(
            key, label, "u = 0", missing, cost, NotAvailable("no loop"), results, 15, 0, gain_names=GAINS, drawn=False
        )
    low, high = ((0.1, gains[1], 0.1), (1.1 * gains[0], gains[1], 1.5 * gains[2]))
    bounds = {"low": low, "high": high} if key in {"table", "kb"} else {}
    if key == "table":
        bounds |= {"at": "|e| = 0 m; linear in between", "nodes": (ChannelGains(*low, at="|e| = 1.3 m and beyond"),)}
    points = tuple(
        MarginPoint(
            f"position {q:g}", 1.2 + 1.4 / gains[0] + 0.1 * q, 0.42 - 0.02 * gains[2] - 0.03 * q, 58.0 - 3 * q, 6.1
        )
        for q in (0.0, 0.5, 1.0, 1.5, 2.0)
    )
    return ControllerResult(
        key,
        label,
        {"present": "given by you", "kb": "9 rules, refined in closed loop"}.get(
            key, "genetic search, 20 000 evaluations"
        ),
        (ChannelGains(*gains, filter_time=0.02, set_point_weight=0.7 if key == "two" else 1.0, **bounds),),
        cost,
        PointMargins(points, "Worst over 4 taught plants.", {"table": 2.07, "kb": 2.71}.get(key, float("nan"))),
        results,
        None if key == "present" else 20_000,
        {"present": 3, "fixed": 3, "two": 4, "table": 7, "kb": 33}[key],
        "knowledge base" if key == "kb" else "",
        GAINS,
    )


def knowledge():
    """Nine triangular rules on e and e_rate; three inputs of which one went, nine rules of which four stayed."""
    e = Variable("e", "m", -2.0, 2.0, (-2.0, 0.0, 2.0))
    rate = Variable("e_rate", "m/s", -4.0, 4.0, (-4.0, 0.0, 4.0))
    rules = tuple(
        Rule((i, j), (4 + 3.1 * abs(i - 1) + 0.7 * abs(j - 1), 0.9 - 0.2 * j, 2.5 + abs(j - 1)))
        for i in range(3)
        for j in range(3)
    )
    base = RuleBase("position", (e, rate), rules, (0.0, 0.0, 0.0), (10.0, 10.0, 10.0), (3.62, 0.59, 3.17))
    kept = {"kept": True, "text": "the loop needs it", "taught": 0.31, "validation": 0.4}
    heard = {
        name: {"kept": name != "z", "information": told, "threshold": 0.05}
        for name, told in (("e", 0.21), ("e_rate", 0.11), ("z", 0.04))
    }
    terms = {"inputs": {"e": {"terms": 3}, "e_rate": {"terms": 3}}, "shape": "triangular", "information": 0.3}
    found = {"information": heard, "inputs": {"e": kept}, "terms": terms}
    kb = KnowledgeBase("van_der_pol", (base,), training={"structure": {"position": found}})
    cost = [0.6 + 0.002 * k**2 * (k > 3) for k in range(9)]
    points = tuple(TradeOffPoint(9 - k, "", value, value + 0.1) for k, value in enumerate(cost))
    return Knowledge(kb, TradeOff(points, 5, 0.05, {}), np.full(9, 0.11), np.array([1.0, 0.5, -1.0]), "far", "kb")


def teaching():
    """A teaching signal of two situations with what was learned."""
    time = np.tile(0.5 * np.arange(8), 2)
    gains = np.column_stack([4.0 + np.sin(time), np.full(16, 0.6), 3.0 + np.cos(time)])
    signal = TeachingSignal(
        np.repeat([0, 1], 8), time, np.zeros((16, 3)), gains, np.tile(np.linspace(1.0, 0.0, 8), 2), np.ones(16),
        ("error", "error_rate", "error_integral"), ("kp", "ki", "kd"), tuple(case[0] for case in CASES[:2]),
    )  # fmt: skip
    start = np.array([3.62, 0.59, 3.17])
    return TeachingView(signal.situation_names, 0.5, start, "kb", "fixed", "8 windows each.", 1, signal, 0.9 * gains)


def histories():
    """Searches that converge."""
    out = []
    for seed, (key, _, gains) in enumerate(LADDER):
        if gains is None or key == "present":
            continue
        n = 400 * np.arange(1, 51)
        shape = np.random.default_rng(seed).exponential(1.0, 50)
        best = np.minimum.accumulate(4.0 + 9.0 * np.exp(-n / 2500.0) * (0.6 + shape) - 0.2 * seed)
        out.append(
            SearchHistory(
                f"{key}, genetic search, seed 0",
                key,
                n,
                best,
                1.6 * best,
                "population 400; budget used",
                (("genetic algorithm", 0.25 * float(n[-1])), ("gradient descent", 0.75 * float(n[-1]))),
            )
        )
    return tuple(out)


def comparisons(controllers):
    """Changes of the knowledge base against all others, and of the others against the fixed gains."""
    cost = {c.key: c.cost["unforeseen"].value for c in controllers}
    pairs = [("kb", k) for k in cost if k != "kb"] + [(k, "fixed") for k in ("two", "table")]
    out = []
    for a, b in pairs:
        d = cost[a] / cost[b] - 1.0
        out.append(
            VerdictComparison(
                a, b, Estimate(d, d - 0.05, d + 0.06), equal_travel=b not in {"open", "present"}, travel_ratio=1.9
            )
        )
    out.append(VerdictComparison("kb", "fixed", Estimate(-0.31, -0.36, -0.25), equal_travel=False, travel_ratio=2.1))
    return tuple(out)


def example(t_end=10.0, step=0.02):
    """A complete report."""
    controllers = tuple(ladder_row(*row, t_end, step) for row in LADDER)
    verdict = VerdictText(
        recommended="kb",
        compared_with="fixed",
        judged="kb",
        present="present",
        reason="The simplest controller within 3 % of the best; a one-variable table reaches less.",
        comparisons=comparisons(controllers),
        criteria=(
            Criterion("mean cost improves", True, "−31 %, whole interval below 0"),
            Criterion("median cost improves", True, "−28 %"),
            Criterion("mean of the worst 5 % improves", True, "−19 %"),
            Criterion("no new failure", True, "0 of 100 runs"),
            Criterion("never more than 5 % worse in a taught situation", False, "+7 % in one"),
        ),
        judgements=(
            JudgedText("table", (Criterion("mean cost improves", False, "+1 % [−2 … +3]"),), 0.4, 0.2, "turned down"),
            JudgedText("kb", (Criterion("mean cost improves", True, "−31 % [−36 … −25]"),), 0.97, 1e-9, "recommended"),
        ),
        sensitivity_peak_limit=1.8,
        passing_peak_limit=2.6,
        delay_margin_needed=0.1,
    )
    return ReportData(
        title="Design report: van_der_pol",
        plant="Van der Pol oscillator, unit mass and stiffness, parametric and additive excitation",
        cost="J = IAE + 0.15 ∫|ΔṠ| dt + 0.002 TV",
        channels=(CHANNEL,),
        situations=tuple(
            SituationInfo(
                c[0], c[1], f"r = {c[3]:g}, q(0) = {c[4]:g}, q'(0) = {c[5]:g}, mu = {c[6]:g}, variance {c[7]:g}", 20
            )
            for c in CASES
        ),
        controllers=controllers,
        verdict=verdict,
        knowledge=knowledge(),
        teaching=teaching(),
        searches=histories(),
        warnings=(
            ReportWarning(
                "Only 4 taught plants: the tail outside them is not secured.", "warning", "Teach 20 or more."
            ),
            ReportWarning("The tuning rules need a first-order model; none applies to this plant.", "note"),
        ),
        provenance=Provenance(
            "python -m experiments.design plant=van_der_pol seed=0",
            "0",
            "plant: van_der_pol\nseed: 0\nstep: 0.005\n",
            (("python", "3.11"), ("numpy", "2.4")),
            (("knowledge_base.json", "rules and terms"), ("metrics.json", "all numbers")),
        ),
        facts=(("integrator", "rk4"), ("step", "5 ms")),
    )
