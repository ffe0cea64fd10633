"""A control situation (scenario): what happens to the closed loop in one rollout."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from html import escape
from typing import TYPE_CHECKING, Any

from controllers.settings import check, setting
from plants.core.names import unknown
from plants.core.presentation import html_table
from plants.excitation import Part, Signal, as_signal

if TYPE_CHECKING:
    from plants import Plant

Given = Mapping[str, Any] | Sequence[Any] | Signal | Part | float | None
Numbers = Mapping[str, float] | float


@dataclass(frozen=True)
class Situation:
    """One control situation (scenario).

    Attributes
    ----------
    name : str
        Also names its random numbers: the same name and seed give the same excitation anywhere.
    reference : number, signal, or mapping of channel output to signal
    excitation : number, signal, or mapping of disturbance to signal
        A bare signal drives the first disturbance; noise is ``plants.excitation.WhiteNoise(variance, hold)``.
    parameters, initial : mapping or sequence, optional
        Replace the plant's nominal values.
    delay, output_delay : float
        The plant's own dead time comes on top.
    noise : float, or mapping of measurement to float
        Of white noise; a bare number is for every controlled output.
    jitter : float
        The measurement that a sample works with was taken a random time before, uniform between 0 and this share.
    quantisation : float, or mapping of measurement to float
        Measurements are rounded to its nearest multiple. A bare number is for every controlled output.
    dropout, command_dropout : float
        What is lost is a packet of all measurements, or of all plant inputs; the last one that arrived is held.
    limits : (low, high), optional
        The controller believes in its own.
    rate_limit : float, or mapping of plant input to float, optional
        Where the actuator is slower than the controller believes. Here and below a bare number is for every plant
        input.
    dead_zone : float, or mapping of plant input to float
        The actuator does nothing between minus and plus this value, and is that much weaker beyond.
    backlash : float, or mapping of plant input to float
    text : str
        One line of documentation.

    Raises
    ------
    ValueError
        For a setting outside its range.
    """

    name: str = "situation"
    reference: Given = 0.0
    excitation: Given = None
    parameters: Mapping[str, float] | Sequence[float] | None = None
    initial: Mapping[str, float] | Sequence[float] | None = None
    delay: float = setting(0.0, "delay of the commands", unit="s", low=0)
    output_delay: float = setting(0.0, "delay of the measurements", unit="s", low=0)
    noise: Numbers = setting(0.0, "standard deviation of the sensor noise", low=0)
    limits: tuple[float, float] | None = setting(
        None, "range of the plant inputs [low, high], where the actuator has less"
    )
    jitter: float = setting(0.0, "sampling jitter, as a share of the sample time", low=0, high=1)
    quantisation: Numbers = setting(0.0, "step of the converter that rounds the controlled outputs", low=0)
    dropout: float = setting(0.0, "probability that a sample's measurements are lost", low=0, below=1)
    command_dropout: float = setting(0.0, "probability that a sample's commands are lost", low=0, below=1)
    rate_limit: Numbers | None = setting(None, "largest speed of the actuators; null: any", unit="1/s", above=0)
    dead_zone: Numbers = setting(0.0, "inputs of no more than this size move no actuator", low=0)
    backlash: Numbers = setting(0.0, "width of the play behind the actuators", low=0)
    t_end: float = setting(20.0, "horizon", unit="s", above=0)
    seed: int = setting(0, "seed of the situation", low=0)
    text: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        """Check what can be checked without the plant."""
        check(self, f"situation {self.name!r}")

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with the limits."""
        if self.limits is not None and (len(self.limits) != 2 or not self.limits[0] < self.limits[1]):
            yield f"limits must be [low, high] with low < high, got {self.limits}"

    def _repr_html_(self) -> str:
        """What is not as by default, for notebooks."""
        given = ((f.name, getattr(self, f.name)) for f in fields(self) if f.name not in {"name", "text"})
        usual = type(self)()
        rows = [(name, str(value)) for name, value in given if value != getattr(usual, name)]
        return f"<p><b>{escape(self.name)}</b> {escape(self.text)}</p>{html_table(('setting', 'value'), rows)}"

    def references(self, plant: Plant) -> list[Signal]:
        """Return the reference of each channel."""
        return _per_name(self, "reference", self.reference, [c.output for c in plant.channels])

    def excitations(self, plant: Plant) -> list[Signal]:
        """Return the signal of each disturbance."""
        return _per_name(self, "excitation", self.excitation, [q.name for q in plant.disturbances], plant.calm())

    def noise_levels(self, plant: Plant) -> list[float]:
        """Return the standard deviation of the sensor noise of each measurement."""
        return self._of_measurements("noise", plant)

    def quanta(self, plant: Plant) -> list[float]:
        """Return the step of the converter of each measurement; 0: none."""
        return self._of_measurements("quantisation", plant)

    def of_inputs(self, what: str, plant: Plant) -> list[float]:
        """Return `what` ("rate_limit", "dead_zone" or "backlash") of each plant input; 0: none."""
        names = [q.name for q in plant.inputs]
        return _numbers(self, what, "plant input", names, names)

    def _of_measurements(self, what: str, plant: Plant) -> list[float]:
        names = [q.name for q in plant.measurements]
        return _numbers(self, what, "measurement", names, [channel.output for channel in plant.channels])


def _numbers(situation: Situation, what: str, kind: str, names: Sequence[str], bare: Sequence[str]) -> list[float]:
    """Return the setting `what` for each of `names`, 0 where it has none; a bare number is for all in `bare`."""
    given = getattr(situation, what)
    if not isinstance(given, Mapping):
        given = {} if given is None else dict.fromkeys(bare, given)
    found = dict.fromkeys(names, 0.0)
    for name, value in given.items():
        if name not in found:
            message = f"situation {situation.name!r}: {unknown(kind, name, names)}"
            raise ValueError(message)
        found[name] = float(value)
    return list(found.values())


def _per_name(
    situation: Situation, what: str, given: Given, names: Sequence[str], rest: Sequence[float] = ()
) -> list[Signal]:
    """Return a signal for each of `names`; left out, nothing or its value at `rest`."""
    signals = [as_signal(value) if value else Signal() for value in rest or (0.0,) * len(names)]
    if given is None:
        return signals
    if isinstance(given, Mapping):
        for name, value in given.items():
            if name not in names:
                message = f"situation {situation.name!r}: {unknown(what, name, names)}"
                raise ValueError(message)
            signals[list(names).index(name)] = as_signal(value)
        return signals
    values: list[Any] = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(values) > len(names):
        message = f"situation {situation.name!r}: {len(values)} {what} signals for {len(names)} ({', '.join(names)})"
        raise ValueError(message)
    for k, value in enumerate(values):
        signals[k] = as_signal(value)
    return signals
