"""Designs from Python: no argument line, no state of the process, the same files as the command's.

`sscq.design` is :func:`experiments.front.design.design`; it returns a :class:`experiments.front.result.DesignResult`.
`sscq.sweep` is :func:`experiments.front.sweeping.sweep`, many designs on any executor; `sscq.export` is
:func:`experiments.front.exporting.export`; `sscq.map` and `sscq.worst_of` are in
:mod:`experiments.front.exploring`.
"""
