"""python-control both ways: our plants as its systems, its systems as our plants."""

import numpy as np
import pytest

control = pytest.importorskip("control", reason="python-control is not installed (extra: adapters)")

import controllers  # noqa: E402
import plants  # noqa: E402
import sscq  # noqa: E402
from plants import Channel, Quantity  # noqa: E402
from plants.adapters.python_control import from_control, to_control  # noqa: E402
from plants.core.blocks import SlowPlantWarning, obstacle  # noqa: E402

RESTING = ("van_der_pol", "cart_pole", "two_tanks", "quarter_car", "dc_motor", "suspension")


@pytest.mark.parametrize("name", RESTING)
def test_a_plants_blocks_are_the_systems_functions_and_its_parameters_the_params(name):
    plant, n_u = plants.get(name), len(plants.get(name).inputs)
    system = to_control(plant)
    x = np.array(plant.initial()) + 0.01
    held = np.array([*(q.nominal for q in plant.inputs), *plant.calm()]) + 0.01
    changed = {q.name: 1.1 * system.params[q.name] for q in plant.parameters}
    assert to_control(plant, changed).params == changed
    block = (0.0, tuple(x), tuple(held[:n_u]), tuple(held[n_u:]), plant.values("parameters", changed))
    np.testing.assert_allclose(system.updfcn(0.0, x, held, changed), plant.derivative(*block), rtol=1e-14)
    np.testing.assert_allclose(system.outfcn(0.0, x, held, changed), plant.outputs(*block), rtol=1e-14)


@pytest.mark.parametrize("name", ["balancing_vehicle", "fopdt"])
def test_what_no_system_of_rates_can_show_is_refused(name):
    with pytest.raises(ValueError, match="cannot carry"):
        to_control(plants.get(name))


def compiled(system, **more):
    plant = from_control(system, **more)
    assert obstacle(plant) is None
    return plant


def test_a_transfer_function_is_a_plant_and_answers_a_step_as_it_does_there():
    system = control.tf([2.0, 1.0], [1.0, 2.0, 3.0, 1.0])
    plant = compiled(system, name="third_order")
    run = plants.simulate(plant, 5.0, 0.01, inputs=[1.0])
    theirs = control.step_response(system, run.time)
    # rk4 with 0.01 s on poles below 2/s: (0.02)^4 of 1.
    np.testing.assert_allclose(run.outputs[:, 0], theirs.outputs, atol=1e-8)


def test_a_state_space_of_several_channels_is_a_plant():
    A, B = np.array([[-1.0, 0.5], [0.0, -2.0]]), np.array([[1.0, 0.0], [0.3, 1.0]])
    system = control.ss(A, B, np.eye(2), np.zeros((2, 2)))
    plant = compiled(system)
    assert [c.output for c in plant.channels] == system.output_labels
    rates = plant.derivative(0.0, (1.0, -2.0), (0.5, 3.0), (), ())
    np.testing.assert_allclose(rates, A @ [1.0, -2.0] + B @ [0.5, 3.0], rtol=1e-15)


def test_direct_feedthrough_and_sampled_systems_are_refused():
    with pytest.raises(ValueError, match="follows an input without delay"):
        from_control(control.tf([1.0, 1.0], [1.0, 2.0]))
    with pytest.raises(ValueError, match="continuous time is wanted, this one has samples of 0.1 s"):
        from_control(control.ss([[0.5]], [[1.0]], [[1.0]], [[0.0]], 0.1))
    with pytest.raises(ValueError, match="which output is controlled by what"):
        from_control(control.ss([[-1.0]], [[1.0, 1.0]], [[1.0]], [[0.0, 0.0]]))


def swing(t, x, u, params):
    angle, rate = x
    return np.array([rate, -params["g"] * np.sin(angle) - 0.1 * rate * abs(rate) + np.arctan2(u[0], 1.0)])


def look(t, x, u, params):
    return np.eye(2) @ x


def by_hand(t, x, u, w, p):
    from plants.core.elementary import abs as magnitude
    from plants.core.elementary import atan2

    return x[1], -p[0] * plants.sin(x[0]) - 0.1 * x[1] * magnitude(x[1]) + atan2(u[0], 1.0)


def test_functions_written_for_numpy_are_compiled():
    system = control.nlsys(swing, look, states=["angle", "rate"], inputs=["torque"], outputs=["angle", "rate"],
                           params={"g": 9.81, "maker": "nobody"}, name="pendulum")  # fmt: skip
    channels = (Channel(output="angle", rate="rate"),)
    plant = compiled(system, channels=channels, initial=(0.2, 0.0))
    same = plants.Plant(
        "same", (Quantity("angle", "rad", 0.2), Quantity("rate", "rad/s")), (Quantity("g", "", 9.81),),
        (Quantity("torque", "N m"),), channels=channels, derivative=by_hand,
    )  # fmt: skip
    task = [sscq.Situation("step", reference=0.5, t_end=4.0, parameters={"g": 5.0})]
    one, other = (sscq.evaluate(p, controllers.PID(), [[9.0, 5.0, 2.0]], task).iae for p in (plant, same))
    np.testing.assert_allclose(one, other, rtol=1e-12)  # the same operations, some in another order
    t = np.zeros(3)
    arrays = plant.derivative(t, (np.array([0.1, 0.2, 0.3]), t), (t,), (), (9.81,))
    np.testing.assert_array_equal(arrays[1][1], plant.derivative(0.0, (0.2, 0.0), (0.0,), (), (9.81,))[1])


def stops(t, x, u, params):
    force = u[0]
    if x[0] > 1.0:
        force = 0.0
    return np.array([x[1], force])


def test_the_line_that_prevents_tracing_is_named():
    system = control.nlsys(stops, look, states=2, inputs=1, outputs=2, name="stops")
    line = stops.__code__.co_firstlineno + 2
    with pytest.warns(SlowPlantWarning, match=f"test_python_control.py:{line} in stops: comparison"):
        plant = from_control(system, channels=(Channel(output="y[0]"),))
    assert plant.derivative(0.0, (2.0, 3.0), (5.0,), (), ()) == (3.0, 0.0)
