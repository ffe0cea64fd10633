"""One fuzzy inference (9 rules, 3 gains) in the compiled loop, in every form, against scikit-fuzzy's control system."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.engine import case
from benchmarks.runner.report import FigureSection
from experiments.runtime.timing import Timing, alternate, clock
from flcs import FuzzyController, Inference, KnowledgeBase, RuleBase, Variable
from flcs.inference.output_sets import OutputSets
from flcs.inference.rule_base import full_grid
from sscq import evaluate

if TYPE_CHECKING:
    from benchmarks.runner.size import Size

_CANDIDATES = 256
_AGREE = 0.02  # of the gain box: the kernel's grid of 65 points, and crossings of sets that neither has as a point
FORMS = {
    "Sugeno": Inference(),
    "Tsukamoto": Inference(form="tsukamoto"),
    "Mamdani, centroid of the sum": Inference(form="mamdani"),
    "Mamdani, centroid of the maximum": Inference(form="mamdani", output=OutputSets(aggregation="maximum")),
}


def inference_forms(size: Size) -> FigureSection:
    """Time steps of the loop with an inference each, and with rules that are all off; and scikit-fuzzy's inference."""
    section = FigureSection("inference_forms", "Forms of fuzzy inference: 9 rules, 3 gains, one inference a step")
    kb = knowledge_base()
    check(kb)
    calls = {name: _loop(replace(kb, inference=how), size.steps) for name, how in FORMS.items()}
    none = kb.with_channel(0, kb.channels[0].switched([False] * 9))
    calls["no rule"] = _loop(none, size.steps)
    times = alternate(calls, max(1, size.rounds // 16))
    steps = {name: timing.per(_CANDIDATES * size.steps) for name, timing in times.items()}
    theirs = Timing(tuple(clock(_scikit(kb)) for _ in range(max(2, size.repeats))))
    section.time("one inference, scikit-fuzzy", theirs, "ms", 1e3, "minimum, maximum, centroid")
    section.time("a step of the loop without one", steps["no rule"], "ns", 1e9)
    for name in FORMS:
        section.time(f"a step with one inference, {name}", steps[name], "ns", 1e9)
        more = steps[name].best - steps["no rule"].best
        section.figure(f"one inference: the difference, {name}", more * 1e9, "ns", "of the best times")
        values = (theirs.best / steps[name].best, theirs.median / steps[name].median)
        section.ratio(f"scikit-fuzzy's inference / such a whole step, {name}", values)
    section.counts = {"rollouts side by side": _CANDIDATES, "steps": size.steps}
    return section


def knowledge_base(seed: int = 0) -> KnowledgeBase:
    """Return a rule base on error and error rate with random gains in the benchmarks' box."""
    e, rate = (Variable(name, "", -2.0, 2.0, (-1.5, 0.0, 1.5)) for name in ("e", "e_rate"))
    low, high = case.LOW, case.HIGH
    rng = np.random.default_rng(seed)
    rules = [replace(rule, gains=tuple(rng.uniform(low, high))) for rule in full_grid((3, 3), low)]
    base = RuleBase("position", (e, rate), tuple(rules), low, high, (4.0, 1.0, 3.0))
    return KnowledgeBase("van_der_pol", (base,), tick=case.STEP)


def _loop(kb: KnowledgeBase, n_steps: int) -> Any:
    controller, situation = FuzzyController(kb).frozen(), case.situation(n_steps)
    nothing = np.zeros((_CANDIDATES, 0))
    return lambda: evaluate(case.PLANT, controller, nothing, situation, case.STEP, measures=("iae",), threads=1)


def scikit_fuzzy(kb: KnowledgeBase) -> Any:
    """Return the same rules as scikit-fuzzy's control system: sets cut off, maximum, centroid."""
    import skfuzzy
    from skfuzzy import control

    base, sets = kb.channels[0], OutputSets()
    inputs = []
    for v in base.inputs:
        antecedent = control.Antecedent(np.unique([v.low, *v.centres, v.high]), v.name)
        for j, label in enumerate(v.labels):
            antecedent[label] = np.interp(antecedent.universe, v.centres, np.eye(v.n_terms)[j])
        inputs.append(antecedent)
    outputs = []
    for k, (name, low, high) in enumerate(zip(base.gain_names, base.low, base.high, strict=True)):
        span = high - low
        gains = [rule.gains[k] for rule in base.rules]
        output = control.Consequent(np.unique([*(low + span * np.array(sets.nodes)), *gains]), name)
        for number, gain in enumerate(gains):
            half = sets.width * span
            output[f"set {number}"] = skfuzzy.trimf(output.universe, [gain - half, gain, gain + half])
        outputs.append(output)
    rules = []
    for number, rule in enumerate(base.rules):
        one, two = (a[v.labels[t]] for a, v, t in zip(inputs, base.inputs, rule.terms, strict=True))
        said = [output[f"set {number}"] for output in outputs]
        rules.append(control.Rule(one & two, said, and_func=np.multiply))
    return control.ControlSystemSimulation(control.ControlSystem(rules), cache=False)


def answer(simulation: Any, point: np.ndarray) -> list[float]:
    """Return scikit-fuzzy's gains at error and error rate."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of NumPy, about a call within scikit-fuzzy
        simulation.input["e"], simulation.input["e_rate"] = (float(value) for value in point)
        simulation.compute()
    return [float(simulation.output[name]) for name in ("kp", "ki", "kd")]


def _scikit(kb: KnowledgeBase) -> Any:
    simulation = scikit_fuzzy(kb)
    points = iter(np.random.default_rng(1).uniform(-2.0, 2.0, (1_000, 2)))
    return lambda: answer(simulation, next(points))


def check(kb: KnowledgeBase) -> None:
    """Raise if scikit-fuzzy does not give the gains that the knowledge base gives."""
    simulation, span = scikit_fuzzy(kb), np.subtract(case.HIGH, case.LOW)
    same = replace(kb, inference=replace(FORMS["Mamdani, centroid of the maximum"], fallback=1e-3))
    for point in np.random.default_rng(2).uniform(-2.0, 2.0, (5, 2)):
        difference = np.abs(same.gains([point])[0] - answer(simulation, point)) / span
        if not difference.max() <= _AGREE:
            message = f"scikit-fuzzy differs by {difference.max():.1e} of the box, expected at most {_AGREE:g}"
            raise RuntimeError(message)
