"""The scheduler as an ONNX graph, operation by operation from its tapes, and the proof by onnxruntime.

No network library is needed to write it; all numbers are in double precision.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from flcs.export.proof import Proof, compared, unchecked
from flcs.export.scheduler import scheduler_job

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from flcs.export.job import Job
    from flcs.export.machine import Machine, MachinePart

    Array = NDArray[np.float64]


OPSET, IR = 17, 8
_SIMPLE = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "quotient": "Div", "neg": "Neg", "abs": "Abs",
    "sqrt": "Sqrt", "exp": "Exp", "log": "Log", "tanh": "Tanh", "tan": "Tan", "asin": "Asin", "acos": "Acos",
    "sin": "Sin", "cos": "Cos", "floor": "Floor", "sign": "Sign", "pow": "Pow",
}  # fmt: skip


class Graph:
    """Nodes and constants of one graph as they arise."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: dict[str, np.ndarray] = {}

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """Return the name of a constant, each number once."""
        array = np.asarray(value, dtype=dtype)
        name = f"c{len(self.constants)}"
        for known, other in self.constants.items():
            if other.dtype == array.dtype and other.shape == array.shape and other.tobytes() == array.tobytes():
                return known
        self.constants[name] = array
        return name

    def node(self, kind: str, inputs: Iterable[str], output: str = "", **attributes: Any) -> str:
        """Add a node and return its output's name."""
        from onnx import helper

        name = output or f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def column(self, table: str, place: int) -> str:
        """Return a column [batch] of a table [batch, n]."""
        return self.node("Gather", [table, self.constant(place, np.int64)], axis=1)


def model(machine: Machine) -> bytes:
    """Return the graph of a machine as an ONNX file.

    Raises
    ------
    ImportError
        If the package ``onnx`` is not installed.
    ValueError
        If a part does not run in every sample: a graph has no counter.
    KeyError
        If ONNX has no form for an operation.
    """
    from onnx import TensorProto, checker, helper, numpy_helper

    if any(part.every != 1 for part in machine.parts):
        raise ValueError("an ONNX graph is one sample of a machine whose parts all run in every one: the scheduler's")
    graph, names = Graph(), tuple(machine.memory)
    slots = {name: graph.column("memory", place) for name, place in machine.places.items()}
    slots |= {signal.name: graph.column("inputs", k) for k, signal in enumerate(machine.inputs)}
    for part in machine.parts:
        slots |= dict(zip(part.writes, _printed(graph, part, slots), strict=True))
    _table(graph, [slots[signal.name] for signal in machine.outputs], slots, "outputs")
    _table(graph, [slots[name] for name in names], slots, "new_memory")
    widths = {"inputs": len(machine.inputs), "memory": len(names), "outputs": len(machine.outputs)}
    widths["new_memory"] = len(names)
    values = {n: helper.make_tensor_value_info(n, TensorProto.DOUBLE, ["batch", w]) for n, w in widths.items()}
    initial = [numpy_helper.from_array(array, name) for name, array in graph.constants.items()]
    made = helper.make_graph(
        graph.nodes, machine.name, [values["inputs"], values["memory"]], [values["outputs"], values["new_memory"]],
        initial, doc_string=machine.text,
    )  # fmt: skip
    found = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="sscq", ir_version=IR)
    helper.set_model_props(found, described(machine))
    checker.check_model(found, full_check=True)
    return bytes(found.SerializeToString(deterministic=True))


def described(machine: Machine) -> dict[str, str]:
    """Return what the file says about itself: names of the columns, units, first memory, sample time."""
    return {
        "inputs": ",".join(s.name for s in machine.inputs),
        "input_units": ",".join(s.unit or "1" for s in machine.inputs),
        "outputs": ",".join(s.name for s in machine.outputs), "memory": ",".join(machine.memory),
        "first_memory": ",".join(map(repr, machine.memory.values())), "sample_time": repr(machine.sample_time),
    }  # fmt: skip


def _table(graph: Graph, columns: list[str], slots: dict[str, str], name: str) -> None:
    """Columns [batch] side by side; constants are spread over the batch."""
    one = next(iter(slots.values()))  # any column gives the batch's size
    size = graph.node("Shape", [one])
    axis, wide = graph.constant([1], np.int64), []
    for column in columns:
        spread = graph.node("Expand", [column, size]) if column in graph.constants else column
        wide.append(graph.node("Unsqueeze", [spread, axis]))
    graph.node("Concat", wide, name, axis=1)


def _printed(graph: Graph, part: MachinePart, slots: dict[str, str]) -> list[str]:
    """Names of the values that a part writes."""
    tape, texts = part.program.tape, dict[int, str]()
    for node in tape.needed(part.program.outputs):
        name, arguments = tape.operations[node], [texts[a] for a in tape.arguments[node]]
        if node in tape.input_names:
            texts[node] = slots[tape.input_names[node]]
        elif name == "const":
            texts[node] = graph.constant(tape.constants[node])
        elif name == "keep":
            texts[node] = arguments[0]
        else:
            texts[node] = _operation(graph, name, arguments)
    return [texts[node] for node in part.program.outputs]


def _operation(graph: Graph, name: str, args: list[str]) -> str:
    if name == "where":
        return graph.node("Where", [graph.node("Greater", [args[0], graph.constant(0.0)]), *args[1:]])
    if name in {"minimum", "maximum"}:
        kind = "Less" if name == "minimum" else "Greater"
        return graph.node("Where", [graph.node(kind, args), *args])
    if name not in _SIMPLE:
        message = f"ONNX has no operation for {name!r}"
        raise KeyError(message)
    return graph.node(_SIMPLE[name], args)


TARGET, BOUND = "onnx", 1e-12


def files(job: Job) -> dict[str, bytes]:
    """Return the graph; nothing where the package ``onnx`` is missing."""
    if find_spec("onnx") is None:
        return {}
    machine = scheduler_job(job).machine
    return {f"{machine.name}.onnx": model(machine)}


def prove(job: Job, folder: Path) -> Proof:
    """Run the graph in onnxruntime sample after sample, its memory going round."""
    for package in ("onnx", "onnxruntime"):
        if find_spec(package) is None:
            written = "" if package == "onnxruntime" else "not written: "
            return unchecked(TARGET, f"{written}{package} is not installed (pip install {package})")
    import onnxruntime

    alone = scheduler_job(job)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        str(folder / f"{alone.machine.name}.onnx"), options, providers=["CPUExecutionProvider"]
    )
    found = {name: _run(session, rows, alone) for name, rows in alone.sequences.items()}
    size = (folder / f"{alone.machine.name}.onnx").stat().st_size
    return compared(alone, TARGET, f"onnxruntime {onnxruntime.__version__}", BOUND, found, bytes=size)


def _run(session: object, rows: Array, job: Job) -> Array:
    memory = np.array([list(job.machine.memory.values())])
    taken = np.empty((len(rows), len(job.machine.outputs)))
    for k, row in enumerate(rows):
        out, memory = session.run(None, {"inputs": row[None, :], "memory": memory})  # type: ignore[attr-defined]
        taken[k] = out[0]
    return taken
