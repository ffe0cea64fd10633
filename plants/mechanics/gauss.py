"""Gauss' function of a mechanism: in the coordinates it is declared in, or transferred to joints or quasi-velocities.

    Z(a) = 1/2 a' M a - f' a,    f = Q - c

up to a part without accelerations. The true motion makes Z least among all accelerations that the constraints allow.
With joint coordinates q = q(s, t) or quasi-velocities v = D w + w0 the accelerations are a = D w' + s, and

    Z(w') = 1/2 w' D' M D w' - (D' (f - M s))' w'

Source: C. F. Gauss, Über ein neues allgemeines Grundgesetz der Mechanik (1829); the transfer by the Jacobian is that of
:mod:`plants.mechanics.forms.reduced`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import symengine as se

from plants.mechanics.algebra.blocks import Full, blocks_of
from plants.mechanics.algebra.calculus import Parts, triangle
from plants.mechanics.algebra.symbolic import Symbolic, in_words
from plants.mechanics.declaration.declaration import DeclarationError
from plants.mechanics.forms.reduced import equations_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from plants.mechanics.declaration.declaration import MechanismDeclaration
    from plants.mechanics.mechanism import Mechanism

    Array = NDArray[np.float64]


@dataclass(frozen=True)
class GaussFunction:
    """Gauss' function of a mechanism's accelerations.

    Attributes
    ----------
    names : tuple of str [m]
        Of the accelerations: coordinates with two primes, quasi-velocities with one.
    text : str
        The function written out, in the declaration's names.
    declared : MechanismDeclaration
    parts : Parts
        "matrix", the lower triangle of M, and "right", f, as functions of the state.
    """

    names: tuple[str, ...]
    text: str
    declared: MechanismDeclaration
    parts: Parts

    def matrices(self, state: Sequence[float], **given: Any) -> tuple[Array, Array]:
        """Return M [m, m] and f [m] at a state.

        Parameters
        ----------
        state : [n_x]
            Positions, then velocities.
        **given : optional
            ``t`` [s], ``u`` inputs, ``w`` disturbances (0 where left out), ``p`` parameters (nominal).
        """
        d = self.declared
        rest = [given.get(kind, (0.0,) * len(d.quantities[kind])) for kind in "uw"]
        p = given.get("p", tuple(x.nominal for x in d.quantities["p"]))
        block = (given.get("t", 0.0), tuple(map(float, state)), *map(tuple, rest), tuple(p))
        lower, right = self.parts(("matrix", "right"), *block)
        return np.array(triangle(lower, len(right)), float), np.array(right, float)

    def __call__(self, accelerations: Sequence[float] | Array, state: Sequence[float], **given: Any) -> float:
        """Return Z at accelerations [m] and a state; what may be given beside is said in :meth:`matrices`."""
        mass, load = self.matrices(state, **given)
        a = np.asarray(accelerations, float)
        return float(0.5 * a @ mass @ a - load @ a)

    def least(self, state: Sequence[float], **given: Any) -> Array:
        """Return the accelerations [m] that make Z least among all that the constraints allow.

        In reduced coordinates all are allowed. In declared ones the two-sided constraints hold at the acceleration
        level, A a = -gam, also where rows repeat one another.
        """
        mass, load = self.matrices(state, **given)
        free = np.linalg.solve(mass, load)
        rows, target = self.constraints(state, **given)
        if not len(target):
            return np.asarray(free)
        root = np.linalg.inv(np.linalg.cholesky(mass)).T  # M = L L': steps L^-T b have the length |b|
        return np.asarray(free + root @ np.linalg.pinv(rows @ root) @ (target - rows @ free))

    def constraints(self, state: Sequence[float], **given: Any) -> tuple[Array, Array]:
        """Return A [g, n] and -gam [g] of the two-sided constraints A a = -gam; none in reduced coordinates."""
        d = self.declared
        if "v0" not in self.parts.program.inputs:  # reduced
            return np.zeros((0, len(self.names))), np.zeros(0)
        found = Full(d).at(
            given.get("t", 0.0), state[: d.n], state[d.n :], given.get("u", ()), given.get("w", ()), given.get("p")
        )
        return found.jacobian, -found.curvature


def gauss_function(mechanism: Mechanism, coordinates: str = "declared") -> GaussFunction:
    """Return Gauss' function of a mechanism.

    Parameters
    ----------
    mechanism : Mechanism
        With its energies and forces; constraints do not enter the function itself.
    coordinates : {"declared", "reduced"}
        Those that energies are written in, with their rates; or joint coordinates (``joints``, ``place``), else
        quasi-velocities (``basis``).

    Raises
    ------
    DeclarationError
        For other words, and where "reduced" is asked for and neither joints nor a basis are declared.

    Examples
    --------
    >>> from plants.mechanics import Mechanism, gauss_function
    >>> mech = Mechanism("point")
    >>> x = mech.coordinates("x")
    >>> vx = mech.rates()
    >>> m = mech.parameters(m=2.0)
    >>> F = mech.inputs("F")
    >>> mech.kinetic(m / 2 * vx**2)
    >>> mech.force({x: F})
    >>> Z = gauss_function(mech)
    >>> print(Z.text)
    ½ m x''² - F x''
    >>> Z.least((0.0, 0.0), u=(3.0,)).tolist()
    [1.5]
    """
    declared = mechanism.declared()
    calculus = Symbolic(declared)
    if coordinates == "declared":
        lists, names = _declared(calculus, declared), [f"{q.name}''" for q in declared.quantities["q"]]
    elif coordinates == "reduced":
        lists, names = equations_of(calculus, declared), _reduced_names(declared)
    else:
        raise DeclarationError(f"coordinates of Gauss' function must be 'declared' or 'reduced', got {coordinates!r}")
    lists = {name: lists[name] for name in ("matrix", "right")}
    places = "s" if declared.places and coordinates == "reduced" else "q"
    positions = (places, len(declared.quantities[places]))
    velocities = ("z" if coordinates == "reduced" else "v", len(names))
    parts = Parts.of(lists, calculus, declared, positions=positions, velocities=velocities)
    return GaussFunction(tuple(names), _written(lists, names, calculus.labels()), declared, parts)


def _reduced_names(declared: MechanismDeclaration) -> list[str]:
    if declared.places:
        return [f"{s.name}''" for s in declared.quantities["s"]]
    if declared.velocities is None:
        raise DeclarationError(
            f"mechanism {declared.name!r}: coordinates='reduced' needs joints() with place(), or a basis(); neither is "
            "declared"
        )
    return [f"{name}'" for name in declared.velocities.names]


def _declared(calculus: Symbolic, declared: MechanismDeclaration) -> dict[str, list[Any]]:
    """M and f in declared coordinates."""
    blocks, n = blocks_of(calculus, declared), declared.n
    return {
        "matrix": [calculus.short(blocks.mass[i][j]) for i in range(n) for j in range(i + 1)],
        "right": [calculus.short(value) for value in blocks.load],
    }


def _written(lists: Mapping[str, Sequence[Any]], names: Sequence[str], labels: Mapping[Any, Any]) -> str:
    """Z as text: squares, then products, then what is linear."""
    mass = triangle([se.sympify(value).xreplace(labels) for value in lists["matrix"]], len(names))
    load = [se.sympify(value).xreplace(labels) for value in lists["right"]]
    squares = [("½ ", mass[i][i], f"{name}²") for i, name in enumerate(names)]
    pairs = [(i, j) for i in range(len(names)) for j in range(i)]
    products = [("", mass[i][j], f"{names[j]} {names[i]}") for i, j in pairs]
    linear = [("", -value, name) for value, name in zip(load, names, strict=True)]
    terms = [_term(*term) for term in (*squares, *products, *linear) if term[1] != 0]
    text = " + ".join(terms) or "0"
    return text.replace("+ -", "- ")


def _term(front: str, factor: Any, back: str) -> str:
    sign = ""
    if (isinstance(factor, se.Mul) and factor.args[0].is_Number and float(factor.args[0]) < 0.0) or (
        isinstance(factor, se.Add) and all(_negative(term) for term in factor.args)
    ):
        sign, factor = "-", -factor
    text = in_words(factor)
    if isinstance(factor, se.Add):
        text = f"({text})"
    return f"{sign}{front}{'' if text == '1' else f'{text} '}{back}"


def _negative(term: Any) -> bool:
    first = term.args[0] if isinstance(term, se.Mul) else term
    return bool(first.is_Number and float(first) < 0.0)
