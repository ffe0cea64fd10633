"""The same kernels on a GPU: one thread a rollout, compiled by LLVM, loaded by the driver alone.

text     a kernel's text for one thread
ptx      that text as PTX
driver   the few calls of NVIDIA's driver that are needed
run      rollouts of a grid in launches
"""

DEVICES = ("cpu", "cuda")
"""Where closed loops can be run."""
