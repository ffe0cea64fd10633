"""Settings of the commands: each has its parts, and a few of its own."""

from __future__ import annotations

from dataclasses import dataclass

from configs.rules import setting
from configs.schema.controller import ControllerConfig, PresentConfig
from configs.schema.excitation import ExcitationConfig
from configs.schema.export import ExportSettings
from configs.schema.fitness import FitnessConfig
from configs.schema.front import FrontConfig
from configs.schema.network import NetworkConfig
from configs.schema.run import RunConfig
from configs.schema.search import BudgetConfig, LadderConfig, SearchConfig
from configs.schema.situation import SituationsConfig
from configs.schema.teacher import TeacherConfig


@dataclass
class DesignConfig(RunConfig):
    """`sscq design`: from situations to a proven controller."""

    situations: SituationsConfig = setting(SituationsConfig, "")
    controller: ControllerConfig = setting(ControllerConfig, "")
    fitness: FitnessConfig = setting(FitnessConfig, "")
    search: SearchConfig = setting(SearchConfig, "")
    teacher: TeacherConfig = setting(TeacherConfig, "")
    network: NetworkConfig = setting(NetworkConfig, "")
    front: FrontConfig = setting(FrontConfig, "")
    budget: BudgetConfig = setting(BudgetConfig, "")
    ladder: LadderConfig = setting(LadderConfig, "")
    exports: ExportSettings = setting(ExportSettings, "")


@dataclass
class SimulateConfig(RunConfig):
    """`sscq simulate`: one plant without a controller."""

    t_end: float = setting(20.0, "horizon", unit="s", above=0)
    initial: list[float] | None = setting(None, "initial state; null: the plant's nominal one")
    parameters: dict[str, float] = setting(dict, "plant parameters that differ from their nominal values, by name")
    input: ExcitationConfig = setting(ExcitationConfig, "signal on the first input")
    inputs: dict[str, ExcitationConfig] = setting(dict, "signals on inputs by name: {name: {kind: step, ...}}")
    excitation: ExcitationConfig = setting(ExcitationConfig, "signal on the first disturbance")
    excitations: dict[str, ExcitationConfig] = setting(dict, "signals on disturbances by name")


@dataclass
class EvaluateConfig(RunConfig):
    """`sscq evaluate`: a stored knowledge base in situations, against its reference gains."""

    plant: str | None = setting(None, "plant; null: the knowledge base's")  # type: ignore[assignment]  # only here
    kb: str | None = setting(None, "knowledge base file: knowledge_base.json of a run folder", file=True)
    sets: str = setting("unforeseen", "which of the situations", choices=("taught", "validation", "unforeseen", "all"))
    seeds: int = setting(20, "seeds of each validation and unforeseen situation", low=1)
    situations: SituationsConfig = setting(SituationsConfig, "")
    controller: PresentConfig = setting(PresentConfig, "")


@dataclass
class ExportConfig(ExportSettings, RunConfig):
    """`sscq export`: a stored knowledge base for where controllers run, each file proved against the simulator."""

    plant: str | None = setting(None, "plant; null: the knowledge base's")  # type: ignore[assignment]  # only here
    kb: str | None = setting(None, "knowledge base file: knowledge_base.json of a run folder", file=True)
    to: list[str] = setting(lambda: ["all"], "targets, such as c, c_float, fmu2, fmu3; all: every one there is")
    situations: SituationsConfig = setting(SituationsConfig, "")
