"""Plants are found by name, and built only when they are asked for."""

import subprocess
import sys

import pytest

import plants


def output_of(program: str) -> str:
    """Return what a fresh interpreter prints."""
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout


def loaded_after(program: str) -> set[str]:
    """Return the modules of plants that a fresh interpreter has loaded after a program."""
    program = f"{program}; import sys; print(*(name for name in sys.modules if name.startswith('plants.')))"
    return set(output_of(program).split())


def test_importing_the_package_builds_no_plant():
    assert not loaded_after("import plants") & set(plants.REGISTERED)


def test_one_plant_is_built_without_the_others():
    built = loaded_after("import plants; plants.get('heater')") & set(plants.REGISTERED)
    assert built == {"plants.thermal"}


def test_the_modules_register_what_is_said_of_them():
    said = {name for names in plants.REGISTERED.values() for name in names}
    program = "import plants; from plants.core.registry import names; print(*names())"
    assert set(output_of(program).split()) == said


def test_a_plant_of_a_task_is_found_before_any_is_loaded():
    program = "import plants; from plants.core.registry import in_full; print(in_full('unicycle_pushed'))"
    assert output_of(program).strip() == "unicycle:pushed"


def test_a_name_that_comes_with_the_project_is_not_taken_in_passing():
    program = (
        "import plants, dataclasses; other = dataclasses.replace(plants.get('fopdt'), name='heater')\n"
        "try: plants.register(other)\n"
        "except ValueError as error: print(error)"
    )
    assert "'heater' is registered already" in output_of(program)


def test_a_plant_in_the_place_of_one_that_comes_with_the_project_is_told_from_it():
    program = (
        "import plants, dataclasses; from plants.core import registry\n"
        "def tell(): print(registry.is_provided('heater'), registry.is_replaced('heater'))\n"
        "tell(); own = plants.get('heater'); tell()\n"
        "plants.register(dataclasses.replace(plants.get('fopdt'), name='heater'), replace=True); tell()\n"
        "plants.register(own, replace=True); tell()"
    )
    assert output_of(program).split("\n")[:4] == ["True False", "True False", "False True", "True False"]


def test_every_public_name_is_there():
    assert all(getattr(plants, name) is not None for name in plants.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = plants.nothing
