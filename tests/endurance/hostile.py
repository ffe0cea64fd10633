"""Rollouts with gains that nobody should try, beside sane ones: they may not move a bit of their neighbours.

    python -m tests.endurance.hostile 100000000

In each call of the kernel some candidates have sane gains and the others, in lanes beside them, hostile ones: huge,
tiny, denormal, of any sign, also infinite and NaN, which `sscq.evaluate` refuses. The sane ones' measures must be, to the
bit, those that they have alone, and every fitness a finite number, so that no search is misled. Exit code 1, and the
gains, where that is not so.
"""

from __future__ import annotations

import argparse
import itertools
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

import plants
import sscq
from controllers import PID
from plants.core.kernel.kernel import LANES
from sscq.fitness.fitness import KINDS, Fitness
from sscq.loop.closed_loop import ClosedLoop
from tests.endurance.kills import Failure

if TYPE_CHECKING:
    from sscq.loop.quality import Quality

PLANTS = ("fopdt", "van_der_pol", "nonlinear_inertia", "dc_motor")
STEPS = 6
CANDIDATES, SANE = 4096, 1024
"""Of a call: all, and those with sane gains."""
STRANGE = np.array([0.0, 5e-324, 1e-310, 1e-300, 1e-30, 1e9, 1e30, 1e150, 1e155, 1e300, 1.7e308, np.inf, np.nan])


def bits(found: Quality) -> np.ndarray:
    """Return all measures and times of divergence [measure, situation, candidate] as integers."""
    return np.stack([*found.until_lost.values(), found.diverged_at]).view(np.int64)


class Company:
    """The loop of a plant, sane gains and what they give alone.

    Parameters
    ----------
    name : str
        Of a plant.
    rng : numpy.random.Generator
    """

    def __init__(self, name: str, rng: np.random.Generator) -> None:
        plant = plants.get(name)
        pool = [situation for several in sscq.standard_sets(plant).values() for situation in several]
        situations = [replace(s, name=f"{k}", t_end=STEPS * plant.step) for k, s in enumerate(pool[:4])]
        self.name, self.rng = name, rng
        self.loop = ClosedLoop(plant, (PID(),) * len(plant.channels), situations, plant.step)
        self.gains = rng.uniform(0.1, 3.0, (SANE, 3 * len(plant.channels)))
        self.alone = bits(self.loop.evaluate(self.gains, 1))
        self.rollouts = CANDIDATES * len(situations)

    def hostile(self, count: int) -> np.ndarray:
        """Return gains [count, n], at least one of each row strange."""
        shape = (count, self.gains.shape[1])
        strange = self.rng.choice(STRANGE, shape) * self.rng.choice((-1.0, 1.0), shape)
        gains = np.where(self.rng.random(shape) < 0.5, strange, self.rng.uniform(-3.0, 3.0, shape))
        place = self.rng.integers(shape[1], size=count)
        gains[np.arange(count), place] = strange[np.arange(count), place]
        return gains

    def call(self) -> int:
        """Run sane and hostile gains side by side; return the number of rollouts.

        Raises
        ------
        Failure
        """
        places = self.rng.permutation(CANDIDATES)
        sane, wild = places[:SANE], places[SANE:]
        gains = np.empty((CANDIDATES, self.gains.shape[1]))
        gains[sane], gains[wild] = self.gains, self.hostile(len(wild))
        found = self.loop.evaluate(gains, 1)
        moved = np.unique(np.nonzero(bits(found)[:, :, sane] != self.alone)[2])
        if moved.size:
            begin = sane[moved[0]] // LANES * LANES
            lanes = gains[begin : begin + LANES]
            raise Failure(f"{self.name}: gains {self.gains[moved[0]]} are moved by one of their neighbours:\n{lanes}")
        for kind in KINDS:
            wrong = np.nonzero(~np.isfinite(Fitness(kind)(found)))[0]
            if wrong.size:
                raise Failure(f"{self.name}: gains {gains[wrong[0]]} have a {kind} that is not finite")
        return self.rollouts


def endure(count: int, seed: int = 0) -> int:
    """Run at least so many rollouts; return how many; Failure as for `Company.call`."""
    rng = np.random.default_rng(seed)
    companies, done = itertools.cycle([Company(name, rng) for name in PLANTS]), 0
    with np.errstate(all="ignore"):
        while done < count:
            done += next(companies).call()
    return done


def main() -> None:
    """Run as many rollouts as asked, and say how fast."""
    parser = argparse.ArgumentParser(description="Hostile gains beside sane ones: neighbours keep every bit.")
    parser.add_argument("count", type=int, nargs="?", default=1_000_000, help="rollouts (default: 1 000 000)")
    parser.add_argument("--seed", type=int, default=0)
    options, begun = parser.parse_args(), time.monotonic()
    try:
        done = endure(options.count, options.seed)
    except Failure as failure:
        print(f"WRONG: {failure}")
        raise SystemExit(1) from None
    took = time.monotonic() - begun
    print(f"{done} rollouts in {took:.0f} s, {done / took:.0f} a second: no neighbour was moved")


if __name__ == "__main__":
    main()
