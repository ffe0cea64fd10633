"""Declarations of plants, their registry, and names: what is found, what is refused, with the near miss."""

from dataclasses import replace

import numpy as np
import pytest

import plants
from plants import (
    Body,
    Channel,
    ControlTask,
    Measure,
    OperatingPoint,
    Plant,
    PlottedSignal,
    Presentation,
    Quantity,
    Rival,
    Scene,
    View,
)
from plants.core.names import variable
from plants.excitation import WhiteNoise

VDP = plants.get("van_der_pol")


def test_an_unknown_plant_is_refused_with_the_near_miss_and_the_list():
    with pytest.raises(ValueError, match="no plant 'van_der_poll'; did you mean 'van_der_pol'") as caught:
        plants.get("van_der_poll")
    for name in plants.names(tasks=True):
        assert name in str(caught.value)
    with pytest.raises(ValueError, match=r"no plant 'zzz' \(known: "):
        plants.get("zzz")


def test_registering():
    mine = replace(VDP, name="mine")
    assert plants.register(mine) is mine
    assert plants.register(mine) is mine  # again the same: no harm
    assert plants.get("mine") is mine
    assert "mine" in plants.names()
    assert list(plants.names()) == sorted(plants.names())
    other = replace(VDP, name="mine", text="another")
    with pytest.raises(ValueError, match="'mine' is registered already; give yours another name, or replace=True"):
        plants.register(other)
    assert plants.register(other, replace=True) is plants.get("mine")
    with pytest.raises(TypeError, match="register takes a Plant, got dict"):
        plants.register({})


def test_a_plant_serves_several_tasks():
    car = plants.get("suspension_unilateral", task="base")
    assert plants.get("suspension_unilateral:base") is plants.find("suspension_unilateral_base") is car
    assert car.name == "suspension_unilateral_base"
    assert car.name not in plants.names()
    assert set(plants.names(tasks=True)) - set(plants.names()) == {
        f"{name}:{task}" for name in plants.names() for task in plants.tasks(name)
    }
    with pytest.warns(DeprecationWarning, match=r"say plants.get\('suspension_unilateral', task='base'\)"):
        assert plants.get("suspension_unilateral_base") is car
    with pytest.raises(ValueError, match="no task of plant 'unicycle' 'pushd'; did you mean 'pushed'"):
        plants.get("unicycle", task="pushd")
    with pytest.raises(ValueError, match=r"no plant 'unicycle_pushd'; did you mean 'unicycle:pushed'"):
        plants.get("unicycle_pushd")


def test_tasks_share_the_physics_and_go_with_it():
    mine = replace(VDP, name="mine")
    calm = replace(mine, name="calmly", situations={"taught": ({"name": "calm"},)})
    with pytest.raises(ValueError, match=r"task 'calm' of plant 'mine' is another physics \(parameters differ\)"):
        plants.register(mine, tasks={"calm": replace(calm, parameters=(replace(VDP.parameters[0], nominal=2.0),))})
    assert "mine" not in plants.names()
    plants.register(mine, tasks={"calm": calm})
    assert plants.tasks("mine") == ("calm",)
    assert plants.register(mine) is mine  # again the same: its tasks stay
    assert plants.get("mine", task="calm") is calm
    plants.register(replace(mine, text="another"), replace=True)
    assert plants.tasks("mine") == ()


MEASURE = Measure("most", "1", lambda t, x, u, w, p, m, h: m, lambda m, time: m[0])
ENTRIES = {
    "situations": {"taught": ({"name": "rest"},)},
    "operating_points": (OperatingPoint("rest", (0.0, 0.0)),),
    "measures": (MEASURE, replace(MEASURE, name="least")),
    "trade_off": ("most", "least"),
    "rivals": (Rival("none", "nothing", "", (), lambda t, x, constants, p: (0.0,)),),
    "scene": Scene((View("side", (Body("line", ((0.0, 0.0), (1.0, 1.0))),), (0.0, 1.0, 0.0, 1.0)),), text="a line"),
    "shown": (PlottedSignal("position"),),
}


def test_entries_of_task_and_presentation_may_be_given_to_the_plant():
    bare = replace(VDP, task=ControlTask(), presentation=Presentation())
    task = ControlTask(**{name: value for name, value in ENTRIES.items() if name not in {"scene", "shown"}})
    whole = replace(bare, task=task, presentation=Presentation(ENTRIES["scene"], ENTRIES["shown"]))
    assert replace(bare, **ENTRIES) == whole != bare
    for name, value in ENTRIES.items():
        assert getattr(whole, name) is value
    for name in {*ENTRIES} - {"measures"}:  # the trade-off is one of measures
        value = ENTRIES[name]
        one = replace(whole, **{name: getattr(bare, name)})
        assert getattr(one, name) == getattr(bare, name) != value
        assert all(getattr(one, other) is ENTRIES[other] for other in {*ENTRIES} - {name})
    with pytest.raises(TypeError, match="'situation'"):
        replace(VDP, situation={})
    with pytest.raises(TypeError, match="plant 'van_der_pol': task must be a ControlTask, got str"):
        replace(VDP, task="pushed")
    with pytest.raises(ValueError, match="trade_off must name two or more of its own measures"):
        replace(whole, measures=())


def test_what_is_left_out_is_filled_in():
    plant = Plant(name="bare", states=(Quantity("x", "m", 2.0),), derivative=lambda t, x, u, w, p: (-x[0],))
    assert plant.measurements == plant.states
    assert plant.outputs(0.0, (3.0,), (), (), ()) == (3.0,)
    assert plant.initial() == (2.0,)
    assert plant.nominal() == ()
    assert not plant.has_loop


def test_values_are_nominal_unless_given_by_name_or_in_order():
    assert VDP.values("states", None) == VDP.initial() == (0.1, 0.0)
    assert VDP.values("states", {"velocity": 2}) == (0.1, 2.0)
    assert VDP.values("states", np.array([1.0, 2.0])) == (1.0, 2.0)
    assert VDP.index("states", "velocity") == 1


X = (Quantity("x", "m"),)


DECLARED = [
    ({"states": (), "derivative": None}, "'p' needs"),
    ({"states": ()}, "'p' needs at least one state"),
    ({"states": X * 2}, r"names of states must differ, got \['x', 'x'\]"),
    ({"channels": (Channel("y"),)}, r"output 'y' is not among its measurements \['x'\]"),
    ({"inputs": X, "channels": (Channel("x", low=1.0, high=1.0),)}, "low < high, got 1.0, 1.0"),
    ({"channels": (Channel("x"),)}, r"1 channels and 0 inputs: give allocate\(t, x, commands, p\)"),
    ({"input_delay": "L"}, "parameters of plant 'p': 'L'"),
]


@pytest.mark.parametrize(("entries", "told"), DECLARED)
def test_declarations_that_do_not_fit_are_refused(entries, told):
    with pytest.raises(ValueError, match=told):
        Plant(**{"name": "p", "states": X, "derivative": tuple, **entries})


@pytest.mark.parametrize(
    ("kind", "given", "told"),
    [
        ("states", {"velocty": 1.0}, "'velocty'; did you mean 'velocity'"),
        ("parameters", (1.0, 2.0), r"must have 1 values \(mu\), got 2"),
        ("parameters", {"mu": np.inf}, "'mu' among the parameters of plant 'van_der_pol' must be finite, got inf"),
    ],
)
def test_values_that_do_not_fit_are_refused(kind, given, told):
    with pytest.raises(ValueError, match=told):
        VDP.values(kind, given)


def test_a_block_of_the_wrong_size_is_refused_where_it_is_used():
    short = replace(VDP, derivative=lambda t, x, u, w, p: (x[1],))
    with pytest.raises(ValueError, match=r"a block of plant 'van_der_pol' must return 2 numbers, got 1; plants\.check"):
        plants.simulate(short, 1.0, 0.1)


def test_names_of_any_kind_can_be_compiled():
    # A past bug: a disturbance called "wind force" became a variable with a blank in it.
    odd = Plant(
        name='an "odd" plant',
        states=(Quantity("Höhe [m]", "m", 1.0),),
        parameters=(Quantity("1/T", "1/s", 2.0),),
        inputs=(Quantity("lambda", "m/s"),),
        disturbances=(Quantity("wind force", "m/s"), Quantity("wind_force", "m/s"), Quantity("wind-force", "m/s")),
        derivative=lambda t, x, u, w, p: (u[0] + w[0] + w[1] + w[2] - p[0] * x[0],),
    )
    signals = (1.0, WhiteNoise(1.0, hold=0.1), 2.0)
    run = plants.simulate(odd, 1.0, 0.1, inputs=(0.5,), disturbances=signals, seed=3)
    assert run["wind force"][0] == 1.0
    assert run["wind-force"][0] == 2.0
    assert len(set(run["wind_force"])) == 11
    assert len({variable(q.name) for q in odd.disturbances}) == 3
    assert variable("wind_force") == "wind_force"


def test_trajectories_are_read_by_name():
    run = plants.simulate(VDP, 0.2, 0.1, inputs=(1.0,))
    assert run.states.shape == run.outputs.shape == (3, 2)
    assert run.time.tolist() == [0.0, 0.1, 0.2]
    with pytest.raises(KeyError, match="no signal 'positon'; did you mean 'position'"):
        run["positon"]
