"""The command that simulates a plant: what it writes is what `plants.simulate` gives, and balances."""

import csv
import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import plants
from experiments import simulate
from experiments.simulate import energy_account, missing_blocks
from plants import Plant, Quantity
from plants.core.elementary import where
from plants.excitation import Step, WhiteNoise
from tests.reference.closed_loop_twin import uncompiled

pytestmark = pytest.mark.usefixtures("own_folder")

SHORT = ("t_end=2", "step=0.02", "quiet=true")
SIGNALS = ("input.kind=step", "input.amplitude=2", "input.at=1", "excitation.kind=white")


def run(*words, output="run"):
    simulate.main([*SHORT, f"output={output}", *words])
    return Path(output)


def table(folder):
    """Columns of the trajectory by name."""
    with (folder / "trajectory.csv").open(newline="") as stream:
        head, *rows = csv.reader(stream)
    return dict(zip(head, np.array(rows, dtype=float).T, strict=True))


def test_the_files_hold_what_the_library_gives(capsys):
    folder = run(*SIGNALS, "seed=3", "parameters.mu=2")
    expected = plants.simulate(
        plants.get("van_der_pol"), 2.0, 0.02, parameters={"mu": 2.0}, inputs={"force": Step(2.0, at=1.0)},
        disturbances={"excitation": WhiteNoise(0.3, 0.1)}, seed=3,
    )  # fmt: skip
    found = table(folder)
    assert list(found) == [
        "time", "position", "velocity", "force", "excitation", "entropy production", "energy supplied"
    ]  # fmt: skip
    for name in ("position", "velocity", "force", "excitation"):
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)  # written digits read back exactly
    np.testing.assert_array_equal(found["force"], np.where(found["time"] < 1.0 - 1e-9, 0.0, 2.0))
    numbers = json.loads((folder / "metrics.json").read_text())
    assert numbers["final_state"] == {name: expected[name][-1] for name in ("position", "velocity")}
    assert numbers["extremes"]["position"]["high"] == expected["position"].max()
    assert numbers["entropy_production"] == expected.entropy[-1]
    printed = capsys.readouterr().out
    assert f"report: {folder / 'report.html'}" in printed
    assert "van_der_pol: 2 s in 100 steps" in printed


def test_the_page_is_complete_without_a_network_and_the_same_again():
    pages = [(run(*SIGNALS, output=name) / "report.html").read_bytes() for name in ("a", "b")]
    assert pages[0] == pages[1]
    page = pages[0].decode()
    assert "http:" not in page.replace("http://www.w3.org", "")
    assert "https:" not in page
    assert " src=" not in page
    # position and velocity, force and excitation, entropy production, supplied, stored, residual
    assert page.count('class="chart"') == 8


def test_signals_may_be_given_by_name():
    by_place = run(*SIGNALS, output="a")
    by_name = run(
        "inputs={force: {kind: step, amplitude: 2, at: 1}}", "excitations={excitation: {kind: white}}", output="b"
    )
    assert (by_place / "trajectory.csv").read_bytes() == (by_name / "trajectory.csv").read_bytes()


def test_a_recorded_series_drives_the_plant():
    Path("wind.csv").write_text("time,value\n0,0.5\n1,-0.5\n")
    found = table(run("excitation.kind=recorded", "excitation.file=wind.csv"))
    np.testing.assert_array_equal(found["excitation"], np.where(found["time"] < 1.0 - 1e-9, 0.5, -0.5))


def test_a_finished_simulation_may_be_resumed():
    folder = run(*SIGNALS)
    before = (folder / "metrics.json").read_bytes()
    (folder / "metrics.json").unlink()
    simulate.main(["resume=run"])
    assert (folder / "metrics.json").read_bytes() == before


def test_a_diverging_simulation_ends_with_time_and_state(capsys):
    with pytest.raises(SystemExit) as stop:
        run("plant=nonlinear_inertia", "algebraic_loop=loop_free", "initial=[3, 0]", "t_end=20")
    error = capsys.readouterr().err
    assert stop.value.code == 2
    assert error.startswith("error: plant 'nonlinear_inertia' left the region where its model holds")
    assert "position = " in error
    assert "the gain of the algebraic loop of plant 'nonlinear_inertia' is 3.6 at t = 0 s" in error
    assert "loop_free_filtered up to 19, algebraic_loop=solved any" in error
    assert "Traceback" not in error


def test_the_algebraic_loop_is_reported(capsys):
    with uncompiled():
        folder = run("plant=nonlinear_inertia", "algebraic_loop=gauss_seidel", "initial=[1.8, 0]", "t_end=0.2")
    printed = capsys.readouterr().out
    report = json.loads((folder / "metrics.json").read_text())["algebraic_loop"]
    # One equation is solved for its own acceleration in one sweep; a second confirms. 10 steps of 4 stages.
    assert report["mode"] == "gauss_seidel"
    assert report["evaluations"] == pytest.approx(80, abs=2)
    assert report["iterations_most"] == 2
    assert report["largest_residual"] <= report["tolerance"] == 1e-10
    assert (report["gain"], report["gain_time"]) == (pytest.approx(0.4 * 1.8**2), 0.0)
    line = f"algebraic loop gauss-seidel: {report['evaluations']} evaluations; gain up to 1.296 (t = 0 s); "
    assert f"{line}2 passes a stage, at most 2, largest residual" in printed
    assert "lgebraic loop gauss-seidel" in (folder / "report.html").read_text()


def test_a_loop_free_run_beyond_its_gain_warns(capsys):
    with uncompiled(), warnings.catch_warnings(action="default"):
        run("plant=nonlinear_inertia", "algebraic_loop=loop_free_relaxed", "initial=[1.8, 0]", "t_end=0.2")
    told = capsys.readouterr()
    assert told.err.startswith("warning: the gain of the algebraic loop of plant 'nonlinear_inertia' is 1.296 at t = 0")
    assert "its delay adds up to " in told.out


def test_an_initial_state_by_name_is_that_of_the_list():
    by_name = table(run("initial={velocity: 0.5}", output="by_name"))
    start = plants.get("van_der_pol").initial()
    as_list = table(run(f"initial=[{start[0]},0.5]", output="as_list"))
    assert by_name["velocity"][0] == 0.5
    assert all((by_name[name] == as_list[name]).all() for name in as_list)
    simulate.main(["resume=by_name", "quiet=true"])  # stored and read back


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["parameters.nu=2"], "no name among the parameters of plant 'van_der_pol': 'nu' (known: mu)"),
        (["initial=[1]"], "states of plant 'van_der_pol' must have 2 values (position, velocity), got 1"),
        (["inputs={fource: {kind: step}}"], "'fource'; did you mean 'force'?"),
        (["input.kind=step", "inputs={force: {kind: step}}"], "'force' is the first of the inputs and is given twice"),
        (["algebraic_loop=loop_free"], "plant 'van_der_pol' has no algebraic loop"),
        (
            ["plant=nonlinear_inertia", "integrator=rosenbrock", "algebraic_loop=iterated"],
            "integrator 'rosenbrock' differentiates the solved equations",
        ),
        (["step=0.3"], "t_end = 2 s must be a multiple of step = 0.3 s"),
        (["t_end=inf"], "t_end must be finite and above 0 s, got inf"),
        (["excitation.kind=recorded"], "excitation.file is missing"),
        (["excitation.file=x.csv"], "excitation.file is read with kind=recorded or tabulated only, got kind=none"),
    ],
)
def test_what_cannot_be_simulated_is_refused_before_there_is_a_folder(refused, words, message):
    assert message in refused("simulate", *SHORT, "output=run", *words)


def test_a_signal_needs_something_to_drive(refused):
    level = Plant("undisturbed", (Quantity("level", "m"),), derivative=lambda t, x, u, w, p: (-x[0],))
    plants.register(level)
    assert "plant 'undisturbed' has no disturbances" in refused("simulate", "plant=undisturbed", "excitation.kind=sine")


# -------------------------------------------------------------------------------------------------------------- energy


def test_the_energy_account_closes_with_the_order_of_the_integrator():
    plant = plants.get("van_der_pol")
    worst = []
    for step in (0.04, 0.02):
        run = plants.simulate(plant, 4.0, step, initial=(1.5, 0.0), inputs={"force": 1.0})
        worst.append(np.abs(energy_account(plant, run, None).residual).max())
    # rk4: halving the step divides the error by 16; 10 leaves room for the next order's share
    assert worst[1] < worst[0] / 10.0
    assert worst[0] < 1e-3


def test_a_plant_without_an_energy_has_no_account():
    plant = replace(plants.get("van_der_pol"), name="no energy", energy=None, supplied_power=None)
    assert missing_blocks(plant) == ("energy", "supplied_power")
    run = plants.simulate(plants.get("van_der_pol"), 0.1, 0.02)
    assert energy_account(plant, run, None) is None


def test_the_residual_is_said_to_hold_what_happens_after_steps(capsys):
    """A mass that falls on a floor without springing back: the account misses what the impact took."""
    ball = plants.register(
        Plant(
            name="falling", states=(Quantity("height", "m", 1.0, -1.0, 2.0), Quantity("speed", "m/s")),
            derivative=lambda t, x, u, w, p: (x[1], -9.81), entropy_rate=lambda t, x, u, w, p: 0.0 * x[0],
            energy=lambda t, x, u, w, p: 0.5 * x[1] * x[1] + 9.81 * x[0],
            after_step=lambda t, x, u, w, p, h: (where(-x[0], 0.0, x[0]), where(-x[0], 0.0, x[1])),
        )
    )  # fmt: skip
    with uncompiled():
        simulate.main(["plant=falling", "t_end=1", "step=0.01", "output=run"])
    assert "J (with what after_step does to the energy)" in capsys.readouterr().out
    account = energy_account(ball, plants.simulate(ball, 1.0, 0.01), None)
    assert account.residual[-1] == pytest.approx(-9.81, rel=0.02)  # it rests up to a step's fall above or below 0 J


def test_an_energy_balance_that_fails_is_flagged(capsys):
    """At a step at which rk4 is hardly stable, the account of the oscillator does not close."""
    run("plant=duffing", "t_end=20", "step=0.5", output="coarse")
    assert "THE ENERGY BALANCE FAILS" in capsys.readouterr().out
    run("plant=duffing", "t_end=20", "step=0.01", output="fine")
    assert "THE ENERGY BALANCE FAILS" not in capsys.readouterr().out


def test_a_plant_at_rest_has_no_energy_balance_to_fail(capsys):
    """Its temperatures are round their surroundings': 2e-18 J are turned over, which is rounding."""
    run("plant=heater", "t_end=50", output="rest")
    assert "THE ENERGY BALANCE FAILS" not in capsys.readouterr().out


# ---------------------------------------------------------------------------------------------- treatments of the loop


def compared(*words, output="modes"):
    simulate.main(["plant=nonlinear_inertia", *SHORT, "excitation.kind=white", f"output={output}", *words])
    return Path(output)


def test_treatments_of_the_loop_are_the_runs_of_their_own(capsys):
    folder = compared("algebraic_loop=[solved,iterated,loop_free]")
    alone = run("plant=nonlinear_inertia", "excitation.kind=white", "algebraic_loop=loop_free", output="alone")
    assert (folder / "trajectory_loop_free.csv").read_bytes() == (alone / "trajectory.csv").read_bytes()
    told = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    assert set(told) == {"solved", "iterated", "loop_free"}
    assert told["solved"]["largest_difference"] == 0.0
    assert told["iterated"]["largest_difference"] < 1e-9 < told["loop_free"]["largest_difference"] < 0.1
    assert told["iterated"]["evaluations"] > 3 * told["solved"]["evaluations"]
    page = (folder / "report.html").read_text(encoding="utf-8")
    for title in ("Phase planes", "Accelerations", "Difference from solved", "rate of velocity [m/s²]"):
        assert title in page
    assert "loop-free" in capsys.readouterr().out


def test_a_treatment_that_diverges_is_named_and_the_others_are_drawn(capsys):
    folder = compared("algebraic_loop=[loop_free,solved]", "initial=[1.7,0]", "parameters.a3=0.4", "t_end=20")
    told = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    assert "diverged" in told["loop_free"]
    assert told["solved"]["largest_difference"] == 0.0  # the first that ran
    assert "left the plant's region" in capsys.readouterr().out
    assert not (folder / "trajectory_loop_free.csv").exists()
    assert "Difference from" not in (folder / "report.html").read_text(encoding="utf-8")


def test_a_plant_without_a_loop_has_nothing_to_compare(capsys):
    with pytest.raises(SystemExit):
        simulate.main([*SHORT, "plant=pendulum", "algebraic_loop=[solved,loop_free]", "output=none"])
    assert "has no algebraic loop" in capsys.readouterr().err
    assert not Path("none").exists()
