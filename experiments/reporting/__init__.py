"""Fill the run report from a finished design: numbers are read, formed into words and estimates, and handed on.

`report` is what a run calls. The page itself is in `experiments.report`, which knows no simulation and no learning.
"""

from experiments.reporting.fill import report, report_data

__all__ = ["report", "report_data"]
