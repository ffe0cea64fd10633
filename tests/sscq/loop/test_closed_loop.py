"""The closed loop: published numbers, a slow twin of it, and what may not change a bit."""

from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID, Controller, GainTable, TimeGains, gain_names
from plants import Channel, Plant, Quantity
from plants.core.elementary import sign
from plants.excitation import Recorded, Sine, Step, WhiteNoise
from sscq.fitness import KINDS, Fitness
from sscq.loop.closed_loop import ClosedLoop
from sscq.loop.quality import ALL_MEASURES
from tests.reference.closed_loop_twin import Twin, recorder_of, uncompiled
from tests.sscq.loop.own_law import OwnLaw

VDP = plants.get("van_der_pol")
PUBLISHED = {
    "iae": 1.899356, "itae": 3.349830, "ise": 1.528711, "effort": 63.262768, "entropy_plant": -0.117482,
    "entropy_controller": 1.505048, "entropy_difference_abs": 1.705326,
}  # fmt: skip


# ------------------------------------------------------------------------------------------------ published numbers


@pytest.fixture(scope="module")
def plain():
    """Van der Pol oscillator, 5 ms, every step a sample: the published case and the study share this kernel."""
    step = sscq.Situation(reference=1.5, initial=(0.1, 0.0), t_end=30.0)
    return ClosedLoop(VDP, PID(), (step, *study("taught"), *study("unforeseen"), *TWENTY), 0.005)


TWENTY = [
    sscq.Situation(
        f"situation {k}", 0.3 * k - 3.0, WhiteNoise(0.1 + 0.02 * k, hold=0.1), {"mu": 0.5 + 0.05 * k},
        (0.2 * k - 2.0, 0.1), t_end=2.0, seed=k // 2,
    )
    for k in range(20)
]  # fmt: skip
ALL = slice(10, 30)  # their places in the loop
GAINS = np.random.default_rng(0).uniform((1.0, 0.2, 1.0), (6.0, 2.0, 4.0), (21, 3))


def held(seed, variance):
    """The study's noise: NumPy's default generator, each value held 0.1 s for 20 s; uniform where it has no variance."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(-1.2, 1.2, 201) if variance is None else rng.standard_normal(201) * np.sqrt(variance)
    return Recorded.held(values, 0.1)


def study(kind):
    rows = {
        "taught": [(1, 0.3, 1.5, 0.1, 0.0, 1.0), (2, 0.3, 0.0, 2.0, 0.0, 1.0), (3, 0.3, -1.0, 1.5, -1.0, 1.0),
                   (4, 0.3, 0.5, -2.0, 0.0, 1.0)],
        "unforeseen": [(11, 0.3, 2.5, 0.0, 0.0, 1.0), (12, None, 1.5, 0.1, 0.0, 1.0), (13, 0.3, 0.0, 2.5, 0.1, 2.0),
                       (14, 0.6, -1.5, 1.0, 0.0, 1.0), (15, 0.3, 1.0, -2.0, 2.0, 0.5)],
    }[kind]  # fmt: skip
    return [
        sscq.Situation(f"{kind} {seed}", r, held(seed, variance), {"mu": mu}, (q, v), t_end=20.0)
        for seed, variance, r, q, v, mu in rows
    ]


def test_published_step_response(plain):
    quality = plain.evaluate(np.array([[1.0, 1.0, 1.0]]))
    for name, value in PUBLISHED.items():
        # Printed to six decimals: half of the last one.
        assert float(getattr(quality, name)[0, 0]) == pytest.approx(value, abs=0.6e-6), name


def test_published_study_of_fixed_gains(plain):
    quality = plain.evaluate(np.array([[3.617, 0.593, 3.174]]))
    mean = {name: quality.until_lost[name][:, 0] for name in ALL_MEASURES}
    fitness = mean["iae"] + 0.15 * mean["entropy_difference_abs"] + 0.002 * mean["total_variation"]
    # Published: J to three decimals, IAE to two, total variation to whole numbers.
    assert fitness[1:5].mean() == pytest.approx(4.834, abs=6e-4)
    assert fitness[5:10].mean() == pytest.approx(5.827, abs=6e-4)
    assert mean["iae"][1:5].mean() == pytest.approx(2.82, abs=6e-3)
    assert mean["iae"][5:10].mean() == pytest.approx(3.46, abs=6e-3)
    assert mean["total_variation"][1:5].mean() == pytest.approx(38.0, abs=0.6)


def test_sampled_loop_comes_near_the_continuous_one(plain):
    """Left sums of a 5 ms loop are first order: within 1 % of the integrals of the loop closed in continuous time."""
    closed = plants.close(VDP, PID(), (1.0, 1.0, 1.0), 1.5, integrals=("iae", "ise", "entropy_controller"))
    start = {"position": 0.1, "velocity": 0.0}
    end = plants.simulate(closed, 30.0, 0.005, initial=start).states[-1]
    exact = dict(zip([q.name for q in closed.states], end, strict=True))
    quality = plain.evaluate(np.array([[1.0, 1.0, 1.0]]))
    for name in ("iae", "ise", "entropy_controller"):
        assert float(getattr(quality, name)[0, 0]) == pytest.approx(exact[name], rel=0.01), name


# --------------------------------------------------------------------------------------------------- the slow twin


def masses_derivative(t, x, u, w, p):
    a, b, c, va, vb, vc = x
    stiffness, damping = p
    return (
        va, vb, vc,
        -stiffness * a - damping * va + 0.3 * (b - a) + u[0] + w[0],
        -stiffness * b - damping * vb + 0.3 * (a - b) + 0.3 * (c - b) + u[1] + 0.2 * w[0] * b,
        -stiffness * c - damping * vc + 0.3 * (b - c) - u[2] + w[1],
    )  # fmt: skip


def masses_outputs(t, x, u, w, p):
    return (*x, x[0] * x[0] - x[1])


def masses_allocate(t, x, commands, p):
    return commands[0] - 0.1 * commands[1], commands[1], commands[2] + 0.2 * p[0] * x[0]


def masses_entropy_rate(t, x, u, w, p):
    return p[1] * (x[3] * x[3] + x[4] * x[4] + x[5] * x[5]) - 0.01 * u[0] * x[3]


_PLACES, _SPEEDS = ("a", "b", "c"), ("speed a", "speed b", "speed c")
MASSES = Plant(
    name="three masses",
    states=tuple(Quantity(n, "", v) for n, v in zip((*_PLACES, *_SPEEDS), (0.2, -0.3, 0.1, 0.0, 0.4, 0.0), strict=True)),
    parameters=(Quantity("stiffness", "", 1.0), Quantity("damping", "", 0.4)),
    inputs=tuple(Quantity(f"force {n}", "", rest) for n, rest in zip(_PLACES, (0.1, 0.0, -0.2), strict=True)),
    disturbances=(Quantity("push", ""), Quantity("pull", "")),
    measurements=tuple(Quantity(n, "") for n in (*_PLACES, *_SPEEDS, "spread")),
    channels=(
        Channel("a", "speed a", low=-3.0, high=2.5), Channel("b", scale=0.5), Channel("c", "speed c", 2.0, -9.0, 9.0),
    ),
    derivative=masses_derivative, outputs=masses_outputs, allocate=masses_allocate, entropy_rate=masses_entropy_rate,
)  # fmt: skip
H, SAMPLE, TICK = 0.01, 4, 2


def draw(rng, *options):
    return options[rng.integers(len(options))]


def random_law(rng, action="direct", limits=(-4.0, 5.0)):
    """PID settings at random; None of the limits means the channel's."""
    anti_windup = draw(rng, "conditional", "back_calculation", "none")
    return PID(
        limits=draw(rng, None, limits),
        rate_limit=draw(rng, None, 25.0),
        derivative_filter_time=draw(rng, 0.0, 0.04, 0.13),
        sample_time=H * SAMPLE,
        action=action,
        derivative_on=draw(rng, "error", "measurement"),
        set_point_weight=draw(rng, 1.0, 0.6),
        anti_windup=anti_windup,
        tracking_time=0.3 if anti_windup == "back_calculation" else None,
        rate_source=draw(rng, "output", "difference"),
        initial_command=draw(rng, 0.0, 0.7),
    )


def random_schedule(rng, laws, signal):
    """A schedule, its parameters, and the same as a plain function of (t, signals)."""
    n = 3 * len(laws)
    rows = rng.uniform(0.5, 1.0, (2, n)) * np.tile([4.0, 2.0, 1.5], len(laws))
    names = gain_names(tuple(laws))
    kind = draw(rng, "time", "steps in time", "error", "output")
    if kind == "output":
        schedule = GainTable(signal, (0.05, 0.7), "square", gain_names=names, tick=H * SAMPLE * TICK)
        return schedule, rows.ravel(), lambda t, *s: between(s[-1] ** 2, (0.05, 0.7), rows)
    if kind == "error":
        schedule = GainTable("error_rate", (0.1, 1.5), "magnitude", gain_names=names, tick=H * SAMPLE * TICK)
        return schedule, rows.ravel(), lambda t, *s: between(abs(s[1]), (0.1, 1.5), rows)
    linear = kind == "time"
    schedule = TimeGains((0.5, 1.7), "linear" if linear else "piecewise", names, H * SAMPLE * TICK)
    if linear:
        return schedule, rows.ravel(), lambda t, *s: between(t, (0.5, 1.7), rows)
    return schedule, rows.ravel(), lambda t, *s: rows[int(t > 1.7 - 1e-9)]


def between(value, nodes, rows):
    return [np.interp(value, nodes, column) for column in rows.T]


RICH = sscq.Situation(
    "rich", {"position": 0.5 + Step(0.4, at=1.2) + Sine(0.2, 0.4, 0.3)}, WhiteNoise(0.3, hold=0.05) + Step(0.8, at=2.0),
    {"mu": 1.4}, (-0.4, 0.2), delay=2.5 * H, output_delay=1.5 * H * SAMPLE,
    noise={"position": 0.02, "velocity": 0.03}, limits=(-2.5, 3.0), t_end=3.2, seed=9,
)  # fmt: skip
CROWD = replace(
    RICH, name="crowd", initial=None, parameters={"damping": 0.7}, limits=(-2.0, 2.0),
    reference={"a": 1.0 + Sine(0.3, 0.5), "b": Step(-0.5, at=0.8), "c": 0.4 + Step(0.3, at=1.6)},
    excitation={"push": WhiteNoise(0.2, 0.04, "uniform") + Sine(0.4, 1.3), "pull": Step(0.5, at=2.4)},
    noise={"a": 0.01, "b": 0.02, "speed c": 0.05, "spread": 0.04},
)  # fmt: skip
WORN = replace(
    CROWD, name="worn", jitter=0.7, quantisation={"a": 0.0317, "speed c": 0.0713, "spread": 0.0173}, dropout=0.3,
    command_dropout=0.2, rate_limit={"force a": 11.3, "force c": 31.7}, dead_zone={"force b": 0.137},
    backlash={"force a": 0.211, "force b": 0.113},
)  # fmt: skip


def compare(loop, theta, twin, judge=None):
    """Trajectory of the kernel against the twin's, and measures: of `judge`, the loop that is not observed."""
    measures, trace = twin.run()
    run = recorder_of(loop)(theta)
    columns = {"states": "x", "outputs": "y", "reference": "r", "command": "command", "inputs": "u", "gains": "g",
               "entropy_rates": "entropy", "signals": "seen", "disturbances": "w"}  # fmt: skip
    for group, key in columns.items():
        expected = np.array([row[key] for row in trace])
        # 320 steps of rounding, in another order: measured 1e-14, and the loop is stable.
        np.testing.assert_allclose(run.group(group)[:-1], expected, rtol=1e-9, atol=1e-11, err_msg=group)
    quality = (judge or loop).evaluate(np.array(theta, float)[None], threads=1)
    for name in ALL_MEASURES:
        expected = measures.get(name, 0.0)
        assert float(quality.until_lost[name][0, 0]) == pytest.approx(expected, rel=1e-9, abs=1e-11), name


def resolved(laws, plant):
    """Laws with the channels' limits, where they have none of their own."""
    return [
        replace(law, limits=(c.low, c.high)) if law.limits is None and np.isfinite(c.low) else law
        for law, c in zip(laws, plant.channels, strict=True)
    ]


def case(seed, plant, situation, actions, signal):
    rng = np.random.default_rng(seed)
    laws = tuple(random_law(rng, action) for action in actions)
    schedule, theta, plain_gains = random_schedule(rng, laws, signal)
    controller = Controller(laws, schedule)
    twin = Twin(plant, resolved(laws, plant), plain_gains, situation, H, SAMPLE, TICK, schedule.signals)
    return controller, theta, twin


CASES = [(seed, VDP, RICH, ("direct",), "velocity") for seed in range(12)]
CASES += [(seed, MASSES, one, ("direct", "direct", "reverse"), "spread") for one in (CROWD, WORN) for seed in range(4)]


@pytest.mark.parametrize("given", CASES, ids=lambda given: f"{given[2].name} {given[0]}")
def test_any_settings_agree_with_the_slow_twin(given):
    (_, plant, situation, *_), (controller, theta, twin) = given, case(*given)
    with uncompiled():
        seen, judge = (ClosedLoop(plant, controller, (situation,), H, observe=one, lanes=1) for one in (True, False))
        compare(seen, theta, twin, judge)


def test_a_compiled_loop_agrees_with_the_slow_twin():
    controller, theta, twin = case(11, VDP, RICH, ("direct",), "velocity")
    compare(ClosedLoop(VDP, controller, (RICH,), H, observe=True), theta, twin)


# ------------------------------------------------------------------------------------------- what changes no bit


def same(a, b):
    for name in a.values:
        np.testing.assert_array_equal(a.until_lost[name], b.until_lost[name], err_msg=name)
    np.testing.assert_array_equal(a.diverged_at, b.diverged_at)


def part(quality, rows, columns=slice(None)):
    values = {name: value[rows, columns] for name, value in quality.until_lost.items()}
    return replace(quality, diverged_at=quality.diverged_at[rows, columns], until_lost=values)


@pytest.fixture(scope="module")
def together(plain):
    return plain.evaluate(GAINS, threads=1)


def test_one_candidate_in_twenty_situations_is_each_situation_alone(plain, together):
    """Lanes are situations where there are fewer than 16 candidates: noise, parameters and start of each lane's own."""
    crowd = plain.evaluate(GAINS[:1], threads=1)
    same(part(crowd, ALL), part(together, ALL, slice(0, 1)))
    for number in range(10, 30):
        alone = plain.run(GAINS[:1], [number], threads=1)
        expected = [crowd.until_lost[name][number, 0] for name in plain.measures]
        np.testing.assert_array_equal(alone.measures[0], expected)
    assert len(np.unique(crowd.iae[ALL])) == 20


def test_random_numbers_belong_to_name_and_seed(plain):
    """The same name and seed: the same excitation for whoever else runs; another name or seed: another one."""
    calm = replace(TWENTY[0], initial=(0.0, 0.0), parameters=None, reference=0.0)
    others = [calm, replace(calm, seed=1), replace(calm, name="other"), replace(calm, text="said otherwise"), calm]
    loop = ClosedLoop(VDP, PID(), (*others, study("taught")[0], TWENTY[3]), 0.005)
    assert loop.kernel.text == plain.kernel.text  # what is compiled in depends on kinds of signals only
    iae = loop.evaluate(GAINS[:2], threads=1).iae
    np.testing.assert_array_equal(iae[0], iae[3])
    np.testing.assert_array_equal(iae[0], iae[4])
    assert len({iae[0, 0], iae[1, 0], iae[2, 0]}) == 3


def test_random_numbers_do_not_depend_on_the_candidate(plain):
    """Held noise seen through a loop without feedback is the same for all candidates."""
    quality = plain.evaluate(np.zeros((17, 3)), threads=1)
    for name in ("iae", "entropy_plant"):
        assert (np.ptp(quality.until_lost[name], axis=1) == 0.0).all()


# ---------------------------------------------------------------------------------------------------- divergence


def test_divergence_is_marked_and_leaves_the_others_alone(plain, together):
    wild = GAINS.copy()
    wild[[2, 18]] = (0.0, 0.0, -1e3)  # the faster it is pushed, the faster it goes: the command's limit is reached
    wild[5] = (1e300, -1e300, 1e300)
    quality = plain.evaluate(wild, threads=1)
    kept = [k for k in range(21) if k not in {2, 5, 18}]
    same(part(quality, slice(None), kept), part(together, slice(None), kept))
    for kind in KINDS:  # squares of 1e300 overflow; a search must not see that
        assert np.isfinite(Fitness(kind)(quality)).all()
        assert (Fitness(kind)(quality)[kept] == Fitness(kind)(together)[kept]).all()


@pytest.fixture(scope="module")
def narrow():
    """A loop whose region ends at |q| = 2.5, and which grows the faster the more negative kd is."""
    position, velocity = VDP.states
    plant = replace(VDP, name="narrow", states=(replace(position, low=-2.5, high=2.5), velocity))
    situations = [sscq.Situation(f"push {r}", r, initial=(0.1, 0.0), t_end=10.0) for r in (0.0, 1.0)]
    return ClosedLoop(plant, PID(), situations, 0.005, measures=("iae", "total_variation", "entropy_difference_abs"))


def test_divergence_is_reported_at_its_time(narrow):
    damping = -np.linspace(0.5, 9.0, 24)
    gains = np.column_stack([np.zeros(24), np.zeros(24), damping])
    quality = narrow.evaluate(gains, threads=1)
    times = quality.diverged_at[0]
    assert quality.failed[0].sum() > 10
    np.testing.assert_array_equal(quality.failed, np.isfinite(quality.diverged_at))
    assert (np.diff(times[np.isfinite(times)]) <= 0.0).all()  # the more damping is lacking, the sooner
    assert times[np.isfinite(times)].min() > 0.0
    assert np.nanmax(times) < 10.0
    run = sscq.record(narrow.plant, PID(), gains[-1], narrow.situations[0], 0.005)
    last = round(times[-1] / 0.005)
    assert abs(run["position"][last]) <= 2.5
    assert (run["position"][last:] == run["position"][last]).all()  # it stays where it was
    assert abs(run["position"][last] + 0.005 * run["velocity"][last]) > 2.5 * 0.98  # and would have left


# ------------------------------------------------------------------------------------------------------ the record


def test_a_record_gives_back_the_measures():
    """The public ways: recomputed from the record, the measures are those of the evaluation."""
    situation = sscq.Situation(
        "noisy", 0.8, WhiteNoise(0.2, 0.05) + Step(-0.5, at=1.0), initial=(-0.5, 0.0), noise=0.01, t_end=4.0, seed=3
    )
    law = PID(limits=(-3.0, 2.0), sample_time=0.02)
    gains = (4.0, 1.0, 2.0)
    quality = sscq.evaluate(VDP, law, gains, situation, 0.01)
    run = sscq.record(VDP, law, gains, situation, 0.01)
    assert run.time.shape == (401,)
    e = (run["reference position"] - run["position"])[:-1]
    u, t = run["command position"][:-1], run.time[:-1]
    plant, controller = run["entropy rate plant"][:-1], run["entropy rate controller"][:-1]
    way = 0.8 + 0.5
    since = np.where(t >= 1.0 - 1e-9, t - 1.0, t)
    outside = np.flatnonzero(np.abs(e / way) > 0.02)
    expected = {
        "iae": 0.01 * np.abs(e).sum(), "ise": 0.01 * (e**2).sum(), "effort": 0.01 * (u**2).sum(),
        "itae": 0.01 * (since * np.abs(e)).sum(), "peak_command": np.abs(u).max(),
        "total_variation": np.abs(np.diff(u)).sum(), "saturated_time": 0.01 * ((u >= 2.0) | (u <= -3.0)).sum(),
        "entropy_plant": 0.01 * plant.sum(), "entropy_controller": 0.01 * controller.sum(),
        "entropy_difference": 0.01 * (plant - controller).sum(),
        "entropy_difference_abs": 0.01 * np.abs(plant - controller).sum(),
        "entropy_difference_square": 0.01 * ((plant - controller) ** 2).sum(),
        "overshoot": max(0.0, (-e / way).max()), "settling_time": 0.01 * (outside[-1] + 1),
    }  # fmt: skip
    assert set(expected) == set(ALL_MEASURES)
    for name, value in expected.items():
        # The same terms summed in another order, and a kernel that keeps more rows in memory.
        assert float(quality.until_lost[name][0, 0]) == pytest.approx(value, rel=1e-11, abs=1e-12), name
    assert expected["saturated_time"] > 0.0
    np.testing.assert_allclose(controller, 2.0 * run["velocity"][:-1] ** 2, rtol=1e-12)
    np.testing.assert_array_equal(run.group("gains"), np.tile(gains, (401, 1)))
    assert run.units[run.names.index("position")] == "m"


@pytest.mark.parametrize(
    ("sample_time", "step", "told"),
    [(0.01, 0.1, "0.01"), (0.025, 0.01, "0.00625"), (0.01, 0.003, "0.0025"), (0.01, 0.00999, "0.005"), (0.3, 0.14, "0.075")],
)  # fmt: skip
def test_the_step_that_is_told_divides_the_sample_time(sample_time, step, told):
    situation = sscq.Situation(t_end=3.0)
    with pytest.raises(ValueError, match=rf"; give step={told}, for the sample time of {sample_time} s"):
        ClosedLoop(VDP, PID(sample_time=sample_time), (situation,), step)
    assert float(told) <= step
    assert ClosedLoop(VDP, PID(sample_time=sample_time), (situation,), float(told)).spec.timing.sample >= 1


SHORT = sscq.Situation(t_end=1.0)
UNEQUAL = (PID(sample_time=0.01), PID(sample_time=0.02), PID())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ClosedLoop(VDP, PID(sample_time=0.025), (SHORT,), 0.01),
            "be a multiple of the step, got a ratio of 2.5",
        ),
        (
            lambda: ClosedLoop(VDP, Controller((PID(sample_time=0.02),), TimeGains((0.0,), tick=0.03)), (SHORT,), 0.01),
            "tick must be a multiple of sample_time, got a ratio of 1.5",
        ),
        (lambda: ClosedLoop(VDP, PID(), (SHORT,), -0.01), "step must be positive and finite, got -0.01 s"),
        (lambda: ClosedLoop(VDP, PID(), ()), "at least one situation"),
        (lambda: ClosedLoop(replace(VDP, channels=()), PID(), (SHORT,)), "declares no control channel"),
        (lambda: ClosedLoop(MASSES, UNEQUAL, (replace(CROWD, t_end=1.0),), 0.01), "the same sample time"),
        (
            lambda: sscq.evaluate(VDP, PID(), (1.0, 1.0, 1.0), replace(SHORT, t_end=1.005)),
            "t_end = 1.005 s must be a mul",
        ),
        (lambda: sscq.record(VDP, PID(), np.ones((2, 3)), SHORT), "record shows one candidate, got 2"),
        (
            lambda: sscq.evaluate(VDP, PID(), (1.0, 2.0), SHORT),
            r"gains must have shape \(candidates, 3\) \(kp, ki, kd\), got \(2,\)",
        ),
        (
            lambda: sscq.evaluate(VDP, PID(), [(1.0, 0.0, 0.0), (1.0, np.nan, 0.0)], SHORT),
            r"gains must be finite, got \[1.0, nan, 0.0\] in row 1",
        ),
        (lambda: sscq.evaluate(VDP, PID(), (1.0, 2.0, 3.0), SHORT, measures=("iaee",)), "did you mean 'iae'"),
    ],
)
def test_what_cannot_be_run_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


class Relay(OwnLaw):
    def law(self, t, r, y, r_rate, y_rate, c, g):
        return g[0] * sign(r - y), ()


def test_any_law_of_the_protocol_can_close_the_loop():
    situation = sscq.Situation(reference=1.0, t_end=1.0)
    with uncompiled():
        loop = ClosedLoop(VDP, Relay(), (situation,), 0.01, lanes=1)
        quality = loop.evaluate(np.array([[0.0], [3.0], [30.0]]), threads=1)
    np.testing.assert_allclose(quality.peak_command, [[0.0, 3.0, 30.0]])  # the channel's limits are the PID's business
    np.testing.assert_array_equal(quality.entropy_controller, 0.0)  # it has no derivative action
    assert len(np.unique(quality.iae)) == 3
