"""Evidence, not product: what the method is worth on one plant or task, judged by what was declared beforehand.

`python -m experiments.studies NAME`. What is judged stands in `declarations`, the words of the page in `templates`,
what studies share in `engine`; each other folder or file has what is one study's own. Pages go to docs/, runs to runs/.
"""
