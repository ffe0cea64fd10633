"""Chaplygin's and Voronets' equations by the mechanised procedure: intermediate variables keep their names."""
