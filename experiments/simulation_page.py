"""The page of a simulation: what was asked, how the energy balances, and a chart of every signal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from experiments.report.charts import Curve, LineChart, line_chart
from experiments.report.document import document
from experiments.report.markup import Html, element
from experiments.report.numbers import number, plain
from experiments.simulate import IN_SHORT, balance, in_short

if TYPE_CHECKING:
    import numpy as np

    from configs.schema import SimulateConfig
    from experiments.simulate import Signal, Simulation

_SECTIONS = {
    "States": ("states",), "Measurements": ("outputs",), "Inputs and disturbances": ("inputs", "disturbances"),
}  # fmt: skip
_PREFIXES = {"J": 1.0, "mJ": 1e-3, "µJ": 1e-6, "nJ": 1e-9, "pJ": 1e-12}


def page(config: SimulateConfig, done: Simulation) -> str:
    """Return the page as text: the same simulation gives the same text."""
    charts = [part for title, groups in _SECTIONS.items() for part in _section(title, _signals(done, groups))]
    energy = _section("Energy and entropy production (T0 dS)", _energies(done))
    return document("Simulation", done.plant.name, _facts(config, done), *charts, *energy, _numbers(done))


def _section(title: str, charts: list[Html]) -> list[Html]:
    if not charts:
        return []
    return [element("section", element("h3", title), element("div", *charts, class_="multiples"))]


def _signals(done: Simulation, groups: tuple[str, ...]) -> list[Html]:
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


def _cells(signal: Signal) -> list[str]:
    return [signal.unit or "–", *(number(value, 5) for value in in_short(signal.values))]
