"""What the missing nonholonomic term does, in words, tables and a figure."""

from __future__ import annotations

import numpy as np

from benchmarks.prose import paragraph
from benchmarks.svg import Chart, Curve, figure
from benchmarks.unicycle.effects import FALL_TIME, LEANED, RATES, SPEEDS, STEP, T_END, Effects
from benchmarks.unicycle.legs import MINIMAL
from benchmarks.unicycle.tables import table

_TITLES = {"right": "with the term", "printed": "as printed"}
_GREEK = ("α″", "γ″", "β″", "θw″", "η″")


def text(found: Effects, name: str) -> list[str]:
    """Return the section's lines."""
    fit = max(float(np.abs(ours / given - 1.0).max()) for ours, given in found.cases.values())
    nominal = {form: yaw[-1] for form, yaw in found.yaw.items()}
    shifts = found.ends["printed"] - found.ends["right"]
    slope = float(found.rolling[SPEEDS.index(1.0), RATES.index(1.0)])
    fallen = {form: int(np.isnan(ends).sum()) for form, ends in found.ends.items()}
    return [
        *paragraph(
            "With p_y the bodies' horizontal linear momentum to the left, what the printed equations lack on the",
            "side of the",
            "accelerations is + Rw θw′ p_y in the yaw equation and − Rw α′ p_y in the wheel's. It does no work:",
            "energy is",
            f"kept without it, too. In a fall of {FALL_TIME:g} s without friction and control energy changes by",
            f"{found.drift['right']:.0e} of itself with the term and by {found.drift['printed']:.0e} without, while",
            "the two",
            f"motions end {found.apart:.2g} rad apart. **No test of the energy shows the error.**",
        ),
        "",
        *paragraph(
            "Accelerations in the specification's cases A3 (with the term) and A4 (without); ours agree with its to",
            f"{fit:.0e}:",
        ),
        "",
        *_cases(found),
        "",
        *paragraph(
            "Upright, p_y is the masses' height times the roll rate: printed, the machine steers itself by",
            f"{slope:.3g} rad/s² of yaw for each rad/s of roll and m/s of speed. By how much the printed yaw",
            "acceleration",
            "is off [rad/s²], rolling at the given rate, upright:",
        ),
        "",
        *_grid("roll rate", found.rolling),
        "",
        f"Yawing at the given rate, leaning forward by {LEANED:g} rad:",
        "",
        *_grid("yaw rate", found.yawing),
        "",
        *paragraph(
            "Under control roll rates are small, and the loop corrects what the term would have done. In the nominal",
            "run",
            f"(roll 0.05 rad, pitch 0.05 rad off, 1.5 m/s) the yaw after {T_END:g} s is {nominal['right']:.3f} rad,",
            "printed",
            f"{nominal['printed']:.3f} rad. From {SPEEDS[0]:g} to {SPEEDS[-1]:g} m/s the printed heading is off by",
            f"{-shifts.max():.2g} to {-shifts.min():.2g} rad to the right" + _stand(fallen),
        ),
        "",
        f"![yaw with and without the nonholonomic term]({name})",
    ]


def _stand(fallen: dict[str, int]) -> str:
    if not any(fallen.values()):
        return "; the same gains balance both."
    return f"; of the runs {fallen['right']} fall with the term and {fallen['printed']} without."


def _cases(found: Effects) -> list[str]:
    rows = [[_TITLES[form], *(f"{value:.4f}" for value in ours)] for form, (ours, _) in found.cases.items()]
    return table(("rad/s²", *_GREEK[: len(MINIMAL)]), rows)


def _grid(rate: str, values: np.ndarray) -> list[str]:
    rows = [[f"{v:g} m/s", *(f"{value:.3g}" for value in row)] for v, row in zip(SPEEDS, values, strict=True)]
    return table((f"speed, {rate}", *(f"{one:g} rad/s" for one in RATES)), rows)


def drawing(found: Effects) -> str:
    """Yaw over time in the nominal run; yaw at the end over the speed that is held."""
    yaw, ends = [], []
    for form, title in _TITLES.items():
        shown = found.yaw[form][::10]
        yaw.append(Curve(title, 10.0 * STEP * np.arange(len(shown)), shown, dashed=form == "printed"))
        ends.append(Curve(title, SPEEDS, found.ends[form], dots=True, dashed=form == "printed"))
    return figure([
        Chart("nominal run at 1.5 m/s", "time, s", "yaw, rad", tuple(yaw)),
        Chart(f"after {T_END:g} s", "speed, m/s", "yaw, rad", tuple(ends)),
    ])  # fmt: skip
