"""Settings of the commands: dataclasses that describe them (`schema`), and the YAML parts and recipes beside them.

`rules` says what a setting may be and checks it; `store` makes the schemas known to Hydra, with a help text.
"""

from pathlib import Path

FOLDER = Path(__file__).parent

__all__ = ["FOLDER"]
