"""Files that somebody else may have made: what is read of them has limits, and every refusal is one sentence.

`files` opens regular files only and reads no more than it was told to; `formats` reads JSON, CSV and NPZ through it.
"""
