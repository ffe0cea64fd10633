"""Names in a chart: inside it, never over one another, off the points where there is room."""

import numpy as np
import pytest

from experiments.report.drawing.scatter import places

NAMES = ("fixed PID", "knowledge base", "sky-hook", "modified sky-hook", "ground-hook", "passive dampers, as built")


def disjoint(found):
    boxes = np.array([place.box(name) for name, place in found])
    for k, (left, top, right, bottom) in enumerate(boxes):
        others = np.delete(boxes, k, axis=0)
        over = (left < others[:, 2]) & (right > others[:, 0]) & (top < others[:, 3]) & (bottom > others[:, 1])
        if over.any():
            return False
    return True


@pytest.mark.parametrize("at", [(300.0, 150.0), (2.0, 2.0), (598.0, 298.0)], ids=["middle", "corner", "far corner"])
def test_names_of_one_crowded_place_stand_apart(at):
    found = places([(*at, name) for name in NAMES], np.array([at]), 600.0, 300.0)
    assert [name for name, _ in found] == list(NAMES)
    assert disjoint(found)
    boxes = np.array([place.box(name) for name, place in found])
    assert (boxes[:, :2] >= 0.0).all()
    assert (boxes[:, 2] <= 600.0).all()
    assert (boxes[:, 3] <= 300.0).all()
    assert any(place.led for _, place in found)  # a line leads to those that had to go far


def test_points_are_not_covered_where_there_is_room():
    line = np.column_stack([np.linspace(100.0, 500.0, 60), np.full(60, 140.0)])
    ((name, place),) = places([(300.0, 150.0, "sky-hook")], line, 600.0, 300.0)
    left, top, right, bottom = place.box(name)
    inside = (line[:, 0] > left) & (line[:, 0] < right) & (line[:, 1] > top) & (line[:, 1] < bottom)
    assert not inside.any()


def test_a_name_without_any_room_is_left_out():
    assert places([(5.0, 5.0, "knowledge base")], np.empty((0, 2)), 20.0, 10.0) == []
