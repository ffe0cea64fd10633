"""From the tape to text that other compilers read."""
