"""What a mechanism is: names, energies, forces, constraints, as a user declares them."""
