"""In JAX on the GPU, in a process of its own: ``python -m benchmarks.gpu.jax_loop CANDIDATES STEPS ROUNDS``."""

from __future__ import annotations

import json
import sys
import time

import numpy as np

from benchmarks.engine import case, jax_peer

FLAGS = {"JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cuda", "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}


def main(n: int, n_steps: int, rounds: int) -> None:
    """Print times [s], that of the first call, and the largest relative difference from the CPU's lanes."""
    import jax

    loop, gains = case.closed_loop(n_steps), case.gains(n)
    run = jax_peer.compiled(loop, n_steps)
    on_device = jax.device_put(gains)
    begin = time.perf_counter()
    found = run(on_device).block_until_ready()
    first = time.perf_counter() - begin
    seconds = []
    for _ in range(rounds):
        begin = time.perf_counter()
        run(on_device).block_until_ready()
        seconds.append(time.perf_counter() - begin)
    few = min(n, 1024)
    ours = case.table(loop.evaluate(gains[:few], 1))
    difference = float(np.max(np.abs(np.asarray(found)[:few, 1:] - ours) / np.abs(ours)))
    print(json.dumps({"seconds": seconds, "first": first, "difference": difference, "version": jax.__version__}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
