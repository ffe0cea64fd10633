"""Fill the run report from a finished design: numbers are read, formed into words and estimates, and handed on.

`report` is what a run calls. Each file fills the records of one subject; `case` is what all of them look at.
"""

from experiments.report.builders.case import FinishedDesign
from experiments.report.builders.fill import report, report_data
from experiments.report.builders.recording import recordings

__all__ = ["FinishedDesign", "recordings", "report", "report_data"]
