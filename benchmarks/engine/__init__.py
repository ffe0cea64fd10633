"""The speed of closed loops: one case in our kernel, in C, in Python, in JAX, and in other people's simulators."""
