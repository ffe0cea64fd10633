"""Spelling of units: a list of what is known, and how products and powers of them are written.

SI units with their prefixes and the units of process industry, written as ``kg m^2``, ``W/(m^2 K)``, ``m^2.5/s``: a
space multiplies, one stroke divides by what follows it (brackets where that is a product), ``^`` is a power, and ``1``
stands for no unit.
"""

from __future__ import annotations

import difflib
import re

_PREFIXED = """
m g s A K mol cd Hz N Pa J W C V F ohm S Wb T H lm lx Bq Gy Sv kat L l bar eV Wh VA var t cal
"""
_PREFIXES = ("", *"fpnuµmcdhkMGT")
_PLAIN = """
1 % ppm ppb rad sr deg ° °C °F degC degF mrad urad rev min h d day a yr Ω kΩ MΩ mΩ atm mbar psi mmHg torr
mmH2O mWC in ft mi lb lbf gal rpm km/h pH dB pu p.u. count counts px pcs step bit byte hp PS kgf gn %RH
BTU Btu Da u AU M USD EUR NTU FNU cP P St cSt ha person people Nm^3 Sm^3
"""
KNOWN = frozenset({*_PLAIN.split(), *(prefix + unit for unit in _PREFIXED.split() for prefix in _PREFIXES)})
"""Every unit that stands alone."""

_MEANT = {
    "s": "sec secs second seconds",
    "min": "minute minutes",
    "h": "hour hours",
    "m": "meter meters metre metres",
    "g": "gram",
    "kg": "kilogram kgs KG Kg",
    "rad": "radian radians rads",
    "deg": "degree degrees",
    "N": "newton newtons",
    "J": "joule",
    "W": "watt watts",
    "V": "volt volts",
    "A": "ampere amps amp",
    "K": "kelvin",
    "degC": "celsius Celsius",
    "ohm": "Ohm Ohms ohms",
    "%": "percent pct",
    "Pa": "pascal",
    "Hz": "hertz hz",
    "L": "liter litre litres liters ltr",
    "1": "- none [-] unitless dimensionless",
    "N m": "Nm",
}
_OTHERWISE = {word: unit for unit, words in _MEANT.items() for word in words.split()}
_POWER = re.compile(r"^(?P<unit>.+?)(?:\^(?P<power>-?\d+(?:\.\d+)?))?$")


def unit_complaint(unit: str) -> str:
    """Return what is wrong with the spelling of a unit and how it may have been meant; empty where it is known.

    Parameters
    ----------
    unit : str
        Such as "m/s^2". An empty one is left to others.
    """
    if not unit or unit in KNOWN:
        return ""
    above, stroke, below = unit.partition("/")
    if unit.count("/") > 1:
        return f"{unit!r} divides twice; write one stroke and brackets, as in W/(m^2 K)"
    if stroke and below.startswith("(") and below.endswith(")"):
        below = below[1:-1]
    elif stroke and " " in below:
        return f"{unit!r} leaves open what it divides by; write brackets, as in W/(m^2 K)"
    above = re.sub(r"\(([^()]*)\)(\^\d+)?", r"\1", above)  # (N m)^2 s
    for factor in [*above.split(), *(below.split() if stroke else ())]:
        wrong = _wrong_factor(factor)
        if wrong:
            return wrong if factor == unit and repr(unit) in wrong else f"{unit!r}: {wrong}"
    return ""


def _wrong_factor(factor: str) -> str:
    if factor in KNOWN:
        return ""
    match = _POWER.match(factor)
    name = match["unit"] if match else factor
    if name in KNOWN and name not in _OTHERWISE:
        return ""
    for sign, meant in (("**", "^"), ("*", "a space"), (".", "a space"), ("·", "a space")):
        if sign in name:
            return f"write {meant} for {sign!r}"
    superscripts = str.maketrans("²³⁻¹", "23-1")
    if any(character in name for character in "²³⁻¹"):
        plain = re.sub(r"(-?[0-9]+)$", r"^\1", name.translate(superscripts))
        return f"write powers with ^, as in {plain}"
    power = re.match(r"^(\D+?)(-?\d)$", name)
    if power and power[1] in KNOWN:
        return f"write powers with ^, as in {power[1]}^{power[2]}"
    meant = _OTHERWISE.get(name) or next(iter(difflib.get_close_matches(name, sorted(KNOWN), 1, 0.67)), "")
    return f"{name!r} is no unit that is known here{f'; did you mean {meant!r}?' if meant else ''}"
