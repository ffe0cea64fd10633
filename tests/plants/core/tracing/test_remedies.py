"""Refusals that say what to write: the form they give is put into the file, compiles, and means what was written."""

import re
from contextlib import suppress

import numpy as np
import pytest

import plants
from plants.core import elementary
from plants.core.blocks import prevents
from plants.core.tracing.remedies import FUNCTIONS

HEAD = """import math
import numpy as np
import plants
from plants.core.elementary import where

def derivative(t, x, u, w, p):
    (h,) = x
    (flow,) = u
    {body}

PLANT = plants.Plant(name="student", states=(plants.Quantity("level", "m", 0.5, 0.1, 1.0),),
    inputs=(plants.Quantity("flow", "m^3/s", 0.2, -1.0, 1.0),), derivative=derivative)
"""

WRITTEN = {
    "h + max(flow, 0.1)": "maximum(flow, 0.1)",
    "min(flow, 0.3, h)": "minimum(minimum(flow, 0.3), h)",
    "max([flow, h])": "maximum(flow, h)",
    "np.maximum(flow, 0.0)": "maximum(flow, 0.0)",
    "np.clip(flow - h, 0.0, 1.0)": "clip(flow - h, 0.0, 1.0)",
    "np.interp(h, [0.0, 1.0], [0.0, 2.0])": "table1d(h, [0.0, 1.0], [0.0, 2.0])",
    "np.where(h > 0.3, 1.0, 0.5)": "where(h - 0.3, 1.0, 0.5)",
    "np.heaviside(flow, 0.5)": "where(flow, 1.0, 0.0)",
    "math.sin(h)": "sin(h)",
    "math.atan(h + flow)": "atan2(h + flow, 1.0)",
    "np.arctan2(flow, h)": "atan2(flow, h)",
    "math.log10(h)": "log(h) / 2.302585092994046",
    "math.hypot(h, flow - h)": "sqrt(h ** 2 + (flow - h) ** 2)",
    "math.cosh(flow - h)": "0.5 * (exp(flow - h) + exp(-(flow - h)))",
    "math.radians(flow - h)": "(flow - h) * 0.017453292519943295",
    "math.copysign(h, flow)": "abs(h) * where(flow, 1.0, -1.0)",
    "math.ceil(flow)": "-floor(-flow)",
    "int(3.0 * flow)": "sign(3.0 * flow) * floor(abs(3.0 * flow))",
    "float(h)": "h",
    "(h + flow) % 0.3": "h + flow - 0.3 * floor((h + flow) / 0.3)",
    "h // 0.3": "floor(h / 0.3)",
    "h * (flow < 0.5)": "where(0.5 - flow, 1.0, 0.0)",
    "flow if flow > h + 0.1 else h": "where(flow - (h + 0.1), flow, h)",
    "flow if 0.2 < h <= 0.6 else h": "where(minimum(h - 0.2, 0.6 - h), flow, h)",
    "flow if h > 0.4 and flow > 0.0 else h": "where(minimum(h - 0.4, flow), flow, h)",
    "flow if h > 0.9 or not flow > 0.0 else h": "where(maximum(h - 0.9, -flow), flow, h)",
    "where(0.005 < flow, h, 0.0)": "where(flow - 0.005, h, 0.0)",
}


def complaint(path, body):
    path.write_text(HEAD.format(body=body))
    (plant,) = plants.load_plant_file(path)
    with suppress(IndexError, NameError, ImportError):
        refusal = prevents(plant.derivative.function, "t", ("x",), ("u",), (), ())
        if refusal is not None and "traced number" in refusal:
            return refusal  # numba may compile it all the same
    report = plants.check(plant)
    (told,) = report.problems or [line for line in report.advice if "compiled by numba" in line]
    return told


@pytest.mark.parametrize("written", WRITTEN)
def test_the_form_that_is_given_means_what_was_written(written, tmp_path):
    """On 200 points, against the student's own text with plain numbers."""
    path = tmp_path / "student.py"
    problem = complaint(path, f"return ({written},)")
    assert f"{path}:9 in derivative: " in problem
    assert f"use {WRITTEN[written]} instead of " in problem
    old, imports = re.search(r" instead of (.*?)(?:: it gives .*?)?(?: \((from .*)\))?$", problem).groups()
    mended = written.replace(old, WRITTEN[written])
    assert mended != written
    source = HEAD.replace("import math\n", f"import math\n{imports or ''}\n").format(body=f"return ({mended},)")
    path.write_text(source)
    (plant,) = plants.load_plant_file(path)
    report = plants.check(plant)
    assert report.ok, str(report)
    rng = np.random.default_rng(1)
    known = {"math": __import__("math"), "np": np, "where": lambda c, a, b: a if c else b}
    for h, flow in rng.uniform([0.1, -1.0], 1.0, (200, 2)).tolist():
        wanted = eval(written, known, {"h": h, "flow": flow})  # noqa: S307  (the table above)
        assert plant.derivative(0.0, (h,), (flow,), (), ())[0] == pytest.approx(float(wanted), abs=1e-12)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("if h > 0.3:\n        return (flow,)\n    return (h,)", "where(h - 0.3, a, b) instead of if h > 0.3, with a and b"),
        ("while h > 0.3:\n        h = h - 0.1\n    return (h,)", "a loop of fixed length, for k in range(10), with where("),
        ("return np.array([flow - h])", "use a tuple, (a, b) instead of np.array([flow - h])"),
        ("return ([0.0, 1.0][h],)", "use table1d(h, nodes, [0.0, 1.0]) instead of"),
        ("return (sum(range(h)),)", "use range with a fixed number instead of range(h)"),
        ("return (flow if any([h > 0.3, flow > 0.0]) else h,)", "use maximum(a, b) of conditions"),
        ("print(f'{h:.2f}')\n    return (h,)", "text with digits of a traced number; print it where it has a value"),
        ("return (u[1] * h,)", "index out of range; the block is called as (t, x, u, w, p) with x of 1 (level), u of 1 (flow)"),
        ("a, b = x\n    return (a,)", "not enough values to unpack (expected 2, got 1); the block is called as"),
        ("return (tanh(h),)", "name 'tanh' is not defined; from plants.core.elementary import tanh"),
        ("return (h.sqrt(),)", "numbers have no methods: write sqrt(...)"),
        ("return ({0.0: 1.0}[h],)", "use table1d(x, nodes, values) or where(...)"),
        ("d = np.zeros(1)\n    d[0] = h\n    return d", "collect numbers in a list or a tuple, not in an array"),
        ("from plants.core.elementary import arctan\n    return (arctan(h),)", "the arc tangent of y is atan2(y, 1.0)"),
        ("flow - h", "got NoneType in its result; does it end with return?"),
        ("return [[flow - h]]", "derivative must return a flat tuple of numbers, got a list inside it"),
        ("return ()", "derivative must return 1 (one rate per state (level)), got 0"),
    ],
)  # fmt: skip
def test_what_has_no_single_form_is_told_with_the_line(body, told, tmp_path):
    problem = complaint(tmp_path / "student.py", body)
    assert told in problem
    assert str(tmp_path / "student.py") in problem


def test_a_file_that_is_written_again_is_read_again(tmp_path):
    file = tmp_path / "student.py"
    assert "use maximum(flow, 0.1) instead" in complaint(file, "return (h + max(flow, 0.1),)")
    assert "use where(flow - h, 1.0, 2.0) instead" in complaint(file, "return (1.0 if flow > h else 2.0,)")


def test_a_function_without_source_gets_the_general_remedy():
    space = {}
    exec("def derivative(t, x, u, w, p):\n    return (x[0] if x[0] > 1.0 else 0.0,)", space)
    plant = plants.Plant(name="no_source", states=(plants.Quantity("q", "m"),), derivative=space["derivative"])
    refusal = prevents(plant.derivative.function, "t", ("x",), (), (), ())
    assert "use where(condition, a, b): it gives a where condition > 0" in refusal


def test_every_elementary_function_is_known():
    assert sorted(FUNCTIONS) == sorted(elementary.__all__)
