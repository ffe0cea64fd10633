"""Elementary functions without branches, loops or library calls, for the lanes of generated kernels.

The text of these functions is printed into every generated kernel that needs them; it refers to nothing but ``math``,
``np`` and the functions printed before it. The compiler evaluates them for many lanes at a time, because all choices
are selects. Called as plain Python on floats they give the same results up to rounding, and raise nothing.

Three rules keep the forms exact wherever the compiler fuses a product into a sum, and wherever it does not:

- a product that an exact remainder relies on has factors of at most 26 bits each, or a whole number and a constant
  with trailing zeros, so that it is exact either way (`k_head` cuts a number to 26 bits);
- whole numbers are found by adding 1.5 * 2**52 and read from the low bits of the sum, since AVX2 has no conversion
  between doubles and 64-bit integers;
- a sum that must give -0 for an argument of -0 subtracts its small terms: -0 - 0 is -0, but -0 + 0 is 0.

Error bounds are in units in the last place (ulp) of the exact result, subnormal results included. They are the largest
errors found by searches over tens of millions of points where each form is weakest, with and without fused
multiply-add, rounded up. The polynomials are minimax in relative error (Remez exchange, coefficients rounded one after
the other and the rest refitted).

A file holds a family; a new function goes to its family and into the table, which is in
:mod:`plants.core.elementary_kernels.table`.
"""

from plants.core.elementary_kernels.table import KERNELS, ElementaryKernel, source

__all__ = ["KERNELS", "ElementaryKernel", "source"]
