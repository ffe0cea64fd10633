"""The account of a process's time: every moment once, in the innermost named piece of work."""

import builtins
import functools
import importlib
import sys
import textwrap

import pytest

from benchmarks.search import design_share
from benchmarks.search.design_share import IMPORTS, OTHER, START, Account

MODULE = """
    import account_inner
    from account_clock import spend

    class Stages:
        def run(self, name, work):
            spend(1)
            return work()

    def outer():
        spend(10)
        account_inner.inner()
        spend(100)
"""
INNER = """
    from account_clock import spend

    spend(1000)

    def inner():
        spend(10000)
"""
CLOCK = """
    now = [7.0]

    def spend(seconds):
        now[0] += seconds
"""


@pytest.fixture
def modules(tmp_path, monkeypatch):
    for name, text in (("account_case", MODULE), ("account_inner", INNER), ("account_clock", CLOCK)):
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    import account_clock

    monkeypatch.setattr(design_share, "_now", lambda: (account_clock.now[0], 2.0 * account_clock.now[0]))
    yield
    for name in ("account_case", "account_inner", "account_clock"):
        sys.modules.pop(name, None)


def test_every_moment_is_charged_once(modules):
    before = builtins.__import__
    places = {"account_case:outer": "outer", "account_inner:inner": "inner"}
    found = Account(places, "account_case:Stages.run")
    found.open()
    import account_case

    account_case.Stages().run("first", account_case.outer)
    account_case.outer()
    found.close()
    assert builtins.__import__ is before
    processor = {key: times[0] for key, times in found.spent.items()}
    assert processor == {
        ("", START): 7.0,
        ("", OTHER): 0.0,
        ("", IMPORTS): 1000.0,
        ("first", OTHER): 1.0,
        ("first", "outer"): 110.0,
        ("first", "inner"): 10000.0,
        ("", "outer"): 110.0,
        ("", "inner"): 10000.0,
    }
    assert found.inside["outer", "inner"] == 20000.0
    assert found.calls == {"account_case:outer": 2, "account_inner:inner": 2}
    assert all(wall == 2.0 * times for key, (times, wall) in found.spent.items() if key != ("", START))


@pytest.mark.parametrize("place", [place for several in design_share.KINDS.values() for place in several])
def test_what_a_design_is_charged_for_is_there(place):
    """A place that nothing has any more would be charged to what encloses it."""
    module, _, path = place.partition(":")
    assert callable(functools.reduce(getattr, path.split("."), importlib.import_module(module)))
