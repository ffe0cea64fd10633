"""Settings that all commands share."""

from __future__ import annotations

from dataclasses import dataclass

from configs.rules import setting


@dataclass
class RunConfig:
    """What all commands share."""

    plant: str = setting("van_der_pol", "registered plant; `sscq plants` lists them")
    plant_file: str | None = setting(None, "your own Python file that registers a plant; it is executed", file=True)
    seed: int = setting(0, "seed of everything random", low=0)
    step: float | None = setting(None, "integration step; null: the plant's own", unit="s", above=0)
    integrator: str = setting(
        "rk4",
        "integration method; rosenbrock for stiff plants (`sscq check` tells)",
        choices=("euler", "heun", "rk2", "rk4", "rosenbrock"),
    )
    algebraic_loop: str = setting(
        "solved",
        "how mutually dependent accelerations are treated",
        choices=(
            "solved", "iterated", "iterated_exact", "gauss_seidel", "loop_free", "loop_free_relaxed",
            "loop_free_filtered",
        ),
    )  # fmt: skip
    threads: int | None = setting(
        None, "threads of the simulations; null: one a core; results do not depend on it", low=1, session=True
    )
    output: str | None = setting(None, "output folder; null: a new one below runs/", session=True)
    resume: str | None = setting(None, "run folder of a stopped run to go on with", session=True)
    quiet: bool = setting(False, "no progress lines", session=True)

    @property
    def integration_step(self) -> float:
        """The integration step [s], once a plant is known."""
        if self.step is None:
            raise ValueError("the integration step is the plant's own, and no plant has been looked up yet")
        return self.step
