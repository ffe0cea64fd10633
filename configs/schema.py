"""Structured configurations of the commands: what can be set, in which unit and range.

The parts (situations, controller, fitness, search, teacher, network, budget) are groups: exchangeable YAML files in
the folder of that name. Plants are no group: they come from the registry, so that a user's own plant needs no YAML.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from configs.rules import setting

if TYPE_CHECKING:
    from collections.abc import Iterator


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


EXCITATIONS = (
    "none", "white", "numpy_white", "gaussian", "uniform", "rayleigh", "gamma", "exponential", "tabulated", "peak",
    "nonlinear", "sine", "step", "ramp", "chirp", "prbs", "multisine", "road", "recorded",
)  # fmt: skip
_WITH_FILE = ("recorded", "tabulated")
_SWEPT = ("chirp", "multisine")
_WITH_VARIANCE = ("gaussian", "uniform", "rayleigh", "gamma", "exponential", "peak")
_WITH_AMPLITUDE = ("sine", "step", "chirp", "prbs", "multisine")
_WITH_MEAN = ("rayleigh", "gamma", "exponential", "tabulated")
_REGISTERS = (3, 4, 5, 6, 7, 9, 10, 11, 15, 17, 18, 20, 22, 23, 25, 28, 29, 31)


@dataclass
class ExcitationConfig:
    """A signal: a disturbance of the plant, or an input of a plant without a controller."""

    kind: str = setting("none", "what is applied", choices=EXCITATIONS)
    variance: float = setting(0.3, "variance of the noise", low=0)
    density: str = setting(
        "gaussian", "density of white noise and of noise with a peak", choices=("gaussian", "uniform")
    )
    mean: float | None = setting(
        None, "mean of rayleigh, gamma, exponential or tabulated noise; null: the density's own"
    )
    hold: float = setting(0.1, "time that each value of white noise or prbs is held", unit="s", above=0)
    bandwidth: float = setting(1.0, "bandwidth of a forming filter", unit="rad/s", above=0)
    damping: float = setting(0.1, "damping ratio of noise with a peak: half its relative width", above=0)
    intensity: float = setting(
        0.3, "white noise that drives the nonlinear filter (two-sided spectral density)", above=0
    )
    stiffness: float = setting(1.0, "stiffness of the nonlinear filter", above=0)
    amplitude: float = setting(0.0, "amplitude of sine, chirp, prbs; height of the step; rms of the multisine")
    frequency: float = setting(1.0, "frequency of sine or peak; lowest of chirp and multisine", unit="Hz", above=0)
    stop_frequency: float | None = setting(None, "highest frequency of chirp and multisine", unit="Hz", above=0)
    duration: float = setting(10.0, "time in which a chirp runs through its frequencies", unit="s", above=0)
    sweep: str = setting("linear", "frequency of the chirp over time", choices=("linear", "exponential"))
    sines: int = setting(10, "sines of the multisine", low=2, high=40)
    order: int = setting(10, "length of the prbs's register: it repeats after 2^order - 1 values", low=3, high=31)
    at: float = setting(0.0, "time of the step, start of the ramp", unit="s", low=0)
    until: float | None = setting(None, "end of the ramp; null: none", unit="s", above=0)
    slope: float = setting(1.0, "slope of the ramp", unit="1/s")
    road_class: str = setting("C", "roughness of the road (ISO 8608)", choices=("A", "B", "C", "D", "E"))
    speed: float = setting(20.0, "speed over the road", unit="m/s", above=0)
    file: str | None = setting(
        None, "CSV file of a recorded series (time [s] and value) or of a density (value and density)", file=True
    )
    column: str = setting("1", "column of a recorded series, by name or number")
    interpolation: str = setting(
        "hold", "between the samples of a recorded series; mean: over each step", choices=("hold", "linear", "mean")
    )
    gain: float = setting(1.0, "factor of a recorded series")

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        if self.kind == "recorded" and self.file is None:
            yield "file is missing: a recorded series needs file=series.csv (time [s], value)"
        if self.kind == "tabulated" and self.file is None:
            yield "file is missing: a tabulated density needs file=density.csv (value, density)"
        if self.kind not in _WITH_FILE and self.file is not None:
            yield f"file is read with kind=recorded or tabulated only, got kind={self.kind}"
        if self.mean is not None and self.kind not in _WITH_MEAN:
            yield f"mean is for kind={', '.join(_WITH_MEAN)} only, got kind={self.kind}"
        if self.kind in _WITH_VARIANCE and self.variance == 0.0:
            yield f"variance must be above 0 with kind={self.kind}, got 0; for no noise use kind=none"
        yield from self._of_forms()

    def _of_forms(self) -> Iterator[str]:
        """Yield what is wrong with signals that are no noise."""
        if self.kind in _SWEPT and self.stop_frequency is None:
            yield f"stop_frequency is missing: kind={self.kind} runs from frequency to stop_frequency [Hz]"
        if self.kind == "multisine" and self.stop_frequency is not None and self.stop_frequency <= self.frequency:
            yield f"stop_frequency must be above frequency, got {self.stop_frequency} and {self.frequency} Hz"
        if self.kind == "prbs" and self.order not in _REGISTERS:
            nearest = min(_REGISTERS, key=lambda n: abs(n - self.order))
            yield f"order must be one of {', '.join(map(str, _REGISTERS))}, got {self.order}; the nearest is {nearest}"
        if self.kind == "ramp" and self.until is not None and self.until <= self.at:
            yield f"until must be after at, got {self.until} s and {self.at} s"


@dataclass
class SituationConfig:
    """One control situation (scenario); fields as in `sscq.Situation`."""

    reference: float = setting(0.0, "reference of every channel")
    reference_signal: ExcitationConfig = setting(ExcitationConfig, "signal that is added to the reference")
    initial: list[float] | None = setting(None, "initial state; null: the plant's nominal one")
    parameters: dict[str, float] = setting(dict, "plant parameters that differ from their nominal values")
    excitation: ExcitationConfig = setting(ExcitationConfig, "disturbance")
    noise: float = setting(0.0, "standard deviation of the sensor noise", low=0)
    delay: float = setting(0.0, "delay of the commands", unit="s", low=0)
    output_delay: float = setting(0.0, "delay of the measurements", unit="s", low=0)
    jitter: float = setting(0.0, "sampling jitter, as a share of the sample time", low=0, high=1)
    quantisation: float = setting(0.0, "step of the converter that rounds the controlled outputs", low=0)
    dropout: float = setting(0.0, "probability that a sample's measurements are lost", low=0, below=1)
    command_dropout: float = setting(0.0, "probability that a sample's commands are lost", low=0, below=1)
    limits: list[float] | None = setting(None, "range of the plant inputs [low, high], where the actuator has less")
    rate_limit: float | None = setting(None, "largest speed of the actuators; null: any", unit="1/s", above=0)
    dead_zone: float = setting(0.0, "inputs of no more than this size move no actuator", low=0)
    backlash: float = setting(0.0, "width of the play behind the actuators", low=0)
    t_end: float = setting(20.0, "horizon", unit="s", above=0)
    seed: int | None = setting(None, "seed of the situation; null: the run's", low=0)

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        yield from _interval("limits", self.limits)
        moving = self.reference_signal
        if moving.kind in _WITH_AMPLITUDE and moving.amplitude == 0.0:
            yield (
                f"reference_signal of kind={moving.kind} has amplitude 0 and moves no reference; "
                "give reference_signal.amplitude, or kind=none"
            )


@dataclass
class SituationsConfig:
    """Which situations are taught (training) and which are kept for the verdict (test); by name."""

    taught: dict[str, SituationConfig] = setting(dict, "the search and the network see these only; empty: the plant's")
    validation: dict[str, SituationConfig] = setting(dict, "models are selected by these; empty: the plant's")
    unforeseen: dict[str, SituationConfig] = setting(dict, "used once, for the verdict; empty: the plant's")
    taught_spread: float = setting(0.0, "relative spread of the plant parameters among taught plants", low=0, below=1)
    taught_plants: int = setting(24, "number of taught plants, where they are spread", low=1)
    unforeseen_spread: float = setting(0.0, "relative spread of the plant parameters in the verdict", low=0, below=1)
    taught_delays: list[float] | None = setting(
        None, "delays of the commands: each taught situation is taught with each; null: their own", unit="s", low=0
    )
    taught_noises: list[float] | None = setting(
        None, "sensor noises (standard deviations): each taught situation with each; null: their own", low=0
    )
    noise: float = setting(0.0, "sensor noise of all situations (standard deviation); 0: their own", low=0)
    delay: float = setting(0.0, "delay of the commands in all situations; 0: their own", unit="s", low=0)
    output_delay: float = setting(0.0, "delay of the measurements in all situations; 0: their own", unit="s", low=0)
    jitter: float = setting(
        0.0, "sampling jitter of all situations, as a share of the sample time; 0: their own", low=0, high=1
    )
    quantisation: float = setting(0.0, "step of the converters in all situations; 0: their own", low=0)
    dropout: float = setting(0.0, "share of lost measurements in all situations; 0: their own", low=0, below=1)
    command_dropout: float = setting(0.0, "share of lost commands in all situations; 0: their own", low=0, below=1)
    rate_limit: float | None = setting(
        None, "largest speed of the actuators in all situations; null: their own", unit="1/s", above=0
    )
    dead_zone: float = setting(0.0, "dead zone of the actuators in all situations; 0: their own", low=0)
    backlash: float = setting(0.0, "play behind the actuators in all situations; 0: their own", low=0)

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        for name in ("taught_delays", "taught_noises"):
            values = getattr(self, name)
            if values is not None and len(set(values)) < max(1, len(values)):
                yield f"{name} must be different values, at least one, or null, got {values}"


@dataclass
class ControllerConfig:
    """The PID of every channel and the box in which its gains are searched."""

    low: list[float] | None = setting(None, "smallest kp, ki, kd; null: the plant's")
    high: list[float] | None = setting(None, "largest kp, ki, kd; null: the plant's")
    own_gains: list[float] | None = setting(None, "your present kp, ki, kd, to be compared with")
    limits: list[float] | None = setting(None, "command limits [low, high]; null: the plant's")
    rate_limit: float | None = setting(None, "largest rate of the command", unit="1/s", above=0)
    derivative_filter_time: float = setting(0.0, "time constant of the derivative's filter", unit="s", low=0)
    derivative_on: str = setting("error", "what the derivative acts on", choices=("error", "measurement"))
    anti_windup: str = setting(
        "conditional", "how the integral is kept from winding up", choices=("conditional", "back_calculation", "none")
    )
    tracking_time: float | None = setting(None, "time constant of back calculation", unit="s", above=0)
    rate_source: str = setting(
        "output", "error rate from the plant's rate output or by differencing", choices=("output", "difference")
    )
    action: str = setting("direct", "direct: more command raises the output", choices=("direct", "reverse"))
    sample_time: float | None = setting(None, "sample time; null: the integration step", unit="s", above=0)
    schedule_time: float | None = setting(
        None, "time between updates of scheduled gains; null: four samples", unit="s", above=0
    )

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        lows, highs = self.low or [], self.high or []
        if lows and highs and len(lows) != len(highs):
            yield f"low and high must have one entry a gain each, got {len(lows)} and {len(highs)}"
        for number, (low, high) in enumerate(zip(lows, highs, strict=False)):
            if not low <= high:
                yield f"low[{number}] must not exceed high[{number}], got {low} and {high}; swap them"
        yield from _interval("limits", self.limits)


@dataclass
class FitnessConfig:
    """What the search minimises; fields as in `sscq.Fitness`."""

    kind: str = setting(
        "tracking_and_entropy",
        "criterion; lexicographic: stability and constraints, then error, then entropy",
        choices=("tracking_and_entropy", "lexicographic", "entropy_magnitude", "entropy_square", "entropy_signed"),
    )
    tolerance: float = setting(
        0.05, "lexicographic: errors that differ by no more than this share may count as equal", low=1e-4, high=1
    )
    error: str = setting("iae", "tracking term", choices=("iae", "itae", "ise"))
    error_weight: float = setting(1.0, "weight of the tracking term", low=0)
    entropy_weight: float = setting(0.3, "weight of the entropy production difference's magnitude", low=0)
    travel_weight: float = setting(0.0, "weight of the actuator's travel (total variation)", low=0)
    effort_weight: float = setting(0.0, "weight of the control effort", low=0)
    relative: bool = setting(True, "divide each term by the reference controller's")
    aggregate: str = setting(
        "mean", "over situations; worst: minimax", choices=("mean", "mean_plus_std", "worst_share", "worst")
    )
    kappa: float = setting(1.0, "weight of the standard deviation in mean_plus_std", low=0)
    share: float = setting(0.25, "share of the situations in worst_share", above=0, high=1)
    travel_share: float = setting(
        0.95, "actuator travel that schedules may have when taught, as a share of the fixed PID's", above=0
    )
    travel_limit: float | None = setting(None, "largest mean actuator travel; null: free", above=0)
    saturation_limit: float | None = setting(
        None, "largest mean share of the time with a command at its limit; null: free", low=0, high=1
    )
    max_sensitivity: float | None = setting(1.8, "largest Ms at the operating points; null: no margins asked", above=1)
    min_delay_margin: float = setting(0.0, "smallest delay margin at the operating points", unit="s", low=0)

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        if self.max_sensitivity is None and self.min_delay_margin > 0.0:
            yield (
                f"min_delay_margin = {self.min_delay_margin} s is kept together with max_sensitivity, which is null; "
                "give one, if a generous one such as 10"
            )


@dataclass
class SearchConfig:
    """The search of every candidate: the genetic algorithm explores, CMA-ES polishes.

    Fields as in `sscq.GeneticAlgorithm`.
    """

    method: str = setting(
        "both",
        "genetic algorithm, CMA-ES, one after the other, or differential evolution",
        choices=("both", "genetic", "cmaes", "differential_evolution"),
    )
    population: int | None = setting(None, "individuals; null: by the number of genes", low=4)
    tournament: int = setting(3, "individuals compared in a selection", low=1)
    crossover: str = setting("sbx", "simulated binary or blend crossover", choices=("sbx", "blend"))
    p_crossover: float = setting(0.9, "share of the pairs that are crossed", low=0, high=1)
    eta_crossover: float = setting(15.0, "index of simulated binary crossover; larger: nearer to the parents", above=0)
    alpha: float = setting(0.3, "widening of blend crossover", above=0)
    p_mutation: float | None = setting(None, "probability that a gene mutates; null: 1 / genes", low=0, high=1)
    eta_mutation: float = setting(20.0, "index of polynomial mutation; larger: smaller moves", above=0)
    elite: int = setting(2, "best individuals kept unchanged", low=1)
    stall_generations: int | None = setting(15, "stop after so many generations without progress; null: go on", low=1)
    stall_tolerance: float = setting(1e-3, "relative change that counts as progress", low=0)
    tries: int = setting(
        2, "searches of a knowledge base, from the imitated rules and from the reference gains in turn; they share its "
        "budget, the validation situations choose", low=1
    )  # fmt: skip
    anchor_share: float = setting(
        0.1, "share of a knowledge base's evaluations for reference gains inside the margins, where the fixed PID lies "
        "on their limit; 0: the fixed PID's", low=0, below=0.5
    )  # fmt: skip
    coarse_share: float = setting(
        0.3, "share of a knowledge base's evaluations for gains over one input alone, where the search of all rules "
        "then starts; 0: none", low=0, below=0.5
    )  # fmt: skip
    renew_every: int | None = setting(
        None, "generations between new noise, the same for all individuals; null: the declared seeds throughout", low=1
    )


@dataclass
class TeacherConfig:
    """The search that makes the teaching signal; fields as in `sscq.Teacher`."""

    encoding: str = setting(
        "receding",
        "window after window, or all windows of a situation at once (stepwise: gains move by steps)",
        choices=("receding", "time_windows", "stepwise"),
    )
    gain_step: list[float] | None = setting(
        None, "gains move in steps of this size from their low on: one for all, or one each (0: any value)", low=0
    )
    most_steps: list[int] = setting(
        lambda: [1], "largest number of steps between two windows: one for all gains, or one each", low=1
    )
    pooling: str = setting(
        "rows",
        "weight of a taught situation in imitation: its rows as they are, the same for all, by 1 / J of fixed gains",
        choices=("rows", "equal", "reference"),
    )
    rounds: int = setting(
        1, "rounds of teaching; after the first, along the runs of the knowledge base of the round before", low=1
    )
    window: float | None = setting(
        None, "time between two decisions; null: a fortieth of the shortest taught situation", unit="s", above=0
    )
    horizon: float | None = setting(None, "how far ahead gains are judged; null: four windows", unit="s", above=0)
    continuations: int = setting(4, "fresh noise continuations that a gain set is averaged over", low=1)
    population: int = setting(24, "individuals in the search of one window", low=4)
    shrink: float = setting(0.05, "weight of the distance from the previous gains", low=0)
    clairvoyant: bool = setting(False, "let the search see the noise that will come; marked in the results")

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        if self.window is not None and self.horizon is not None and self.horizon < 2.0 * self.window:
            yield f"horizon must be at least two windows, got {self.horizon} s and {self.window} s"
        if self.encoding == "stepwise" and not self.gain_step:
            yield "gain_step is missing: encoding=stepwise needs the size of a step, such as gain_step=[0.5]"
        if self.encoding == "time_windows" and self.gain_step:
            yield f"gain_step = {self.gain_step} is for encoding=stepwise or receding, got encoding=time_windows"


_OF_MAMDANI = ("implication", "aggregation", "defuzzifier", "output_width", "output_points")


@dataclass
class NetworkConfig:
    """The fuzzy neural network and what is kept of it."""

    inputs: list[str] = setting(
        lambda: ["e", "e_rate"], "inputs of every channel: e, e_rate, z, and the plant's measurements by name"
    )
    terms: int | None = setting(3, "linguistic terms an input; null: searched for each", low=2, high=9)
    shape: str = setting(
        "triangular",
        "membership functions; search: the shape that tells most about the gains",
        choices=("triangular", "trapezoid", "gaussian", "bell", "search"),
    )
    mirrored: bool = setting(
        False, "the same gains for an error and for its mirror image: half as many numbers; for odd plants"
    )
    form: str = setting(
        "sugeno",
        "form of inference: a rule gives numbers (sugeno), fuzzy sets around them (mamdani), or sets that rise from "
        "the reference gains to them (tsukamoto)",
        choices=("sugeno", "mamdani", "tsukamoto"),
    )
    order: int = setting(
        0, "rules give constant gains (0), or with form sugeno gains linear in the inputs (1)", low=0, high=1
    )
    implication: str = setting(
        "minimum", "mamdani: a rule cuts its output set off (minimum) or scales it", choices=("minimum", "product")
    )
    aggregation: str = setting(
        "sum",
        "mamdani: how the rules' sets are joined; the centroid of the maximum is taken on a grid and is slow",
        choices=("sum", "maximum"),
    )
    defuzzifier: str = setting(
        "centroid", "mamdani: from the joined sets to a gain", choices=("centroid", "centre_average")
    )
    output_width: float = setting(
        0.25, "mamdani: half of an output set's base, as a share of the gain's box", above=0, high=1
    )
    output_points: int = setting(65, "mamdani: points of the grid for the centroid of a maximum", low=7, high=1001)
    rounds: int = setting(40, "rounds of hybrid training", low=0)
    learning_rate: float = setting(0.01, "step of the premises' gradient descent, in halves of the range", above=0)
    prior_weight: float = setting(1.0, "pull of every rule towards the reference gains, in rows", low=0)
    keep_firing: float = setting(0.99, "share of the total firing strength that the kept rules carry", above=0, high=1)
    max_rules: int = setting(25, "most rules kept", low=1)
    merge_within: float = setting(
        0.0, "rows of the teaching signal that differ by less, in shares of their ranges, become one", low=0, high=1
    )
    choose_inputs: bool = setting(
        False, "leave out inputs that tell nothing about the gains or that the closed loop does not need"
    )
    max_inputs: int | None = setting(
        None, "most inputs of a channel, the least valuable in closed loop go; null: no limit", low=1
    )
    input_loss: float = setting(
        0.005, "relative loss of closed-loop fitness that fewer inputs may cost, taught and validation", low=0
    )
    rule_loss: float = setting(
        0.005, "relative loss of closed-loop fitness that fewer rules may cost, taught and validation", low=0
    )

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        if self.form != "sugeno" and self.order != 0:
            yield f"order must be 0 with form {self.form}, got {self.order}; gains linear in the inputs are sugeno's"
        given = [f.name for f in fields(self) if f.name in _OF_MAMDANI and getattr(self, f.name) != f.default]
        if self.form != "mamdani" and given:
            yield f"{given[0]} is a setting of form mamdani, got form {self.form}; leave it out or use form=mamdani"
        fewest = math.ceil(2.0 * (1.0 + 2.0 * self.output_width) / self.output_width) + 1
        if self.form == "mamdani" and self.output_points < fewest:
            yield (
                f"output_points must be at least {fewest} for output_width {self.output_width:g}, got "
                f"{self.output_points}"
            )


@dataclass
class FrontConfig:
    """The trade-off front beside the ladder: what every share of tracking error buys, by non-dominated sorting."""

    of: str = setting("none", "whose front is searched", choices=("none", "fixed", "fixed_and_knowledge_base"))
    objectives: list[str] = setting(
        lambda: ["error", "entropy", "travel"],
        "what is traded off, tracking error first: error, entropy, travel, effort",
    )
    evaluations: int | None = setting(None, "closed-loop evaluations of each front; null: budget.evaluations", low=60)
    population: int | None = setting(None, "individuals, so the most points of a front; null: 100", low=4)
    choice: str = setting(
        "knee",
        "point that is judged beside the ladder: knee, or least entropy in the budget",
        choices=("knee", "budget"),
    )
    error_budget: float = setting(0.2, "budget: error above the least one, as a share of it", low=0)
    error_span: float = setting(2.0, "largest error still of use, in multiples of the fixed PID's", above=1)

    def complaints(self) -> Iterator[str]:
        """Yield what is wrong with several settings together."""
        known = ("error", "entropy", "travel", "effort")
        unknown = [name for name in self.objectives if name not in known]
        if unknown:
            yield f"objectives must be of {', '.join(known)}, got {unknown[0]!r}"
        elif len(self.objectives) < 2 or len(set(self.objectives)) != len(self.objectives):
            yield f"objectives must be two or more different ones, got {self.objectives}"
        elif self.objectives[0] != "error":
            yield f"objectives must begin with error, got {self.objectives}"
        elif self.choice == "budget" and "entropy" not in self.objectives:
            yield f"choice=budget takes the least entropy, which is not among the objectives {self.objectives}"


@dataclass
class LadderConfig:
    """Controllers of other schools, judged beside the knowledge base."""

    further: list[str] = setting(
        list,
        "gain table by margin design; hand-made 7x7 fuzzy PID; state feedback on all states (upper reference); "
        "knowledge base without imitation",
        choices=("all", "margin_table", "hand_made", "lqi", "direct"),
    )


@dataclass
class BudgetConfig:
    """How much computing a design may use; the same for all compared controllers."""

    evaluations: int = setting(20000, "closed-loop evaluations of every candidate of the ladder", low=60)
    teacher_generations: int = setting(6, "generations in the search of one window of the teaching signal", low=1)
    verdict_seeds: int = setting(20, "seeds of each unforeseen situation in the verdict", low=1)


@dataclass
class DesignConfig(RunConfig):
    """`sscq design`: from situations to a proven controller."""

    situations: SituationsConfig = setting(SituationsConfig, "")
    controller: ControllerConfig = setting(ControllerConfig, "")
    fitness: FitnessConfig = setting(FitnessConfig, "")
    search: SearchConfig = setting(SearchConfig, "")
    teacher: TeacherConfig = setting(TeacherConfig, "")
    network: NetworkConfig = setting(NetworkConfig, "")
    front: FrontConfig = setting(FrontConfig, "")
    budget: BudgetConfig = setting(BudgetConfig, "")
    ladder: LadderConfig = setting(LadderConfig, "")


@dataclass
class SimulateConfig(RunConfig):
    """`sscq simulate`: one plant without a controller."""

    t_end: float = setting(20.0, "horizon", unit="s", above=0)
    initial: list[float] | None = setting(None, "initial state; null: the plant's nominal one")
    parameters: dict[str, float] = setting(dict, "plant parameters that differ from their nominal values, by name")
    input: ExcitationConfig = setting(ExcitationConfig, "signal on the first input")
    inputs: dict[str, ExcitationConfig] = setting(dict, "signals on inputs by name: {name: {kind: step, ...}}")
    excitation: ExcitationConfig = setting(ExcitationConfig, "signal on the first disturbance")
    excitations: dict[str, ExcitationConfig] = setting(dict, "signals on disturbances by name")


@dataclass
class PresentConfig:
    """What a knowledge base is compared with beside its reference gains; its law is that of the knowledge base."""

    own_gains: list[float] | None = setting(None, "your present kp, ki, kd")


@dataclass
class EvaluateConfig(RunConfig):
    """`sscq evaluate`: a stored knowledge base in situations, against its reference gains."""

    plant: str | None = setting(None, "plant; null: the knowledge base's")  # type: ignore[assignment]  # only here
    kb: str | None = setting(None, "knowledge base file: knowledge_base.json of a run folder", file=True)
    sets: str = setting("unforeseen", "which of the situations", choices=("taught", "validation", "unforeseen", "all"))
    seeds: int = setting(20, "seeds of each validation and unforeseen situation", low=1)
    situations: SituationsConfig = setting(SituationsConfig, "")
    controller: PresentConfig = setting(PresentConfig, "")


def _interval(name: str, value: list[float] | None) -> Iterator[str]:
    if value is not None and (len(value) != 2 or not value[0] < value[1]):
        yield f"{name} must be [low, high] with low < high, got {value}"
