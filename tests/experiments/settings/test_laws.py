"""The laws of the channels, as the settings of the controller make them."""

import pytest

from experiments.settings import begun
from experiments.starting.opening import configured

QUICK = ("draws={taught: 0, validation: 0, verdict: 0}",)


@pytest.mark.parametrize("words", [(), ("controller.initial_command=1.5",)])
def test_the_integral_begins_at_the_command_at_rest(words):
    (law,) = begun(configured("design", ["plant=van_der_pol", *QUICK, *words])).laws
    assert law.initial_command == (1.5 if words else 0.0)


def test_a_command_at_rest_beyond_the_limits_is_refused():
    with pytest.raises(ValueError, match="initial_command 30.0 must lie inside the limits"):
        begun(configured("design", ["plant=van_der_pol", *QUICK, "controller.initial_command=30"]))
