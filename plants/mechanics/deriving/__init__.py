"""From a declaration to programs: two ways to differentiate, the blocks, what is kept on disk."""
