"""The car's control task: which roads are taught, which are not foreseen."""

from __future__ import annotations

from typing import Any

SITUATIONS: dict[str, list[dict[str, Any]]] = {}
