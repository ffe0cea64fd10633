"""Generated sources: keyed by their text, complete, written once; in memory where nothing can be written."""

import ctypes
import gc
import importlib.metadata
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import plants
from plants.core.kernel import cache, machine_code
from plants.core.kernel import kernel as kernels
from plants.core.kernel.kernel import ARGUMENTS
from plants.core.kernel.signal_bank import SignalBank
from plants.core.motion.simulate import _design
from plants.excitation import WhiteNoise, as_signal

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty cache folder, and a process that has loaded nothing and warned about nothing."""
    monkeypatch.setenv("SSCQ_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_loaded", {})
    monkeypatch.setattr(cache, "_functions", {})
    monkeypatch.setattr(cache, "_unwritable", set())
    return tmp_path / "cache"


def simulation_text(variance=1.0, mode="solved"):
    plant = plants.get("nonlinear_inertia")
    channels = (("u", "force", 1.0), ("w", "excitation", WhiteNoise(variance, hold=0.1)))
    banks = [SignalBank(kind, [channel], [[as_signal(signal)]], 0.01) for kind, channel, signal in channels]
    return kernels.build(_design(plant, *banks, "rk4", mode)[0]).text


def test_the_text_of_a_kernel_is_deterministic_and_complete():
    text = simulation_text()
    assert text == simulation_text(variance=2.0)  # numbers of a situation are data, not text
    assert text != simulation_text(mode="iterated")
    imported = re.findall(r"^\s*(?:import|from) (\w+)", text, re.MULTILINE)
    assert set(imported) == {"math", "numpy"}


def test_the_text_does_not_depend_on_the_process():
    """String hashes differ between processes, so an order taken from a set would show here."""
    code = (
        "import plants, hashlib; from tests.plants.core.kernel import test_cache as t; "
        "print(hashlib.sha256(t.simulation_text().encode()).hexdigest())"
    )
    found = {
        subprocess.run([sys.executable, "-c", code], env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}, check=True,
                       capture_output=True, text=True).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(found) == 1


def test_the_key_changes_with_the_text_and_with_what_compiles_it(monkeypatch):
    key = cache.key("x = 1\n")
    assert re.fullmatch(r"kernel_[0-9a-f]{24}", key)
    assert key != cache.key("x = 2\n")
    cache._versions.cache_clear()
    known = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda n: "0" if n == "llvmlite" else known(n))
    assert key != cache.key("x = 1\n")
    cache._versions.cache_clear()
    monkeypatch.undo()
    read = Path.read_text
    monkeypatch.setattr(
        Path, "read_text", lambda path, encoding: read(path, encoding=encoding) + "#" * (path.name == "arithmetic.py")
    )
    assert key != cache.key("x = 1\n")
    cache._versions.cache_clear()
    monkeypatch.undo()
    assert key == cache.key("x = 1\n")


def test_a_source_is_written_once_under_its_key_and_never_rewritten(folder):
    assert cache.entries() == []
    module = cache.load("value = 41\n")
    (path,) = cache.entries()
    assert (module.value, path.name) == (41, f"{cache.key('value = 41' + chr(10))}.py")
    stamp = path.stat().st_mtime_ns
    assert cache.load("value = 41\n") is module
    cache._loaded.clear()  # as another process
    assert cache.load("value = 41\n").value == 41
    assert path.stat().st_mtime_ns == stamp
    assert cache.load("value = 42\n").value == 42
    assert len(cache.entries()) == 2
    assert not [p for p in folder.iterdir() if ".tmp" in p.name]


def test_other_physics_is_another_file_and_numbers_are_not(folder, compiled):
    def block(a):
        return (2.0 * a * a,)

    kernel = compiled(block, 1, 1)
    np.testing.assert_array_equal(kernel(np.array([0.5])), 0.5)
    kernel(np.array([0.25, 0.75]))
    assert len(cache.entries()) == len(list(folder.glob("kernel_*.o"))) == 1
    changed = compiled(lambda a: (3.0 * a * a,), 1, 1)
    np.testing.assert_array_equal(changed(np.array([0.5])), 0.75)
    assert len(cache.entries()) == 2
    assert cache.clear() == 2
    assert list(folder.iterdir()) == []


def test_machine_code_is_loaded_without_the_compiler(folder, compiled):
    """A later process imports no Numba: its import takes longer than what it would compile."""
    kernel = compiled(lambda a: (2.0 * a + 1.0,), 1, 1).kernel
    assert kernel.rollout is kernel.rollout
    (folder / "kernel.txt").write_text(kernel.text, encoding="utf-8")
    code = (
        "import sys, pathlib; from plants.core.kernel import cache; from plants.core.kernel.kernel import ARGUMENTS; "
        "text = pathlib.Path(sys.argv[1]).read_text(encoding='utf-8'); cache.function(text, ARGUMENTS); "
        "print('numba' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(folder / "kernel.txt")]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"


def test_what_was_used_last_is_kept_and_what_went_is_made_again(folder, compiled, monkeypatch):
    first, second = (compiled(block, 1, 1) for block in (lambda a: (a * 5.0,), lambda a: (a * 6.0,)))
    for kernel in (first, second):
        kernel(np.array([0.5]))
    for path in folder.glob("kernel_*"):
        os.utime(path, (1e9, 1e9))
    monkeypatch.setattr(cache, "_functions", {})  # as another process
    np.testing.assert_array_equal(first(np.array([0.5])), 2.5)
    *_, (last, entry) = cache.kept().items()
    assert last == cache.key(first.kernel.text)
    assert cache.release(entry.source + entry.code) == 1
    assert list(cache.kept()) == [last]
    assert cache.release(0.0) == 1
    assert [path.name for path in folder.iterdir()] == ["key"]
    np.testing.assert_array_equal(first(np.array([0.25])), 1.25)  # it is loaded
    np.testing.assert_array_equal(second(np.array([0.25])), 1.5)
    monkeypatch.setattr(cache, "_functions", {})
    np.testing.assert_array_equal(second(np.array([0.25])), 1.5)
    assert list(cache.kept()) == [cache.key(second.kernel.text)]


RACE = """
import sys, time, warnings
from plants.core.kernel import cache
from plants.core.kernel.kernel import ARGUMENTS
warnings.simplefilter("error")
text, until = open(sys.argv[1], encoding="utf-8").read(), time.monotonic() + 2.0
while time.monotonic() < until:
    cache._functions.clear()
    cache.function(text, ARGUMENTS)
"""


def test_a_process_that_uses_what_is_released_notices_nothing(folder, compiled):
    kernel = compiled(lambda a: (a * 7.0,), 1, 1).kernel
    assert kernel.rollout is kernel.rollout
    (folder / "text").write_text(kernel.text, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    user = subprocess.Popen([sys.executable, "-c", RACE, str(folder / "text")], env=environment)
    released = 0
    while user.poll() is None:
        released += cache.release(0.0)
    assert user.returncode == 0
    assert released > 1


@pytest.mark.parametrize(
    "damage", [lambda c: c[:-1], lambda c: b"", lambda c: c[:200] + b"x" + c[201:], lambda c: c[9:]]
)
def test_damaged_machine_code_is_made_again(folder, compiled, damage):
    kernel = compiled(lambda a: (a * 4.0,), 1, 1)
    np.testing.assert_array_equal(kernel(np.array([0.5])), 2.0)
    (path,) = folder.glob("kernel_*.o")
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    cache._functions.clear()  # as another process
    np.testing.assert_array_equal(kernel(np.array([0.5])), 2.0)
    assert len(path.read_bytes()) == len(whole)
    assert path.read_bytes()[:200] == whole[:200]


def test_machine_code_of_another_processor_is_another_file(folder, compiled, monkeypatch):
    kernel = compiled(lambda a: (a * 4.0,), 1, 1)
    kernel(np.array([0.5]))
    monkeypatch.setenv("SSCQ_CPU_FEATURES", "+avx2")
    cache._functions.clear()
    kernel(np.array([0.5]))
    assert len(list(folder.glob("kernel_*.o"))) == 2


def test_a_folder_that_cannot_be_written_costs_one_warning_and_no_result(tmp_path, monkeypatch, folder, compiled):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder", encoding="utf-8")
    monkeypatch.setenv("SSCQ_CACHE", str(blocked / "cache"))
    with pytest.warns(UserWarning, match=r"file/cache cannot be used \(.*\); compiling in memory\. Set SSCQ_CACHE"):
        first = compiled(lambda a: (a + 1.0,), 1, 1)(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(first, [[2.0, 3.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache.load("value = 1\n")
    assert cache.entries() == []


def test_arrays_of_another_type_are_refused_before_the_call(folder, compiled):
    """The machine code takes addresses: a wrong type would read other memory."""
    rollout = compiled(lambda a: (a,), 1, 1).kernel.rollout
    arrays = [
        np.zeros(
            (1,) * text.count(":") if text.count(":") < 2 else (1,) * (text.count(":") - 1), text.partition("[")[0]
        )
        for text in ARGUMENTS[2:]
    ]
    with pytest.raises(TypeError, match=r"a kernel takes float64\[:,::1\], got float32 \(1, 1\)"):
        rollout(0, 0, *arrays[:3], arrays[3].astype(np.float32), *arrays[4:])
    with pytest.raises(TypeError, match=r"a kernel takes int64\[:,::1\], got int64 \(2, 2\) with strides \(8, 16\)"):
        rollout(0, 0, np.zeros((2, 2), np.int64).T, *arrays[1:])


def test_a_source_that_needs_more_than_numbers_is_refused():
    text = "def rollout(n):\n    print(n)\n"
    with pytest.raises(TypeError, match=r"line 2 of the generated text: 'print\(n\)' has no form in the compiler"):
        machine_code.compiled(text, ("int64",))


def test_the_folder_is_the_environments_or_the_users(monkeypatch, tmp_path):
    monkeypatch.setenv("SSCQ_CACHE", "~/kernels")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.folder() == tmp_path / "kernels"
    monkeypatch.delenv("SSCQ_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache.folder() == tmp_path / ".cache" / "sscq"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    assert cache.folder() == tmp_path / "other" / "sscq"


def test_compiled_kernels_that_were_not_used_for_long_are_released(monkeypatch):
    monkeypatch.setattr(cache, "KEPT", 2)
    texts = [f"def rollout(x):\n    x[0] = {k}.5\n" for k in range(3)]
    first, _, last = (cache.function(text, ("float64[::1]",)) for text in texts)
    values = np.zeros(1)
    first(values)  # who holds it may go on
    assert values[0] == 0.5
    assert cache.function(texts[2], ("float64[::1]",)) is last
    again = cache.function(texts[0], ("float64[::1]",))
    assert again is not first
    again(values)


class AllocatorState(ctypes.Structure):
    """What glibc's `mallinfo2` returns."""

    _fields_ = tuple((name, ctypes.c_size_t) for name in (*"abcdefg", "uordblks", "fordblks", "keepcost"))


def in_use():
    """Return what was allocated and not freed [bytes]."""
    gc.collect()
    state = ctypes.CDLL(None).mallinfo2
    state.restype = AllocatorState
    return state().uordblks


@pytest.mark.skipif(os.name != "posix" or not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="glibc tells")
def test_compiling_keeps_no_memory():
    """LLVM's passes hold tables of what they compiled, 0.5 MiB for this source; they must go with the compilation."""
    text = simulation_text()
    for _ in range(2):  # LLVM sets itself up
        machine_code.compiled(text, ARGUMENTS)
    growth = []
    for _ in range(3):  # a leak is in each; what else happens in the process, threads of tests before this one, is not
        gc.collect()
        before = in_use()
        for _ in range(4):
            machine_code.compiled(text, ARGUMENTS)
        gc.collect()
        growth.append(in_use() - before)
    assert min(growth) < 100_000


def test_a_prepared_call_gives_what_a_whole_one_does_and_refuses_other_arrays(monkeypatch):
    text = "def rollout(a, b, factor, out):\n    for k in range(len(a)):\n        out[k] = factor * a[k] + b[k]\n"
    types = ("float64[::1]", "float64[::1]", "float64", "float64[::1]")
    a, b, out = np.array([1.0, 2.0]), np.array([0.5, 0.25]), np.zeros(2)
    for interpreted in ("0", "1"):
        monkeypatch.setenv("SSCQ_INTERPRET", interpreted)
        cache.prepared(text, types, (None, b, None, None))(a, 3.0, out)
        assert out.tolist() == [3.5, 6.25]
        out[:] = 0.0
    monkeypatch.setenv("SSCQ_INTERPRET", "0")
    call = cache.prepared(text, types, (None, b, 3.0, None))
    with pytest.raises(TypeError, match=r"a kernel takes float64\[::1\], got int64"):
        call(np.array([1, 2]), out)
    with pytest.raises(ValueError, match="argument"):
        call(a)
