"""What reports show of a plant: its moving picture, and signals that are worth a chart over time or over frequency.

A picture has views, made of bodies; each body is a NumPy function of what was recorded. Nothing here draws: a
plant declares what there is to be seen, a report samples it along recorded runs
(:mod:`plants.core.scene_points`) and draws it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plants.core.quantities import Quantity

Block = Callable[..., Any]
Points = Sequence[tuple[float, float]]

KINDS = {
    "line": (2, None),
    "polygon": (3, None),
    "wheel": (2, 2),
    "ground": (1, None),
    "trace": (1, 1),
    "arrow": (2, 2),
}
"""Kinds of bodies, with the fewest and the most points that each is made of."""
TINTS = ("own", "ink", "soft")


@dataclass(frozen=True)
class Body:
    """One thing in a view.

    Attributes
    ----------
    kind : str
        "line": through its points. "polygon": closed and filled. "wheel": centre and the end of a spoke on its rim, so
        that turning is seen. "ground": with one point the path that it takes over the whole run, with more a profile;
        what lies beneath is shaded. "trace": the path of its one point up to now. "arrow": from its first point to its
        second, such as a force times metres per newton; not drawn where both are the same.
    points : callable, or sequence of pairs
        Points (across, up) of what stays where it is; else ``(t, x, u, w, p)`` to its points, in the view's unit: a
        sequence of k pairs of numbers or arrays [n], or one array [n, k, 2]. `t` [n] s; `x`, `u`, `w` are tuples of
        arrays [n], as the plant's blocks take them, so helpers of the blocks can be used; `p` is a tuple of floats.
        The n samples follow one another, closer than the frames, and a function may look at all of them.
    name : str
        What the picture's description calls it; left empty, nothing.
    tint : {"own", "ink", "soft"}
        Colour of the controller that moves it; the page's ink; subdued, as of what stands around.
    level : callable, optional
        ``(t, x, u, w, p)`` to numbers [n] that colour it on a scale from `levels`[0] to `levels`[1] called
        `level_text`, as "damper setting, N s/m".
    """

    kind: str
    points: Block | Points
    name: str = ""
    tint: str = "own"
    level: Block | None = None
    levels: tuple[float, float] = (0.0, 1.0)
    level_text: str = ""


@dataclass(frozen=True)
class View:
    """What is seen from one side.

    Attributes
    ----------
    name : str
        For example "from the side".
    bodies : tuple of Body
        Drawn in this order.
    window : tuple of float
        Left, right, bottom, top [unit]; about the followed point where there is one.
    follow : callable, optional
        ``(t, x, u, w, p)`` to the pair (across, up) that the window follows; give a constant to follow one axis only.
    across, up, unit : str
        Names of the axes and their unit. Both have one scale: circles stay round.
    note : str
        What must be said in the picture, as "heights three times as large".
    """

    name: str
    bodies: tuple[Body, ...]
    window: tuple[float, float, float, float]
    follow: Block | None = None
    across: str = "x"
    up: str = "z"
    unit: str = "m"
    note: str = ""

    @property
    def grain(self) -> float:
        """Length [unit] that is not told apart: a power of ten, at most a two thousandth of the window."""
        left, right, bottom, top = self.window
        return float(10.0 ** math.floor(math.log10(max(right - left, top - bottom) / 2000.0)))


@dataclass(frozen=True)
class Scene:
    """A plant's moving picture.

    Attributes
    ----------
    views : tuple of View
    text : str
        What is to be seen, for those who cannot see it.
    rate : float
        Frames in a second of the run; long runs get fewer.
    pace : float
        Speed at which it is played at first: 1 as it is, 0.2 slow motion.
    """

    views: tuple[View, ...]
    text: str
    rate: float = 25.0
    pace: float = 1.0


def check_scene(scene: Any, plant: str) -> None:
    """Raise where a scene's declaration cannot be drawn.

    Raises
    ------
    TypeError, ValueError
        With what was expected, what came, and what to do.
    """
    what = f"scene of plant {plant!r}"
    if not isinstance(scene, Scene):
        raise TypeError(f"{what} must be a plants.Scene, got {type(scene).__name__}")
    if not scene.views or not scene.text:
        raise ValueError(f"{what} needs at least one View and a text that says what is to be seen")
    for label in ("rate", "pace"):
        value = getattr(scene, label)
        if not 0.0 < value < math.inf:
            raise ValueError(f"{what}: {label} must be positive and finite, got {value}")
    names = [view.name for view in scene.views]
    if len(set(names)) != len(names):
        raise ValueError(f"{what}: names of views must differ, got {names}")
    for view in scene.views:
        _check_view(view, f"view {view.name!r} in the {what}")


def _check_view(view: View, what: str) -> None:
    if len(view.window) != 4 or not all(math.isfinite(edge) for edge in view.window):
        raise ValueError(f"{what}: window must be four finite numbers (left, right, bottom, top), got {view.window}")
    left, right, bottom, top = view.window
    if not (left < right and bottom < top):
        raise ValueError(f"{what}: window must have left < right and bottom < top, got {view.window}")
    if not view.bodies:
        raise ValueError(f"{what} is empty: give it bodies, such as Body('line', points)")
    for number, body in enumerate(view.bodies):
        _check_body(body, f"body {number} ({body.name or body.kind!r}) of {what}")


def _check_body(body: Body, what: str) -> None:
    for label, value, known in (("kind", body.kind, tuple(KINDS)), ("tint", body.tint, TINTS)):
        if value not in known:
            raise ValueError(f"{what}: {label} must be one of {', '.join(known)}, got {value!r}")
    if not (callable(body.points) or isinstance(body.points, Sequence)):
        raise TypeError(
            f"{what}: points must be a function (t, x, u, w, p) or pairs (across, up), got {type(body.points).__name__}"
        )
    low, high = body.levels
    if body.level is not None and not (low < high and body.level_text):
        raise ValueError(f"{what}: a level needs levels with low < high and a level_text, got {body.levels}")


@dataclass(frozen=True)
class PlottedSignal:
    """One signal that reports draw beside outputs and commands.

    Attributes
    ----------
    signal : str
        Name of a measurement, state, input or disturbance.
    span : float
        Length of the piece that is drawn over time [s], where the first of the plant's signals varies most; infinite:
        all of the run; 0: no history.
    spectrum : float
        Highest frequency of its power spectral density [Hz]; 0: no spectrum.
    weighting : callable, optional
        ``frequency [n] -> complex [n]``: the spectrum is drawn as it is weighted, too, under `weighting_name`.
    weighting_name : str
        As "Wk of ISO 2631-1".
    """

    signal: str
    span: float = math.inf
    spectrum: float = 0.0
    weighting: Callable[[Any], Any] | None = None
    weighting_name: str = ""


@dataclass(frozen=True)
class Presentation:
    """How reports show a plant.

    Attributes
    ----------
    scene : Scene, optional
        Its moving picture.
    signals : tuple of PlottedSignal
        What is drawn over time or over frequency beside the channels' outputs and commands.
    """

    scene: Scene | None = None
    signals: tuple[PlottedSignal, ...] = ()


def html_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as notebooks show it; numbers with four digits, text escaped."""
    cells = [[f"{cell:.4g}" if isinstance(cell, float) else escape(str(cell)) for cell in row] for row in rows]
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in cells)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def listed(kinds: Iterable[tuple[str, Sequence[Quantity]]]) -> str:
    """Return quantities of several kinds as a table: name, nominal value, unit, range, what it is."""
    rows = [
        (kind, q.name, float(q.nominal), "" if q.unit == "1" else q.unit, _range(q), q.text)
        for kind, several in kinds
        for q in several
    ]
    return html_table(("", "name", "nominal", "unit", "range", ""), rows)


def _range(q: Quantity) -> str:
    return f"{q.low:.4g} … {q.high:.4g}" if math.isfinite(q.low) or math.isfinite(q.high) else ""
