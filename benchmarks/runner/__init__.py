"""How benchmarks are run and told: timing in turns, processes of their own, sections, pages, figures."""
