"""The few calls of NVIDIA's driver that a kernel needs: no toolkit and no package, only the driver's own library.

The driver compiles PTX for the GPU that is there, and keeps what it compiled in its own cache.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

LIBRARIES = ("libcuda.so.1", "libcuda.so", "nvcuda.dll")
_LOG_BYTES = 8192
# Numbers of the driver's interface: attributes of a GPU, of a function, and options of the compiler.
_PROCESSORS, _MAJOR, _MINOR, _KILOHERTZ = 16, 75, 76, 13
_REGISTERS, _LOCAL = 4, 3
_ERROR_LOG, _ERROR_LOG_BYTES = 5, 6


class NoGpuError(RuntimeError):
    """There is no NVIDIA GPU with a driver here."""


class GpuError(RuntimeError):
    """The driver refused a call."""


@dataclass(frozen=True)
class Gpu:
    """A GPU: its name, compute capability, multiprocessors, and their clock [Hz]."""

    name: str
    capability: tuple[int, int]
    processors: int
    clock: float


class DeviceArray:
    """Memory of the GPU with the shape of an array; freed with the object."""

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape, self.dtype = shape, np.dtype(dtype)
        self.bytes = max(8, int(np.prod(shape, dtype=np.int64)) * self.dtype.itemsize)
        self.address = ctypes.c_uint64()
        connection().call("cuMemAlloc_v2", ctypes.byref(self.address), ctypes.c_size_t(self.bytes))

    @classmethod
    def of(cls, array: np.ndarray) -> DeviceArray:
        """Return a copy of an array on the GPU."""
        array = np.ascontiguousarray(array)
        made = cls(array.shape, array.dtype)
        connection().call(
            "cuMemcpyHtoD_v2", made.address, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes)
        )
        return made

    def fetched(self) -> np.ndarray:
        """Return a copy on the CPU."""
        array = np.empty(self.shape, self.dtype)
        connection().call(
            "cuMemcpyDtoH_v2", array.ctypes.data_as(ctypes.c_void_p), self.address, ctypes.c_size_t(array.nbytes)
        )
        return array

    def __del__(self) -> None:
        if self.address.value and is_connected():
            connection().freed("cuMemFree_v2", self.address)


class GpuFunction:
    """A function of a PTX text on the GPU.

    Attributes
    ----------
    registers, local : int
        Of a thread: registers, and bytes of memory beside them.
    """

    def __init__(self, text: str, symbol: str) -> None:
        self._module, self._function = ctypes.c_void_p(), ctypes.c_void_p()
        driver = connection()
        log = ctypes.create_string_buffer(_LOG_BYTES)
        options = (ctypes.c_int * 2)(_ERROR_LOG, _ERROR_LOG_BYTES)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), _LOG_BYTES)
        try:
            driver.call(
                "cuModuleLoadDataEx", ctypes.byref(self._module), ctypes.c_char_p(text.encode()), 2, options, values
            )
        except GpuError as error:
            raise GpuError(f"{error}: {log.value.decode(errors='replace').strip()}") from None
        driver.call("cuModuleGetFunction", ctypes.byref(self._function), self._module, symbol.encode())
        self.registers, self.local = self._attribute(_REGISTERS), self._attribute(_LOCAL)

    def __del__(self) -> None:
        if self._module.value and is_connected():
            connection().freed("cuModuleUnload", self._module)

    def _attribute(self, number: int) -> int:
        value = ctypes.c_int()
        connection().call("cuFuncGetAttribute", ctypes.byref(value), number, self._function)
        return value.value

    def resident(self, threads: int) -> int:
        """Return how many blocks of `threads` a multiprocessor holds."""
        value = ctypes.c_int()
        name, shared = "cuOccupancyMaxActiveBlocksPerMultiprocessor", ctypes.c_size_t(0)
        connection().call(name, ctypes.byref(value), self._function, threads, shared)
        return value.value

    def launch(self, blocks: int, threads: int, values: list[Any]) -> None:
        """Start it with whole numbers and arrays, each by address and shape; :func:`wait` waits for its end."""
        flat: list[ctypes.c_uint64 | ctypes.c_int64] = []
        for value in values:
            if isinstance(value, DeviceArray):
                flat += [value.address, *map(ctypes.c_int64, value.shape)]
            else:
                flat.append(ctypes.c_int64(value))
        given = (ctypes.c_void_p * len(flat))(*(ctypes.addressof(one) for one in flat))
        connection().call("cuLaunchKernel", self._function, blocks, 1, 1, threads, 1, 1, 0, None, given, None)


def wait() -> None:
    """Wait until the GPU has done all it was told."""
    connection().call("cuCtxSynchronize")


def gpu() -> Gpu:
    """Return the GPU that is used, the first one.

    Raises
    ------
    NoGpuError
        If there is none, or no driver.
    """
    return connection().gpu


class _Driver:
    def __init__(self) -> None:
        self.library, self._here = _library(), threading.local()
        if code := self.library.cuInit(0):
            told = f"NVIDIA's driver finds no GPU here ({self._words(code)})"
            raise NoGpuError(f"{told}; leave device=cuda out to run on the CPU")
        place, context = ctypes.c_int(), ctypes.c_void_p()
        self._here.ready = True  # until there is a context to be made the thread's
        self.call("cuDeviceGet", ctypes.byref(place), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), place)
        self.context, self._here.ready = context, False
        self.gpu = self._of(place)

    def _of(self, place: ctypes.c_int) -> Gpu:
        name = ctypes.create_string_buffer(256)
        self.call("cuDeviceGetName", name, 256, place)
        values = []
        for attribute in (_MAJOR, _MINOR, _PROCESSORS, _KILOHERTZ):
            value = ctypes.c_int()
            self.call("cuDeviceGetAttribute", ctypes.byref(value), attribute, place)
            values.append(value.value)
        return Gpu(name.value.decode(), (values[0], values[1]), values[2], 1e3 * values[3])

    def call(self, name: str, *values: Any) -> None:
        """Call a function of the driver; each thread is told the GPU's context before its first one."""
        if not getattr(self._here, "ready", False):
            self._here.ready = True
            self.call("cuCtxSetCurrent", self.context)
        if code := getattr(self.library, name)(*values):
            raise GpuError(f"NVIDIA's driver, {name}: {self._words(code)}")

    def freed(self, name: str, handle: Any) -> None:
        """Give something back; at the end of a process the driver may have gone before."""
        with contextlib.suppress(GpuError):
            self.call(name, handle)

    def _words(self, code: int) -> str:
        text = ctypes.c_char_p()
        self.library.cuGetErrorString(code, ctypes.byref(text))
        return text.value.decode() if text.value else f"error {code}"


def _library() -> Any:
    for name in LIBRARIES:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise NoGpuError(
        "there is no NVIDIA driver here (libcuda.so.1 was not found); leave device=cuda out to run on the CPU"
    )


_connecting = threading.Lock()


@lru_cache(maxsize=1)
def _connected() -> _Driver:
    return _Driver()


def is_connected() -> bool:
    """Return whether a connection has been made."""
    return bool(_connected.cache_info().currsize)


def forget() -> None:
    """Make the next call look for a GPU anew."""
    _connected.cache_clear()


def connection() -> _Driver:
    """Return the connection to the first GPU, which is made once."""
    with _connecting:
        return _connected()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_connected.cache_clear)  # a forked process has no GPU: it is told so anew
