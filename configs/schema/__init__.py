"""Structured configurations of the commands: what can be set, in which unit and range.

The parts (situations, controller, fitness, search, teacher, network, budget) are groups: exchangeable YAML files in
the folder of that name. Plants are no group: they come from the registry, so that a user's own plant needs no YAML.

One file a part; `commands` puts them together.
"""

from configs.schema.commands import DesignConfig, EvaluateConfig, ExportConfig, SimulateConfig
from configs.schema.controller import ControllerConfig, PresentConfig
from configs.schema.excitation import EXCITATIONS, ExcitationConfig
from configs.schema.export import ExportSettings, GuardConfig
from configs.schema.fitness import FitnessConfig
from configs.schema.front import FrontConfig
from configs.schema.network import NetworkConfig
from configs.schema.run import RunConfig
from configs.schema.search import BudgetConfig, LadderConfig, SearchConfig
from configs.schema.situation import SituationConfig, SituationsConfig
from configs.schema.teacher import TeacherConfig
from configs.schema.worst import EnvelopeConfig, WorstConfig

__all__ = [
    "EXCITATIONS",
    "BudgetConfig",
    "ControllerConfig",
    "DesignConfig",
    "EnvelopeConfig",
    "EvaluateConfig",
    "ExcitationConfig",
    "ExportConfig",
    "ExportSettings",
    "FitnessConfig",
    "FrontConfig",
    "GuardConfig",
    "LadderConfig",
    "NetworkConfig",
    "PresentConfig",
    "RunConfig",
    "SearchConfig",
    "SimulateConfig",
    "SituationConfig",
    "SituationsConfig",
    "TeacherConfig",
    "WorstConfig",
]
