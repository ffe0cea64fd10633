"""The same loops on a GPU, beside the CPU's lanes, JAX and CUDA C: ``python -m benchmarks gpu``."""
