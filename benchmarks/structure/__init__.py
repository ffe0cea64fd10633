"""The shape of the code itself: files, folders, imports, names, read by their syntax trees and never run.

`python -m benchmarks structure [--against REVISION]` prints the figures, beside those of another commit; the rules of
the house are checked by tests/test_structure.py from the same reading.
"""
