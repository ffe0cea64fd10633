"""How benchmarks are run and reported: timing in turns, processes of their own, sections, pages, figures."""
