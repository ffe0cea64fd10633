"""A published record of a real heater, turned into a log for `sscq identify`: heater.csv, for docs/guide/logs.md.

    python docs/examples/heater_log.py Step_Test_Data.csv [FILE [REST]]

The record is of J. C. Kantor's course in process control (github.com/jckantor/CBE30338, TCLab_notebooks or
notebooks/TCLab, Step_Test_Data.csv): a Temperature Control Lab, heater 1 switched from 0 to 50 % at time 0, 800 s in
steps of a second, a converter of 0.32 K. Its first row is the last one at rest; REST rows like it may be put before.
"""

import csv
import sys
from pathlib import Path


def rows_of(path, rest=1):
    """Rows (time [s], measured [deg C], output [%], mode) of a published record."""
    with Path(path).open(newline="", encoding="utf-8") as file:
        record = [(float(row["T1"]), float(row["Q1"])) for row in csv.DictReader(file)]
    (first, off), *others = record
    return [(k, *row, "manual") for k, row in enumerate([(first, off)] * rest + others)]


if __name__ == "__main__":
    target = Path(sys.argv[2] if len(sys.argv) > 2 else "heater.csv")
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("time", "measured", "output", "mode"))
        writer.writerows(rows_of(sys.argv[1], int(sys.argv[3]) if len(sys.argv) > 3 else 1))
