"""A plant's moving picture: what is refused and how it is told; bodies are where the states say."""

from dataclasses import replace

import numpy as np
import pytest

import plants
import sscq
from controllers import PID
from experiments.plant_list import description
from plants import Body, Plant, PlottedSignal, Quantity, Scene, SceneError, View
from plants.cart_pole import SCENE
from plants.core.scene_points import RecordedRun, body_level, body_points, view_points
from plants.suspension import geometry
from plants.suspension import scene as suspension_scene
from plants.suspension.signals import REST

LINE = Body("line", ((0.0, 0.0), (1.0, 1.0)))
WINDOW = (-1.0, 1.0, -0.5, 0.5)


def scene(body=LINE, **view):
    return Scene((View("side", (body,), **{"window": WINDOW, **view}),), "A line.")


def plant(picture, **more):
    given = {"name": "seen", "states": (Quantity("x", "m"),), "derivative": lambda t, x, u, w, p: (-x[0],)}
    return Plant(**given, scene=picture, **more)


def course(x, n_u=1, p=()):
    x = np.asarray(x, dtype=float)
    n = x.shape[1]
    return RecordedRun(0.1 * np.arange(n), tuple(x), tuple(np.ones((n_u, n))), (), p)


# ---------------------------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("picture", "told"),
    [
        (lambda: "a line", "must be a plants.Scene, got str"),
        (lambda: Scene((), "nothing"), "at least one View"),
        (lambda: replace(scene(), text=""), "a text that says what is to be seen"),
        (lambda: replace(scene(), rate=0.0), "rate must be positive and finite, got 0.0"),
        (lambda: Scene((scene().views[0],) * 2, "twice"), r"names of views must differ, got \['side', 'side'\]"),
        (lambda: scene(window=(1.0, -1.0, 0.0, 1.0)), "left < right and bottom < top"),
        (lambda: scene(window=(0.0, 1.0, 2.0)), "four finite numbers"),
        (lambda: scene(replace(LINE, kind="spline")), "kind must be one of line, polygon, .* got 'spline'"),
        (lambda: scene(replace(LINE, tint="red")), "tint must be one of own, ink, soft, got 'red'"),
        (lambda: scene(replace(LINE, points=3.0)), r"a function \(t, x, u, w, p\) or pairs .* got float"),
        (lambda: scene(replace(LINE, level=lambda *_: 0.0)), "a level needs levels with low < high and a level_text"),
        (lambda: Scene((View("side", (), WINDOW),), "none"), "is empty: give it bodies"),
    ],
)
def test_a_scene_that_cannot_be_drawn_is_refused_with_what_came(picture, told):
    with pytest.raises((TypeError, ValueError), match=told):
        plant(picture())


@pytest.mark.parametrize(
    ("kind", "points", "told"),
    [
        ("wheel", lambda t, x, u, w, p: ((0.0, 0.0),), "a wheel has 2 points, got 1"),
        ("polygon", lambda t, x, u, w, p: ((0.0, 0.0), (1.0, x[0])), "at least 3 points, got 2"),
        ("line", lambda t, x, u, w, p: ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)), "must be pairs"),
        ("line", lambda t, x, u, w, p: np.zeros((2, 2)), r"got shape \(2, 2\)"),
        ("line", lambda t, x, u, w, p: ((0.0, 0.0), (1.0, x[0][:2])), r"numbers or arrays \[4\]"),
        ("line", lambda t, x, u, w, p: ((0.0, 0.0), (1.0, 1.0 / x[0])), "must be finite, .* in sample 0"),
    ],
)
def test_points_that_cannot_be_drawn_are_told(kind, points, told):
    with np.errstate(divide="ignore"), pytest.raises(SceneError, match=told):
        body_points(Body(kind, points), course([[0.0, 1.0, 2.0, 3.0]]))


def test_the_check_of_a_plant_finds_a_scene_that_fails():
    bad = plant(scene(Body("line", lambda t, x, u, w, p: ((0.0, 0.0), (1.0, u[5])))))
    assert any("scene, view 'side': IndexError" in problem for problem in plants.check(bad).problems)
    assert any("the scene can be drawn: side" in line for line in plants.check(plant(scene())).passed)


def test_shown_signals_are_those_of_the_plant():
    with pytest.raises(ValueError, match="did you mean 'x'"):
        plant(None, shown=(PlottedSignal("xx"),))
    with pytest.raises(ValueError, match="highest frequency"):
        plant(None, shown=(PlottedSignal("x", spectrum=-1.0),))


def test_the_description_of_a_plant_says_what_reports_show():
    told = description(plants.get("suspension"))
    assert "seen moving       from the left, front axle from behind" in told
    assert "shown in reports  heave_acceleration, tyre_load_i, c_i" in told
    assert "seen moving" not in description(plants.get("van_der_pol"))


# ------------------------------------------------------------------------------------------------------------ places


def test_pairs_and_arrays_give_the_same_points():
    at = course([[1.0, 2.0, 3.0]])
    pairs = body_points(Body("line", lambda t, x, u, w, p: ((x[0], 0.5), (t, 2.0 * x[0]))), at)
    array = np.stack([np.stack([at.x[0], np.full(3, 0.5)], 1), np.stack([at.t, 2.0 * at.x[0]], 1)], 1)
    assert np.array_equal(pairs, array)
    assert np.array_equal(body_points(Body("line", lambda *_: array), at), array)
    assert view_points(View("v", (), WINDOW, follow=lambda t, x, u, w, p: (x[0], 0.0)), at)[:, 0].tolist() == [1, 2, 3]


def test_levels_run_from_0_to_1_between_their_limits():
    body = replace(LINE, level=lambda t, x, u, w, p: x[0], levels=(2.0, 4.0), level_text="x")
    assert body_level(body, course([[1.0, 2.0, 3.0, 9.0]])).tolist() == [0.0, 0.0, 0.5, 1.0]


def test_the_pole_stands_on_its_cart():
    at = course([[0.5, -1.0], [0.3, -0.2], [0.0, 0.0], [0.0, 0.0]], p=plants.get("cart_pole").nominal())
    known = {body.name: body_points(body, at) for body in SCENE.views[0].bodies}
    pivot, tip = known["pole"][:, 0], known["pole"][:, 1]
    assert np.allclose(np.hypot(*(tip - pivot).T), 1.0)  # twice the half length
    assert np.allclose(np.arctan2(*(tip - pivot).T), [0.3, -0.2])
    assert np.allclose(pivot[:, 0], known["cart"].mean(axis=1)[:, 0])
    assert np.allclose(np.diff(known["force on the cart, 5 cm for each newton"][..., 0]), 0.05)  # 1 N


# ----------------------------------------------------------------------------------------------------------- the car


def car_run(one):
    car = plants.get("suspension")
    laws = tuple(PID(limits=(c.low, c.high)) for c in car.channels)
    situation = sscq.Situation(**{**one, "t_end": 2.0})
    run = sscq.record(car, laws, np.array([[2e3, 0.0, 2e3] * 3]), situation, step=0.005, integrator="rk4")
    return car, run, RecordedRun.of(car, run, car.values("parameters", situation.parameters))


def test_the_road_tells_the_speed_and_lies_under_the_wheels():
    one = plants.get("suspension").situations["taught"][3]  # class C at 25 m/s
    car, run, at = car_run(one)
    assert suspension_scene.speed(at.t, at.w) == 25.0
    side = car.scene.views[0]
    road = body_points(side.bodies[0], at)[:, 0]
    for k, wheel in ((0, side.bodies[2]), (2, side.bodies[3])):
        centre = body_points(wheel, at)[:, 0]
        under = np.interp(centre[:, 0], *road.T)
        met = suspension_scene.MAGNIFIED * run.group("disturbances")[:, k]
        # The road is drawn straight between samples 12.5 cm apart: half of the largest step from one to the next. Drawn
        # one sample beside the wheel, it would be off by that whole step.
        assert np.abs(under - met).max() < 0.5 * np.abs(np.diff(met)).max()


def test_an_even_road_has_a_speed_too():
    zero = np.zeros(50)
    assert suspension_scene.speed(np.arange(50) * 0.1, (zero,) * 8) == 15.0


def test_wheels_of_the_picture_are_where_the_equations_have_them():
    p = plants.get("suspension").nominal()
    at = geometry.pose(REST, p)
    # Contact of the equations: height of the wheel's centre less the tyre's length along the body's vertical.
    tyres = geometry.contacts(at, (0.0,) * 4, (0.0,) * 4, unilateral=False)
    for k in range(4):
        high = float(suspension_scene.wheel(at, k)[2])
        assert high == pytest.approx(-float(tyres[k].z12) * float(at.cos_pitch), abs=1e-9)
        assert suspension_scene.radius_of(p, k) == pytest.approx(high)
