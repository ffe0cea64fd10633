"""The car with a load: what it changes of mass, inertia and centre of mass."""

from __future__ import annotations

from plants.suspension.parameters import PARAMETERS


def loaded(mass: float, along: float = -1.2, above: float = 0.2) -> dict[str, float]:
    """Return the parameters of the car with a point load [kg].

    Parameters
    ----------
    along, above : float
        Place of the load ahead of and above the reference point [m]; nominally just before the rear axle.
    """
    nominal = {q.name: q.nominal for q in PARAMETERS}
    body, place = nominal["mb"], nominal["a0"] + nominal["a1_front"]
    total = body + mass
    centre = (body * place + mass * along) / total
    height = (body * nominal["c0"] + mass * above) / total
    lifted = body * (nominal["c0"] - height) ** 2 + mass * (above - height) ** 2
    apart = body * (place - centre) ** 2 + mass * (along - centre) ** 2
    return {
        "mb": total, "a0": centre - nominal["a1_front"], "c0": height,
        "Ibx": nominal["Ibx"] + lifted, "Iby": nominal["Iby"] + lifted + apart,
    }  # fmt: skip
