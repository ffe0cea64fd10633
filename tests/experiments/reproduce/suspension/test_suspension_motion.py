"""The full car in motion: the specification's cases P4 to P6, balances, and the printed entropy rates along a run.

All runs are of one compiled kernel, RK4 at 0.1 ms: the specification's errors at 1 ms (1e-6) times 1e-4.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import plants
from experiments.reproduce.vehicles.suspension import loop_forms
from plants.excitation import Bump, BumpRate, Constant, Step
from plants.suspension import SUSPENSION, energy
from plants.suspension.signals import REST

STEP = 1e-4
CS = (3000.0, 3000.0, 2700.0, 2700.0)
START = (0.58, 0.02, 0.03, 0.20, -0.13, 0.09, -0.08, 0.2, 0.1, -0.2, 0.5, 0.3, -0.4, 0.2)
NO_TYRE_DAMPING = {"cw_front": 0.0, "cw_rear": 0.0}


def switched(dampers=CS, later=(1.0, 1.0, 1.0, 1.0), last=(1.0, 1.0, 1.0, 1.0), forces=(0.0, 0.0)):
    """Damper settings that change at 0.2 and 0.4 s, forces of the struts i and iv from 0.1 to 0.5 s."""
    signals = [Constant(c) + Step(c * (a - 1.0), 0.2) + Step(c * (b - a), 0.4)
               for c, a, b in zip(dampers, later, last, strict=True)]  # fmt: skip
    pushes = [Step(size, 0.1) + Step(-size, 0.5) for size in (forces[0], 0.0, 0.0, forces[1])]
    return [*signals, *pushes]


def road(height=0.0, length=1.0, speed=10.0, place=1.0):
    """A bump under the left wheels."""
    signals = []
    for kind in (Bump, BumpRate):
        signals += [kind(size, length, speed, place + far) for far in (0.0, 2.7) for size in (height, 0.0)]
    return signals


def run(t_end, initial=REST, *, step=STEP, parameters=None, inputs=None, disturbances=None):
    return plants.simulate(
        SUSPENSION, t_end, step, initial, parameters, inputs or switched(), disturbances or road(), name="car"
    )


def close(found, expected, relative):
    expected = np.asarray(expected, float)
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=relative * np.abs(expected).max())


def test_p4_free_decay():
    free = run(2.0, START)
    close(free.states[5000], [
        0.533212179411, -0.008044102316, 0.013666006576, 0.141534273365, -0.187388598354, 0.164011365582,
        -0.210518463958, 0.007220186011, 0.027615179906, 0.037256225280, -0.005505456432, -0.158907788460,
        -0.167256600647, 0.004316392930], 1e-8)  # fmt: skip
    close(free.states[-1], [
        0.5499296304917, -1.005294571e-4, -2.548008881e-4, 0.1495312646035, -0.1487539127635, 0.1206493397443,
        -0.1198488070668, -0.01013357129, -0.001266952662, -0.004100618468, 0.02841467427, -0.01334363063,
        0.03683119073, -0.02167926680], 1e-8)  # fmt: skip
    assert free.entropy[5000] == pytest.approx(783.6489001124, rel=1e-9)
    assert free.entropy[-1] == pytest.approx(803.3720238917, rel=1e-9)


def test_p5_conservative():
    free = run(1.0, START, parameters=NO_TYRE_DAMPING, inputs=switched((0.0,) * 4))
    close(free.states[-1], [
        0.5932795855984, 0.01840216080208, -0.008777682315853, 0.1727859180514, 0.02206413241006, -0.04738483503006,
        0.1642276677442, -0.0415785843, -0.1209496533, 0.2933202557, 1.4100017658, 2.5054553456, 9.6206109759,
        -4.6297174417], 1e-7)  # fmt: skip
    energies = SUSPENSION.energy(0.0, tuple(free.states[::100].T), (0.0,) * 8, (0.0,) * 8, SUSPENSION.nominal())
    np.testing.assert_allclose(energies, 10238.962895793, rtol=1e-11)  # drift of RK4 falls with the fifth power of h


@pytest.fixture(scope="module")
def bumped():
    inputs = switched(CS, (0.5, 0.5, 1.0, 1.0), (2.0, 1.0, 2.0, 1.0), (300.0, -200.0))
    return run(1.0, inputs=inputs, disturbances=road(0.05))


P6 = {
    1500: [0.5503613592477, -5.449262289e-4, 0.001859455216, 0.2498190904595, -0.1517303500788, 0.1179261369591,
           -0.1259324615609, 0.04916823075, -0.04966037769, 0.1261407888, 3.7171849888, -0.0833452371, -0.1441738246,
           -0.2028492322],
    4200: [0.554396393661, -0.005267079091, 0.008626511211, 0.100614922669, -0.133972250539, 0.208997676541,
           -0.145438048551, 0.046183831276, 0.070139829118, 0.060218362695, 0.275475254007, -0.244820802619,
           2.794611228942, 0.157852954493],
    10000: [0.548289390162, 0.000568596944, 0.001179283287, 0.153871350478, -0.157610325244, 0.120262468205,
            -0.124142871194, 0.005116275712, -0.001487493406, 0.004620355992, -0.027084797788, 0.006346299133,
            -0.018313807651, -0.002892775029],
}  # fmt: skip


def test_p6_bump_with_switched_dampers_and_active_forces(bumped):
    for place, expected in P6.items():
        close(bumped.states[place], expected, 1e-7)
    accelerations = [bumped[f"{name}_acceleration"][1500] for name in ("heave", "pitch", "roll")]
    close(accelerations, [2.2542454879, -2.1115482665, 5.25058162], 1e-7)
    loads = [bumped[f"tyre_load_{n}"][1500] for n in ("i", "ii", "iii", "iv")]
    close(loads, [5824.382683376, 3769.668502894, 3334.523116092, 3295.957846548], 1e-7)


def of_run(block, trajectory, *groups):
    return block(*(tuple(trajectory.group(group).T) for group in groups), SUSPENSION.nominal())


def test_p6_energies_and_their_balance(bumped):
    """To 1e-9 of what goes through it. Supplied by the road: more than the plant counts where a wheel is on the bump."""
    stored = np.sum(
        [np.broadcast_to(e, 10001) for e in of_run(energy.stored, bumped, "states", "disturbances")], axis=0
    )
    zeros = np.zeros((8, 10001))
    level = SUSPENSION.energy(0.0, tuple(bumped.states.T), tuple(zeros), tuple(zeros), SUSPENSION.nominal())
    work = bumped["supplied"] + (stored - level) - (stored - level)[0]
    assert bumped.entropy[4200] == pytest.approx(447.3587748, rel=1e-7)
    assert bumped.entropy[-1] == pytest.approx(702.4753651, rel=1e-7)
    assert work[4200] == pytest.approx(685.6131050, rel=1e-7)
    assert work[-1] == pytest.approx(702.6232794, rel=1e-7)
    residual = stored - stored[0] + bumped.entropy - work
    # The settings jump, so the run is smooth between jumps only; steps meet them, and the fourth order stays.
    assert np.abs(residual).max() <= 1e-9 * work.max()


RATES = {  # dissipated J, integrals of beta, alpha, sums of eta, z6, z12
    "no dampers": (0.0, 5.03e-5, 3.41e-5, 0.1122, 0.0205, -0.0133),
    "nominal": (801.92, 1.01e-5, -1.14e-4, -0.3284, -0.1174, -0.0059),
    "bump": (525.10, -1.9e-6, -4.3e-5, -0.0844, -0.0430, 1.0e-4),
}


@pytest.mark.parametrize("name", RATES)
def test_printed_rates_along_a_run_know_nothing_of_the_dampers(name):
    """The specification's table, to its digits: what is lost is not what the printed rates add up to."""
    offsets = (0.03, 0.02, 0.03, 0.05, 0.02, -0.03, 0.04)
    start = (*np.add(REST[:7], offsets).tolist(), *START[7:])
    options = {
        "no dampers": {"initial": start, "parameters": NO_TYRE_DAMPING, "inputs": switched((0.0,) * 4)},
        "nominal": {"initial": start},
        "bump": {"disturbances": road(0.05, 1.0, 8.0)},
    }[name]
    found = run(2.0, **options)
    rates = np.array(
        [np.broadcast_to(r, 20001) for r in of_run(loop_forms.printed_rates, found, "states", "disturbances")]
    )
    integrals = np.trapezoid(rates, dx=STEP, axis=1)
    sums = (integrals[0], integrals[1], *(integrals[k : k + 4].sum() for k in (2, 6, 10)))
    lost, *expected = RATES[name]
    assert found.entropy[-1] == pytest.approx(lost, abs=0.006)
    digits = [10.0 ** (np.floor(np.log10(abs(value))) - (2 if abs(value) > 0.1 else 1)) for value in expected]
    assert np.all(np.abs(np.subtract(sums, expected)) <= 0.6 * np.array(digits)), sums


def test_the_redundant_form_moves_as_the_minimal_one():
    """0.05 s from the same start; SciPy's errors and RK4's at 0.1 ms are some 1e-10 of the rates."""
    car, start = loop_forms.redundant(), loop_forms.redundant_state(START)
    inputs, still, p = (*CS, 0.0, 0.0, 0.0, 0.0), (0.0,) * 8, car.nominal()

    def rates(t, x):
        return car.derivative(t, tuple(x.tolist()), inputs, still, p)

    found = solve_ivp(rates, (0.0, 0.05), start, "DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
    close(loop_forms.minimal_state(found), run(0.05, START).states[-1], 1e-8)
