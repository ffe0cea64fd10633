"""How a command starts: its arguments, composed settings, the user's plant file, the run folder, several runs at once.

`launch` has what Hydra calls, `opening` what Python calls as well; `sweep` is what several runs (-m) have in common.
"""
