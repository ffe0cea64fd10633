"""What a run is while it goes on, whatever it does: errors in a sentence, the run folder with its stages.

Also plain formats, progress lines, tables at the terminal, versions. Knows no plant and no design; nothing slow is
imported with the package, so that `sscq --help` answers at once.
"""
