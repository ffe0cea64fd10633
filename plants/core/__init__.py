"""What plants are made of: tape, kernels, integrators, signals, simulation, checks."""
