"""Run the benchmarks: ``python -m benchmarks [--quick] [name ...]``; results in benchmarks/results.

``python -m benchmarks structure [--against REVISION]`` prints the shape of the code itself.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import as_written, slopes
from benchmarks.accuracy import loops, orders
from benchmarks.engine import (
    closed_loop,
    compilation,
    compile_growth,
    context,
    first_result,
    inference_forms,
    jax_peer,
    lane_sizes,
    log_filter,
    peak_memory,
    python_peers,
    scaling,
)
from benchmarks.gpu import families
from benchmarks.gpu import loops as gpu_loops
from benchmarks.mechanics import contacts, derivation, expression_size, formulations, lost_by_form, sharing, two_ways
from benchmarks.runner import machine, report
from benchmarks.runner.size import FULL, QUICK
from benchmarks.search import design_share, generations, margins_asked
from benchmarks.structure import command as structure
from benchmarks.vehicles.balancing_vehicle import runs
from benchmarks.vehicles.suspension import loop
from benchmarks.vehicles.unicycle import loop as unicycle_loop

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.runner.size import Size

BENCHMARKS: dict[str, Callable[[Size], report.FigureSection]] = {
    "million": closed_loop.million,
    "memory": peak_memory.memory,
    "lanes": lane_sizes.lanes,
    "log_filter": log_filter.log_filter,
    "against_c": closed_loop.against_c,
    "jax": jax_peer.jax_loop,
    "gpu": gpu_loops.gpu_loops,
    "gpu_families": families.gpu_families,
    "loops": loops.loops,
    "orders": orders.orders,
    "work_precision": loops.work_precision,
    "scaling": scaling.scaling,
    "slopes": slopes.slopes,
    "single_precision": lane_sizes.single_precision,
    "python_peers": python_peers.peers,
    "context": context.context,
    "contacts": contacts.contacts,
    "sharing": sharing.sharing,
    "compiling": compilation.compiling,
    "as_written": as_written.as_written,
    "compile_growth": compile_growth.compile_growth,
    "expression_size": expression_size.expression_size,
    "start": first_result.start,
    "design_share": design_share.design_share,
    "search_operators": generations.search_operators,
    "margins_asked": margins_asked.margins_asked,
    "gymnasium_lanes": context.gymnasium_lanes,
    "inference_forms": inference_forms.inference_forms,
    "two_ways": two_ways.two_ways,
    "formulations": formulations.formulations,
    "drift": lost_by_form.drifts,
    "singular_position": lost_by_form.singular_position,
    "derivation": derivation.derivation,
    "suspension_loop": loop.suspension_loop,
    "unicycle_loop": unicycle_loop.unicycle_loop,
    "vehicle_lanes": runs.vehicle_lanes,
}


def main(arguments: list[str] | None = None) -> list[report.FigureSection]:
    """Run what was asked for, print it and write it."""
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["structure"]:
        structure.main(words[1:])
        return []
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"which: {', '.join(BENCHMARKS)}; left out: all")
    parser.add_argument("--quick", action="store_true", help="small sizes: the figures mean nothing, the paths are run")
    parser.add_argument("--folder", type=Path, default=report.FOLDER, help="where results go (default: %(default)s)")
    chosen = parser.parse_args(words)
    for name in chosen.names:
        if name not in BENCHMARKS:
            parser.error(f"no benchmark {name!r}; known: {', '.join(BENCHMARKS)}")
    about, sections, begin = machine.describe(), [], time.perf_counter()
    if chosen.quick:
        about["sizes"] = "quick: the paths are run, the figures mean nothing"
    for name in chosen.names or BENCHMARKS:
        print(f"[{time.perf_counter() - begin:5.1f} s] {name} ...", flush=True)
        sections.append(BENCHMARKS[name](QUICK if chosen.quick else FULL))
    print(report.markdown(sections, about))
    path = report.write(sections, about, chosen.folder)
    print(f"{time.perf_counter() - begin:.0f} s; written to {path} and JSON files beside it")
    return sections


if __name__ == "__main__":
    main()
