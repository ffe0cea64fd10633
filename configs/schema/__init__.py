"""Structured configurations of the commands: what can be set, in which unit and range.

The parts (situations, controller, fitness, search, teacher, network, budget) are groups: exchangeable YAML files in
the folder of that name. Plants are no group: they come from the registry, so that a user's own plant needs no YAML.
`commands` puts the parts together.
"""

from configs.schema.closed_loop import (
    EXCITATIONS,
    ControllerConfig,
    DrawsConfig,
    ExcitationConfig,
    PresentConfig,
    SituationConfig,
    SituationsConfig,
)
from configs.schema.commands import (
    DesignConfig,
    EnvelopeConfig,
    EvaluateConfig,
    ExportConfig,
    ExportSettings,
    GuardConfig,
    MapConfig,
    OperateConfig,
    RunConfig,
    SimulateConfig,
    SupervisorConfig,
    WorstConfig,
)
from configs.schema.learning import NetworkSettings, TeacherConfig
from configs.schema.search import AssuranceConfig, BudgetConfig, FitnessConfig, FrontConfig, LadderConfig, SearchConfig

__all__ = [
    "EXCITATIONS",
    "AssuranceConfig",
    "BudgetConfig",
    "ControllerConfig",
    "DesignConfig",
    "DrawsConfig",
    "EnvelopeConfig",
    "EvaluateConfig",
    "ExcitationConfig",
    "ExportConfig",
    "ExportSettings",
    "FitnessConfig",
    "FrontConfig",
    "GuardConfig",
    "LadderConfig",
    "MapConfig",
    "NetworkSettings",
    "OperateConfig",
    "PresentConfig",
    "RunConfig",
    "SearchConfig",
    "SimulateConfig",
    "SituationConfig",
    "SituationsConfig",
    "SupervisorConfig",
    "TeacherConfig",
    "WorstConfig",
]
