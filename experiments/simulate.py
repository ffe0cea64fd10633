"""Simulate a plant without a controller: trajectory, numbers and a page of charts.

As in::

    python -m experiments.simulate plant=nonlinear_inertia algebraic_loop=loop_free
    sscq simulate input.kind=step input.amplitude=2 t_end=30

The energy account says that what is stored is what was supplied less what was turned into heat. Energies are in J.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from experiments.plant_list import range_rows
from experiments.report.drawing.charts import Curve, LineChart, line_chart
from experiments.report.drawing.html import Html, document, element
from experiments.report.drawing.numbers import number, plain
from experiments.starting.launch import command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from configs.schema import ExcitationConfig, SimulateConfig
    from experiments.runtime.run_folder import RunFolder
    from plants import Plant, Quantity
    from plants import Trajectory as plants_Trajectory
    from plants.core.motion.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class EnergyAccount:
    """Energies since the start [n + 1], J.

    Attributes
    ----------
    stored : ndarray
        Energy of the plant less that at the start.
    supplied : ndarray
        Through inputs and disturbances.
    entropy : ndarray
        Entropy production times T0.
    rounding : float
        What the rounding of the states at the start may be worth.
    """

    stored: np.ndarray
    supplied: np.ndarray
    entropy: np.ndarray
    rounding: float = 0.0

    @property
    def residual(self) -> np.ndarray:
        """What the account misses [n + 1]: the error of the integration, and the work of the plant's `after_step`."""
        return self.stored - self.supplied + self.entropy

    @property
    def turnover(self) -> float:
        """Largest of the energies: what a residual is to be compared with."""
        return float(max(np.abs(part).max() for part in (self.stored, self.supplied, self.entropy)))


def missing_blocks(plant: Plant) -> tuple[str, ...]:
    """Return the blocks that `plant` lacks for an account."""
    names = ["energy", "entropy_rate"]
    if plant.inputs or plant.disturbances:
        names.append("supplied_power")
    return tuple(name for name in names if getattr(plant, name) is None)


_MOVE, _ROUNDING = 1e-6, 1e-12  # of a state's size: a difference for slopes; some thousand roundings


def energy_account(plant: Plant, run: Trajectory, parameters: Mapping[str, float] | None) -> EnergyAccount | None:
    """Return the account of a simulation, or None where the plant lacks a block for it (see `missing_blocks`)."""
    if plant.energy is None or missing_blocks(plant):
        return None
    x, u, w = (tuple(run.group(group).T) for group in ("states", "inputs", "disturbances"))
    p = plant.values("parameters", parameters)
    energy = np.broadcast_to(plant.energy(run.time, x, u, w, p), run.time.shape)
    start, *others = (np.array([column[0] for column in group]) for group in (x, u, w))
    moved = start * (1.0 + _MOVE * np.eye(len(start)))  # each state by a share of its size
    worth = sum(abs(plant.energy(run.time[0], tuple(one), *others, p) - energy[0]) for one in moved) / _MOVE
    return EnergyAccount(energy - energy[0], run.supplied, run.entropy, _ROUNDING * float(worth))


_SECTIONS = {
    "States": ("states",), "Measurements": ("outputs",), "Inputs and disturbances": ("inputs", "disturbances"),
}  # fmt: skip
_PREFIXES = {"J": 1.0, "mJ": 1e-3, "µJ": 1e-6, "nJ": 1e-9, "pJ": 1e-12}


def page(config: SimulateConfig, done: Simulation) -> str:
    """Return the page as text: the same simulation gives the same text."""
    charts = [part for title, groups in _SECTIONS.items() for part in _section(title, _signal_charts(done, groups))]
    energy = _section("Energy and entropy production (T0 dS)", _energies(done))
    return document(
        "Simulation", done.plant.name, _facts(config, done), *charts, *energy, _numbers(done), *_ranges(done.plant)
    )


def _section(title: str, charts: list[Html]) -> list[Html]:
    if not charts:
        return []
    return [element("section", element("h3", title), element("div", *charts, class_="multiples"))]


def _signal_charts(done: Simulation, groups: tuple[str, ...]) -> list[Html]:
    return [_chart(done, s.name, s.unit, s.values) for s in done.signals if s.group in groups]


def _energies(done: Simulation) -> list[Html]:
    account = done.account
    parts = [("entropy production", done.run.entropy)] if done.plant.entropy_rate is not None else []
    if account is not None:
        parts += [
            ("energy supplied", account.supplied), ("energy stored since the start", account.stored),
            ("residual of the energy balance", account.residual),
        ]  # fmt: skip
    return [_chart(done, name, *_in_unit(values)) for name, values in parts]


def _in_unit(values: np.ndarray) -> tuple[str, np.ndarray]:
    """Return energies in a unit that makes short labels: residuals are many orders below the rest."""
    largest = float(abs(values).max())
    unit = next((unit for unit, size in _PREFIXES.items() if largest >= 0.1 * size), "J")
    return unit, values / _PREFIXES[unit]


def _chart(done: Simulation, name: str, unit: str, values: np.ndarray) -> Html:
    curve = Curve(done.run.time, values, name, "k0 strong")
    return element("figure", line_chart(LineChart(name, (curve,), unit, height=170.0)))


def _facts(config: SimulateConfig, done: Simulation) -> Html:
    steps = f"{plain(config.t_end)} s in {len(done.run.time) - 1} steps of {plain(config.integration_step)} s"
    loop = f"algebraic loop {config.algebraic_loop.replace('_', '-')}"
    asked = f"{steps}, {config.integrator}, {loop}, seed {config.seed}."
    found = [balance(done), *([] if done.run.loop is None else [str(done.run.loop)])]
    facts = [done.plant.text, asked, *(f"{line[0].upper()}{line[1:]}." for line in found)]
    return element("section", *(element("p", fact) for fact in facts if fact))


def _numbers(done: Simulation) -> Html:
    head = [element("th", word) for word in ("signal", "unit", *IN_SHORT)]
    rows = [element("tr", element("th", s.name), *(element("td", cell) for cell in _cells(s))) for s in done.signals]
    table = element("table", element("thead", element("tr", *head)), element("tbody", *rows))
    return element("section", element("h3", "All signals"), element("div", table, class_="scroll"))


def _ranges(plant: Plant) -> list[Html]:
    """What situations of a design are drawn from; nothing where there is nothing to control."""
    if not plant.channels:
        return []
    head = element("tr", *(element("th", word) for word in ("range of", "low .. high", "unit", "from")))
    rows = [
        element("tr", element("th", row[0]), *(element("td", cell) for cell in row[1:])) for row in range_rows(plant)
    ]
    table = element("table", element("thead", head), element("tbody", *rows))
    title = element("h3", "What situations of a design are drawn from")
    return [element("section", title, element("div", table, class_="scroll"))]


def _cells(signal: SimulatedSignal) -> list[str]:
    return [signal.unit or "–", *(number(value, 5) for value in in_short(signal.values))]


_LOOP_FREE = (
    "the raw loop-free form needs a gain of the algebraic loop below 1; loop_free_relaxed bears a gain up to 3, "
    "loop_free_filtered up to 19, algebraic_loop=solved any"
)
_TITLES = {"entropy": "entropy production", "supplied": "energy supplied"}

IN_SHORT = ("start", "final", "least", "most")


@dataclass(frozen=True, eq=False)
class Simulation:
    """A finished simulation.

    Attributes
    ----------
    plant : Plant
    run : Trajectory
    signals : tuple of SimulatedSignal
        All that is worth a column. Names differ: measurements are called "output ..."; those that are the states
        themselves are left out.
    account : EnergyAccount or None
    """

    plant: Plant
    run: plants_Trajectory
    signals: tuple[SimulatedSignal, ...]
    account: EnergyAccount | None


@dataclass(frozen=True, eq=False)
class SimulatedSignal:
    """One recorded signal: group, name, unit and values [n + 1]."""

    group: str
    name: str
    unit: str
    values: np.ndarray


def simulate(config: SimulateConfig, folder: RunFolder) -> None:
    """Run a simulation and write trajectory.csv, metrics.json and report.html."""
    if config.loops:
        _compare(config, folder)
        return
    done = simulated(config)
    folder.write_csv("trajectory.csv", *_table(done))
    folder.write_json("metrics.json", metrics(config, done))
    report = folder.write_text("report.html", page(config, done))
    print(summary(config, done))
    print(f"report: {report}")


def _compare(config: SimulateConfig, folder: RunFolder) -> None:
    """Run every treatment of the algebraic loop; a trajectory of each, one metrics.json and one page of all."""
    import plants
    from experiments import loop_modes

    runs = loop_modes.runs_of(config, simulated)
    for run in runs:
        if run.done is not None:
            folder.write_csv(f"trajectory_{run.mode}.csv", *_table(run.done))
    folder.write_json("metrics.json", loop_modes.document_of(runs))
    plant = plants.find(config.plant_name)
    report = folder.write_text("report.html", loop_modes.page(config, plant, runs))
    print(f"{plant.name}: {config.t_end:g} s in steps of {config.integration_step:g} s ({config.integrator})")
    print(loop_modes.table(runs))
    print(f"report: {report}")


def _table(done: Simulation) -> tuple[tuple[str, ...], np.ndarray]:
    """Head and rows of a trajectory's file."""
    names = ("time", *(signal.name for signal in done.signals))
    return names, np.column_stack((done.run.time, *(signal.values for signal in done.signals)))


def simulated(config: SimulateConfig) -> Simulation:
    """Return the simulation that a configuration asks for.

    Raises
    ------
    plants.DivergedError
        Where the plant leaves its region, naming time and state.
    """
    import plants

    arguments = _arguments(config)
    plant = plants.find(config.plant_name)
    try:
        run = plants.simulate(plant, **arguments)
    except plants.DivergedError as error:
        if config.algebraic_loop == "loop_free":
            error.add_note(_LOOP_FREE)
        raise
    return Simulation(plant, run, _columns(plant, run), energy_account(plant, run, arguments["parameters"]))


def _columns(plant: Plant, run: plants_Trajectory) -> tuple[SimulatedSignal, ...]:
    measured = plant.outputs is not type(plant).outputs or plant.measurements != plant.states
    return tuple(
        SimulatedSignal(group, f"output {run.names[k]}" if group == "outputs" else _TITLES.get(group, run.names[k]),
               run.units[k], run.signals[:, k])
        for group, part in run.groups.items()
        for k in range(part.start, part.stop)
        if measured or group != "outputs"
    )  # fmt: skip


def _arguments(config: SimulateConfig) -> dict[str, Any]:
    """Return the keywords of `plants.simulate`; whatever is wrong with them is told before there is a run folder."""
    import plants
    from plants.core.motion.modes import check_mode
    from plants.core.motion.simulate import count_steps

    plant = plants.find(config.plant_name)
    count_steps(config.t_end, config.integration_step)
    for mode in config.loops or [config.algebraic_loop]:
        check_mode(plant, mode, config.integrator)
    parameters = dict(config.parameters)
    plant.start(config.initial, parameters)
    return {
        "t_end": config.t_end, "step": config.integration_step, "initial": config.initial, "parameters": parameters,
        "inputs": _signals(config, plant, "inputs", config.input, config.inputs),
        "disturbances": _signals(config, plant, "disturbances", config.excitation, config.excitations),
        "integrator": config.integrator, "algebraic_loop": config.algebraic_loop, "seed": config.seed,
    }  # fmt: skip


def _signals(
    config: SimulateConfig, plant: Plant, kind: str, first: ExcitationConfig, named: Mapping[str, ExcitationConfig]
) -> dict[str, Any]:
    """Return the signals of `kind` by name; what has none keeps its nominal value."""
    from experiments.runtime.errors import UserError
    from experiments.settings.excitations import excitation

    quantities: Sequence[Quantity] = getattr(plant, kind)
    parts = dict(named)
    if first.kind != "none":
        if not quantities:
            raise UserError(f"plant {plant.name!r} has no {kind}, so there is nothing that a {first.kind} could drive")
        if quantities[0].name in parts:
            raise UserError(f"{quantities[0].name!r} is the first of the {kind} and is given twice; leave one out")
        parts[quantities[0].name] = first
    for name in parts:
        plant.index(kind, name)
    return {name: excitation(part, config.seed, config.t_end) for name, part in parts.items() if part.kind != "none"}


def metrics(config: SimulateConfig, done: Simulation) -> dict[str, Any]:
    """Return all numbers of a simulation as plain data."""
    account = done.account
    return {
        "plant": done.plant.name,
        "settings": {
            "t_end": config.t_end, "step": config.integration_step, "integrator": config.integrator,
            "algebraic_loop": config.algebraic_loop, "seed": config.seed,
        },
        "units": {signal.name: signal.unit for signal in done.signals},
        "final_state": {signal.name: signal.values[-1] for signal in done.signals if signal.group == "states"},
        "extremes": {s.name: {"low": s.values.min(), "high": s.values.max()} for s in done.signals},
        "evaluations": done.run.evaluations,
        "algebraic_loop": None if done.run.loop is None else done.run.loop.numbers(),
        "entropy_production": done.run.entropy[-1],
        "energy": None if account is None else {
            "stored": account.stored[-1], "supplied": account.supplied[-1], "entropy_production": account.entropy[-1],
            "largest_residual": np.abs(account.residual).max(), "turnover": account.turnover,
        },
    }  # fmt: skip


def summary(config: SimulateConfig, done: Simulation) -> str:
    """Return the few lines that are printed."""
    from experiments.runtime.tables import text_table

    loop = config.algebraic_loop.replace("_", "-")
    title = f"{done.plant.name}: {config.t_end:g} s in {len(done.run.time) - 1} steps"
    rows = [(s.name, s.unit or "-", *(f"{value:.5g}" for value in in_short(s.values))) for s in done.signals]
    table = text_table(("signal", "unit", *IN_SHORT), rows)
    report = "" if done.run.loop is None else f"\n{done.run.loop}"
    return f"{title} ({config.integrator}, algebraic loop {loop})\n{table}\n{balance(done)}{report}"


def in_short(values: np.ndarray) -> tuple[float, ...]:
    """Return what :data:`IN_SHORT` names, of one signal."""
    return tuple(float(value) for value in (values[0], values[-1], values.min(), values.max()))


def balance(done: Simulation) -> str:
    """Return the energy account in a sentence."""
    account = done.account
    if account is None:
        return f"no energy balance: the plant gives no {', '.join(missing_blocks(done.plant))}"
    jumps = " (with what after_step does to the energy)" if done.plant.after_step is not None else ""
    sentence = (
        f"energy stored {account.stored[-1]:.5g} J = supplied {account.supplied[-1]:.5g} J - entropy production "
        f"{account.entropy[-1]:.5g} J (T0 dS); largest residual {np.abs(account.residual).max():.2g} J{jumps}"
    )
    return f"{sentence}. {failed_balance(done)}" if failed_balance(done) else sentence


_MISSED = 1e-2  # of the energy that is turned over: a residual beyond this is no error of rounding


def failed_balance(done: Simulation) -> str:
    """Return what to do where the energy account does not close; empty where it does, or is not expected to."""
    account = done.account
    if account is None or done.plant.after_step is not None:
        return ""
    missed = float(np.abs(account.residual).max())
    if missed <= max(_MISSED * account.turnover, account.rounding):  # false for NaN
        return ""
    return (
        f"THE ENERGY BALANCE FAILS: {missed:.2g} J are missing where {account.turnover:.2g} J are turned over, so the "
        "run cannot be trusted. Take a smaller step; if that does not help, sscq check says which block is wrong"
    )


main = command("simulate", simulate, _arguments)

if __name__ == "__main__":
    main()
