"""Settings of the commands: dataclasses that describe them (`schema`), and the YAML parts and recipes beside them."""

from pathlib import Path

FOLDER = Path(__file__).parent

__all__ = ["FOLDER"]
