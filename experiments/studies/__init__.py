"""Evidence, not product: what the method is worth on one plant or task, judged by what was declared beforehand.

`engine` is what studies share; each other folder is one study, and its `comparison`, `study` or `command` is a command.
Pages go to docs/, runs to runs/.
"""
