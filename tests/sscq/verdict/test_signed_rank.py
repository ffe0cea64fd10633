"""The signed-rank test, against SciPy's."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import wilcoxon

from sscq.verdict.verdict import p_value


@pytest.mark.parametrize("n", [5, 20, 50, 51, 100, 800])
@pytest.mark.parametrize("kind", ["plain", "ties", "zeros"])
def test_p_values_are_those_of_scipy(n, kind):
    for shift in (0.0, 0.1, 0.5):
        differences = np.random.default_rng(n).normal(shift, 1.0, n)
        if kind == "ties":
            differences = np.round(differences, 1) + 0.05  # none is zero
        elif kind == "zeros":
            differences[::4] = 0.0
        # Other sums of the same numbers, and an error function of the C library in place of Cephes': some roundings.
        assert p_value(differences) == pytest.approx(wilcoxon(differences).pvalue, rel=1e-11)


def test_direction_does_not_matter():
    differences = np.random.default_rng(0).normal(0.3, 1.0, 90)
    assert p_value(-differences) == pytest.approx(p_value(differences), rel=1e-12)


def test_no_difference_is_no_evidence():
    assert p_value(np.zeros(70)) == 1.0


def test_a_verdict_of_many_rollouts_does_not_import_scipys_statistics():
    code = (
        "import sys, numpy as np; from sscq.verdict.verdict import p_value; p_value(np.arange(1.0, 101.0)); "
        "print('scipy.stats' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
