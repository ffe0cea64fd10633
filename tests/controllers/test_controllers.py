"""Laws and a schedule, put together."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest

import controllers
from controllers import PID, ConstantGains, Controller, GainTable, ManualStation, TimeGains, TwoDegreePID, as_controller


def test_a_pid_stands_for_constant_gains():
    controller = as_controller(PID(limits=(-1.0, 1.0)))
    assert controller.n_channels == 1
    assert controller.theta_names == ("kp", "ki", "kd")
    assert controller.n_theta == 3
    assert isinstance(controller.schedule, ConstantGains)


def test_one_law_serves_every_channel_and_a_tuple_has_one_each():
    same = as_controller(PID(), n_channels=2)
    assert same.laws == (PID(), PID())
    assert same.theta_names == ("kp_1", "ki_1", "kd_1", "kp_2", "ki_2", "kd_2")
    mixed = as_controller([PID(), TwoDegreePID()], n_channels=2)
    assert mixed.n_theta == 7
    assert as_controller(ManualStation(PID(), ramp=1.0)).theta_names[-2:] == ("manual", "track")


def test_a_controller_is_taken_as_it_is():
    controller = Controller((PID(),), TimeGains((0.0, 1.0)))
    assert as_controller(controller) is controller
    assert controller.gain_names == ("kp", "ki", "kd")
    assert controller.n_theta == 6
    assert Controller(PID(), ConstantGains()).laws == (PID(),)


def test_anything_with_laws_and_a_schedule_is_a_controller():
    other = SimpleNamespace(laws=(PID(),), schedule=ConstantGains())
    assert as_controller(other) == Controller((PID(),), ConstantGains())


@dataclass(frozen=True)
class Halfway:
    """A schedule of a user: no gain names, its own state."""

    n_states: int = 1
    theta_names: tuple = ("share",)
    tick: float | None = None
    signals: tuple = ()

    def initial(self):
        return (0.0,)

    def gains(self, t, s, k, theta):
        return (theta[0], 0.0, 0.0), k


def test_a_users_schedule_fits_without_declaring_its_gain_names():
    assert Controller((PID(),), Halfway()).theta_names == ("share",)


@pytest.mark.parametrize(
    ("build", "error", "says"),
    [
        (lambda: as_controller(PID), TypeError, r"the class PID itself; call it: PID\(\)"),
        (lambda: as_controller("pid"), TypeError, "got str, which lacks gain_names"),
        (lambda: as_controller(ConstantGains()), TypeError, "is a schedule and needs laws"),
        (lambda: as_controller((PID(), PID())), ValueError, "1 control channels, the controller 2 laws"),
        (lambda: as_controller(()), ValueError, "one law per channel, got none"),
        (lambda: Controller((PID(), 3), ConstantGains()), TypeError, "got int, which lacks"),
        (lambda: Controller((PID(),), PID()), TypeError, "gain schedule .* lacks theta_names"),
        (lambda: Controller((TwoDegreePID(),), ConstantGains()), ValueError, "gives 3 gains .* need 4"),
        (
            lambda: Controller((PID(),), ConstantGains(("kd", "ki", "kp"))),
            ValueError,
            "in this order: .'kp', 'ki', 'kd'",
        ),
        (lambda: Controller((PID(),), GainTable("error_2", (0.0, 1.0))), ValueError, "error of channel 2, .* 1 laws"),
        (lambda: Controller((PID(), PID()), TimeGains((0.0,))), ValueError, r"gain_names=controllers.gain_names"),
    ],
)
def test_misfits_are_refused(build, error, says):
    with pytest.raises(error, match=says):
        build()


def test_public_names_exist():
    assert [name for name in controllers.__all__ if not hasattr(controllers, name)] == []
