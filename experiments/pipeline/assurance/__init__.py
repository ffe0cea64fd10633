"""What a verdict is assured of beyond its rollouts: margins over ranges, stability, the worst case."""
