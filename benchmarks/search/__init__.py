"""The time of a design and of its search: share of simulation, operators on populations, survivors of a front."""
