"""Operations of one evaluation, by form and way to derive: no machine changes these figures."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.reproduce.mechanics import mechanism_forms as kinds
from experiments.reproduce.mechanics import mechanisms
from experiments.reproduce.motions import OpenLoop

PUBLISHED = {  # Routh's form in range space, quasi-velocities as derived, in trigonometric normal form
    "sleigh": (93, 79, 18),
    "vertical disk": (41, 25, 12),
    "rolling disk": (307, 198, 67),
    "cart (1 link)": (408, 276, 87),
    "cart (2 links)": (751, 561, 200),
    "cart (3 links)": (1217, 950, 391),
    "snakeboard": (176, 130, 139),
    "trailers": (367, 210, 225),
    "Cartesian pendulum": (18, 22, 26),
    "Cartesian double pendulum": (69, 67, 66),
}
SLACK = 1.05  # for what is counted otherwise: signs, selects of a vanishing pivot


@pytest.mark.parametrize("name", list(PUBLISHED))
def test_no_more_operations_than_published(name):
    made = mechanisms.SYSTEMS[name]
    routh, quasi = (made().build(form, check=False).equations for form in ("routh", "quasi"))
    sizes = quasi.facts["operations"]
    found = (routh.operations, sizes["symbols, as derived"], sizes["symbols"])
    for ours, theirs in zip(found, PUBLISHED[name], strict=True):
        assert ours <= SLACK * theirs
    assert quasi.operations == min(sizes.values()) < routh.operations


@pytest.mark.parametrize(("name", "way"), [("trailers", "tape"), ("cart (1 link)", "symbols")])
def test_the_smallest_way_is_built(name, way):
    equations = mechanisms.SYSTEMS[name]().build("quasi", check=False).equations
    assert equations.facts["derivatives"] == way
    assert sum(equations.counts.values()) == equations.facts["operations"][way]


def test_normal_form_halves_the_cart():
    sizes = mechanisms.SYSTEMS["cart (1 link)"]().build("quasi", check=False).equations.facts["operations"]
    assert 2 * sizes["symbols"] < sizes["symbols, as derived"]


def test_feedback_takes_few_operations():
    made = mechanisms.SYSTEMS["cart (1 link)"]
    plain = made().build("routh", check=False).equations.operations
    fed_back = made().build("routh", stabilise=kinds.BAUMGARTE, check=False).equations.operations
    assert plain < fed_back < 1.1 * plain


@pytest.mark.parametrize("form", ["quasi", "routh"])
def test_kernels_allocate_nothing(form):
    """What the text of a rollout calls by an attribute views or casts; np.empty and its like would stand out."""
    kernel = OpenLoop(mechanisms.SYSTEMS["cart (1 link)"]().build(form, check=False), "solved").kernel
    calls = [node.func for node in ast.walk(ast.parse(kernel.text)) if isinstance(node, ast.Call)]
    assert {call.attr for call in calls if isinstance(call, ast.Attribute)} <= {"view", "reshape", "float64", "int64"}


def test_a_mechanism_is_built_without_scipys_slow_parts():
    """They would take three times as long to import as a warm start takes to build."""
    code = (
        "import sys; from experiments.reproduce.mechanics.systems import sleigh; sleigh().build('quasi', derivatives='tape'); "
        "print([name for name in sys.modules if name.startswith(('scipy.optimize', 'scipy.integrate'))])"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
