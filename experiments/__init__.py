"""The commands: read a configuration, call the packages below, write results. No formulas here.

One file a command; what they share is in the folders: how a command is run (`runtime`), objects from settings
(`settings`), the stages of a design (`pipeline`), its page (`report`), stored results looked at again (`cases`).
"""

import os

# The order of the sums in these libraries, and so the last bit of a result, depends on how many threads they use. They
# read the number when they are first imported; what the user has set stays.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
