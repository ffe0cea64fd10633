"""Functions of a plant's author that cannot be traced: numba compiles them, and kernels call the result.

``block`` stands where a plant's function is called; ``contents`` reads all that a function consists of, ``compiled``
has it compiled, ``stand_ins`` says what is taken for functions that numba does not know.
"""
