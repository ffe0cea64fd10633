"""Settings of the commands: dataclasses that describe them (`schema`), and the YAML parts and recipes beside them.

`rules` says what a setting may be and checks it; `store` makes the schemas known to Hydra, with a help text.
"""

from pathlib import Path

import yaml

FOLDER = Path(__file__).parent

__all__ = ["FOLDER", "choices"]


def choices(command: str) -> dict[str, list[str]]:
    """Return the exchangeable parts that a command is made of, each with the names of its files."""
    defaults = yaml.safe_load((FOLDER / f"{command}.yaml").read_text(encoding="utf-8"))["defaults"]
    names = [name for entry in defaults if isinstance(entry, dict) for name in entry if (FOLDER / name).is_dir()]
    return {name: sorted(path.stem for path in (FOLDER / name).glob("*.yaml")) for name in names}
