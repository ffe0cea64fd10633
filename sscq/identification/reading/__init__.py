"""Logs as control systems write them: text with columns, their names, time stamps, numbers and what is no number.

table    text to columns of cells, with line numbers
cells    cells to numbers and seconds
log      columns to a log: rows of equal distance, what is missing, and what was found on the way
"""
