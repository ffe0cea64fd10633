"""`sscq operate`: from settings to a run in operation, and its page.

command  the command itself; case: plant, knowledge base, programme, estimator and searches
page     the timeline: what changed, what was decided, why, and what it gained; told: the same at the terminal
"""

from experiments.operate.command import main

__all__ = ["main"]
