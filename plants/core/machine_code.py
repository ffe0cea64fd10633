"""Machine code of a generated source: compiled by Numba once, then an object file that LLVM loads alone.

Importing Numba takes longer than most evaluations. So what it compiles is kept as an object file (no pickle) that needs
neither Numba nor Python: plain numbers and arrays in, no allocation, no reference counts, no exceptions.

A file is a line of JSON (what it is for, a hash of the rest) and the object; one that does not match is made anew.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

SYMBOL = "sscq_kernel"
_LIBRARY = frozenset({"cos", "exp", "fma", "floor", "log", "memcpy", "memset", "pow", "sin", "sqrt"})  # of any process
_engines: list[Any] = []  # machine code lives as long as its engine


class Compiled:
    """A compiled function without a result; its calls release Python's lock.

    Parameters
    ----------
    code : bytes
        Object file with the symbol :data:`SYMBOL`.
    arguments : sequence of str
        Types as Numba writes them: ``int64``, or an array such as ``float64[:,::1]``.
    """

    def __init__(self, code: bytes, arguments: Sequence[str]) -> None:
        self.arguments = tuple(arguments)
        self._kinds = [(np.dtype(text.partition("[")[0]), text.count(":")) for text in arguments]
        places = [kind for _, colons in self._kinds for kind in _places(_dimensions(colons))]
        self._call = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *places)(_load(code))

    def __call__(self, *values: Any) -> None:
        """Call it with whole numbers and contiguous arrays of the declared types; what it fills must be writable.

        Raises
        ------
        TypeError
            If an array has another type or layout: the machine code takes addresses.
        RuntimeError
            If the machine code reports an error, which generated text never does.
        """
        flat: list[Any] = []
        for value, (dtype, colons), text in zip(values, self._kinds, self.arguments, strict=True):
            if colons == 0:
                flat.append(int(value))
                continue
            if value.dtype != dtype or value.ndim != _dimensions(colons) or not value.flags.c_contiguous:
                message = f"a kernel takes {text}, got {value.dtype} {value.shape} with strides {value.strides}"
                raise TypeError(message)
            flat += (None, None, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides)
        result, error = ctypes.c_void_p(), ctypes.c_void_p()
        status = self._call(ctypes.addressof(result), ctypes.addressof(error), *flat)
        if status not in {0, -2}:  # Numba's codes for a value and for None
            message = f"a compiled kernel ended with status {status}"
            raise RuntimeError(message)


def _dimensions(colons: int) -> int:
    return colons - 1 if colons > 1 else colons


def _places(n: int) -> tuple[Any, ...]:
    """C types of an argument: a number, or Numba's array: owner twice, size, bytes of an item, data, shape, strides."""
    if n == 0:
        return (ctypes.c_int64,)
    address, whole = ctypes.c_void_p, ctypes.c_int64
    return (address, address, whole, whole, address, *[whole] * (2 * n))


def processor() -> str:
    """Return what machine code depends on beside its source: the processor's kind and features, Numba's settings."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features().flatten()
    settings = sorted(f"{k}={v}" for k, v in os.environ.items() if k.startswith("NUMBA_"))
    return " ".join((llvm.get_default_triple(), llvm.get_host_cpu_name(), features, *settings))


def compiled(text: str, arguments: Sequence[str]) -> bytes:
    """Compile a generated source; return its object."""
    return _machine().emit_object(_module(text, arguments))


def assembly(text: str, arguments: Sequence[str]) -> str:
    """Return the assembly of what :func:`compiled` gives."""
    return _machine().emit_assembly(_module(text, arguments))


def packed(code: bytes) -> bytes:
    """Return the content of an object's file."""
    return _head(code) + code


def unpacked(content: bytes) -> bytes | None:
    """Return the object of a file's content; None if it is damaged."""
    head, _, code = content.partition(b"\n")
    return code if head + b"\n" == _head(code) else None


def _head(code: bytes) -> bytes:
    return json.dumps({"sscq kernel": 1, "sha256": hashlib.sha256(code).hexdigest()}).encode() + b"\n"


def _machine() -> Any:
    from numba.core.registry import cpu_target

    return cpu_target.target_context.codegen()._tm  # noqa: SLF001  (the target machine Numba optimised for)


def _module(text: str, arguments: Sequence[str]) -> Any:
    """LLVM's optimised module of a source's `rollout` under the name SYMBOL, without Numba's wrappers for Python."""
    import llvmlite.binding as llvm
    from numba.core import sigutils
    from numba.core.compiler import Flags, compile_extra
    from numba.core.registry import cpu_target

    namespace: dict[str, Any] = {"__name__": SYMBOL}
    exec(compile(text, f"<{SYMBOL}>", "exec"), namespace)  # noqa: S102  (our own text)
    types, _ = sigutils.normalize_signature(f"void({', '.join(arguments)})")
    flags = Flags()
    flags.error_model = "numpy"
    flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    contexts = cpu_target.typing_context, cpu_target.target_context
    found = compile_extra(*contexts, namespace["rollout"], types, None, flags, {})
    module = llvm.parse_assembly(found.library.get_llvm_str().replace(found.fndesc.llvm_func_name, SYMBOL))
    called = {f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")}
    if not called <= _LIBRARY:
        message = f"a generated kernel calls {', '.join(called - _LIBRARY)}; its object file would not stand alone"
        raise RuntimeError(message)
    return module


def _load(code: bytes) -> int:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    return engine.get_function_address(SYMBOL)
