"""Knowledge bases to export, of one and of several channels, and jobs of a few short situations."""

from dataclasses import replace

import numpy as np

import plants
import sscq
from controllers import PID, pid_form
from flcs import Inference, KnowledgeBase, RuleBase, Variable
from flcs.export.controller import installed
from flcs.export.guard import Guard
from flcs.export.job import Job
from flcs.export.recording import recordings
from flcs.inference.rule_base import full_grid


def rule_base(plant, channel, names, law, seed, shape="triangular"):
    """A rule base whose rules all say something else."""
    rng = np.random.default_rng(seed)
    variables = tuple(Variable(n, "", -1.0, 1.0, (-1.0, 0.1, 1.0), shape=shape) for n in names)
    reference = tuple(0.5 * (a + b) for a, b in zip(channel.gains_low, channel.gains_high, strict=True))
    rules = []
    for rule in full_grid([3] * len(names), reference):
        share = rng.uniform(0.8, 1.2, 3)
        rules.append(replace(rule, gains=tuple(float(s * g) for s, g in zip(share, reference, strict=True))))
    limit = 0.5 if "z" in names else None
    return RuleBase(
        channel.output, variables, tuple(rules), channel.gains_low, channel.gains_high, reference, integral_limit=limit,
        law=pid_form.describe(law),
    )  # fmt: skip


def knowledge_base(name="van_der_pol", shape="triangular", law=None, slew=None, tick=0.03):
    """A knowledge base of three terms an input; the first channel integrates, the last one reads another output."""
    plant = plants.get(name)
    law = law or PID(sample_time=0.01, derivative_filter_time=0.03)
    inputs = [["e", "e_rate"] for _ in plant.channels]
    inputs[0] = ["e", "z"]
    if len(inputs) > 1:
        inputs[-1] = ["e", plant.measurements[-1].name]
    bases = tuple(
        rule_base(plant, channel, names, law, k, shape)
        for k, (channel, names) in enumerate(zip(plant.channels, inputs, strict=True))
    )
    numbers = {q.name: q.nominal for q in plant.parameters}
    return KnowledgeBase(name, bases, Inference(), tick=tick, slew=slew, plant_parameters=numbers)


def job_of(kb, situations, guard=None, step=0.005, **more):
    """A job; situations are given as keywords."""
    plant, guard = plants.get(kb.plant), guard or Guard()
    machine = installed(kb, plant, step, guard)
    several = tuple(sscq.Situation(**{"name": f"s{k}", "t_end": 1.0, **s}) for k, s in enumerate(situations))
    seen = tuple(recordings(kb, plant, several, step, machine))
    return Job(kb, plant, step, machine, seen, several, guard=guard, **more)


def page_job():
    """The job whose program the documentation's pages show."""
    return job_of(knowledge_base(law=PID(sample_time=0.01)), ({"reference": 1.0},))


def page_lines(job):
    """What that program prints: three samples at a reference of 1 and a position of 0.1."""
    given = {"r_position": 1.0, "position": 0.1, "authority": 1.0}
    found = job.machine.run([[given.get(signal.name, 0.0) for signal in job.machine.inputs]] * 3)
    u, kp = (found[:, [s.name for s in job.machine.outputs].index(name)] for name in ("u_force", "gain_kp"))
    return [f"u = {a:.6f}, kp = {b:.3f}, fault = 0" for a, b in zip(u, kp, strict=True)]
