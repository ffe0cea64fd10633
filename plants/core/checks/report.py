"""What a check of a plant found: problems, advice, what holds; printed, it is for the plant's author."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class CheckReport:
    """What a check found; printed, it is for the plant's author.

    Attributes
    ----------
    plant : str
    problems : list of str
        What must be mended before results can be trusted.
    advice : list of str
        What is missing or worth knowing.
    passed : list of str
        What was tested and holds, with the numbers.
    step : float or None
        Recommended integration step with rk4 [s].
    implicit_step : float or None
        Recommended step with the integrator "rosenbrock" [s]; None where the plant is not stiff.
    loop_gain : float or None
        Gain of the algebraic loop at the nominal state, None where there is no loop.
    """

    plant: str
    problems: list[str] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)
    passed: list[str] = field(default_factory=list)
    step: float | None = None
    implicit_step: float | None = None
    loop_gain: float | None = None

    @property
    def ok(self) -> bool:
        """Whether there is no problem."""
        return not self.problems

    def __str__(self) -> str:
        count = f"{len(self.problems)} problem{'s' if len(self.problems) != 1 else ''}"
        verdict = "keeps its contract" if self.ok else f"has {count}"
        lines = [f"plant {self.plant!r} {verdict}"]
        for title, entries in (("problem", self.problems), ("advice", self.advice), ("holds", self.passed)):
            lines += [f"  {title}: {entry}" for entry in entries]
        return "\n".join(lines)
