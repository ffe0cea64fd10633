"""Mechanised elimination in Chaplygin's equations: kept names, structure arrays, the order of output."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import symengine as se

from experiments.report.drawing.svg import Bars, Chart, SvgLine
from experiments.reproduce.mechanics import systems
from experiments.reproduce.results import ClaimTable, ClaimVerdict, Reproduction
from plants.mechanics import gauss_function
from plants.mechanics.algebra.symbolic import in_words
from plants.mechanics.forms.chaplygin import size
from plants.mechanics.forms.chaplygin.equations import Mechanised, mechanised

if TYPE_CHECKING:
    from collections.abc import Callable

    from experiments.reproduce.registry import PublishedClaim
    from plants.mechanics import Mechanism

MADE: dict[str, tuple[Callable[[], Mechanism], str]] = {
    "sleigh": (systems.sleigh, "x th"),
    "rolling disk": (systems.rolling_disk, "ps th ph"),
    "trailers": (systems.trailers, "x th0"),
    "snakeboard": (systems.snakeboard, "th ps fb ff"),
    "cart 1": (lambda: systems.cart(1), "fL fR al0"),
}
_TOLD = "rolling disk"
"""The system whose names, arrays and order are written out."""


def made(name: str) -> Mechanism:
    """Return a system with its independent coordinates chosen."""
    make, independent = MADE[name]
    mech = make()
    mech.independent(*independent.split())
    return mech


@cache
def found(name: str) -> Mechanised:
    """Return a system's equations in names."""
    return mechanised(made(name).declared(), trigonometric=False)


def _written(one: Mechanised, value: Any) -> str:
    """An expression in the declaration's names; independent rates are those of their coordinates."""
    calculus = one.kept.calculus
    declared = calculus.declared
    labels = calculus.labels()
    labels |= {
        calculus.symbol(f"z{s}"): se.Symbol(declared.quantities["v"][k].name)
        for s, k in enumerate(one.split.independent)
    }
    labels |= {name: se.Symbol(str(name).lstrip("_")) for name in one.kept.definitions}
    return in_words(se.sympify(value).xreplace(labels))


def _names(one: Mechanised) -> list[Any]:
    return one.kept.ordered(one.equations)


def elimination_names(claim: PublishedClaim) -> Reproduction:
    """Count operations with names kept and replaced, and write out the names of one system."""
    rows, bars, pays = [], {}, []
    for name, (names, blocks) in claim.values.items():
        one = found(name)
        kept, replaced = size.with_names(one), size.with_names(one, written_back=True)
        rows.append((name, str(names), str(kept), str(blocks), str(replaced), str(len(_names(one)))))
        bars[name] = {
            "names kept, published": float(names),
            "names kept": float(kept),
            "blocks, published": float(blocks),
            "blocks": float(replaced),
        }
        pays.append(replaced / kept)
    told = found(_TOLD)
    table = [(_written(told, name), _written(told, told.kept.definitions[name])) for name in _names(told)]
    same = all(row[1] == row[2] and row[3] == row[4] for row in rows)
    return Reproduction(
        ours="; ".join(f"{row[0]} {row[2]}, {row[4]}" for row in rows),
        verdict=ClaimVerdict.AGREES if same else ClaimVerdict.DIFFERS,
        reason=(
            f"Kept names need {min(pays):.2g} to {max(pays):.2g} times fewer operations, which agrees in kind; counts "
            "differ: entries that vanish under their names are dropped here, sines of differences are sums of "
            "products, the snakeboard has its heading among the independent ones (docs/performance/expression_size.md)."
        ),
        panels=(Bars("Operations of one right-hand side", "operations", bars, width=1100.0),),
        tables=(
            ClaimTable("names", f"Kept names, {_TOLD}", ("name", "stands for"), table),
            ClaimTable(
                "operations",
                "Operations",
                ("system", "names, published", "names", "blocks, published", "blocks", "number of names"),
                rows,
            ),
        ),
    )


def elimination_arrays(claim: PublishedClaim) -> Reproduction:
    """Write out the structure arrays of one system and hold the equations against Gauss' function."""
    one = found(_TOLD)
    arrays, rates = one.structure, [_written(one, rate) for rate in one.structure.rates]
    rows = []
    for k, (turn, skew) in enumerate(zip(arrays.turns, arrays.skew, strict=True)):
        for s, (first, second) in enumerate(zip(turn, skew, strict=True)):
            rows += [
                (f"BBB[{k},{s},{r}]", _written(one, entry)) for r, entry in enumerate(first) if se.sympify(entry) != 0
            ]
            rows += [
                (f"Asy[{k},{s},{r}]", _written(one, entry)) for r, entry in enumerate(second) if se.sympify(entry) != 0
            ]
    rows += [(f"PIAN[{k}]", _written(one, value)) for k, value in enumerate(arrays.momenta)]
    rows += [(f"NOH[{s}]", _written(one, value)) for s, value in enumerate(arrays.nonholonomic())]
    gaps = {name: _gap(name) for name in MADE}
    worst = max(gaps.values())
    counts = {}
    for name in MADE:
        own = found(name).structure
        counts[name] = {
            "BBB": float(_filled(own.turns)),
            "Asy": float(_filled(own.skew)),
            "NOH": float(sum(se.sympify(value) != 0 for value in own.nonholonomic())),
        }
    return Reproduction(
        ours=f"accelerations of {len(gaps)} systems agree with those of Gauss' function to {worst:.0e}",
        verdict=ClaimVerdict.AGREES if worst < claim.values["agreement"] else ClaimVerdict.DIFFERS,
        reason=(
            f"Directions r are the independent rates {', '.join(rates[:-1])}, then time. At 20 random states each the "
            f"equations give the accelerations of Gauss' principle to {worst:.0e}."
        ),
        panels=(Bars("Entries that are not 0", "entries", counts, width=900.0),),
        tables=(
            ClaimTable("arrays", f"Structure arrays, {_TOLD}", ("entry", "value"), rows),
            ClaimTable(
                "agreement", "Largest distance", ("system", "distance"), [(n, f"{g:.0e}") for n, g in gaps.items()]
            ),
        ),
    )


def _filled(blocks: Any) -> int:
    return sum(se.sympify(entry) != 0 for block in blocks for row in block for entry in row)


def _gap(name: str, draws: int = 20) -> float:
    """Distance of Chaplygin's accelerations from those of Gauss' principle, as a share of 1 + their size.

    Independent are the coordinates that give the smallest slopes: the published choice has a pole where the
    snakeboard's wheels stand straight.
    """
    make, _ = MADE[name]
    plant, whole = make().build("chaplygin", check=False), gauss_function(make())
    equations, rng, worst = plant.equations, np.random.default_rng(3), 0.0
    for _ in range(draws):
        x = (*rng.uniform(-0.6, 0.6, whole.declared.n), *rng.uniform(-1.0, 1.0, len(equations.velocities)))
        u = tuple(rng.uniform(-1.0, 1.0, len(whole.declared.quantities["u"])))
        block = equations.block(0.0, x, u)
        q, v = equations.motion(*block)
        ours = np.array(equations.coordinate_accelerations(*block), float)
        wanted = whole.least((*map(float, q), *map(float, v)), u=u)
        worst = max(worst, float((np.abs(ours - wanted) / (1.0 + np.abs(wanted))).max()))
    return worst


def elimination_order(_: PublishedClaim) -> Reproduction:
    """Say for each name where it stands and where the last name that it uses stands."""
    rows, lines, good, used = [], [], True, []
    for name in MADE:
        one = found(name)
        ordered = _names(one)
        place = {symbol: k for k, symbol in enumerate(ordered)}
        last = [
            max((place.get(s, -1) for s in one.kept.calculus.stands_on(one.kept.definitions[symbol])), default=-1)
            for symbol in ordered
        ]
        good = good and all(before < k for k, before in enumerate(last))
        used.append(f"{len(one.kept.ordered(one.lists['matrix']))} of {len(ordered)} ({name})")
        lines.append(SvgLine(name, range(len(last)), last))
        if name == _TOLD:
            rows = [
                (str(k + 1), _written(one, symbol), "" if last[k] < 0 else _written(one, ordered[last[k]]))
                for k, symbol in enumerate(ordered)
            ]
    longest = max(len(line.x) for line in lines)
    lines.append(SvgLine("itself", (0, longest), (0, longest), dashed=True))
    return Reproduction(
        ours=f"every name stands behind those it uses; for the inertias alone {', '.join(used)} are written out",
        verdict=ClaimVerdict.AGREES if good else ClaimVerdict.DIFFERS,
        reason="Every curve lies below the diagonal: no definition uses a name that comes later.",
        panels=(
            Chart(
                "Place of the last name that a definition uses", "place of the name", "place", tuple(lines), width=620.0
            ),
        ),
        tables=(ClaimTable("order", f"Order of output, {_TOLD}", ("place", "name", "last name that it uses"), rows),),
    )
