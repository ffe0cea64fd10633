"""A run in operation: from settings to a contest, and its page.

case   plant, knowledge base, programme, estimator and searches of `sscq operate`
page   the timeline: what changed, what was decided, why, and what it gained; told: the same at the terminal
"""
