"""The run report: one self-contained page, `report.html`, drawn from the files of a run.

`builders` say what a finished run has found (`records`, stored as `report.json`), `files` reads the run's folder back,
`page` and its `sections` draw it. What is drawn knows no simulation and no learning.
"""
