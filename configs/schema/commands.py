"""Settings of the commands: what all share, the parts of each, and a few of its own.

`sscq design`, `simulate`, `evaluate`, `export`, `map`, `operate` and `worst` have a dataclass each; plants are no part,
they come from the registry.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from configs.parts import SettingsPart, of, part
from configs.schema.closed_loop import (
    INITIAL,
    ControllerConfig,
    DrawsConfig,
    ExcitationConfig,
    PresentConfig,
    SituationsConfig,
    start_complaints,
)
from configs.schema.learning import NetworkSettings, TeacherConfig
from configs.schema.search import AssuranceConfig, BudgetConfig, FitnessConfig, FrontConfig, LadderConfig, SearchConfig
from controllers.settings import setting
from flcs.export.guard import Guard
from flcs.export.pid_block import VendorForm
from plants.core.gpu import DEVICES
from plants.core.motion.modes import MODES as LOOP_MODES
from sscq.operation.contest import CONTENDERS
from sscq.operation.supervisor import SupervisorSettings
from sscq.worst.envelope import Envelope

if TYPE_CHECKING:
    from collections.abc import Iterator


DEFAULT_PLANT = "van_der_pol"


@dataclass
class RunConfig:
    """What all commands share."""

    plant: str | None = setting(
        None,
        f"registered plant; null: the only one of plant_file, without a file {DEFAULT_PLANT}; `sscq plants` lists them",
    )
    plant_file: str | None = setting(
        None,
        "your own Python file that registers a plant; it is executed; or identified.json, plants of a log",
        file=True,
    )
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
        choices=LOOP_MODES,
    )
    threads: int | None = setting(
        None,
        "processors to use: threads of simulations, searches side by side; null: all; results do not depend on it",
        low=1,
        session=True,
    )
    output: str | None = setting(None, "output folder; null: a new one below runs/", session=True)
    resume: str | None = setting(None, "run folder of a stopped run to go on with", session=True)
    quiet: bool = setting(False, "no progress lines", session=True)

    @property
    def plant_name(self) -> str:
        """The plant, by name; that of a plant file once it has been looked up."""
        return self.plant or DEFAULT_PLANT

    @property
    def integration_step(self) -> float:
        """The integration step [s], once a plant is known."""
        if self.step is None:
            raise ValueError("the integration step is the plant's own, and no plant has been looked up yet")
        return self.step


@part(Guard)
class GuardConfig(SettingsPart):
    """What an installed controller does about signals that cannot be trusted."""

    ranges: dict[str, Any] = of(Guard)
    ramp: float | None = of(Guard, default=None)

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with a range."""
        for name, ends in self.ranges.items():
            if not _is_range(ends, wide=True):
                yield f"ranges.{name} must be [low, high] with low < high, got {ends}"


@part(VendorForm)
class VendorConfig(SettingsPart):
    """How a PID block elsewhere takes its gains: K, Ti, Td."""


def _is_range(ends: object, *, wide: bool = False) -> bool:
    """Whether these are two numbers in order; OmegaConf takes no whole numbers in a mapping to lists of floats."""
    if not isinstance(ends, list) or len(ends) != 2:
        return False
    if not all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends):
        return False
    return bool(ends[0] < ends[1] or (ends[0] == ends[1] and not wide))


@dataclass
class ExportSettings:
    """What is exported, and what it has to stand."""

    to: list[str] = setting(list, "targets, such as c, c_float; all: every one there is")
    shape: str = setting(
        "controller", "what leaves: the whole controller, or its scheduler alone for a PID block elsewhere",
        choices=("controller", "scheduler"),
    )  # fmt: skip
    guard: GuardConfig = setting(GuardConfig, "")
    vendor: VendorConfig = setting(VendorConfig, "")
    hostile: int = setting(
        100_000, "random sequences of hostile inputs (NaN, jumps, frozen, modes) for the C", low=0, advanced=True
    )


@part(
    Envelope,
    order="usual parameters initial reference kinds load excitation noise delay authority rate_limit delay_step hold "
    "t_end",
)
class EnvelopeConfig(SettingsPart):
    """Ranges of what situations may be."""

    usual: bool = setting(True, "ranges not given are the plant's usual ones; false: what is not given does not vary")
    parameters: dict[str, Any] = of(Envelope)
    initial: dict[str, Any] = of(Envelope)
    reference: dict[str, Any] = of(Envelope)
    load: dict[str, Any] = of(Envelope)
    excitation: dict[str, Any] = of(Envelope)
    noise: dict[str, Any] = of(Envelope)
    delay: list[float] | None = of(Envelope, default=None)
    authority: list[float] | None = of(Envelope, default=None)
    delay_step: float | None = of(Envelope, default=None, text="between neighbouring delays; null: usual")
    hold: float | None = of(Envelope, default=None, text="time that white noise is held; null: usual")
    t_end: float | None = of(Envelope, default=None, text="horizon; null: usual")

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with a range."""
        groups = ("parameters", "initial", "reference", "load", "excitation", "noise")
        ranges = {f"{group}.{name}": ends for group in groups for name, ends in getattr(self, group).items()}
        ranges |= {name: getattr(self, name) or [0.0, 0.0] for name in ("delay", "authority", "rate_limit")}
        for name, ends in ranges.items():
            if not _is_range(ends):
                yield f"{name} must be [low, high] with low <= high, got {ends}"


@dataclass
class WorstConfig(RunConfig):
    """`sscq worst`: the worst situation of a stored knowledge base in a declared envelope."""

    plant: str | None = setting(None, "plant; null: the knowledge base's")
    kb: str | None = setting(None, "knowledge base file: knowledge_base.json of a run folder", file=True)
    judged: str = setting(
        "knowledge_base", "whose worst situation; own: controller.own_gains",
        choices=("knowledge_base", "reference", "own"),
    )  # fmt: skip
    against: str = setting(
        "cost",
        "what is largest: the cost itself, or the loss against the reference gains",
        choices=("cost", "reference"),
    )
    fail_above: float | None = setting(None, "a cost above this is a failure; null: only a rollout that diverges is")
    evaluations: int = setting(2000, "situations simulated by the search, and as many drawn at random", low=20)
    population: int | None = setting(None, "individuals of the genetic search; null: by the number of genes", low=4)
    polish: float = setting(0.25, "share of the evaluations that CMA-ES spends around the worst", low=0, high=1)
    device: str = setting("cpu", "cuda: an NVIDIA GPU runs the loops", choices=DEVICES)
    confidence: float = setting(0.95, "of the bound on the failure probability", above=0, below=1)
    envelope: EnvelopeConfig = setting(EnvelopeConfig, "")
    controller: PresentConfig = setting(PresentConfig, "")


@dataclass
class MapConfig(RunConfig):
    """`sscq map`: how a stored knowledge base and its reference gains fare over two ranges, as a picture."""

    plant: str | None = setting(None, "plant; null: the knowledge base's")
    kb: str | None = setting(None, "knowledge base file: knowledge_base.json of a run folder", file=True)
    x: str | None = setting(None, "horizontal: a parameter, delay, noise, initial.NAME, ... and its range: mu:[0.1,3]")
    y: str | None = setting(None, "vertical, as x")
    situation: str | None = setting(None, "what is run at every point; null: the plant's first taught one")
    points: int = setting(100, "in each direction", low=2, high=4000)
    seeds: int = setting(3, "repetitions of each point with other noise", low=1)
    margin_points: int = setting(9, "of the coarser map of Ms, in each direction; 0: none", low=0)
    device: str = setting("cpu", "cuda: an NVIDIA GPU runs the loops", choices=DEVICES)
    controller: PresentConfig = setting(PresentConfig, "")


@part(SupervisorSettings)
class SupervisorConfig(SettingsPart):
    """How the supervisor decides."""


@dataclass
class OperateConfig(RunConfig):
    """`sscq operate`: a long run in which the plant drifts and the knowledge base is renewed, against four rivals."""

    plant: str | None = setting(None, "plant; null: the knowledge base's")
    kb: str | None = setting(None, "knowledge base file: knowledge_base.json of a run folder", file=True)
    drift: str | None = setting(None, "course of parameters over time [s]: mu:[0=1,80=1,560=6]; a jump: 80=1,80=2")
    windows: int = setting(8, "after each, but the last, the supervisor looks back", low=2, high=1000)
    moves: int | None = setting(None, "taught situations in a window, in turn; null: all of the plant's", low=1)
    parts: int = setting(8, "of a window, in which parameters stand still", low=1)
    seeds: int = setting(1, "runs with other noise, instruments and searches", low=1)
    contenders: list[str] = setting(lambda: list(CONTENDERS), f"of {', '.join(CONTENDERS)}")
    estimate: str = setting(
        "measured",
        "what is known of the plant: measured, by instruments that tell what drifts; identified, from the loop's log",
        choices=("measured", "identified"),
    )
    deviation: float = setting(0.03, "relative standard deviation of the instruments", above=0, below=1)
    wrong: dict[str, float] = setting(dict, "factors of what instruments out of order tell, by parameter: {mu: 2}")
    fitted: list[str] = setting(list, "parameters that the log is to tell; []: those that drift")
    loaded: str = setting("", "disturbance that unknown loads of the log count as; empty: the command")
    row: float | None = setting(None, "time between rows of the log; null: about 500 rows a window", unit="s", above=0)
    evaluations: int = setting(600, "of each search, of whatever contender", low=40)
    entropy_weight: float = setting(0.0, "of entropy in what the searches minimise, beside the tracking error", low=0)
    travel: float = setting(
        1.5, "travel that searches may use, in shares of the knowledge base's on the plant of the design", above=0
    )
    max_sensitivity: float | None = setting(
        2.0, "largest Ms of what takes over, or what the loop in force keeps; null: no margins are asked", above=1
    )
    relearn: bool = setting(True, "teach and train the network anew before each refinement; false: refine alone")
    supervisor: SupervisorConfig = setting(SupervisorConfig, "")

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with the contenders and the instruments."""
        for name in self.contenders:
            if name not in CONTENDERS:
                yield f"contenders are {', '.join(CONTENDERS)}, got {name!r}"
        if not self.contenders:
            yield f"contenders must be some of {', '.join(CONTENDERS)}, got none"
        for name, factor in self.wrong.items():
            if not (math.isfinite(factor) and factor > 0.0):
                yield f"wrong.{name} must be a factor above 0, got {factor}"


@dataclass
class DesignConfig(RunConfig):
    """`sscq design`: from situations to a proven controller."""

    start: str | None = setting(
        None,
        "knowledge base file to go on from, such as an earlier run's knowledge_base.json; it gives inputs, terms and a "
        "start of the searches, and is judged with the others",
        file=True,
    )
    seeds: int = setting(
        1,
        "searches of every controller in each round, each with a seed of its own; taught and validation situations "
        "choose",
        low=1,
    )
    coarse_step: str = setting(
        "refuse",
        "an integration step too coarse for the plant: refuse it, take the advised one (refine), or accept it",
        choices=("refuse", "refine", "accept"),
    )
    situations: SituationsConfig = setting(SituationsConfig, "")
    draws: DrawsConfig = setting(DrawsConfig, "")
    envelope: EnvelopeConfig = setting(EnvelopeConfig, "")
    controller: ControllerConfig = setting(ControllerConfig, "")
    fitness: FitnessConfig = setting(FitnessConfig, "")
    search: SearchConfig = setting(SearchConfig, "")
    teacher: TeacherConfig = setting(TeacherConfig, "")
    network: NetworkSettings = setting(NetworkSettings, "")
    front: FrontConfig = setting(FrontConfig, "")
    budget: BudgetConfig = setting(BudgetConfig, "")
    ladder: LadderConfig = setting(LadderConfig, "")
    assurance: AssuranceConfig = setting(AssuranceConfig, "")
    exports: ExportSettings = setting(ExportSettings, "")


@dataclass
class SimulateConfig(RunConfig):
    """`sscq simulate`: one plant without a controller."""

    loops: list[str] = setting(
        list,
        "treatments of the algebraic loop to be drawn beside each other; spelt algebraic_loop=[solved,loop_free], too",
        choices=LOOP_MODES,
    )
    t_end: float = setting(20.0, "horizon", unit="s", above=0)
    initial: Any = setting(None, INITIAL)
    parameters: dict[str, float] = setting(dict, "plant parameters that differ from their nominal values, by name")
    input: ExcitationConfig = setting(ExcitationConfig, "signal on the first input")
    inputs: dict[str, ExcitationConfig] = setting(dict, "signals on inputs by name: {name: {kind: step, ...}}")
    excitation: ExcitationConfig = setting(ExcitationConfig, "signal on the first disturbance")
    excitations: dict[str, ExcitationConfig] = setting(dict, "signals on disturbances by name")

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with the initial state."""
        yield from start_complaints(self.initial)


@dataclass
class EvaluateConfig(RunConfig):
    """`sscq evaluate`: a stored knowledge base in situations, against its reference gains."""

    plant: str | None = setting(None, "plant; null: the knowledge base's")
    kb: str | None = setting(None, "knowledge base file: knowledge_base.json of a run folder", file=True)
    sets: str = setting("unforeseen", "which of the situations", choices=("taught", "validation", "unforeseen", "all"))
    seeds: int = setting(20, "seeds of each validation and unforeseen situation", low=1)
    situations: SituationsConfig = setting(SituationsConfig, "")
    controller: PresentConfig = setting(PresentConfig, "")


@dataclass
class ExportConfig(ExportSettings, RunConfig):
    """`sscq export`: a stored knowledge base for where controllers run, each file proved against the simulator."""

    plant: str | None = setting(None, "plant; null: the knowledge base's")
    kb: str | None = setting(None, "knowledge base file: knowledge_base.json of a run folder", file=True)
    to: list[str] = setting(lambda: ["all"], "targets, such as c, c_float, fmu2, fmu3; all: every one there is")
    situations: SituationsConfig = setting(SituationsConfig, "")
