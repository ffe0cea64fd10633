"""The help of the commands: what it shows, what it keeps back, and that what it shows is explained by a use."""

import re
from pathlib import Path

import pytest

from configs.rules import settings
from configs.store import SCHEMAS, help_text
from experiments.starting.launch import command

COOKBOOK = Path(__file__).parents[2] / "docs" / "guide" / "cookbook.md"


def keys(text):
    """Return the settings that a help lists."""
    return re.findall(r"^  ([a-z][\w.]*) {2,}", text.partition("Settings (unit")[2], re.MULTILINE)


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_help_lists_settings_that_are_not_advanced_and_on_demand_all(name):
    leaves = list(settings(SCHEMAS[name]))
    advanced = [leaf.key for leaf in leaves if leaf.rule.advanced]
    assert keys(help_text(name, everything=True)) == [leaf.key for leaf in leaves]
    assert keys(help_text(name)) == [leaf.key for leaf in leaves if leaf.key not in advanced]
    told = f"{len(advanced)} advanced settings are not shown: `sscq {name} --help=all`."
    assert (told in help_text(name)) == bool(advanced)
    assert "are not shown" not in help_text(name, everything=True)


@pytest.mark.parametrize(("word", "shown"), [("--help", False), ("--hel", False), ("-h", False), ("--help=all", True)])
def test_both_helps_are_printed(capsys, word, shown):
    with pytest.raises(SystemExit) as stop:
        command("design", print)([word])
    assert stop.value.code == 0
    assert ("search.eta_mutation" in capsys.readouterr().out) == shown


def test_every_setting_of_a_design_that_is_shown_is_used_in_the_cookbook():
    used = {
        key
        for line in COOKBOOK.read_text(encoding="utf-8").splitlines()
        if line.startswith("sscq ")
        for key in re.findall(r"(?<![\w.])([a-z][\w.]*)=", line)
    }
    assert len(used) > 50
    assert [key for key in keys(help_text("design")) if key not in used] == []
