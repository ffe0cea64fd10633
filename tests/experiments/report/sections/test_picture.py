"""The plant in motion and its named signals on the page: sampled as declared, there where declared, absent elsewhere."""

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest

import plants
from experiments.report.builders.motion import MOST, density, grid, sampled, shown_contenders, shown_places
from experiments.report.recorded import busiest
from experiments.report.records.motion import Drive
from experiments.report.sections.picture import steps
from experiments.runtime import formats
from plants import Body, PlottedSignal, Scene, View
from plants.core import registry
from plants.core.motion.trajectory import Trajectory
from plants.core.scene_points import RecordedRun, body_points
from tests.experiments import finished_run


def wheel(t, x, u, w, p):
    return (x[0], 0.0), (x[0] + 0.3 * np.sin(x[1]), 0.3 * np.cos(x[1]))


def spring(t, x, u, w, p):
    return (0.0, 0.0), (x[0], 0.5)


SCENE = Scene(
    (
        View(
            "from the </script> side",
            (
                Body("ground", ((-9.0, -0.3), (9.0, -0.3)), "floor", "soft"),
                Body("wheel", wheel, "wheel"),
                Body("line", spring, "spring", level=lambda t, x, u, w, p: x[0], levels=(-1.0, 1.0), level_text="q"),
                Body("trace", lambda t, x, u, w, p: ((x[0], x[1]),)),
                Body("arrow", lambda t, x, u, w, p: ((0.0, 0.0), (u[0], 0.0)), tint="ink"),
            ),
            (-2.0, 2.0, -1.0, 1.0),
            follow=lambda t, x, u, w, p: (x[0], 0.0),
        ),
    ),
    text="A mass on a spring.",
)
GRAIN = SCENE.views[0].grain
PLANT = replace(
    plants.get("van_der_pol"), scene=SCENE, shown=(PlottedSignal("position", 1.0, 5.0), PlottedSignal("force"))
)


def made(step=0.01, t_end=4.0, turning=40.0):
    """A run in which the wheel turns by more than half a turn between two frames."""
    time = step * np.arange(round(t_end / step) + 1)
    signals = np.stack([np.sin(time), turning * time, np.cos(3.0 * time)], axis=1)
    groups = {"states": slice(0, 2), "inputs": slice(2, 3)}
    return Trajectory(time, signals, ("position", "velocity", "force"), ("", "", ""), groups)


def drive(run, end=math.inf, plant=PLANT):
    parts = sampled(plant, run, plant.nominal(), end)
    return Drive("one", "fixed", float(parts.pop("step")[0]), parts)


# ---------------------------------------------------------------------------------------------------------- sampling


@pytest.mark.parametrize(("step", "t_end", "wanted"), [(0.01, 4.0, 0.04), (0.001, 10.0, 0.04), (0.5, 600.0, 1.5)])
def test_frames_come_25_times_a_second_or_as_often_as_there_is_room(step, t_end, wanted):
    time = step * np.arange(round(t_end / step) + 1)
    at = grid(SCENE, time)
    assert at.step == pytest.approx(wanted)
    assert np.allclose(np.diff(time[at.rows[:: at.frame]]), at.step)
    assert len(at.rows[:: at.frame]) <= MOST + 1
    assert at.rows[-1] <= len(time) - 1


def test_a_run_that_diverges_is_shown_up_to_there():
    run = made()
    assert drive(run).frames == 101
    assert drive(run, end=2.0).frames == 50  # 0 to 1.96 s


def test_bodies_in_every_frame_are_where_the_scene_has_them_at_those_states():
    run = made()
    one, at = drive(run), grid(SCENE, run.time)
    course = RecordedRun.of(PLANT, run, PLANT.nominal(), at.rows[:: at.frame])
    kinds = [next(key for key in one.parts if key.startswith(f"0.{b}.")) for b in range(5)]
    assert kinds == ["0.0.still", "0.1.shape", "0.2.free", "0.3.path", "0.4.free"]
    for b in (0, 1, 2, 4):
        points = body_points(SCENE.views[0].bodies[b], course)
        for frame in range(one.frames):
            # Half a grain of rounding in each of shape, place and angle.
            assert np.abs(one.points(0, b, frame) * GRAIN - points[frame]).max() < 2.0 * GRAIN
    assert np.abs(one.follow(0, 30) * GRAIN - [course.x[0][30], 0.0]).max() < GRAIN


def test_a_wheel_that_turns_fast_turns_the_right_way_round():
    # 1.6 rad a frame at 40 rad/s; 100 rad/s are 4 rad a frame, more than half a turn.
    for turning in (40.0, -40.0, 100.0):
        one = drive(made(turning=turning))
        shape = np.asarray(one.parts["0.1.shape"], dtype=float)
        angle = one.parts["0.1.motion"][:, 2] / np.hypot(*shape.T).max()
        # Angles of the picture grow to the left, those of this wheel to the right.
        assert np.diff(angle) == pytest.approx(-0.04 * turning, abs=0.01)


def test_levels_are_percents():
    run = made()
    assert drive(run).parts["0.2.level"].tolist() == np.rint(50.0 * (1.0 + np.sin(run.time[::4]))).tolist()


def test_steps_add_up_again():
    values = np.random.default_rng(0).integers(-99, 99, (7, 3, 2))
    assert np.array_equal(np.cumsum(steps(values), axis=1).T, values.reshape(7, 6))


# ----------------------------------------------------------------------------------------------------------- signals


def test_the_density_of_a_sine_has_its_power_at_its_frequency():
    time = 1e-3 * np.arange(20_001)
    frequency, power = density(3.0 * np.sin(2.0 * np.pi * 4.0 * time), 1e-3)
    assert frequency[np.argmax(power)] == pytest.approx(4.0, abs=0.2)
    assert power.sum() * (frequency[1] - frequency[0]) == pytest.approx(4.5, rel=0.02)  # amplitude^2 / 2


def test_the_busiest_piece_is_found():
    values = np.zeros(100)
    values[60:64] = (1.0, -1.0, 1.0, -1.0)
    assert busiest(values, 10) == slice(53, 64)  # the first that holds them all
    assert busiest(values, 1000) == slice(0, 100)


# ---------------------------------------------------------------------------------------------------------- the page


def _page(place):
    return finished_run.stored(place), (place / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """A finished run of a plant with a scene, and its page."""
    known = registry.snapshot()
    plants.register(PLANT, replace=True)
    try:
        return _page(tmp_path_factory.mktemp("seen") / "one")
    finally:
        registry.restore(known)


def _data(page):
    return json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)[1])


def test_the_page_holds_the_drives_of_the_record(seen):
    run, page = seen
    data, case = _data(page), run.case
    assert data["views"][0]["name"] == "from the </script> side"
    assert data["places"] == [p.label for p in shown_places(case)]
    assert len(data["drives"]) == len(data["places"]) * len(shown_contenders(case))
    recorded = formats.read_npz(run.bench.folder.path / "stages" / "responses" / "responses.npz")
    keys = {case.name(name): name for name in shown_contenders(case)}
    for one in data["drives"]:
        place = next(p for p in case.places if p.label == data["places"][one["place"]])
        head = f"{keys[data['who'][one['who']]]}.{place.overall}.scene.0.1."
        wheel_coded = data["pool"][one["views"][0]["bodies"][1]]
        assert np.array_equal(np.cumsum(wheel_coded["motion"], axis=1).T, recorded[f"{head}motion"])
    floors = {one["views"][0]["bodies"][0] for one in data["drives"]}
    assert len(floors) == 1  # what is the same everywhere is there once


def test_the_page_has_a_still_frame_a_description_and_the_script(seen):
    _, page = seen
    assert page.count("window.devicePixelRatio") == 1
    assert 'aria-label="A mass on a spring. Seen from the &lt;/script&gt; side: floor, wheel, spring."' in page
    still = page.split('<div class="still">')[1].split("<noscript>")[0]
    assert still.count('class="body wheel') == 2  # spoke and rim
    assert "http" not in page.split('<section id="picture"')[1].split("</section>")[0]
    for anchor in ("picture", "signals"):
        assert f'href="#{anchor}"' in page


def test_the_named_signals_are_drawn_over_time_and_frequency(seen):
    _, page = seen
    section = page.split('<section id="signals"')[1].split("</section>")[0]
    assert section.count('aria-label="density of position [(m)²/Hz] over f [Hz]"') == section.count("<figure")
    assert section.count('aria-label="position [m] over t [s]"') == section.count("<figure")
    assert "density of force" not in section  # no spectrum was asked for
    assert section.count('aria-label="force [N] over t [s]"') == section.count("<figure")


def test_a_plant_that_declares_neither_has_a_page_without(tmp_path):
    run, page = _page(tmp_path / "one")
    for sign in ('id="picture"', 'id="signals"', "devicePixelRatio", 'href="#picture"'):
        assert sign not in page
    recorded = formats.read_npz(run.bench.folder.path / "stages" / "responses" / "responses.npz")
    assert not [key for key in recorded if ".scene." in key or ".shown." in key or ".spectrum." in key]
