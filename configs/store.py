"""The schemas made known to Hydra, and the help of every command, generated from the rules of its settings."""

from __future__ import annotations

import typing
from typing import Any

from configs import choices
from configs.rules import Setting, settings, type_words
from configs.schema import (
    DesignConfig,
    EvaluateConfig,
    ExportConfig,
    MapConfig,
    OperateConfig,
    SimulateConfig,
    WorstConfig,
)

SCHEMAS: dict[str, type] = {
    "design": DesignConfig, "simulate": SimulateConfig, "evaluate": EvaluateConfig, "worst": WorstConfig,
    "map": MapConfig, "export": ExportConfig, "operate": OperateConfig,
}  # fmt: skip

_TEMPLATE = """\
sscq {command}: {summary}

  sscq {command} [setting=value ...] [part=choice ...] [flags]
{parts}
Settings (unit; default; range):

{settings}
{more}
Flags: --help, --help=all (advanced settings, too), --cfg job (print the configuration), -m (several runs: seed=0,1,2),
--config-dir FOLDER (your own parts), --hydra-help (all others).
"""


def register(*commands: str) -> None:
    """Put the schemas of some commands, or of all (as ``design_schema``, ...), into Hydra's store, once in a process.

    Hydra gives copies of what it has stored. Making a schema's node takes as long as composing settings from it.
    """
    from hydra.core.config_store import ConfigStore

    store = ConfigStore.instance()
    for command in commands or SCHEMAS:
        name = f"{command}_schema"
        if f"{name}.yaml" not in store.repo:
            store.store(name=name, node=_node(SCHEMAS[command]))


def _node(schema: type) -> Any:
    """Return the schema with its mappings open, so that ``parameters.mu=2`` names a value of its own."""
    from omegaconf import OmegaConf

    node = OmegaConf.structured(schema)
    for leaf in settings(schema):
        if typing.get_origin(leaf.type) is dict:
            OmegaConf.set_struct(OmegaConf.select(node, leaf.key), False)
    return node


def help_text(command: str, *, everything: bool = False) -> str:
    """Return the help of a command: its parts and settings, the advanced ones with `everything` alone."""
    schema = SCHEMAS[command]
    summary = (schema.__doc__ or "").partition(": ")[2]
    leaves = list(settings(schema))
    shown = [leaf for leaf in leaves if everything or not leaf.rule.advanced]
    hidden = len(leaves) - len(shown)
    return _TEMPLATE.format(
        command=command,
        summary=summary,
        settings="\n".join(_line(leaf) for leaf in shown),
        more=f"\n{hidden} advanced settings are not shown: `sscq {command} --help=all`.\n" if hidden else "",
        parts=_parts(command),
    )


def _parts(command: str) -> str:
    """Return the parts that a command is made of, each with its choices."""
    lines = [f"{name}: {', '.join(several)}" for name, several in choices(command).items()]
    return "\n".join(["", "Parts, each a file that can be exchanged (part=choice):", "", *lines, ""]) if lines else ""


def _line(leaf: Setting) -> str:
    default = (
        "null" if leaf.default is None else str(leaf.default).lower() if leaf.default in (True, False) else leaf.default
    )
    numbers = leaf.rule.range() if type_words(leaf.type).startswith(("a number", "a whole")) else ""
    facts = [leaf.rule.unit, str(default) if not isinstance(default, dict) else "", numbers.removesuffix("a number")]
    words = [fact for fact in (*facts, " | ".join(leaf.rule.choices)) if fact]
    return f"  {leaf.key:36} {leaf.rule.text}" + (f"  ({'; '.join(words)})" if words else "")


def with_earlier_defaults(name: str, stored: dict[str, Any]) -> dict[str, Any]:
    """Return the stored settings of a command, those that came later as it was without them.

    Runs of before drew no situations, kept the plant's box of gains, looked for no worst case and drew no map; without
    this their designs would change when they are gone on with.
    """
    if name != "design" or "assurance" in stored:
        return stored
    earlier = {**stored, "assurance": {"certificate": False, "worst_evaluations": 0, "map_points": 0}}
    if "draws" in stored:
        return earlier
    controller = stored.get("controller", {})
    if isinstance(controller, dict):  # else the schema refuses it
        controller = {"widen": False, **controller}
    return {**earlier, "seeds": 1, "draws": {"taught": 0, "validation": 0, "verdict": 0}, "controller": controller}
