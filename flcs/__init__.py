"""Fuzzy gain schedules: linguistic terms, Sugeno network, knowledge base (rule-based gain schedule), fuzzy controller.

Everything a controller needs comes without torch; the network and its training are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from flcs.fuzzy_controller import FuzzyController, FuzzySchedule
from flcs.inference import membership, norms
from flcs.inference.rule_base import Inference, Rule, RuleBase
from flcs.inference.variable import Variable
from flcs.knowledge_base.complaints import KnowledgeBaseError
from flcs.knowledge_base.knowledge_base import KnowledgeBase
from flcs.knowledge_base.lookup import LookupTable
from flcs.learning.config import NetworkConfig
from flcs.learning.design import design
from flcs.learning.imitation import NO_TORCH, imitate
from flcs.learning.rows import TeachingRows
from flcs.lint.findings import Finding
from flcs.lint.inspection import lint

if TYPE_CHECKING:
    from flcs.learning.network import SugenoNetwork
    from flcs.learning.training import History, fit

_TORCH = {
    "SugenoNetwork": "flcs.learning.network",
    "History": "flcs.learning.training",
    "fit": "flcs.learning.training",
}

__all__ = [
    "Finding", "FuzzyController", "FuzzySchedule", "History", "Inference", "KnowledgeBase", "KnowledgeBaseError",
    "LookupTable", "NetworkConfig", "Rule", "RuleBase", "SugenoNetwork", "TeachingRows", "Variable", "design", "fit",
    "imitate", "lint", "membership", "norms",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _TORCH:
        try:
            return getattr(import_module(_TORCH[name]), name)
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(NO_TORCH, name=error.name) from error
    raise AttributeError(f"module 'flcs' has no attribute {name!r}")
