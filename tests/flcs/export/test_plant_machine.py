"""A plant as a machine moves as the compiled simulator moves it: every integrator, dead times, impacts, the region."""

import shutil

import numpy as np
import pytest

import plants
from flcs.export.machine import identifier
from flcs.export.plant import plant_machine
from plants import Plant, Quantity
from plants.core.elementary import where
from tests.flcs.export.scripts.test_javascript import in_node


def driven(plant, n, share=0.1, seed=3):
    """Inputs and disturbances [n, count] that shake a plant about its rest, held over each step."""
    rng = np.random.default_rng(seed)

    def shaken(values):
        return np.array(values) + share * rng.normal(size=(n, len(values)))

    return shaken([q.nominal for q in plant.inputs]), shaken([q.rest for q in plant.disturbances])


def simulated(plant, u, w, step, integrator):
    run = plants.simulate(plant, t_end=len(u) * step, step=step, inputs=u, disturbances=w, integrator=integrator)
    return run.group("outputs")[: len(u)]


def assert_the_same(found, expected):
    """Sums of products are rounded once there and twice here: some 1e-16 a step, of which a hundred steps keep 1e-12."""
    span = np.maximum(np.ptp(expected, axis=0), 1e-6)
    assert (np.abs(found - expected) / span).max() < 1e-12


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node")
@pytest.mark.parametrize(
    ("name", "integrator"), [("planar_quadrotor", "rk4"), ("second_order_dead_time", "rk4"), ("cstr", "rosenbrock")]
)
def test_javascript_moves_as_the_compiled_simulator(name, integrator, tmp_path):
    plant = plants.get(name)
    u, w = driven(plant, 150)
    step = 1.3 * plant.step if plant.input_delay else plant.step  # a dead time that is no whole number of steps
    machine = plant_machine(plant, step, integrator)
    found = in_node(machine, np.concatenate([u, w], axis=1), tmp_path)
    assert_the_same(found[:, :-1], simulated(plant, u, w, step, integrator))
    assert (found[:, -1] == 1.0).all()


@pytest.mark.parametrize("integrator", ["euler", "heun", "rk2"])
def test_the_other_integrators(integrator):
    plant = plants.get("van_der_pol")
    u, w = driven(plant, 60)
    found = plant_machine(plant, 0.01, integrator).run(np.concatenate([u, w], axis=1))
    assert_the_same(found[:, :-1], simulated(plant, u, w, 0.01, integrator))


def ball():
    """A ball that bounces without loss and falls with 1 m/s^2 from 1 m."""

    def after(t, x, u, w, p, h):
        height, speed = x
        return where(height, height, -height), where(height, speed, -speed)

    return Plant(
        name="ball", states=(Quantity("height", "m", 1.0, -10.0, 10.0), Quantity("speed", "m/s")),
        inputs=(Quantity("push", "N"),), derivative=lambda t, x, u, w, p: (x[1], u[0] - 1.0), after_step=after,
    )  # fmt: skip


def test_impacts_and_the_end_of_the_region():
    machine = plant_machine(ball(), 0.01)
    rows = np.zeros((400, 1))
    found = machine.run(rows)
    height, low = found[:, 0], found[:, 0].argmin()
    # falls for sqrt(2) s, bounces, and is back at the top after twice that; a bounce at a step's end moves energy by
    # less than speed times a step
    assert low * 0.01 == pytest.approx(np.sqrt(2.0), abs=0.01)
    assert height[low:].argmax() * 0.01 == pytest.approx(np.sqrt(2.0), abs=0.03)
    assert height[low:].max() == pytest.approx(1.0, abs=0.03)
    rows[100:] = 50.0
    rows[200:] = -1e5  # would bring it back in one step
    found = machine.run(rows)
    gone = int(found[:, -1].argmin())
    assert gone > 100
    assert (found[gone:, -1] == 0.0).all()
    assert (found[gone:, 0] == found[gone, 0]).all()  # it stays where it was last inside
    assert 5.0 < found[gone, 0] <= 10.0


def test_time_is_that_of_the_stages():
    clock = Plant(
        name="clock", states=(Quantity("x", "1"),), inputs=(Quantity("u", "1"),), derivative=lambda t, *_: (t,)
    )
    found = plant_machine(clock, 0.1).run(np.zeros((30, 1)))
    np.testing.assert_allclose(found[:, 0], 0.5 * (0.1 * np.arange(30)) ** 2, rtol=0.0, atol=1e-14)


def test_commands_are_allocated_where_the_controller_cannot():
    plant = plants.get("planar_quadrotor")
    machine = plant_machine(plant, commands=True)
    assert [signal.name for signal in machine.inputs][:1] == [f"command_{plant.channels[0].output}"]
    commands = tuple(0.1 * (k + 1) for k in range(len(plant.channels)))
    row = (*commands, *plant.calm())
    memory = dict(machine.memory)
    machine._sample(memory, 0, row)
    u = plant.allocate(0.0, plant.initial(), commands, plant.nominal()) if plant.allocate else commands
    assert [memory[f"u_{q.name}"] for q in plant.inputs] == pytest.approx(list(u), rel=1e-14)


def test_parameters_and_states_are_slots_and_names_become_identifiers():
    machine = plant_machine(plants.get("heater"))
    plant = plants.get("heater")
    assert {slot for slot in machine.memory if slot.startswith("p_")} == {
        identifier(f"p_{q.name}") for q in plant.parameters
    }
    assert all(slot.isidentifier() for slot in machine.memory)
    with pytest.raises(ValueError, match="must be above 0 s, got 0"):
        plant_machine(plants.get("heater"), 0.0)
    with pytest.raises(ValueError, match="did you mean 'rk4'"):
        plant_machine(plants.get("heater"), integrator="rk5")
