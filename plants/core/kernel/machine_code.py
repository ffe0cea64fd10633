"""Machine code of a generated source: compiled once, then an object file that LLVM loads alone.

The object needs neither the compiler nor Python: plain numbers and arrays in, no allocation, no reference counts, no
exceptions.

``SSCQ_CPU_NAME`` and ``SSCQ_CPU_FEATURES`` in the environment name another processor in LLVM's words than the one that
this process runs on, such as ``haswell`` and ``+avx2,+fma``.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from plants.core.tracing import calls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SYMBOL = "sscq_kernel"
IN_PIECES = "IN_PIECES"
"""Number that a source names whose long loops are cut: LLVM's time counts more there than the last per cent of speed,
and short loops must not be unrolled before they are vectorised."""
_options = threading.Lock()
"""LLVM's options are those of the process."""


class MachineCode:
    """A compiled function without a result; its calls release Python's lock.

    Parameters
    ----------
    code : bytes
        Object file with the symbol :data:`SYMBOL`.
    arguments : sequence of str
        Types: ``int64``, ``float64``, or a contiguous array such as ``float64[:,::1]``.
    """

    def __init__(self, code: bytes, arguments: Sequence[str]) -> None:
        self.arguments = tuple(arguments)
        self._kinds = [(np.dtype(text.partition("[")[0]), text.count(":")) for text in arguments]
        places = [kind for dtype, colons in self._kinds for kind in _places(dtype, _dimensions(colons))]
        self._engine, address = _load(code)  # the machine code lives as long as its engine
        self._call = ctypes.CFUNCTYPE(None, *places)(address)

    def __call__(self, *values: Any) -> None:
        """Call it with numbers and contiguous arrays of the declared types; what it fills must be writable.

        Raises
        ------
        TypeError
            If an array has another type or layout: the machine code takes addresses.
        """
        self._call(*self._flat(values))

    def bound(self, *values: Any) -> Callable[[], None]:
        """Return the call with these arguments, to be made again and again while the arrays stay in place.

        Looking up the arrays' addresses takes longer than a short run of a kernel.
        """
        return functools.partial(_call_keeping, self._call, self._flat(values), (self, values))

    def prepared(self, *values: Any) -> Callable[..., None]:
        """Return the call with these arguments; None stands for what is given to each call, in this order.

        For kernels that take less time than looking up all their arguments does.
        """
        flat: list[Any] = []
        later: list[tuple[slice, int]] = []
        for k, (value, (_, colons)) in enumerate(zip(values, self._kinds, strict=True)):
            here = [0] * (1 + _dimensions(colons)) if value is None else self._of_one(k, value)
            if value is None:
                later.append((slice(len(flat), len(flat) + len(here)), k))
            flat += here

        def call(*given: Any) -> None:
            full = flat.copy()
            for value, (place, k) in zip(given, later, strict=True):
                full[place] = self._of_one(k, value)
            self._call(*full)

        call.kept = values  # type: ignore[attr-defined]  # arrays live as long as the call that has their addresses
        return call

    def _flat(self, values: Sequence[Any]) -> list[Any]:
        """Numbers, and addresses and shapes of arrays."""
        if len(values) != len(self._kinds):
            raise TypeError(f"a kernel of {len(self._kinds)} arguments got {len(values)}")
        flat: list[Any] = []
        for k, value in enumerate(values):
            flat += self._of_one(k, value)
        return flat

    def _of_one(self, k: int, value: Any) -> list[Any]:
        """An argument, by its place: a number, or address and shape of an array."""
        dtype, colons = self._kinds[k]
        if colons == 0:
            return [float(value) if dtype.kind == "f" else int(value)]
        if value.dtype != dtype or value.ndim != _dimensions(colons) or not value.flags.c_contiguous:
            wanted = self.arguments[k]
            raise TypeError(f"a kernel takes {wanted}, got {value.dtype} {value.shape} with strides {value.strides}")
        return [value.__array_interface__["data"][0], *value.shape]  # faster than by ctypes


def _call_keeping(call: Any, flat: Sequence[Any], kept: Sequence[Any]) -> None:
    call(*flat)


def _dimensions(colons: int) -> int:
    return colons - 1 if colons > 1 else colons


def _places(dtype: Any, n: int) -> tuple[Any, ...]:
    """C types of an argument: a number, or an array: its address and its shape."""
    if n == 0:
        return (ctypes.c_double if dtype.kind == "f" else ctypes.c_int64,)
    return (ctypes.c_void_p, *[ctypes.c_int64] * n)


def processor() -> str:
    """Return what machine code depends on beside its source: the processor's kind and features."""
    import llvmlite.binding as llvm

    return " ".join((llvm.get_default_triple(), *_cpu()))


def compiled(text: str, arguments: Sequence[str]) -> bytes:
    """Compile a generated source; return its object."""
    with _branches_weighed(text):
        return bytes(_machine().emit_object(_module(text, arguments)))


def assembly(text: str, arguments: Sequence[str]) -> str:
    """Return the assembly of what :func:`compiled` gives."""
    with _branches_weighed(text):
        return str(_machine().emit_assembly(_module(text, arguments)))


@contextmanager
def _branches_weighed(text: str) -> Iterator[None]:
    """Have LLVM weigh, where a text calls a user's function, whether a choice in a loop is better taken by a branch.

    A bisection waits for its comparison before the next pass begins where the choice is a conditional move; a branch is
    guessed, and the next pass begun: 1.7 times as fast, though every other guess is wrong. LLVM has the pass and leaves
    it out on x86. Kernels that call nothing come out the same with it, and are spared it; so is numba of others.
    """
    import llvmlite.binding as llvm

    if not calls.called(text):
        yield
        return
    with _options:
        llvm.set_option("sscq", "-disable-select-optimize=false")
        try:
            yield
        finally:
            llvm.set_option("sscq", "-disable-select-optimize=true")


def _machine() -> Any:
    """LLVM's view of this processor."""
    import llvmlite.binding as llvm

    _initialised()
    cpu, features = _cpu()
    place = "static" if llvm.Target.from_default_triple().name.startswith("x86") else "default"
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(cpu, features, opt=3, reloc=place, codemodel="jitdefault", jit=True)


def _cpu() -> tuple[str, str]:
    """Name and features of the processor; the environment may name others."""
    import llvmlite.binding as llvm

    name = os.environ.get("SSCQ_CPU_NAME") or llvm.get_host_cpu_name()
    features = os.environ.get("SSCQ_CPU_FEATURES")
    return name, llvm.get_host_cpu_features().flatten() if features is None else features


def _initialised() -> None:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def llvm_text(text: str, arguments: Sequence[str], symbol: str) -> str:
    """Return a source's `rollout` under the name `symbol` as our compiler puts it into LLVM's words."""
    from plants.core.compiler import module_text  # a filled cache of kernels needs no compiler

    return module_text(text, "rollout", arguments, symbol)


def _module(text: str, arguments: Sequence[str]) -> Any:
    """LLVM's optimised module of a source's `rollout` under the name SYMBOL."""
    import llvmlite.binding as llvm

    module = llvm.parse_assembly(llvm_text(text, arguments, SYMBOL))
    for function in calls.called(text).values():
        module.link_in(llvm.parse_assembly(function.code))
        module.get_function(function.name).linkage = "internal"
    optimise(module, long=f"\n{IN_PIECES} = 1\n" in text)
    return module


def optimise(module: Any, *, long: bool = False) -> None:
    """Have LLVM improve a module for this processor.

    Parameters
    ----------
    module : llvmlite.binding.ModuleRef
    long : bool
        Whether it has long loops that are cut: its time counts more there than the last per cent of speed.
    """
    import llvmlite.binding as llvm

    machine = _machine()
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=2 if long else 3)
    options.loop_vectorization, options.slp_vectorization, options.loop_unrolling = True, False, not long
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    passes.run(module, builder)
    free(passes)


def free(passes: Any) -> None:
    """Free a pass manager with the tables that its passes hold, half a MiB and more.

    llvmlite 0.50 leaves it in memory for ever: the empty `_dispose` of its first base class hides that of the second.
    """
    import llvmlite.binding as llvm

    own = (kind.__dict__.get("_dispose") for kind in type(passes).__mro__ if kind is not llvm.ffi.ObjectRef)
    dispose = next(filter(None, own), None)
    if dispose is not None:
        dispose(passes)
        passes.detach()  # or a version that frees it itself would do so twice


def _load(code: bytes) -> tuple[Any, int]:
    import llvmlite.binding as llvm

    _initialised()
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine, engine.get_function_address(SYMBOL)
