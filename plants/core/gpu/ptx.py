"""PTX of a kernel's text, by LLVM: what the driver of an NVIDIA GPU compiles for the GPU that is there."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from plants.core.gpu.text import ARGUMENTS, FENCE, OWN
from plants.core.kernel.machine_code import free, llvm_text

if TYPE_CHECKING:
    from plants.core.gpu.text import DeviceText

SYMBOL = "sscq_rollouts"
PROCESSOR, LANGUAGE = "sm_70", "+ptx70"
"""Oldest GPU (Volta, 2017) and PTX that the text needs: drivers compile it for newer ones."""

_TRIPLE = "nvptx64-nvidia-cuda"
_THETA = 1
_TYPES = {"int64": "i64", "float64": "double"}
_FENCE = '  call void asm sideeffect "", "~{memory}"()\n'
_HEAD = """define ptx_kernel void @{symbol}(i64 %first, i64 %last, i64 %inner, i64 %across, i64 %candidates, {given}) {{
{memory}
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %width = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %thread64 = zext i32 %thread to i64
  %block64 = zext i32 %block to i64
  %width64 = zext i32 %width to i64
  %before = mul i64 %block64, %width64
  %here = add i64 %before, %thread64
  %number = add i64 %first, %here
  %inside = icmp slt i64 %number, %last
  br i1 %inside, label %work, label %done
work:
  %outer = sdiv i64 %number, %inner
  %whole = mul i64 %outer, %inner
  %rest = sub i64 %number, %whole
  %starts_outside = icmp ne i64 %across, 0
  %source = select i1 %starts_outside, i64 %outer, i64 %rest
  %candidate = select i1 %starts_outside, i64 %rest, i64 %outer
  %starts_before = mul i64 %source, %candidates
  %out = add i64 %starts_before, %candidate
  call void @rollout(i64 %source, i64 %candidate, i64 %out, {passed})
  br label %done
done:
  ret void
}}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
"""


def ptx(kernel: DeviceText, ring_rows: int) -> str:
    """Return the PTX of a kernel; its rollouts have `ring_rows` rows behind the kernel's own.

    It serves all numbers of such rows up to the next power of two: delays of about a length share one.

    The function :data:`SYMBOL` is given the first and behind the last rollout, how many of them are side by side, and
    whether these are candidates (1) or starts (0), then the arrays of ``text.ARGUMENTS``, each by address and shape.
    """
    rings = 1 << max(0, ring_rows - 1).bit_length()
    return _ptx(kernel.text, kernel.rows.count, rings, kernel.n_streams)


@lru_cache(maxsize=32)
def _ptx(text: str, n_rows: int, ring_rows: int, n_streams: int) -> str:
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    machine = llvm.Target.from_triple(_TRIPLE).create_target_machine(cpu=PROCESSOR, features=LANGUAGE, opt=3)
    body = llvm_text(text, ARGUMENTS, "rollout").replace("define void @rollout", "define internal void @rollout")
    body = body.replace("#0 {", "#1 {", 1)  # made part of the kernel: its memory becomes registers
    body = body.replace("ptr noalias %theta", "ptr %theta", 1)
    body = re.sub(rf"(define internal void @{FENCE}\(\) )#\d( \{{\nentry:\n)", rf"\1#1\2{_FENCE}", body)
    module = llvm.parse_assembly(body + _entry(n_rows, ring_rows, n_streams))
    module.triple, module.data_layout = _TRIPLE, str(machine.target_data)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    passes = builder.getModulePassManager()
    passes.run(module, builder)
    free(passes)
    return machine.emit_assembly(module)


def _entry(n_rows: int, ring_rows: int, n_streams: int) -> str:
    """The function that the driver starts: which rollout a thread has, and its memory."""
    given, passed = [], []
    for k, text in enumerate(ARGUMENTS[3:-OWN]):
        colons = text.partition("[")[2]
        names = [f"%shape{k}_{axis}" for axis in range(colons.count(",") + 1)]
        alone = "" if k == _THETA else "noalias "
        given += [f"ptr {alone}%array{k}", *(f"i64 {name}" for name in names)]
        passed += [f"ptr %array{k}", *(f"i64 {name}" for name in names)]
    memory = []
    sizes = {"S": n_rows, "ring": ring_rows, "pairs": 2 * n_streams, "filled": n_streams}
    for (name, size), text in zip(sizes.items(), ARGUMENTS[-OWN:], strict=True):
        memory.append(f"  %{name} = alloca [{size} x {_TYPES[text.partition('[')[0]]}]")
        passed += [f"ptr %{name}", f"i64 {size}"]
    return _HEAD.format(symbol=SYMBOL, given=", ".join(given), passed=", ".join(passed), memory="\n".join(memory))


def local_bytes(text: str) -> int:
    """Return how many bytes of memory beside its registers a thread of a PTX text declares."""
    found = re.search(r"\.local \.align \d+ \.b8\s+\w+\[(\d+)\]", text)
    return int(found[1]) if found else 0
