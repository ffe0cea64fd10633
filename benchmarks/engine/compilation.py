"""From the text of a kernel to its machine code: our compiler against Numba on the same text, both with LLVM behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plants
from benchmarks.runner.report import FigureSection, at_least
from controllers import PID
from experiments.runtime.timing import alternate, ratio
from flcs import FuzzyController, KnowledgeBase, RuleBase, Variable
from flcs.inference.rule_base import full_grid
from plants.core.kernel import machine_code
from plants.core.kernel.kernel import ARGUMENTS
from plants.core.kernel.numba_code import by_numba
from plants.excitation import WhiteNoise
from sscq import Situation
from sscq.loop.closed_loop import ClosedLoop

if TYPE_CHECKING:
    from benchmarks.runner.size import Size

_AIM = 5.0  # times


def compiling(size: Size) -> FigureSection:
    """Compile three closed loops in turns; nothing is kept on disk."""
    section = FigureSection("compiling", "Compiling a kernel: the whole way from its text to machine code")
    for name, text in texts().items():
        calls = {
            "ours": lambda t=text: machine_code.compiled(t, ARGUMENTS),
            "Numba": lambda t=text: by_numba(t, ARGUMENTS),
        }
        times = alternate(calls, size.repeats)
        for who, timing in times.items():
            section.time(f"{name}: {who}", timing, "s")
        found = ratio(times["Numba"], times["ours"])
        section.ratio(f"{name}: Numba / ours", found, at_least(found, _AIM))
    section.notes.append("The same bits result: tests/plants/core/kernel/test_compiler.py.")
    return section


def texts() -> dict[str, str]:
    """Return the texts of closed loops: small, with many rules, with noise, delay and everything measured."""
    plain = Situation("plain", reference=1.0, t_end=1.0)
    noisy = Situation("noisy", reference=1.0, t_end=1.0, noise=0.02, delay=0.05, excitation=WhiteNoise(0.3, hold=0.1))
    vdp = plants.get("van_der_pol")
    loops = {
        "PID": ClosedLoop(vdp, PID(), (plain,), 0.01),
        "PID, noise and delay": ClosedLoop(vdp, PID(sample_time=0.02, derivative_filter_time=0.05), (noisy,), 0.01),
        "49 rules": ClosedLoop(vdp, FuzzyController(rules(7)), (plain,), 0.01),
    }
    return {name: loop.kernel.text for name, loop in loops.items()}


def rules(n: int) -> KnowledgeBase:
    """Return a knowledge base of n x n rules."""
    centres = tuple(-1.5 + 3.0 * k / (n - 1) for k in range(n))
    inputs = tuple(Variable(name, "", -2.0, 2.0, centres) for name in ("e", "e_rate"))
    middle = (4.0, 1.0, 3.0)
    base = RuleBase("position", inputs, full_grid((n, n), middle), (0.5, 0.1, 0.5), (8.0, 4.0, 5.0), middle)
    return KnowledgeBase("van_der_pol", (base,), tick=0.01)
