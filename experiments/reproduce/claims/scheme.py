"""The block diagrams with the algebraic loop and without, and how often each calls the equations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plants
from experiments.report.drawing.html import Html, element, join
from experiments.report.drawing.svg import words
from experiments.reproduce.drawings import arrow, block, drawing
from experiments.reproduce.results import ClaimTable, ClaimVerdict, Reproduction, spanned

if TYPE_CHECKING:
    from experiments.reproduce.registry import PublishedClaim

_STEP, _STEPS = 0.01, 200
_WAYS = ("iterated", "gauss_seidel", "loop_free")
_LOOP, _REBUILT = "#d1661b", "#1f5fa8"


def block_scheme(claim: PublishedClaim) -> Reproduction:
    """Count evaluations of the oscillator with nonlinear inertia in each way, by every solver."""
    plant = plants.get("nonlinear_inertia")
    rows, once = [], True
    for integrator, stages in claim.values["stages"].items():
        counts = {}
        for way in _WAYS:
            run = plants.simulate(
                plant, _STEPS * _STEP, _STEP, initial={"position": 0.8}, algebraic_loop=way, integrator=integrator
            )
            counts[way] = run.evaluations / (_STEPS * stages)
        once = once and counts["loop_free"] == 1.0
        rows.append((integrator, str(stages), *(f"{counts[way]:.2f}" for way in _WAYS)))
    head = ("solver", "stages", *(f"{way.replace('_', ' ')}: evaluations a stage" for way in _WAYS))
    iterated = [float(row[2]) for row in rows]
    return Reproduction(
        ours=f"one evaluation a stage without the loop, {spanned(iterated)} where it is iterated",
        verdict=ClaimVerdict.AGREES if once else ClaimVerdict.DIFFERS,
        reason=(
            f"Counted over {_STEPS} steps of {_STEP:g} s of the oscillator with nonlinear inertia. What the scheme "
            "costs in accuracy and where it diverges are claims of their own (inertia_motion, inertia_limit)."
        ),
        tables=(ClaimTable("evaluations", "Evaluations of the equations", head, rows),),
        drawing=drawing(900.0, 420.0, _scheme(0.0, rebuilt=False), _scheme(210.0, rebuilt=True)),
    )


def _scheme(top: float, *, rebuilt: bool) -> Html:
    """One of the diagrams, so many pixels from the top."""
    y, back = 90.0, 165.0
    title = "Without the algebraic loop" if rebuilt else "With the algebraic loop"
    parts = [words(title, 20.0, 22.0, style="title")]
    parts += [arrow([(20.0, y), (120.0, y)], "u, ξ, t"), arrow([(310.0, y), (427.0, y)], "q″")]
    parts += [arrow([(513.0, y), (627.0, y)], "q′"), arrow([(713.0, y), (860.0, y)], "q")]
    parts.append(arrow([(780.0, y), (780.0, 40.0), (215.0, 40.0), (215.0, y - 20.0)]))
    parts.append(arrow([(560.0, y), (560.0, 54.0), (240.0, 54.0), (240.0, y - 20.0)]))
    if rebuilt:
        parts.append(arrow([(560.0, y), (560.0, back), (467.0, back)], colour=_REBUILT))
        parts.append(arrow([(373.0, back), (215.0, back), (215.0, y + 20.0)], "", colour=_REBUILT))
        parts.append(block(420.0, back, "(q′ₖ − q′ₖ₋₁)/h", wide=1.1))
        parts.append(words("â, one step old", 290.0, back - 8.0, "middle", "label"))
    else:
        parts.append(arrow([(360.0, y), (360.0, back), (215.0, back), (215.0, y + 20.0)], colour=_LOOP, dashed=True))
        parts.append(words("q″ of this very moment: iterated", 385.0, back, style="label"))
    parts += [block(215.0, y, "f(q, q′, q″, ξ, u, t)", wide=2.2), block(470.0, y, "∫ dt"), block(670.0, y, "∫ dt")]
    return element("g", join(parts), transform=f"translate(0 {top:g})")
