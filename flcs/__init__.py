"""Fuzzy gain schedules: linguistic terms, Sugeno network, knowledge base (rule-based gain schedule), fuzzy controller.

Everything a controller needs comes without torch; the network and its training are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from flcs import membership, norms
from flcs.design import design
from flcs.fuzzy_controller import FuzzyController, FuzzySchedule
from flcs.imitation import imitate
from flcs.knowledge_base import KnowledgeBase, KnowledgeBaseError
from flcs.lint import lint
from flcs.linting.finding import Finding
from flcs.lookup import LookupTable
from flcs.network_config import NetworkConfig
from flcs.rule_base import Inference, Rule, RuleBase
from flcs.teaching_rows import TeachingRows
from flcs.variable import Variable

if TYPE_CHECKING:
    from flcs.network import SugenoNetwork
    from flcs.training import History, fit

_TORCH = {"SugenoNetwork": "flcs.network", "History": "flcs.training", "fit": "flcs.training"}

__all__ = [
    "Finding", "FuzzyController", "FuzzySchedule", "History", "Inference", "KnowledgeBase", "KnowledgeBaseError",
    "LookupTable", "NetworkConfig", "Rule", "RuleBase", "SugenoNetwork", "TeachingRows", "Variable", "design", "fit",
    "imitate", "lint", "membership", "norms",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _TORCH:
        return getattr(import_module(_TORCH[name]), name)
    raise AttributeError(f"module 'flcs' has no attribute {name!r}")
