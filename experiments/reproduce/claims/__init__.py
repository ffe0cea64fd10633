"""How each claim is computed, by subject: a module has one public function for each claim of its declaration.

The function has the claim's name, takes the claim and returns a Reproduction: picture, tables, verdict and reason.
"""
