"""Whether the likelihood is right: logs of plants drawn from the priors, and where the truth lies among the members.

    python -m experiments.studies ranks                    # all logs, and the page
    python -m experiments.studies ranks 0 20               # the first twenty, printed only

If prior, likelihood and sampler are right, the share of the members below the truth is uniform between 0 and 1,
whatever the prior is (Talts and others, arXiv:1804.06788). A wrong likelihood that no table of coverage finds is found
here. The input is moved by hand, so that it says nothing of the plant; the structure is the one that made the log.
"""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from experiments.runtime.tables import markdown_table, text_table
from experiments.studies.engine.template import Template
from plants.core import atomic_files
from plants.identification.record import LoopRecord
from plants.identification.row import PER_CENT, Row, column, curved
from plants.identification.slow_filter import VAGUE
from plants.identification.two_lags import TWO_LAGS
from sscq.identification.ensemble import log_posterior
from sscq.identification.prior import LoopScales, TwoLagsPrior
from sscq.identification.sampler import sampled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

ROWS, STEP = 300, 1.0
ASKED = ("slope", "decay", "dead_time")
"""Parameters whose ranks have to be uniform."""

_SCALES = LoopScales(STEP, ROWS * STEP, 12.0, 15.0, 0.2, longest_dead_time=ROWS * STEP / 8.0)
_MIDDLE, _MOVE, _HELD = 40.0, 6.0, 25  # of the input; rows that each level is held
_BINS = 10


def drawn(number: int) -> tuple[Array, LoopRecord]:
    """Return parameters [n_parameters] from the prior, and a log of the plant that has them."""
    rng = np.random.default_rng([20261127, number])
    prior = TwoLagsPrior(_SCALES)
    parameters = prior.parameters(_from_prior(prior, rng)[None])
    return parameters[0], _record(parameters, rng)


def _from_prior(prior: TwoLagsPrior, rng: np.random.Generator) -> Array:
    """Coordinates drawn from the prior's density, each by its inverse distribution."""
    s, h = prior.scales, prior.scales.step
    y, u = math.log(s.output_range), math.log(s.input_range)
    low, high = -0.35, math.log1p(s.length / h)
    negative = -low * math.exp(-1.0)
    place = low * rng.random() if rng.random() < negative / (negative + high) else high * rng.random()
    decay = math.copysign(math.expm1(abs(place)) / s.length, place)
    slowest = min(s.length / 3.0, 1.0 / decay) if decay > 0.0 else s.length / 10.0
    noise = -math.inf
    while noise < y + math.log(1e-4):
        noise = y + math.log(0.02) + 2.5 * rng.standard_normal()
    values = {
        "slope": math.log(s.output_range / s.input_range / 20.0) + 3.0 * rng.standard_normal(),
        "decay": place,
        "lag": rng.uniform(math.log(0.2 * h), math.log(slowest)),
        "dead_time": 2.0 * h * (math.exp(rng.random() * math.log1p(s.longest_dead_time / (2.0 * h))) - 1.0),
        "noise": noise,
        "load": u + math.log(0.1) + 2.5 * rng.standard_normal(),
        "walk": u + math.log(0.01) + 2.0 * rng.standard_normal(),
        "load_time": rng.uniform(math.log(0.3 * h), math.log(s.length / 10.0)),
        "curve": s.curve_deviation * rng.standard_normal(),
    }
    return np.array([values[name] for name in TWO_LAGS.parameters])


def _record(parameters: Array, rng: np.random.Generator) -> LoopRecord:
    """A log of a plant whose input is moved by hand, in exact steps, with loads and noise of its own."""
    row = Row.of(TWO_LAGS, parameters, STEP)
    noise, load, walk, curve = (float(column(TWO_LAGS, parameters, n)[0]) for n in ("noise", "load", "walk", "curve"))
    levels = _MIDDLE + _MOVE * rng.uniform(-1.0, 1.0, ROWS // _HELD + 1)
    given = np.repeat(levels, _HELD)[:ROWS]
    acting = curved(given - np.median(given), curve)
    state, drift = _begun(parameters, acting[0], noise, rng)
    coloured, late = load * rng.standard_normal(), int(row.rows[0])
    fading, output = float(row.fading[0]), np.empty(ROWS)
    for k in range(ROWS):
        output[k] = state[1] + noise * rng.standard_normal()
        before, after = acting[max(k - late - 1, 0)], acting[max(k - late, 0)]
        state = row.whole.states[0] @ state + row.before[0] * before + row.after[0] * after
        state = state + row.whole.input[0] * (drift + coloured)
        drift += walk * math.sqrt(STEP) * rng.standard_normal()
        coloured = fading * coloured + load * math.sqrt(1.0 - fading**2) * rng.standard_normal()
    return LoopRecord(50.0 + output, given, STEP)


def _begun(parameters: Array, acting: float, noise: float, rng: np.random.Generator) -> tuple[Array, float]:
    """Inner state, output and walking load before the first row, as vague as the filter takes them to be."""
    start = TWO_LAGS.start(parameters, PER_CENT)
    together = np.array([[start.variance[0], start.shared[0]], [start.shared[0], VAGUE]])
    inner, drift = np.linalg.cholesky(together) @ rng.standard_normal(2)
    return np.array([acting + inner, math.sqrt(4.0 * noise**2 + 1.0) * rng.standard_normal()]), float(drift)


def rank(number: int) -> dict[str, float]:
    """Return the share of the members below the truth, of each parameter that is asked for."""
    true, record = drawn(number)
    prior = TwoLagsPrior(_SCALES)
    density = partial(log_posterior, (record,), prior, 1.0, PER_CENT, None)
    sample = sampled(density, prior.draws, prior.asked, number)
    members = prior.parameters(sample.members)
    places = {name: TWO_LAGS.parameters.index(name) for name in ASKED}
    shares = {name: float((members[:, place] < true[place]).mean()) for name, place in places.items()}
    return shares | {"r_hat": sample.spread_ratio}


# ---------------------------------------------------------------------------------------------------------------- page


def main(words: Sequence[str]) -> None:
    """Rank what is missing and print the tests; without words write the page."""
    template = Template.of("ranks")
    first, count = (int(word) for word in words) if words else (0, int(template.head["logs"]))
    folder = Path(template.head["runs"])
    folder.mkdir(parents=True, exist_ok=True)
    found = [_kept(folder / f"{number}.json", number) for number in range(first, count)]
    print(text_table(_HEAD, rows(found)))
    if not words:
        atomic_files.write(Path(template.head["page"]), page(template, found))


def _kept(path: Path, number: int) -> dict[str, float]:
    if not path.exists():
        atomic_files.write(path, json.dumps(rank(number), indent=1) + "\n")
    found: dict[str, float] = json.loads(path.read_text(encoding="utf-8"))
    print(f"{number}: " + ", ".join(f"{name} {value:.3f}" for name, value in found.items()), flush=True)
    return found


_HEAD = ("parameter", "logs", "Kolmogorov-Smirnov p", "mean (0.5)", *(f"{k / _BINS:g}" for k in range(_BINS)))


def rows(found: Sequence[dict[str, float]]) -> list[tuple[str, ...]]:
    """Return of each parameter the test of uniformity, the mean, and how many shares are in each tenth."""
    told = []
    for name in ASKED:
        shares = np.array([one[name] for one in found])
        counts, _ = np.histogram(shares, _BINS, (0.0, 1.0))
        p = float(stats.kstest(shares, "uniform").pvalue)
        told.append((name.replace("_", " "), str(len(shares)), f"{p:.3f}", f"{shares.mean():.3f}", *map(str, counts)))
    return told


def page(template: Template, found: Sequence[dict[str, float]]) -> str:
    """Return the page of what was found."""
    values: dict[str, Any] = {
        "logs": len(found),
        "table": markdown_table(_HEAD, rows(found)),
        "unsettled": sum(one["r_hat"] > 1.1 for one in found),
    }
    return template.page(values)
