"""The command line: quick to answer, and clear about what is wrong."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import plants
from experiments import cli

ROOT = Path(__file__).parents[2]

PENDULUM = '''
"""A damped pendulum, from the hanging rest."""
import plants
from plants.core.elementary import sin


def derivative(t, x, u, w, p):
    angle, rate = x
    return rate, u[0] - 0.1 * rate - 9.81 * sin(angle)


plants.register(
    plants.Plant(
        name="my_pendulum",
        states=(plants.Quantity("angle", "rad", 0.1), plants.Quantity("rate", "rad/s")),
        inputs=(plants.Quantity("torque", "N m"),),
        channels=(plants.Channel(output="angle", rate="rate", low=-5.0, high=5.0),),
        derivative=derivative,
    )
)
'''


HEAVIER = "plants.register(replace(plants.get('my_pendulum'), name='heavy_pendulum'))\n"


@pytest.fixture
def pendulum(tmp_path):
    file = tmp_path / "my_plant.py"
    file.write_text(PENDULUM)
    return file


def test_help_imports_nothing_slow():
    code = """if True:
        import sys
        from experiments import cli
        try:
            cli.main(["--help"])
        finally:
            slow = {"numpy", "scipy", "numba", "torch", "hydra", "omegaconf", "deap", "matplotlib", "plants"}
            print("slow:", sorted(slow & set(sys.modules)))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    commands = ("design", "simulate", "evaluate", "worst", "replay", "certify", "plants", "check", "lint", "cache")
    assert all(command in done.stdout for command in commands)
    assert done.stdout.endswith("slow: []\n")


def test_no_command_prints_the_help(capsys):
    cli.main([])
    assert "sscq design --help" in capsys.readouterr().out


def test_an_unknown_command_is_refused_with_the_near_miss(refused):
    assert "no command 'desgin'; did you mean 'design'?" in refused("desgin")


def test_the_version_names_libraries(capsys):
    cli.main(["--version"])
    assert f"python {sys.version.split()[0]}" in capsys.readouterr().out


def test_plants_are_listed_in_lines_that_fit_a_terminal(capsys):
    cli.main(["plants"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:3] == ["plant", "states", "controlled"]
    end = lines.index("")
    assert [line.split()[0] for line in lines[1:end]] == list(plants.names())
    assert lines[end + 1] == "further tasks, as plant=PLANT:TASK"
    assert "  unicycle               speed_hold, pushed, balanced, region" in lines[end + 2 :]
    (line,) = (line for line in lines if line.startswith("van_der_pol"))
    assert line.split()[1:3] == ["2", "position"]
    assert "Van der Pol oscillator" in line
    assert max(map(len, lines)) <= 140


def test_a_plant_is_described(capsys):
    cli.main(["plants", "van_der_pol"])
    words = " ".join(capsys.readouterr().out.split())
    assert "mu 1 N s/m" in words
    assert "control channels position limits -20 .. 20" in words


def test_an_unknown_plant_is_refused_with_the_near_miss(refused):
    assert "did you mean 'van_der_pol'?" in refused("plants", "vanderpol")


def test_a_users_plant_is_listed(capsys, pendulum):
    cli.main(["plants", "my_pendulum", "--file", str(pendulum)])
    assert "torque" in capsys.readouterr().out


# --------------------------------------------------------------------------------------------------------------- check


def test_a_good_plant_is_accepted_and_it_is_said_that_its_file_is_executed(capsys, pendulum):
    cli.main(["check", str(pendulum)])
    out, error = capsys.readouterr()
    assert out.startswith("plant 'my_pendulum' keeps its contract\n")
    assert error.startswith(f"executing {pendulum}")


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("return rate, u[0]", "return rate, angle, u[0]"),  # three rates for two states
        ("return rate,", "if angle > 0.0:\n        rate *= len(plants.names())\n    return rate,"),  # not even by numba
    ],
)
def test_a_plant_that_breaks_its_contract_is_told_why(capsys, pendulum, good, bad):
    pendulum.write_text(PENDULUM.replace(good, bad))
    with pytest.raises(SystemExit) as stop:
        cli.main(["check", str(pendulum)])
    out, error = capsys.readouterr()
    assert stop.value.code == 1
    assert out.startswith("plant 'my_pendulum' has 1 problem\n  problem: ")
    assert "Traceback" not in out + error


def test_a_plant_that_is_not_registered_by_its_file_is_found_too(capsys, pendulum):
    pendulum.write_text(PENDULUM.replace("plants.register(", "pendulum = ("))
    cli.main(["check", str(pendulum)])
    assert "plant 'my_pendulum' keeps its contract" in capsys.readouterr().out


def test_one_of_several_plants_is_chosen(capsys, refused, pendulum):
    pendulum.write_text(f"{PENDULUM}\nfrom dataclasses import replace\n{HEAVIER}")
    assert "gives several plants; choose one with --plant" in refused("check", pendulum)
    cli.main(["check", str(pendulum), "--plant", "heavy_pendulum"])
    assert "plant 'heavy_pendulum' keeps its contract" in capsys.readouterr().out
    assert "gives no plant 'light'" in refused("check", pendulum, "--plant", "light")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = ", "my_plant.py, line 1: invalid syntax"),
        ("import plants\n\nplants.Plant(nam='x')", "my_plant.py, line 3: TypeError: "),
        ("gravity = 9.81\nprint(1 / 0)\n", "my_plant.py, line 2: ZeroDivisionError: division by zero"),
        ("import numpie", "my_plant.py, line 1: ModuleNotFoundError: No module named 'numpie'"),
        ("import plants\nplants.get('van_der_pol')", "gives no plant; end it with plants.register("),
        ("import plants\nMINE = plants.get('van_der_pol')", "gives no plant; end it with plants.register("),
        ("import plants\nplants.Plant(name='x', states=())", "plant 'x'"),
    ],
)
def test_a_plant_file_that_fails_is_told_with_its_line(refused, tmp_path, text, message):
    file = tmp_path / "my_plant.py"
    file.write_text(text)
    assert message in refused("check", file)


def test_a_plant_file_that_is_missing_or_no_python_is_refused(refused, tmp_path):
    assert "there is no plant file" in refused("check", tmp_path / "none.py")
    (tmp_path / "plant.txt").write_text("")
    assert "a plant file is a Python file" in refused("check", tmp_path / "plant.txt")


# --------------------------------------------------------------------------------------------------------------- cache


def test_the_cache_is_shown_listed_and_cleared(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("SSCQ_CACHE", str(tmp_path))
    (tmp_path / "kernel_abc.py").write_text("# a generated source\n")
    cli.main(["cache", "--path"])
    assert capsys.readouterr().out == f"{tmp_path}\n"
    cli.main(["cache", "--list"])
    assert capsys.readouterr().out == (
        f"1 compiled simulations, 0.0 MB of source and 0.0 MB of machine code, in {tmp_path}\nkernel_abc.py\n"
    )
    cli.main(["cache", "--clear"])
    assert capsys.readouterr().out == f"deleted 1 compiled simulations from {tmp_path}\n"
    assert list(tmp_path.iterdir()) == []


def test_the_cache_is_kept_within_a_size(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("SSCQ_CACHE", str(tmp_path))
    for age, name in enumerate(("abc", "def", "ghi")):
        for path, size in ((tmp_path / f"kernel_{name}.py", 300_000), (tmp_path / f"kernel_{name}.0123.o", 700_000)):
            path.write_bytes(bytes(size))
            os.utime(path, (1e9 - age, 1e9 - age))
    cli.main(["cache", "--limit", "2.5"])
    assert capsys.readouterr().out.splitlines() == [
        "deleted 1 compiled simulations",
        f"2 compiled simulations, 0.6 MB of source and 1.4 MB of machine code, in {tmp_path}",
    ]
    assert {path.name for path in tmp_path.iterdir()} == {
        f"kernel_{name}" for name in ("abc.py", "abc.0123.o", "def.py", "def.0123.o")
    }
    for wrong in ("-1", "nan", "inf", "much"):
        with pytest.raises(SystemExit):
            cli.main(["cache", "--limit", wrong])
    assert "argument --limit" in capsys.readouterr().err


def test_a_generated_source_is_named_and_shown(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("SSCQ_CACHE", str(tmp_path))
    text = '"""closed loop of van_der_pol: rk4\n\nGenerated."""\n'
    (tmp_path / "kernel_abc1.py").write_text(text)
    (tmp_path / "kernel_abd2.py").write_text("# another\n")
    cli.main(["cache", "--list"])
    assert capsys.readouterr().out.splitlines()[1:] == [
        "kernel_abc1.py  closed loop of van_der_pol: rk4", "kernel_abd2.py",
    ]  # fmt: skip
    for name in ("abc", "kernel_abc1", "kernel_abc1.py"):
        cli.main(["cache", "--show", name])
        assert capsys.readouterr().out == text
    for name, told in (("ab", "2 generated sources begin with 'ab'"), ("xy", "no generated source 'xy'")):
        with pytest.raises(SystemExit):
            cli.main(["cache", "--show", name])
        assert told in capsys.readouterr().err


def test_a_reader_that_leaves_early_is_no_error():
    # the pipe is closed before the first line is written
    command = f"{sys.executable} -W error -m experiments.cli plants | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.stderr == ""
    assert done.returncode in {0, 2}  # it may have been quicker than its reader
