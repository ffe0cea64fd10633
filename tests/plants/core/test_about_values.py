"""Plants about other values of their parameters: declared ranges go along."""

from dataclasses import replace

import pytest

import plants
from plants import OperatingRanges, Quantity


def test_ranges_keep_their_shares_of_the_nominal_value():
    known = plants.get("cart_pole")
    found = plants.with_parameters(known, {"cart": 1.5})
    assert found.nominal()[found.index("parameters", "cart")] == 1.5
    assert found.ranges.parameters["cart"] == pytest.approx((1.2, 1.95))
    assert {**found.ranges.parameters, "cart": None} == {**known.ranges.parameters, "cart": None}
    assert plants.check(found).passed


def test_ranges_about_0_keep_their_distance_and_all_stay_inside_the_bounds():
    known = plants.get("van_der_pol")
    bias = Quantity("bias", "N", 0.0, -1.0, 1.0)
    ranges = OperatingRanges(parameters={"bias": (-0.5, 0.25), "mu": (0.5, 2.0)})
    plant = replace(known, parameters=(*known.parameters, bias), ranges=ranges)
    found = plants.with_parameters(plant, {"bias": 0.8, "mu": 6.0}).ranges.parameters
    assert found["bias"] == pytest.approx((0.3, 1.0))
    assert found["mu"] == pytest.approx((3.0, 10.0))


def test_plants_that_declare_none_have_none_afterwards():
    known = replace(plants.get("van_der_pol"), ranges=OperatingRanges())
    assert plants.with_parameters(known, {"mu": 2.0}).ranges.parameters is None


@pytest.mark.parametrize(("values", "message"), [({"nu": 1.0}, "nu"), ({"mu": 11.0}, r"must lie in \[0, 10\]")])
def test_what_the_plant_cannot_have_is_refused(values, message):
    with pytest.raises(ValueError, match=message):
        plants.with_parameters(plants.get("van_der_pol"), values)
