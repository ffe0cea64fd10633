"""Controllers leave for where controllers run: one sampled machine, printers over it, a proof of each file.

Machines are the whole controller, the scheduler alone, and a plant. A target writes files and has them run elsewhere;
`targets` lists them, their languages are in the folders.
"""
