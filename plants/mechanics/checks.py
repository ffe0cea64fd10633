"""What is checked when a mechanism is built: numbers at random admissible states, against blocks derived otherwise.

The states are drawn about the nominal ones, where the constraints are of full rank; each with the nominal parameters
and with others near them, for a number that stands for a parameter is right with nominal ones alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from plants.mechanics.declaration.declaration import DeclarationError
from plants.mechanics.equations import SPANNED, BasisError
from plants.mechanics.forms import pseudo_inverse

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from plants.mechanics.algebra.blocks import Matrices
    from plants.mechanics.equations import Equations

    Array = NDArray[np.float64]
    Block = tuple[Any, Any, Any, Any, Any]


_SINGULAR = 1e-6  # least ratio of singular values of the constraints at a state that serves as a check


def samples(
    equations: Equations, count: int, seed: int = 0
) -> Iterator[tuple[float, tuple[float, ...], tuple[float, ...]]]:
    """Yield random admissible (t, state, inputs) about the nominal ones, where the constraints are of full rank."""
    rng = np.random.default_rng(seed)
    kind = "s" if equations.declared.places else "q"
    centre = [quantity.nominal for quantity in equations.declared.quantities[kind]]
    found, last = 0, None
    for _ in range(50 * count):
        t = float(rng.uniform(0.0, 1.0))
        q, v = centre + rng.uniform(-1.0, 1.0, len(centre)), rng.uniform(-1.0, 1.0, len(centre))
        u = tuple(rng.uniform(-1.0, 1.0, len(equations.declared.quantities["u"])))
        try:
            x = equations.state_from(q, v, t=t)
            regular = _regular(equations, equations.block(t, x))
        except DeclarationError as error:
            last = error  # a basis may belong to one branch of the constraints, constraints to some coordinates
            continue
        if regular:
            yield t, x, u
            found += 1
            if found == count:
                return
    if not found and last is not None:
        raise last
    if not found:
        raise DeclarationError(
            f"mechanism {equations.declared.name!r}: its constraints are singular everywhere near the initial "
            "coordinates; give initial=... away from there"
        )


_VARIED = 1
_DRAWS = 4  # of parameters for each state
_NEAR = 0.1  # of each parameter's size: how far the varied ones are from the nominal ones


def _near(equations: Equations, rng: np.random.Generator) -> tuple[float, ...]:
    """Parameters near the nominal ones, inside their bounds; those that are 0 stay 0, as what is switched off."""
    quantities = equations.declared.quantities["p"]
    shares = 1.0 + rng.uniform(-_NEAR, _NEAR, len(quantities))
    return tuple(min(max(q.nominal * float(s), q.low), q.high) for q, s in zip(quantities, shares, strict=True))


def _blocks(equations: Equations) -> Iterator[Block]:
    """Yield blocks' arguments at sampled states, with nominal parameters and, where that can be, with varied ones."""
    rng = np.random.default_rng(_VARIED)  # its own: the states are those of before
    reached, failed = 0, list[BasisError]()
    for t, x, u in samples(equations, _STATES):
        block = equations.block(t, x, u)
        yield block
        for _ in range(_DRAWS):
            try:
                others = list(_varied(equations, block, _near(equations, rng)))
            except BasisError as error:
                failed.append(error)
                continue
            if others:
                reached += 1
                yield from others
                break
    if len(failed) == _STATES * _DRAWS and not reached:  # nowhere: no matter of a branch or of a singular position
        raise failed[-1]


def _varied(equations: Equations, block: Block, p: tuple[float, ...]) -> Iterator[Block]:
    """Yield the nearest state with these parameters; none where they do not suit one another."""
    t, x, u, *_ = block
    if p == tuple(block[4]):
        return
    n = len(equations.positions)
    state = (x[:n], x[n:]) if equations.declared.places else equations.motion(*block)
    try:
        block = equations.block(t, equations.state_from(*state, t=t, p=p), u, p=p)
        if not _regular(equations, block):
            return
    except DeclarationError as error:
        if isinstance(error, BasisError):
            raise BasisError(f"{error}{_with(equations, p)}") from error
        return  # bars that do not reach one another
    if np.linalg.eigvalsh(_scaled_mass(equations, block))[0] > _DEFINITE:  # moments of inertia may not go together
        yield block


def _with(equations: Equations, p: Sequence[float]) -> str:
    """Say which parameters were varied; nothing for the nominal ones."""
    quantities = equations.declared.quantities["p"]
    changed = [f"{q.name} = {x:.4g}" for q, x in zip(quantities, p, strict=True) if x != q.nominal]
    if not changed:
        return ""
    return (
        f". It was right with the nominal parameters and is not with ({', '.join(changed)}): does a number stand where "
        "a parameter belongs?"
    )


def _regular(equations: Equations, block: Block) -> bool:
    q, v = equations.motion(*block)
    rows = equations.full.at(block[0], q, v, p=block[4]).jacobian
    if not len(rows):
        return True
    if equations.form == "maggi":
        columns = np.reshape(equations.parts(("basis",), *block)[0], (-1, rows.shape[1]))
        if (beyond := np.abs(rows @ columns.T).max()) > SPANNED:
            message = f"mechanism {equations.declared.name!r}: the basis breaks the constraints (A D = {beyond:.3g})"
            raise BasisError(message + "; check mech.basis(...)")
    values = np.linalg.svd(rows / np.abs(rows).max(axis=1, keepdims=True), compute_uv=False)
    kept = values[values > 1e-9 * values[0]]  # rows that repeat others give zeros everywhere
    return bool(kept[-1] > _SINGULAR * values[0] and kept[-1] > 1e-2)


AGREE = 1e-9
"""Of 1 + |a|: what the form's accelerations may differ from the pseudo-inverse's."""
_STATES = 5


def check(equations: Equations) -> float:
    """Compare the form's accelerations with the pseudo-inverse's; return the largest difference.

    Raises
    ------
    DeclarationError
        Where the mass matrix is not positive definite, a velocity constraint is not linear in the rates, the basis
        does not fit the constraints, or the accelerations differ.
    """
    worst = 0.0
    for block in _blocks(equations):
        t, _x, u, _w, p = block
        q, v = equations.motion(*block)
        at = equations.full.at(t, q, v, u, p=p)
        _check_mass(equations, block)
        _check_rows(equations, at, t, q, v, p)
        _check_losses(equations, block)
        found = np.array(equations.coordinate_accelerations(*block), float)
        if equations.declared.places:
            _check_places(equations, at)
            wanted = pseudo_inverse.along(at, _basis(equations, block), found)
        else:
            _check_freedom(equations, at, block)
            wanted = pseudo_inverse.accelerations(at)
        # numpy's maximum, unlike max, hands on what is not a number
        worst = float(np.maximum(worst, np.abs(found - wanted).max() / (1.0 + np.abs(wanted).max())))
    if not worst <= AGREE:
        raise DeclarationError(
            f"mechanism {equations.declared.name!r}: the accelerations of form {equations.form!r} differ from those of "
            f"least constraint by {worst:.2g} of 1 + |a|, allowed {AGREE:g}; {_reason(equations, at)}"
        )
    _check_initial(equations)
    return worst


def _check_initial(equations: Equations) -> None:
    """The state that runs begin with may be singular where those about it are not."""
    d = equations.declared
    q, v = ([quantity.nominal for quantity in d.quantities[kind]] for kind in ("sr" if d.places else "qv"))
    block = equations.block(0.0, equations.state_from(q, v))
    with np.errstate(all="ignore"):
        found = np.array(equations.accelerations(*block), float)
    if not np.isfinite(found).all():
        raise DeclarationError(
            f"mechanism {d.name!r}: its accelerations at the initial state {block[1]} are not finite ({found}); give "
            "initial=... away from where the coordinates or the constraints are singular"
        )


def _reason(equations: Equations, at: Matrices) -> str:
    if equations.form in {"routh", "maggi"} and np.linalg.matrix_rank(at.jacobian) < len(at.jacobian):
        return "its constraints repeat each other: leave out what is redundant, or use form='gauss'"
    return "is the form singular near the initial state?"


_DEFINITE = 1e-12  # least eigenvalue of a mass matrix whose diagonal is 1: masses may be far apart


def _scaled_mass(equations: Equations, block: Block) -> Array:
    """Mass matrix over the diagonal's roots, 0 where that is not above 0; of the joints where there are some."""
    if equations.declared.places:  # then the coordinates themselves may be without inertia
        mass = np.array(equations.mass_matrix(*block), float)
    else:
        mass = equations.full.at(block[0], *equations.motion(*block), *block[2:]).mass
    size = np.sqrt(np.maximum(np.diag(mass), 0.0))
    return np.divide(mass, np.outer(size, size), out=np.zeros_like(mass), where=np.outer(size, size) > 0.0)


def _check_mass(equations: Equations, block: Block) -> None:
    joints = bool(equations.declared.places)
    values = np.linalg.eigvalsh(_scaled_mass(equations, block))
    if not values[0] > _DEFINITE:
        names = ", ".join(q.name for q in equations.declared.quantities["s" if joints else "q"])
        raise DeclarationError(
            f"mechanism {equations.declared.name!r}: its mass matrix over ({names}) is not positive definite at "
            f"{tuple(block[1])} (eigenvalues with its diagonal at 1: {values}); "
            f"every {'joint' if joints else 'coordinate'} needs inertia"
        )


_DRIVES = 1e-9  # of the power of all its parts: what rounding makes of a loss of 0


def _check_losses(equations: Equations, block: Block) -> None:
    """What is declared to dissipate must not drive: its loss would be a negative production of entropy."""
    lost = float(equations.entropy_rate(*block))
    _q, v = equations.motion(*block)
    if lost >= -_DRIVES * (1.0 + float(np.abs(v).max(initial=0.0)) ** 2):
        return
    declared = equations.declared
    rates = ", ".join(f"{q.name} = {value:.3g}" for q, value in zip(declared.quantities["v"], v, strict=True))
    raise DeclarationError(
        f"mechanism {declared.name!r}: its forces of kind 'dissipative' drive it: at the rates ({rates}) they supply "
        f"{-lost:.4g} W. Friction acts against the rate, force({{x: -d * v}}, kind='dissipative'); springs belong into "
        "potential(...), what drives is of kind 'drive'"
    )


def _check_rows(equations: Equations, at: Matrices, t: float, q: Any, v: Any, p: Any) -> None:
    other = equations.full.at(t, q, 2.0 * np.array(v) + 1.0, p=p)
    if equations.declared.linear and not np.allclose(
        at.jacobian, other.jacobian, rtol=1e-9, atol=1e-9 * (1.0 + np.abs(at.jacobian).max(initial=0.0))
    ):
        raise DeclarationError(
            f"mechanism {equations.declared.name!r}: a velocity constraint is not linear in the rates; write it as "
            "A(q, t) v + b(q, t) = 0, or say that it is meant: velocity_constraint(..., linear=False)"
        )
    if len(at.mass) and not np.allclose(at.mass, other.mass, rtol=1e-9, atol=1e-12 * np.abs(at.mass).max()):
        raise DeclarationError(
            f"mechanism {equations.declared.name!r}: its kinetic energy is not of second degree in the rates"
        )


def _check_places(equations: Equations, at: Matrices) -> None:
    """Constraints beside joints must be fulfilled by them: the reduced equations know nothing of them."""
    beyond = max(np.abs(at.residuals).max(initial=0.0), np.abs(at.speeds).max(initial=0.0))
    if not beyond <= 1e-9:
        raise DeclarationError(
            f"mechanism {equations.declared.name!r}: its joints do not fulfil the declared constraints (they miss by "
            f"{beyond:.3g}); choose joints that do, or leave out mech.place(...) and build with multipliers or a basis"
        )


def _check_freedom(equations: Equations, at: Matrices, block: Block) -> None:
    """A D = 0 and D of full rank, where the form has quasi-velocities."""
    m, declared = len(equations.velocities), equations.declared
    if declared.velocities is None or equations.form in {"routh", "gauss", "chaplygin", "free"}:
        return
    columns = _basis(equations, block)
    beyond = np.abs(at.jacobian @ columns).max(initial=0.0) if equations.form == "quasi" else 0.0
    names = list(declared.velocities.names)
    if beyond > (1e-9 if declared.velocities.columns else 1e-6) * (1.0 + np.abs(columns).max()):
        worst = int(np.abs(at.jacobian @ columns).max(axis=0).argmax())
        raise DeclarationError(
            f"mechanism {declared.name!r}: the basis vector {names[worst]!r} breaks the constraints: A D is "
            f"{beyond:.3g}, 0 was expected{_with(equations, block[4])}"
        )
    if equations.form != "quasi":
        return
    free = declared.n - np.linalg.matrix_rank(at.jacobian) if len(at.jacobian) else declared.n
    rank = np.linalg.matrix_rank(columns)
    if not rank == m == free:
        raise DeclarationError(
            f"mechanism {declared.name!r}: the constraints leave {free} degrees of freedom, the basis "
            f"{names} spans {rank}; where no basis is independent, build(form='routh', stabilise='project') needs none"
        )


def _basis(equations: Equations, block: Block) -> Array:
    t, x, u, w, p = block
    n, m = len(equations.positions), len(equations.velocities)
    q = tuple(x)[:n]

    def rates(velocities: tuple[float, ...]) -> Array:
        return np.array(equations.motion(t, (*q, *velocities), u, w, p)[1], float)

    at, h = np.array(x[n:], float), 1e-6 * (1.0 + np.abs(np.array(x[n:], float)).max())
    if equations.declared.velocities is None or equations.declared.velocities.columns:
        at, h = np.zeros(m), 1.0  # linear: exact from far apart
    return np.stack([(rates(tuple(at + h * e)) - rates(tuple(at - h * e))) / (2.0 * h) for e in np.eye(m)], axis=1)
