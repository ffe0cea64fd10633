"""From a generated source to LLVM's text: a compiler for the small part of Python that kernels are printed in.

Numba reads all of Python and finds types by iteration; for a kernel of a few thousand statements that takes many times
as long as LLVM's work on the result. Generated text needs none of it: numbers are doubles, pairs of them (complex),
64-bit integers or truth values, every variable keeps the kind of its first value, arrays are contiguous and given by
the caller (``a[i]``, ``a[:n]`` and ``reshape`` are the only views). So one walk over the syntax tree is enough.

    module      a text's functions, each written when it is first called
    function    statements: assignments, branches, loops over ranges
    expressions, arithmetic
    lines       registers, blocks and variables of one function
    values      what an expression can be

What the text means is what Python means by it, but for these:

- arrays that are given to one call do not overlap where one is written to;
- a name stands for one kind of thing, and for one array; a variable that was not given a value has any;
- integers have 64 bits and wrap around; a negative index is not counted from the end, and no index is checked;
- a division of doubles by zero gives infinity or NaN, one of integers gives 0;
- ``int`` of a double beyond 64 bits, or of none, is any number;
- both sides of ``and``, ``or`` and of a conditional expression are evaluated;
- ``fma(a, b, c)`` rounds once. No other sum is fused, unless the text names a number ``FUSED``; nothing is reordered.

What has no form here is refused by name.
"""

from plants.core.compiler.expressions import RefusedError
from plants.core.compiler.module import module_text

__all__ = ["RefusedError", "module_text"]
