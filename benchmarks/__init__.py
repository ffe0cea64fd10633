"""What is computed and how fast: kernels, integrators, searches, mechanics, vehicles, exports, beside other programs.

`python -m benchmarks [--quick] [name ...]` runs sections of figures; pages of docs/ have commands of their own.
No benchmark imports tests; tests may import systems and solutions from here.
"""
