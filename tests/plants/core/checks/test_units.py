"""Spelling of units: every registered plant's is known; what is written otherwise is told with the cure."""

import pytest

import plants
from plants.core.checks.units import unit_complaint

KINDS = ("states", "parameters", "inputs", "disturbances", "measurements")


@pytest.mark.parametrize("name", plants.names(tasks=True))
def test_units_of_registered_plants_are_known(name):
    plant = plants.get(name)
    units = {q.unit for kind in KINDS for q in getattr(plant, kind)} | {m.unit for m in plant.measures}
    assert [unit_complaint(unit) for unit in units if unit_complaint(unit)] == []


@pytest.mark.parametrize(
    "unit", ["1", "%/s", "L/min", "Nm^3/h", "kJ/(kg K)", "mg/L", "m s^-1", "m^2.5/s", "(N m)^2 s", "degC", "µm", "MPa", "1/min"]
)  # fmt: skip
def test_units_of_processes_are_known(unit):
    assert unit_complaint(unit) == ""


@pytest.mark.parametrize(
    ("unit", "cure"),
    [
        ("sec", "did you mean 's'"), ("rad/sec", "did you mean 's'"), ("Nm", "did you mean 'N m'"), ("Kg", "did you mean 'kg'"),
        ("m3/s", "write powers with ^, as in m^3"), ("m²", "write powers with ^, as in m^2"), ("m**2", "write ^ for '**'"),
        ("kg*m^2", "write a space for '*'"), ("m/s/s", "divides twice"), ("W/m^2 K", "leaves open what it divides by"),
        ("wat", "no unit that is known"),
    ],
)  # fmt: skip
def test_other_spellings_are_told_with_the_cure(unit, cure):
    assert cure in unit_complaint(unit)


def tank(unit="m", low=0.0, area_low=0.5):
    def derivative(t, x, u, w, p):
        return ((u[0] / p[0] - 0.1 / x[0]) / 10.0,)

    return plants.Plant(
        name="tank", states=(plants.Quantity("level", unit, 0.5, low, 1.0),),
        parameters=(plants.Quantity("area", "m^2", 1.0, area_low, 2.0),),
        inputs=(plants.Quantity("flow", "m^3/s", 0.2, 0.0, 1.0),), derivative=derivative,
    )  # fmt: skip


def test_check_warns_of_a_unit():
    assert "unit of state 'level': 'meter' is no unit that is known here; did you mean 'm'?" in str(
        plants.check(tank("meter"))
    )
    assert "unit of" not in str(plants.check(tank()))


@pytest.mark.parametrize(
    ("plant", "place"), [(tank(), "level = 0 m"), (tank(low=-1.0), "level = 0 m"), (tank(low=0.1, area_low=0.0), "area = 0 m^2")]
)  # fmt: skip
def test_check_finds_divisions_by_zero_at_the_ends_of_the_declared_ranges(plant, place):
    """None of the 64 drawn states is at 0, and parameters are nominal there."""
    (told,) = [line for line in plants.check(plant).advice if "not finite" in line]
    assert f"derivative is not finite at an end of what is declared, with the rest nominal: {place}." in told
    assert "test_units.py" in told


def test_what_is_finite_everywhere_is_not_told():
    assert "not finite" not in str(plants.check(tank(low=0.1)))
