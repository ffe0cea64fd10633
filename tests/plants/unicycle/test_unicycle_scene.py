"""The unicycle's picture: lengths are those of its parts, and all views show one pose."""

import numpy as np
import pytest

from plants.core.scene_points import RecordedRun, body_points
from plants.unicycle import UNICYCLE, scene
from plants.unicycle.geometry import pose
from plants.unicycle.parameters import NOMINAL, Unicycle

ROBOT = Unicycle.of(NOMINAL)
RNG = np.random.default_rng(0)
STATES = RNG.uniform(-0.4, 0.4, (12, 20)) * np.array([5.0, 1.0, 1.0, 20.0, 20.0, *[1.0] * 7])[:, None]
PUSH = np.tile(np.array([10.0, -20.0, 5.0, 0.4, 0.0, 0.0])[:, None], (1, 20))


def course(x):
    count = x.shape[1]
    return RecordedRun(0.05 * np.arange(count), tuple(x), tuple(np.zeros((3, count))), tuple(PUSH), NOMINAL)


def body(view, name, x=STATES):
    chosen = next(one for one in UNICYCLE.scene.views[view].bodies if one.name == name)
    return body_points(chosen, course(x))


def upright():
    x = STATES.copy()
    x[[1]] = 0.0
    return x


def test_lengths_from_the_side_are_those_of_the_parts():
    """Not rolled, the wheel's plane is the picture's."""
    x = upright()
    for leg in ("right leg", "left leg"):
        lengths = np.linalg.norm(np.diff(body(0, leg, x), axis=1), axis=2)
        np.testing.assert_allclose(lengths, np.tile([ROBOT.e3x, ROBOT.e4L, 2.0 * ROBOT.e2], (20, 1)), rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(np.diff(body(0, "wheel", x), axis=1), axis=2), ROBOT.Rw, rtol=1e-12)
    spoke = body(0, "wheel", x)
    turned = np.arctan2(-(spoke[:, 1, 1] - spoke[:, 0, 1]), spoke[:, 1, 0] - spoke[:, 0, 0])
    np.testing.assert_allclose(np.cos(turned - x[3]), 1.0, rtol=1e-12)  # rolls forward: the spoke in front goes down


def test_views_agree_on_heights():
    """Up is the same from the side and from behind, but for what stands left or right of the middle."""
    side, behind = body(0, "body"), body(1, "body")
    np.testing.assert_allclose(side[:, :, 1], behind[:, :, 1], rtol=1e-12)
    mass = 0.0
    lifted = 0.0
    at = pose(tuple(STATES), NOMINAL)
    for part in at.parts:
        mass = mass + part.mass
        lifted = lifted + part.mass * scene.rolled(tuple(STATES), NOMINAL, part.y, part.place[1])[1]
    stored = UNICYCLE.outputs(0.0, tuple(STATES), (0.0,) * 3, (0.0,) * 6, NOMINAL)[-1]
    np.testing.assert_allclose(9.81 * lifted, stored, rtol=1e-12)
    assert mass == pytest.approx(17.1)


def test_from_above_it_leans_to_the_side_that_roll_says():
    """Level axes: what is to the right from behind is to the right of the path, and the table stands over the body."""
    x = STATES.copy()
    x[0] = 0.0
    behind, above = body(1, "body", x), body(2, "body", x)
    np.testing.assert_allclose(above[:, :, 1] - x[11][:, None], -behind[:, :, 0], atol=1e-12)
    table = body(2, "turntable with a mark", x)
    np.testing.assert_allclose(table[:, 0], above[:, 1], rtol=1e-12)
    turned = np.arctan2(table[:, 1, 1] - table[:, 0, 1], table[:, 1, 0] - table[:, 0, 0])
    np.testing.assert_allclose(np.cos(turned - x[4]), 1.0, rtol=1e-12)  # a positive angle turns it to the left
    wheel = body(2, "wheel", x).mean(axis=1)
    np.testing.assert_allclose(wheel, body(2, "body", x)[:, 0], atol=1e-12)  # its middle is the axle's
    np.testing.assert_allclose(body(2, "path of the contact point", x)[:, 0].T, x[10:], rtol=1e-12)


def test_pushes_are_drawn_where_they_push():
    arrow = body(1, "push, 1 cm for each newton")
    np.testing.assert_allclose(arrow[:, 1] - arrow[:, 0], np.tile([0.2, 0.05], (20, 1)), rtol=1e-12)
    arrow = body(0, "push, 1 cm for each newton")
    np.testing.assert_allclose(arrow[:, 1] - arrow[:, 0], np.tile([0.1, 0.05], (20, 1)), rtol=1e-12)
    np.testing.assert_allclose(arrow[:, 0, 1], body(0, "body")[:, :, 1] @ [1.0 - 0.4 / ROBOT.e6, 0.4 / ROBOT.e6])
