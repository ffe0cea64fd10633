"""Targets of an export as they are typed."""

import pytest

from experiments.report.exports import wanted
from experiments.runtime.errors import UserError


@pytest.mark.parametrize(("typed", "meant"), [
    (["m"], ["matlab"]), ([".m", "matlab"], ["matlab"]), (["py", "c"], ["python", "c"]),
])  # fmt: skip
def test_the_ending_of_a_file_names_its_target(typed, meant):
    assert wanted(typed) == meant


def test_an_unknown_target_is_refused_with_the_near_miss():
    with pytest.raises(UserError, match="no export target 'mathlab'; did you mean 'matlab'"):
        wanted(["mathlab"])
