"""Plants that cannot be traced: compiled as they stand, they move as in plain Python, and what is not possible is told."""

import math
import os
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from plants.core import elementary as e
from plants.core import registry
from plants.core.blocks import forms, program
from plants.core.gpu.text import device_text
from plants.core.kernel import machine_code
from plants.core.kernel.kernel import ARGUMENTS
from plants.core.motion.integrators import INTEGRATORS
from plants.core.printers.c import PrintedC
from plants.core.tracing.gradients import gradient
from plants.core.tracing.tape import Traced, TracingError
from plants.core.user_functions.block import UntracedWarning
from plants.core.user_functions.stand_ins import STAND_INS
from sscq.loop.closed_loop import ClosedLoop

ROOT = Path(__file__).parents[4]
FILE = ROOT / "docs" / "examples" / "as_written.py"
GAINS = {"heated_air": (0.05, 5e-4, 0.3), "drained_tank": (0.02, 5e-4, 0.02), "strapped_vessel": (0.02, 2e-3, 0.02)}
REFERENCES = {"heated_air": 25.0, "drained_tank": 1.2, "strapped_vessel": 1.3}
pytestmark = pytest.mark.filterwarnings("ignore::plants.core.user_functions.block.UntracedWarning")


@pytest.fixture(scope="module")
def written():
    known = registry.snapshot()
    found = {plant.name: plant for plant in plants.load_plant_file(FILE)}
    registry.restore(known)
    return found


def small(derivative, **more):
    state = plants.Quantity("level", "m", 0.5, -5.0, 5.0)
    return plants.Plant(
        "small", (state,), inputs=(plants.Quantity("flow", "m/s", 0.1, -1.0, 1.0),), derivative=derivative,
        channels=(plants.Channel("level", low=-1.0, high=1.0),), **more,
    )  # fmt: skip


def stepped(plant, u, steps, integrator="rk4"):
    """The same run in plain Python."""
    x, p, w, h = plant.initial(), plant.nominal(), plant.calm(), plant.step
    found = [x]
    for k in range(steps):
        x = INTEGRATORS[integrator](lambda t, x: plant.derivative.function(t, x, u, w, p), k * h, x, h)
        found.append(x)
    return np.array(found)


@pytest.mark.parametrize("name", GAINS)
def test_they_move_as_in_plain_python(written, name):
    """Sums of a step are fused in kernels, and sines are others: round-off, carried along for 100 steps."""
    plant = written[name]
    u = tuple(1.3 * q.nominal for q in plant.inputs)
    run = plants.simulate(plant, 100 * plant.step, plant.step, inputs=u)
    np.testing.assert_allclose(run.states, stepped(plant, u, 100), rtol=1e-12, atol=1e-12)
    assert np.ptp(run.states, axis=0).min() > 1e-5  # it moves


@pytest.mark.parametrize("name", GAINS)
def test_threads_and_lanes_change_no_bit(written, name):
    plant = written[name]
    task = [sscq.Situation("step", reference=REFERENCES[name], t_end=50 * plant.step, noise=0.001)]
    theta = np.array([GAINS[name]]) * np.linspace(0.5, 1.5, 21)[:, None]
    loop = ClosedLoop(plant, PID(), task, plant.step)
    one, two = (loop.evaluate(theta, threads=n).iae for n in (1, 2))
    alone = ClosedLoop(plant, PID(), task, plant.step, lanes=1).evaluate(theta).iae
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, alone)
    assert len(np.unique(one)) > 5


def test_the_line_is_told_once_and_by_check_with_the_remedy():
    def derivative(t, x, u, w, p):
        return (u[0] if x[0] > 0.25 else 2.0 * u[0],)

    plant, line = small(derivative), derivative.__code__.co_firstlineno + 1
    place = f"{__file__}:{line} in derivative: comparison of a traced number"
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        plants.simulate(plant, 0.1)
        plants.simulate(plant, 0.2)
    (one,) = told
    assert one.category is UntracedWarning
    assert str(one.message) == (
        f"derivative of plant 'small' is compiled by numba as it stands, because {place}; its slopes are difference "
        "quotients"
    )
    (advice,) = [one for one in plants.check(plant).advice if "compiled by numba" in one]
    assert f"{place}; use where(x[0] - 0.25, u[0], 2.0 * u[0]) instead of" in advice


TABLE = [0.0, 1.0, 4.0]


def squared(x):
    return x * x if x > 0.0 else 0.0


def test_another_helper_table_or_closed_over_number_is_another_function(monkeypatch):
    def plant(gain):
        def derivative(t, x, u, w, p):
            return (gain * squared(x[0]) + np.interp(x[0], [0.0, 1.0, 2.0], TABLE),)

        return small(derivative)

    def rate(gain):
        run = plants.simulate(plant(gain), 0.01, 0.01, integrator="euler")
        return 100.0 * (run.states[1, 0] - 0.5)

    assert rate(2.0) == pytest.approx(2.0 * 0.25 + 0.5)
    assert rate(3.0) == pytest.approx(3.0 * 0.25 + 0.5)
    monkeypatch.setattr(sys.modules[__name__], "TABLE", [0.0, 2.0, 4.0])
    assert rate(3.0) == pytest.approx(3.0 * 0.25 + 1.0)
    monkeypatch.setattr(sys.modules[__name__], "squared", lambda x: x if x > 0.0 else 1.0)
    assert rate(3.0) == pytest.approx(3.0 * 0.5 + 1.0)


def test_a_later_process_needs_no_numba(written, tmp_path):
    code = (
        "import sys, warnings, plants; warnings.simplefilter('ignore'); "
        f"one = plants.load_plant_file({str(FILE)!r})[1]; run = plants.simulate(one, 5.0, 0.5); "
        "print(one.name, 'numba' in sys.modules, repr(run.states[-1, 0]))"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT), "SSCQ_CACHE": str(tmp_path / "cache")}

    def said():
        done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
        return done.stdout.split()

    first, second = said(), said()
    assert first[:2] == ["heated_air", "True"]
    assert second[:2] == ["heated_air", "False"]
    assert first[2] == second[2]
    for kept in (tmp_path / "cache").glob("function_*.ll"):
        kept.write_bytes(kept.read_bytes().replace(b"double", b"doublf"))  # what lies there is not taken on trust
    assert said() == first


def test_numba_and_plain_python_give_what_our_compiler_gives(written, monkeypatch):
    plant = written["heated_air"]
    task, found = [sscq.Situation("step", reference=25.0, t_end=10.0)], []
    for compiler, interpret in (("", "0"), ("numba", "0"), ("", "1")):
        monkeypatch.setenv("SSCQ_COMPILER", compiler)
        monkeypatch.setenv("SSCQ_INTERPRET", interpret)
        found.append(ClosedLoop(plant, PID(), task, 0.5, lanes=1).evaluate(np.array([GAINS["heated_air"]])).iae[0, 0])
    assert found[0] == found[1]
    assert found[2] == pytest.approx(found[0], rel=1e-12)  # Python's fma rounds twice


@pytest.mark.skipif("x86" not in machine_code.processor(), reason="elsewhere LLVM always weighs it")
def test_the_next_pass_of_a_bisection_does_not_wait_for_the_choice(written, monkeypatch):
    """Which half it goes on with is guessed by a branch, 1.7 times as fast; a move under a mask waits."""
    monkeypatch.setenv("SSCQ_CPU_NAME", "x86-64-v4")
    monkeypatch.setenv("SSCQ_CPU_FEATURES", "")
    tank = written["drained_tank"]
    loop = ClosedLoop(tank, PID(), [sscq.Situation("step", reference=1.2, t_end=1.0)], tank.step, lanes=1)
    passes = machine_code.assembly(loop.kernel.text, ARGUMENTS).partition("$log10")[2].rpartition("$log10")[0]
    assert len(re.findall(r"\tvdivsd\t", passes)) > 12
    assert not re.findall(r"\tvmovsd\t.*\{%k\d\}", passes)


def test_slopes_are_differences_and_what_is_not_read_has_none():
    def derivative(t, x, u, w, p):
        rate = x[0]
        while abs(rate) > 10.0:
            rate = 0.5 * rate
        return rate**3 + 2.0 * u[0], x[1]

    def outputs(t, x, u, w, p):
        unused = u[0] if u[0] > 0.0 else 1.0 / u[0]
        return x[0], (x[1] if x[1] > 0.0 else -x[1]) + 0.0 * min(unused, 0.0) ** 2 * 0.0

    states = (plants.Quantity("a", "1", 0.5, -2.0, 2.0), plants.Quantity("b", "1", 0.5, -2.0, 2.0))
    plant = replace(small(derivative), states=states, measurements=states, outputs=outputs, channels=())
    model = plants.linearise(plant, (0.5, 0.0), input=(-0.0625,))
    np.testing.assert_allclose(model.A, [[0.75, 0.0], [0.0, 1.0]], atol=1e-8)
    np.testing.assert_allclose(model.B, [[2.0], [0.0]], atol=1e-8)
    tape = program(plant, "derivative", forms(plant)["derivative"])
    assert [one.reads for one in tape.called()] == [((1, 3), (2,))]
    first, second = (gradient(Traced(tape.tape, node), [tape.tape.input("x0")])[0] for node in tape.outputs)
    assert isinstance(first, Traced)
    assert second == 0.0


@pytest.mark.parametrize("mode", ["solved", "iterated_exact", "loop_free"])
def test_accelerations_of_called_functions_are_solved_in_every_way(mode):
    """Dry friction and a mass that changes, given as a matrix and as NumPy's array."""

    def mass_matrix(t, x, u, w, p):
        return ((2.0 if x[0] > 0.0 else 1.0, 0.0), (0.0, 1.0))

    def force(t, x, u, w, p):
        friction = 0.1 if x[2] > 0.0 else -0.1 if x[2] < 0.0 else 0.0
        return np.array([u[0] - x[0] - friction, -x[1] - x[3]])

    states = [plants.Quantity(name, "1", start) for name, start in (("a", 0.1), ("b", 0.1), ("va", 0.0), ("vb", 0.0))]
    plant = plants.Plant(
        "two", tuple(states), inputs=(plants.Quantity("f", "N", 0.5),), mass_matrix=mass_matrix, force=force
    )
    x = plant.initial()
    for _ in range(20):
        x = INTEGRATORS["rk4"](lambda t, at: plant.derivative(t, at, (0.5,), (), ()), 0.0, x, 0.01)
    allowed = 1e-4 if mode == "loop_free" else 1e-12  # of first order
    np.testing.assert_allclose(plants.simulate(plant, 0.2, algebraic_loop=mode).states[-1], x, atol=allowed)


def test_what_raises_is_lost_as_in_plain_python():
    def derivative(t, x, u, w, p):
        if x[0] > 0.6:
            raise ValueError("beyond the data sheet")
        return (0.1 / (x[0] - 0.4) if x[0] < 0.4 else 1.0,)

    run = sscq.evaluate(small(derivative), PID(), [[0.0, 0.0, 0.0]], sscq.Situation("free", t_end=1.0))
    assert run.diverged_at[0, 0] == pytest.approx(0.1, abs=0.011)


def test_arrays_of_points_are_taken_one_by_one(written):
    plant = written["heated_air"]
    level = np.array([10.0, 20.0, 30.0])
    rates = plant.derivative(0.0, (level, np.array([-0.1, 0.05, 0.5])), (0.3,), (5.0,), plant.nominal())
    one = plant.derivative(0.0, (20.0, 0.05), (0.3,), (5.0,), plant.nominal())
    assert [row[1] for row in rates] == list(one)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return (random.random() if x[0] > 0.0 else 0.0,)", "it draws random numbers of its own (random)"),
        ("return (KEYED['a'] if x[0] > 0.0 else 0.0,)", "KEYED is a dict, not numbers or a table"),
        ("return (float(f'{x[0]:.3f}'),)", "format spec in f-strings not supported yet"),
        ("return (float.fromhex(x[0].hex()),)", "Unknown attribute 'fromhex' of type"),
    ],
)
def test_what_numba_does_not_compile_is_told_in_one_sentence(body, told):
    text = f"import math\nimport random\nimport numpy as np\n\nKEYED = {{'a': 1.0}}\n\ndef derivative(t, x, u, w, p):\n    {body}\n"
    space = {"__name__": "student"}
    exec(compile(text, "student", "exec"), space)
    with pytest.raises(TracingError) as refused:
        plants.simulate(small(space["derivative"]), 0.1)
    message = str(refused.value)
    assert "numba does not compile derivative of plant 'small' as it stands, either: " in message
    assert told in message
    assert "\n" not in message


def test_what_needs_equations_is_refused_with_the_line(written):
    plant = written["strapped_vessel"]
    loop = ClosedLoop(plant, PID(), [sscq.Situation("step", reference=1.0, t_end=1.0)], 0.1, lanes=1)
    line = "in strapped: comparison of a traced number"
    with pytest.raises(
        TracingError, match=f"a GPU needs equations, and derivative of plant 'strapped_vessel' .*{line}"
    ):
        device_text(loop.design)
    tape = program(plant, "derivative", forms(plant)["derivative"])
    names = dict(tape.tape.input_names)
    with pytest.raises(TracingError, match=f"code in C needs equations.*{line}"):
        PrintedC(tape.tape, tape.outputs, names)


def test_stand_ins_give_what_they_stand_in_for():
    functions = {
        "minimum": (e.minimum, 2), "maximum": (e.maximum, 2), "where": (e.where, 3), "clip": (e.clip, 3),
        "sign": (e.sign, 1), "floor": (e.floor, 1), "pow": (e.pow, 2), "quotient": (e.quotient, 2), "abs": (e.abs, 1),
        "sqrt": (e.sqrt, 1), "log": (e.log, 1), "exp": (e.exp, 1), "atan2": (e.atan2, 2),
    }  # fmt: skip
    values = [-2.5, -0.0, 0.0, 0.5, 3.0, math.nan, math.inf]
    with np.errstate(all="ignore"):
        for name, (function, count) in functions.items():
            stand_in = STAND_INS[function]
            for given in np.array(np.meshgrid(*[values] * count)).reshape(count, -1).T.tolist():
                try:
                    got = float(stand_in(*given))
                except (ValueError, OverflowError, ZeroDivisionError, TypeError):
                    continue  # Python's own; what numba makes of it gives no exception
                np.testing.assert_equal(got, function(*given), err_msg=f"{name}{given}")
    nodes, heights = (0.0, 0.3, 1.0, 4.0), (1.0, -2.0, 5.0, 5.5)
    for x in np.linspace(-1.0, 5.0, 241).tolist():
        assert STAND_INS[np.interp](x, nodes, heights) == pytest.approx(np.interp(x, nodes, heights), rel=1e-15)
        assert STAND_INS[e.table1d](x, nodes, heights) == pytest.approx(e.table1d(x, nodes, heights), rel=1e-15)
        rows = (heights, heights[::-1], heights, (0.0, 1.0, 0.0, 1.0))
        got, want = (f(x, 0.7, nodes, nodes, rows) for f in (STAND_INS[e.table2d], e.table2d))
        assert got == pytest.approx(want, rel=1e-14)
